// @ts-check
// Two answers beside each other, and two hits of one answer part by part.

import { h, svg } from "./drawing.js";

/** @param {any} hit @param {number} most */
export const textOf = (hit, most) => hit.text.map((/** @type {any} */ piece) => piece.text).join("").slice(0, most);

/** What separates two hits, part by part. @param {any} versus */
export function separation(versus) {
  const { first, second, parts, notes } = versus;
  return h("div", { class: "separation" },
    h("p", {}, h("b", {}, versus.summary)),
    h("table", {}, h("thead", {}, h("tr", {}, ["part", `#${first.rank}`, `#${second.rank}`, "difference"].map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, parts.map((/** @type {any} */ part) => h("tr", {}, h("th", { scope: "row" }, part.label),
        h("td", {}, part.texts[0]), h("td", {}, part.texts[1]), h("td", { "data-gap": part.texts[2] }, part.texts[2])))),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "score"), h("td", {}, versus.texts[0]), h("td", {}, versus.texts[1]),
        h("td", { "data-gap-total": versus.texts[2] }, versus.texts[2])))),
    notes.length ? h("ul", { class: "quiet" }, notes.map((/** @type {string} */ each) => h("li", {}, each))) : null);
}

const ROW = 46;

/** Two answers beside each other, moves joined by lines, each with its cause.
 * @param {any} before @param {any} after @param {any} diff @param {string} left @param {string} right */
export function sideBySide(before, after, diff, left, right) {
  const then = before.hits, now = after.hits;
  const at = new Map(now.map((/** @type {any} */ hit, /** @type {number} */ n) => [hit.id, n]));
  /** Ids of those whose rank is another one; a score may change without. */
  const moved = new Set(diff.moves.filter((/** @type {any} */ move) => move.was !== move.now).map((/** @type {any} */ move) => move.id));
  const height = ROW * Math.max(then.length, now.length, 1);
  /** @param {any[]} hits */
  const list = (hits) => h("ol", {}, hits.map((hit) => h("li", { class: moved.has(hit.id) ? "moved" : "" },
    h("b", {}, hit.rank), " ", h("span", {}, textOf(hit, 90)))));
  const lines = then.flatMap((/** @type {any} */ hit, /** @type {number} */ n) => at.has(hit.id)
    ? [svg("line", { x1: 0, x2: 100, y1: ROW * (n + 0.5), y2: ROW * ((at.get(hit.id) ?? 0) + 0.5), class: moved.has(hit.id) ? "moved" : "" })] : []);
  /** @param {any} move */
  const cause = (move) => {
    const parts = move.parts.map((/** @type {any} */ part) => `${part.name} ${number(part.was)} → ${number(part.now)}`).join(", ");
    const way = move.was === null ? `entered at #${move.now}` : move.now === null ? `left from #${move.was}`
      : move.was === move.now ? `stays #${move.now}` : `#${move.was} → #${move.now}`;
    return h("li", {}, h("b", {}, move.id), ` ${way}`, parts ? ` by ${parts}` : "", move.causes.length ? ` (${move.causes.join(", ")})` : "");
  };
  const causes = [...new Set(diff.moves.flatMap((/** @type {any} */ move) => move.causes))];
  return h("section", { class: "panel side", "aria-label": "Two answers compared" },
    h("h2", { tabindex: "-1" }, diff.same ? "Both answers are the same" : `Compared: what changed is ${(causes.length ? causes : diff.causes).join(", ") || "unknown"}`),
    h("div", { class: "pair" },
      h("div", {}, h("h3", {}, left), list(then)),
      svg("svg", { class: "lines", viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, lines),
      h("div", {}, h("h3", {}, right), list(now))),
    diff.inputs.length ? h("details", {}, h("summary", {}, diff.inputs.length === 1 ? "1 input differs" : `${diff.inputs.length} inputs differ`), h("ul", {}, diff.inputs.map((/** @type {any} */ each) =>
      h("li", {}, `${each.path}: ${brief(each.was)} → ${brief(each.now)}`)))) : null,
    diff.moves.length ? h("details", { open: true }, h("summary", {}, "Every move and its cause"), h("ul", {}, diff.moves.map(cause))) : null);
}

/** @param {number | null} value */
const number = (value) => (value === null ? "none" : value.toFixed(4));
/** @param {any} value */
const brief = (value) => { const text = JSON.stringify(value) ?? "none"; return text.length > 80 ? `${text.slice(0, 79)}…` : text; };
