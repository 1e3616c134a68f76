// @ts-check
// Ask, why, why not, what if, and the block that a prompt would get.

import { separation, sideBySide, textOf } from "./compare.js";
import { answer, funnel, h } from "./drawing.js";
import { memories, problem, say } from "./notices.js";
import { nameMemories } from "./records.js";
import { call, get, may, note, post, receiptText, to, toMemory } from "./server.js";
import { sliders } from "./sliders.js";
import { parsed, State, whole } from "./state.js";
import { whyNot } from "./why_not.js";

const FIELDS = ["recipe", "mode", "agent", "user", "session", "tags", "as_of", "known_at", "where"];
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
  main.append(h("h1", { class: "hide" }, "Ask"), questionForm(values, names));
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
export class Asked {
  /** @param {State} state @param {URLSearchParams} values */
  constructor(state, values) {
    this.state = state;
    this.first = state.first;
    this.now = state.first;
    this.values = values;
    this.turn = 0;
    /** Draws a panel again, by its name. @type {Record<string, () => void>} */
    this.again = {};
    /** The hits whose explanation is open. @type {Set<string>} */
    this.opened = new Set([values.get("hit") ?? "", ...parsed(values, "hits", [])].filter(Boolean));
    this.asking = h("p", { class: "asking", role: "status", hidden: true }, "Asking …");
    this.hits = h("section", { class: "hits", "aria-label": "Hits" });
    this.steps = h("div");
    this.compared = h("div");
    const panels = this.panels();
    this.element = h("div", { class: "columns" }, h("div", { class: "main" }, this.asking, this.jumps(panels), this.compared, this.hits), panels);
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
    const panels = [["what-if", "What if", () => this.whatIf()], ["why-not", "Why not", () => whyNot(this)],
      ["versus", "Compare two hits", () => this.twoHits()], ["block", "What a prompt would get", () => this.block()],
      ["receipt", "Receipt", () => this.receipt()]];
    return h("aside", { "aria-label": "About this answer" },
      panels.map(([name, title, make]) => this.panel(name, title, make, open.has(name) || (name === "why-not" && open.has("not")))), steps);
  }

  /** Where the panels stand below the hits: buttons that lead to them. @param {HTMLElement} panels */
  jumps(panels) {
    const lead = (/** @type {any} */ box) => { box.open = true; box.scrollIntoView(); box.firstChild.focus({ preventScroll: true }); };
    return h("p", { class: "jumps actions" }, [...panels.querySelectorAll("[data-panel]")].slice(0, 3).map((box) =>
      h("button", { type: "button", class: "plain", onclick: () => lead(box) }, box.firstChild?.textContent)));
  }

  /** A panel that is filled when it opens, and again when the answer changes.
   * @param {string} name @param {string} title @param {() => any} make @param {boolean} open */
  panel(name, title, make, open) {
    const inner = h("div");
    const box = h("details", { class: "panel", "data-panel": name, open }, h("summary", {}, title), inner);
    let turn = 0, filled = false, arrived = name !== "why-not" || !this.values.get("not");
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
      if (!arrived) { arrived = true; box.scrollIntoView({ block: "nearest" }); } // a link led to this panel
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
    this.hits.setAttribute("aria-busy", "true");
    this.asking.hidden = false;
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
    this.hits.removeAttribute("aria-busy");
    this.asking.hidden = true;
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
      open: this.opened.has(hit.id),
      ontoggle: (/** @type {boolean} */ open) => this.toggled(hit.id, open),
      note: changed && was.get(hit.id) !== hit.rank
        ? h("span", { class: "moved" }, was.has(hit.id) ? `was #${was.get(hit.id)}` : "new") : null,
      actions: h("a", { href: toMemory(hit.id) }, "its life"),
    })), ...(changed ? this.left() : []));
    nameMemories(this.hits);
    this.steps.replaceChildren(funnel(this.now.drawing.funnel));
  }

  /** An explanation was opened or closed: the address keeps those that are open. @param {string} id @param {boolean} open */
  toggled(id, open) {
    if (open) { this.opened.add(id); nameMemories(this.hits); } else this.opened.delete(id);
    const [one, ...others] = this.opened;
    this.keep({ hit: others.length ? "" : one, hits: others.length ? JSON.stringify([one, ...others]) : "" });
  }

  /** The hits of the first answer that are in the present one no more. */
  left() {
    const ids = new Set(this.now.drawing.hits.map((/** @type {any} */ hit) => hit.id));
    const gone = this.first.drawing.hits.filter((/** @type {any} */ hit) => !ids.has(hit.id));
    return gone.length ? [h("section", { class: "gone", "aria-label": "What left" }, h("h3", {}, "No longer in the answer"),
      h("ul", {}, gone.map((/** @type {any} */ hit) => h("li", { "data-gone": hit.id }, h("span", { class: "moved" }, `left, was #${hit.rank}`), " ", h("a", { href: toMemory(hit.id) }, textOf(hit, 90))))))] : [];
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

/** @param {string} name @param {string} text */
function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Nobody who signs in later is to see what was asked before. */
export const forgetLast = () => { last = null; };

/** Why a memory was in the last answer, or was not: a link; null before the first. @param {string} id */
export function lastWhy(id) {
  if (!last) return null;
  const inside = last.hits().some((hit) => hit.id === id);
  return h("a", { href: to("ask", { ...Object.fromEntries(last.values), hit: inside ? id : "", not: inside ? "" : id }) },
    inside ? "Why was it in the last answer?" : "Why was it not in the last answer?");
}
