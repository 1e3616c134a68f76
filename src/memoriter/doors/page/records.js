// @ts-check
// Records as people read them: in a list, by their texts, with what changed between two versions.

import { h } from "./drawing.js";
import { post, toMemory } from "./server.js";

const SHOWN = 280, MOST = 50;
/** @param {string} text */
export const brief = (text) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
/** @param {unknown} value */
export const plain = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value).replace(/(\d\dT\d\d:\d\d):\d\d(\.\d+)?Z$/, "$1").replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)$/, "$1 $2 UTC"));
/** @param {string | undefined} time */
const day = (time) => (time ?? "").slice(0, 10);
/** How many of something. @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** The text that people read: of a reflection its summary, for its text is data. @param {any} record @returns {string} */
export const readable = (record) => (record.kind === "reflection" ? record.summary ?? record.text : record.text);

/** @param {any} record @param {string} [knownAt] the time at which the list is shown */
export function line(record, knownAt) {
  return h("li", { class: "record", "data-id": record.id },
    h("p", { class: "text", dir: "auto" }, record.title ? [h("b", {}, brief(record.title)), " "] : null, brief(readable(record))),
    h("p", { class: "about" }, h("a", { href: toMemory(record.id, knownAt) }, brief(record.id)), h("span", {}, day(record.created)), h("span", {}, record.kind),
      record.agent ? h("span", {}, `agent ${record.agent}`) : null,
      (record.tags ?? []).map((/** @type {string} */ tag) => h("span", {}, `#${tag}`)),
      record.trust && record.trust !== "learned" ? h("span", { class: record.trust === "external" ? "bad" : "" }, `trust ${record.trust}`) : null));
}

/** The texts of the first records of a list, by id. @param {string[]} ids @returns {Promise<Map<string, string>>} */
export async function textsOf(ids) {
  const asked = [...new Set(ids)].slice(0, MOST);
  if (!asked.length) return new Map();
  const { records } = await post("browse", { where: { id: { in: asked } }, limit: MOST, expired: "show", archived: "show" });
  return new Map(records.map((/** @type {any} */ record) => [record.id, readable(record)]));
}

/** A link to a memory, with its text if that is known. @param {string} id @param {string | undefined} text */
export const named = (id, text) => [h("a", { href: toMemory(id) }, brief(id)), text ? [" ", h("span", { class: "text", dir: "auto" }, brief(text))] : null];

/** Put the texts of memories beside the ids that pictures show. @param {HTMLElement} drawn */
export async function nameMemories(drawn) {
  const places = /** @type {HTMLElement[]} */ ([...drawn.querySelectorAll("[data-memory]:not(.named)")]);
  try {
    const texts = await textsOf(places.map((place) => place.dataset.memory ?? ""));
    for (const place of places) {
      const id = place.dataset.memory ?? "";
      place.classList.add("named");
      if (texts.has(id)) place.replaceChildren(h("span", {}, named(id, texts.get(id))));
    }
  } catch { /* the ids are there already */ }
}

/** What a version changed besides its text: `tags: a → b`. @param {any} before @param {any} after */
export function changes(before, after) {
  const shown = (/** @type {unknown} */ value) => (value === undefined || value === null || value === "" ? "nothing" : Array.isArray(value) ? value.join(", ") || "nothing" : plain(value));
  return Object.keys({ ...before, ...after })
    .filter((key) => !["row", "position", "committed"].includes(key) && JSON.stringify(before[key]) !== JSON.stringify(after[key]))
    .map((key) => (key === "text" ? "text" : `${key}: ${shown(before[key])} → ${shown(after[key])}`));
}

/** A version's text: from shortly before its first difference to the version before it, and whole to open.
 * @param {string} text @param {string} [before] */
export function versionText(text, before) {
  if (text.length <= SHOWN) return h("p", { class: "text", dir: "auto" }, text);
  let same = 0;
  while (before !== undefined && same < text.length && text[same] === before[same]) same += 1;
  const from = before === undefined || before === text || same < SHOWN ? 0 : same - SHOWN / 4;
  return [h("p", { class: "text", dir: "auto" }, from ? "…" : "", brief(text.slice(from))),
    h("details", {}, h("summary", {}, "The whole text"), h("p", { class: "text", dir: "auto" }, text))];
}
