// @ts-check
// Ask, why, why not, what if, and the block that a prompt would get.

import { answer, funnel, h, svg } from "./drawing.js";
import { problem, say } from "./notices.js";
import { get, may, note, post, receiptText, to, toMemory } from "./server.js";
import { sliders } from "./sliders.js";

const FIELDS = ["recipe", "mode", "agent", "user", "session", "tags", "as_of", "known_at", "where"];
/** Where why_not's stages stand in the funnel. @type {Record<string, string>} */
const STAGES = { trust: "hidden", reflections: "hidden", archived: "hidden", expired: "hidden", superseded: "hidden", lanes: "fuse", score: "fuse" };
/** The last answer: other views link to it. @type {{reply: any, values: string} | null} */
export let last = null;

/** The request of the address. @param {URLSearchParams} values */
export function requestOf(values) {
  /** @type {Record<string, any>} */
  const body = { query: values.get("q") ?? "" };
  for (const name of FIELDS) if (values.get(name)) body[name] = values.get(name);
  if (body.tags) body.tags = body.tags.split(",").map((/** @type {string} */ tag) => tag.trim()).filter(Boolean);
  if (body.where) {
    try { body.where = JSON.parse(body.where); } catch {
      throw Object.assign(new Error("the filter is not JSON"), { hint: 'for example {"kind": "fact"}' });
    }
  }
  if (values.get("limit")) body.limit = Number(values.get("limit"));
  return body;
}

/** @param {HTMLElement} main @param {string[]} rest @param {URLSearchParams} values */
export async function askView(main, rest, values) {
  const names = (await get("recipes")).recipes.map((/** @type {any} */ each) => each.name);
  main.append(questionForm(values, names));
  if (!values.get("q")) {
    main.append(await welcome());
    return;
  }
  const out = h("div", { class: "asked" });
  main.append(out);
  try {
    const body = requestOf(values);
    const reply = await post("recall", { ...body, detail: "drawn" });
    last = { reply, values: values.toString() };
    out.append(new Asked(body, reply, values).element);
    say(reply.drawing.title);
  } catch (error) {
    out.append(problem(error));
    if (/** @type {any} */ (error).status === 401) throw error;
  }
}

/** What there is, for who comes for the first time. */
async function welcome() {
  const status = await get("status");
  if (!status.records) {
    return h("div", { class: "panel empty" }, h("h2", {}, "Nothing is remembered yet"),
      h("p", {}, may("remember") ? [h("a", { href: "#/add" }, "Add a memory"), ", or import a file: "] : "Import a file: ",
        h("code", {}, "memoriter import notes.md")));
  }
  return h("div", { class: "panel empty" }, h("h2", {}, `${status.records} memories`),
    h("p", {}, "Type a question. Every hit shows why it was found, every number adds up, and every number can be changed."));
}

/** @param {URLSearchParams} values @param {string[]} recipes */
function questionForm(values, recipes) {
  /** @param {string} name @param {string} title @param {Record<string, any>} [more] */
  const field = (name, title, more = {}) => h("label", {}, h("span", {}, title),
    h("input", { name, value: values.get(name) ?? "", autocomplete: "off", ...more }));
  const recipe = h("select", { name: "recipe" }, ["", ...recipes].map((name) =>
    h("option", { value: name, selected: (values.get("recipe") ?? "") === name }, name || "the default")));
  const filled = ["limit", ...FIELDS].some((name) => values.get(name));
  return h("form", { class: "question", role: "search", onsubmit: (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const sent = Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, String(value)]));
    const hash = to("ask", sent);
    if (hash === location.hash) window.dispatchEvent(new Event("hashchange"));
    else location.hash = hash;
  } },
    h("div", { class: "row" },
      h("label", { class: "grow" }, h("span", { class: "hide" }, "Question"),
        h("input", { name: "q", value: values.get("q") ?? "", placeholder: "What do you want to know?", type: "search", autocomplete: "off" })),
      h("button", { type: "submit" }, "Ask")),
    h("details", { open: filled }, h("summary", {}, "Recipe, filters, time, scope"),
      h("div", { class: "fields" },
        h("label", {}, h("span", {}, "Recipe"), recipe), field("mode", "Mode"), field("limit", "How many", { inputmode: "numeric", pattern: "[0-9]*" }),
        field("agent", "Agent"), field("user", "User"), field("session", "Session"), field("tags", "Tags, with commas"),
        field("as_of", "As of (what was valid then)", { placeholder: "2026-03-01" }),
        field("known_at", "Known at (the memory as it was)", { placeholder: "2026-03-01" }),
        field("where", "Filter", { placeholder: '{"kind": "fact"}' }))));
}

/** An answer on the page with its panels. */
class Asked {
  /** @param {any} body @param {any} reply @param {URLSearchParams} values */
  constructor(body, reply, values) {
    this.body = body;
    this.first = reply;
    this.now = reply;
    this.values = values;
    this.hits = h("section", { class: "hits", "aria-label": "Hits" });
    this.steps = h("div");
    this.compared = h("div");
    this.element = h("div", { class: "columns" }, h("div", { class: "main" }, this.compared, this.hits), this.panels());
    this.draw();
  }

  panels() {
    const recipe = this.first.plan.recipe;
    /** @param {string} name @param {string} title @param {() => any} make */
    const panel = (name, title, make) => {
      const box = h("details", { class: "panel", name: null, "data-panel": name }, h("summary", {}, title));
      const fill = async () => {
        if (!box.open || box.childElementCount > 1) return;
        try { box.append(await make()); } catch (error) { box.append(problem(error)); }
      };
      box.addEventListener("toggle", fill);
      return box;
    };
    const steps = h("details", { class: "panel", open: true }, h("summary", {}, "How it was found"), this.steps);
    const whatIf = panel("what-if", "What if", async () => {
      const { numbers } = await get(`recipes/${encodeURIComponent(recipe)}`);
      const made = sliders(numbers, JSON.parse(this.values.get("o") ?? "{}"), (changes) => this.change(changes));
      this.spelled = made.spelled;
      return made.element;
    });
    const whyNot = panel("why-not", "Why not", () => this.whyNot());
    const block = panel("block", "What a prompt would get", () => this.block());
    const receipt = panel("receipt", "Receipt", () => this.receipt());
    if (this.values.get("o")) { whatIf.open = true; this.change(JSON.parse(this.values.get("o") ?? "{}")); }
    if (this.values.get("not")) whyNot.open = true;
    return h("aside", { "aria-label": "About this answer" }, steps, whatIf, whyNot, block, receipt);
  }

  /** Draw the present answer; hits that moved say from where. @param {string} [stopped] */
  draw(stopped) {
    const was = new Map(this.first.drawing.hits.map((/** @type {any} */ hit) => [hit.id, hit.rank]));
    const changed = this.now !== this.first;
    this.hits.replaceChildren(answer(this.now.drawing, (hit) => ({
      open: this.values.get("hit") === hit.id,
      ontoggle: (/** @type {boolean} */ open) => {
        if (open || this.values.get("hit") === hit.id) { this.values.set("hit", open ? hit.id : ""); note({ hit: open ? hit.id : "" }); }
      },
      note: changed && was.get(hit.id) !== hit.rank
        ? h("span", { class: "moved" }, was.has(hit.id) ? `was #${was.get(hit.id)}` : "new") : null,
      actions: h("a", { href: toMemory(hit.id) }, "its life"),
    })));
    this.steps.replaceChildren(funnel(this.now.drawing.funnel, stopped));
  }

  /** Change numbers of the recipe: the server scores the same candidates again. @param {Record<string, number>} overrides */
  async change(overrides) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const empty = !Object.keys(overrides).length;
    note({ o: empty ? "" : JSON.stringify(overrides) });
    try {
      const reply = empty ? this.first : await post("what-if", { receipt: this.first.receipt, overrides, detail: "drawn" });
      if (turn !== this.turn) return;
      this.now = reply;
      this.compared.replaceChildren();
      this.spelled?.(empty ? null : reply.spelled);
      this.draw();
      say(empty ? "the recipe as it was" : `${reply.drawing.title}`);
    } catch (error) {
      if (turn === this.turn) this.compared.replaceChildren(problem(error));
    }
  }

  whyNot() {
    const field = h("input", { name: "id", required: true, value: this.values.get("not") ?? "", autocomplete: "off", list: "ids" });
    const out = h("div");
    const run = async () => {
      note({ not: field.value, apply: this.values.get("apply") });
      out.replaceChildren(h("p", { class: "quiet" }, "Looking …"));
      try {
        const why = await post("why-not", { receipt: this.now.receipt, id: field.value });
        const stage = STAGES[why.stage] ?? why.stage;
        this.draw(stage);
        out.replaceChildren(this.obstacle(why));
        say(why.reason);
        const linked = this.values.get("apply") && why.change && Object.keys(why.change).length;
        this.values.delete("apply");
        if (linked) await this.apply(why.change);
      } catch (error) { out.replaceChildren(problem(error)); }
    };
    const ids = h("datalist", { id: "ids" });
    post("browse", { limit: 50 }).then((page) => ids.append(...page.records.map((/** @type {any} */ each) =>
      h("option", { value: each.id }, each.text.slice(0, 60))))).catch(() => null);
    const form = h("form", { onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); run(); } },
      h("label", {}, h("span", {}, "The id of a memory that you expected"), field), ids,
      h("button", { type: "submit" }, "Why is it missing?"));
    if (field.value) run();
    return h("div", {}, form, out);
  }

  /** @param {any} why */
  obstacle(why) {
    const lanes = Object.entries(why.lanes ?? {});
    const list = lanes.length ? h("ul", {}, lanes.map(([lane, reason]) => h("li", {}, h("b", {}, lane), `: ${reason}`))) : null;
    if (why.stage === "hit") return h("p", { class: "good" }, why.reason);
    const change = why.change && Object.keys(why.change).length ? why.change : null;
    return h("div", { class: "obstacle" },
      h("p", {}, "Stopped at ", h("b", { "data-stage": why.stage }, why.stage), `: ${why.reason}`), list,
      change
        ? [h("p", {}, `The smallest change that lets it in${why.rank_then ? `, at rank ${why.rank_then}` : ""}:`),
          h("pre", { tabindex: "0" }, JSON.stringify(change, null, 1)),
          h("button", { type: "button", onclick: () => this.apply(change) }, "Apply it and compare")]
        : h("p", {}, "No change of the call lets it in."));
  }

  /** Ask with a change, and show both answers. @param {any} change */
  async apply(change) {
    const { scope, overrides, ...rest } = change;
    const body = { ...this.body, ...rest };
    if (overrides) body.overrides = { ...(this.body.overrides ?? {}), ...overrides };
    if (scope) { for (const name of ["agent", "user", "session"]) delete body[name]; Object.assign(body, scope); }
    for (const [name, value] of Object.entries(body)) if (value === null) delete body[name];
    try {
      const before = this.now;
      // At the same moment, so that nothing but the change makes a difference.
      const after = await post("recall", { now: this.first.plan.steps[0].now, ...body, detail: "drawn" });
      const diff = await post("diff", { before: before.receipt, after: after.receipt });
      this.compared.replaceChildren(sideBySide(before.drawing, after.drawing, diff, "before", "with the change"));
      this.now = after;
      this.draw();
      note({ apply: 1 });
      this.compared.querySelector("h2")?.focus();
      say("both answers are shown");
    } catch (error) { this.compared.replaceChildren(problem(error)); }
  }

  block() {
    const tokens = h("input", { type: "number", min: 50, max: 100000, step: 50, value: 500, name: "budget" });
    const out = h("div");
    const run = async () => {
      try {
        const block = await post("context", { ...this.body, budget_tokens: Number(tokens.value) });
        out.replaceChildren(
          h("p", {}, h("b", {}, block.tokens), ` tokens, ${block.chars} characters`,
            block.left_out.length ? `, ${block.left_out.length} left out by the budget` : "",
            block.not_relevant?.length ? `, ${block.not_relevant.length} not relevant` : ""),
          h("pre", { class: "block", tabindex: "0", dir: "auto" }, block.text));
      } catch (error) { out.replaceChildren(problem(error)); }
    };
    run();
    return h("div", {}, h("form", { onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); run(); } },
      h("label", {}, h("span", {}, "Budget in tokens"), tokens), h("button", { type: "submit" }, "Show")), out);
  }

  receipt() {
    return h("div", {},
      h("p", {}, "Every input and number of this answer, as a file that anybody can verify without this store."),
      h("p", {}, h("code", { class: "digest" }, this.now.receipt)),
      h("p", { class: "actions" },
        h("button", { type: "button", onclick: async () => download(`receipt-${this.now.receipt.slice(0, 12)}.json`, await receiptText(this.now.receipt)) }, "Download"),
        h("a", { href: to("prove", { of: this.now.receipt }) }, "Verify and replay it")));
  }
}

/** @param {string} name @param {string} text */
function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

const ROW = 46;

/** Two answers beside each other, moves joined by lines, each with its cause.
 * @param {any} before @param {any} after @param {any} diff @param {string} left @param {string} right */
export function sideBySide(before, after, diff, left, right) {
  const then = before.hits, now = after.hits;
  const at = new Map(now.map((/** @type {any} */ hit, /** @type {number} */ n) => [hit.id, n]));
  const moved = new Map(diff.moves.map((/** @type {any} */ move) => [move.id, move]));
  const height = ROW * Math.max(then.length, now.length, 1);
  /** @param {any[]} hits */
  const list = (hits) => h("ol", {}, hits.map((hit) => h("li", { class: moved.has(hit.id) ? "moved" : "" },
    h("b", {}, hit.rank), " ", h("span", {}, hit.text.map((/** @type {any} */ piece) => piece.text).join("").slice(0, 90)))));
  const lines = then.flatMap((/** @type {any} */ hit, /** @type {number} */ n) => at.has(hit.id)
    ? [svg("line", { x1: 0, x2: 100, y1: ROW * (n + 0.5), y2: ROW * ((at.get(hit.id) ?? 0) + 0.5), class: moved.has(hit.id) ? "moved" : "" })] : []);
  /** @param {any} move */
  const cause = (move) => {
    const parts = move.parts.map((/** @type {any} */ part) => `${part.name} ${number(part.was)} → ${number(part.now)}`).join(", ");
    const way = move.was === null ? `entered at #${move.now}` : move.now === null ? `left from #${move.was}`
      : move.was === move.now ? `stays #${move.now}` : `#${move.was} → #${move.now}`;
    return h("li", {}, h("b", {}, move.id), ` ${way}`, parts ? ` by ${parts}` : "", move.causes.length ? ` (${move.causes.join(", ")})` : "");
  };
  return h("section", { class: "panel side", "aria-label": "Two answers compared" },
    h("h2", { tabindex: "-1" }, diff.same ? "Both answers are the same" : `Compared: what changed is ${diff.causes.join(", ") || "unknown"}`),
    h("div", { class: "pair" },
      h("div", {}, h("h3", {}, left), list(then)),
      svg("svg", { class: "lines", viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, lines),
      h("div", {}, h("h3", {}, right), list(now))),
    diff.inputs.length ? h("details", {}, h("summary", {}, `${diff.inputs.length} inputs differ`), h("ul", {}, diff.inputs.map((/** @type {any} */ each) =>
      h("li", {}, `${each.path}: ${brief(each.was)} → ${brief(each.now)}`)))) : null,
    diff.moves.length ? h("details", { open: true }, h("summary", {}, "Every move and its cause"), h("ul", {}, diff.moves.map(cause))) : null);
}

/** @param {number | null} value */
const number = (value) => (value === null ? "none" : value.toFixed(4));
/** @param {any} value */
const brief = (value) => { const text = JSON.stringify(value) ?? "none"; return text.length > 80 ? `${text.slice(0, 79)}…` : text; };

/** Where the last question is, to go back to it. */
export const lastAsked = () => (last ? `#/ask?${last.values}` : null);
