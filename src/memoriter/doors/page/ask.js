// @ts-check
// Ask, why, why not, what if, and the block that a prompt would get.

import { answer, funnel, h, svg } from "./drawing.js";
import { memories, problem, say } from "./notices.js";
import { call, get, may, note, post, receiptText, to, toMemory } from "./server.js";
import { sliders } from "./sliders.js";
import { parsed, State, whole } from "./state.js";

const FIELDS = ["recipe", "mode", "agent", "user", "session", "tags", "as_of", "known_at", "where"];
/** Where why_not's stages stand in the funnel. @type {Record<string, string>} */
const STAGES = { trust: "hidden", reflections: "hidden", archived: "hidden", expired: "hidden", superseded: "hidden", lanes: "fuse", score: "fuse" };
/** The last answer and its address: other views link to it. @type {{values: URLSearchParams, hits: () => any[]} | null} */
let last = null;

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
  if (values.get("limit")) body.limit = whole(values, "limit", 0);
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
    const asked = new Asked(new State(body, reply, values), values);
    last = { values, hits: () => asked.now.drawing.hits };
    await asked.show();
    out.append(asked.element);
  } catch (error) {
    out.append(problem(error));
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
  return h("div", { class: "panel empty" }, h("h2", {}, memories(status.records)),
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
  /** @param {State} state @param {URLSearchParams} values */
  constructor(state, values) {
    this.state = state;
    this.first = state.first;
    this.now = state.first;
    this.values = values;
    this.turn = 0;
    /** Draws a panel again, by its name. @type {Record<string, () => void>} */
    this.again = {};
    this.hits = h("section", { class: "hits", "aria-label": "Hits" });
    this.steps = h("div");
    this.compared = h("div");
    this.element = h("div", { class: "columns" }, h("div", { class: "main" }, this.compared, this.hits), this.panels());
  }

  /** Keep values in the address, unless another view has it by now. @param {Record<string, any>} changes */
  keep(changes) {
    for (const [key, value] of Object.entries(changes)) if (value) this.values.set(key, value); else this.values.delete(key);
    if (this.element.isConnected) note(changes);
  }

  panels() {
    const open = new Set((this.values.get("open") ?? "").split("."));
    if (this.values.get("o")) open.add("what-if");
    for (const name of ["not", "versus"]) if (this.values.get(name)) open.add(name);
    const steps = h("details", { class: "panel", open: true }, h("summary", {}, "How it was found"), this.steps);
    /** @type {[string, string, () => any][]} */
    const panels = [["what-if", "What if", () => this.whatIf()], ["why-not", "Why not", () => this.whyNot()],
      ["versus", "Compare two hits", () => this.twoHits()], ["block", "What a prompt would get", () => this.block()],
      ["receipt", "Receipt", () => this.receipt()]];
    return h("aside", { "aria-label": "About this answer" }, steps,
      panels.map(([name, title, make]) => this.panel(name, title, make, open.has(name) || (name === "why-not" && open.has("not")))));
  }

  /** A panel that is filled when it opens, and again when the answer changes.
   * @param {string} name @param {string} title @param {() => any} make @param {boolean} open */
  panel(name, title, make, open) {
    const inner = h("div");
    const box = h("details", { class: "panel", "data-panel": name, open }, h("summary", {}, title), inner);
    let turn = 0, filled = false;
    const fill = async () => {
      const own = ++turn;
      filled = box.open;
      if (!filled) { inner.replaceChildren(); inner.removeAttribute("aria-busy"); return; }
      if (!inner.childElementCount) inner.append(h("p", { class: "quiet" }, "Loading …"));
      let made;
      inner.setAttribute("aria-busy", "true");
      try { made = await make(); } catch (error) { made = problem(error); }
      if (own !== turn) return;
      inner.replaceChildren(made);
      inner.removeAttribute("aria-busy");
    };
    this.again[name] = fill;
    box.addEventListener("toggle", () => {
      if (box.open && !filled) fill();
      if (box.isConnected) this.keep({ open: [...this.element.querySelectorAll("[data-panel][open]")].map((each) => each.dataset.panel).join(".") });
    });
    return box;
  }

  /** Ask for the answer of the state and draw it; `from` is the panel that changed the state and stays as it is. @param {string} [from] */
  async show(from) {
    const own = ++this.turn;
    this.keep(this.state.noted);
    try {
      const { now, before } = await this.state.answers();
      const diff = before && await post("diff", { before: before.receipt, after: now.receipt });
      if (own !== this.turn) return;
      this.now = now;
      this.compared.replaceChildren(...(diff ? [this.comparison(before, diff)] : []));
      say(now.drawing.title);
    } catch (error) {
      if (own !== this.turn) return;
      this.compared.replaceChildren(problem(error));
    }
    this.draw();
    this.spelled?.(this.now.spelled ?? null);
    this.reach?.();
    for (const [name, fill] of Object.entries(this.again)) if (name !== from) fill();
  }

  /** Both answers, and the way back. @param {any} before @param {any} diff */
  comparison(before, diff) {
    const side = sideBySide(before.drawing, this.now.drawing, diff, "before", "with the change");
    side.append(h("p", { class: "actions" }, h("button", { type: "button", onclick: () => { this.state.change = {}; this.show(); } }, "Take the change back"),
      h("a", { href: to("prove", { of: before.receipt, and: this.now.receipt }) }, "Prove both")));
    return side;
  }

  /** Draw the present answer; hits that moved say from where. */
  draw() {
    const was = new Map(this.first.drawing.hits.map((/** @type {any} */ hit) => [hit.id, hit.rank]));
    const changed = this.now !== this.first;
    this.hits.replaceChildren(answer(this.now.drawing, (hit) => ({
      open: this.values.get("hit") === hit.id,
      ontoggle: (/** @type {boolean} */ open) => {
        if (open || this.values.get("hit") === hit.id) this.keep({ hit: open ? hit.id : "" });
      },
      note: changed && was.get(hit.id) !== hit.rank
        ? h("span", { class: "moved" }, was.has(hit.id) ? `was #${was.get(hit.id)}` : "new") : null,
      actions: h("a", { href: toMemory(hit.id) }, "its life"),
    })));
    this.steps.replaceChildren(funnel(this.now.drawing.funnel));
  }

  async whatIf() {
    const recipe = this.first.plan.recipe;
    const { numbers } = await call("recipe", { recipe });
    const made = sliders(numbers, this.state.overrides, (moved) => { this.state.move(moved); this.show("what-if"); },
      () => { this.state.unmove(); this.show("what-if"); });
    this.spelled = made.spelled;
    made.spelled(this.now.spelled ?? null);
    /** The others decide how far a slider goes: the server says it again after each move. */
    this.reach = async () => {
      const { now, state } = this;
      try {
        const { numbers } = await call("recipe", { recipe, overrides: state.overrides });
        if (now === this.now) made.reach(numbers);
      } catch { /* the answer says what is refused */ }
    };
    await this.reach();
    return made.element;
  }

  async whyNot() {
    const field = h("input", { name: "id", required: true, value: this.values.get("not") ?? "", autocomplete: "off", list: "ids" });
    const out = h("div");
    const run = async () => {
      this.keep({ not: field.value });
      out.replaceChildren(h("p", { class: "quiet" }, "Looking …"));
      const shown = this.now;
      try {
        const why = await post("why-not", { receipt: shown.receipt, id: field.value });
        if (shown !== this.now) return;
        this.steps.replaceChildren(funnel(shown.drawing.funnel, STAGES[why.stage] ?? why.stage));
        out.replaceChildren(this.obstacle(why));
        say(why.reason);
      } catch (error) { out.replaceChildren(problem(error)); }
    };
    const ids = h("datalist", { id: "ids" });
    post("browse", { limit: 50 }).then((page) => ids.append(...page.records.map((/** @type {any} */ each) =>
      h("option", { value: each.id }, each.text.slice(0, 60))))).catch(() => null);
    const form = h("form", { onsubmit: async (/** @type {Event} */ event) => { event.preventDefault(); await run(); out.scrollIntoView({ block: "nearest" }); } },
      h("label", {}, h("span", {}, "The id of a memory that you expected"), field), ids,
      h("button", { type: "submit" }, "Why is it missing?"));
    if (field.value) await run();
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
    this.state.apply(change);
    await this.show();
    this.compared.querySelector("h2")?.focus();
  }

  /** Two hits of the answer that is shown, and what separates them. */
  twoHits() {
    const hits = this.now.drawing.hits;
    if (hits.length < 2) return h("p", { class: "quiet" }, "It takes two hits to compare.");
    /** @type {string[]} */
    const linked = parsed(this.values, "versus", []).filter((/** @type {string} */ id) => hits.some((/** @type {any} */ hit) => hit.id === id));
    const [one, two] = linked.length === 2 ? linked : [hits[0].id, hits[1].id];
    /** @param {string} title @param {string} chosen */
    const pick = (title, chosen) => h("label", {}, h("span", {}, title), h("select", {}, hits.map((/** @type {any} */ hit) =>
      h("option", { value: hit.id, selected: hit.id === chosen }, `#${hit.rank} ${textOf(hit, 60)}`))));
    const first = pick("The first", one), second = pick("The second", two);
    const out = h("div");
    const run = async () => {
      const [id, versus] = [first, second].map((each) => each.querySelector("select").value);
      this.keep({ versus: JSON.stringify([id, versus]) });
      try {
        const reply = await post("explain", { receipt: this.now.receipt, id, versus });
        out.replaceChildren(separation(reply.versus));
        say(reply.versus.summary);
      } catch (error) { out.replaceChildren(problem(error)); }
    };
    run();
    return h("div", {}, h("form", { onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); run(); } },
      first, second, h("button", { type: "submit" }, "Compare")), out);
  }

  async block() {
    const tokens = h("input", { type: "number", min: 1, step: 1, required: true, value: whole(this.values, "budget", 500), name: "budget" });
    const out = h("div");
    const run = async () => {
      out.replaceChildren(h("p", { class: "quiet" }, "Loading …"));
      try {
        const block = await post("context", { ...this.state.request, overrides: this.state.overrides, budget_tokens: Number(tokens.value) });
        out.replaceChildren(
          h("p", {}, h("b", {}, block.tokens), ` tokens, ${block.chars} characters`,
            block.left_out.length ? `, ${block.left_out.length} left out by the budget` : "",
            block.not_relevant?.length ? `, ${block.not_relevant.length} not relevant` : ""),
          ...(block.status === "degraded" ? [h("p", { class: "bad" }, "The answer is degraded: what did not run is named above.")] : []),
          ...(block.remarks ?? []).map((/** @type {string} */ each) => h("p", { class: "quiet remark" }, each)),
          h("pre", { class: "block", tabindex: "0", dir: "auto" }, block.text));
      } catch (error) { out.replaceChildren(problem(error)); }
    };
    await run();
    return h("div", {}, h("form", { onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); this.keep({ budget: tokens.value }); run(); } },
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

/** @param {any} hit @param {number} most */
const textOf = (hit, most) => hit.text.map((/** @type {any} */ piece) => piece.text).join("").slice(0, most);

/** What separates two hits, part by part. @param {any} versus */
function separation(versus) {
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
  return h("section", { class: "panel side", "aria-label": "Two answers compared" },
    h("h2", { tabindex: "-1" }, diff.same ? "Both answers are the same" : `Compared: what changed is ${diff.causes.join(", ") || "unknown"}`),
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

/** Nobody who signs in later is to see what was asked before. */
export const forgetLast = () => { last = null; };

/** Why a memory was in the last answer, or was not: a link; null before the first. @param {string} id */
export function lastWhy(id) {
  if (!last) return null;
  const inside = last.hits().some((hit) => hit.id === id);
  return h("a", { href: to("ask", { ...Object.fromEntries(last.values), hit: inside ? id : "", not: inside ? "" : id }) },
    inside ? "Why was it in the last answer?" : "Why was it not in the last answer?");
}
