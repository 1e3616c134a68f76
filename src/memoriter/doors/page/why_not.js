// @ts-check
// Why a memory is not in the answer, and the smallest change that lets it in.

import { funnel, h } from "./drawing.js";
import { problem, say } from "./notices.js";
import { brief, readable } from "./records.js";
import { call, post } from "./server.js";

/** Where the stages of a why-not stand in the funnel. @type {Record<string, string>} */
const STAGES = { trust: "hidden", reflections: "hidden", archived: "hidden", expired: "hidden", superseded: "hidden", lanes: "fuse", score: "fuse" };
const OFFERED = 50, LIKELY = 8;
/** A search by words that hides nothing: what is asked for here is often hidden. */
const ANY = { recipe: "lexical", limit: LIKELY, overrides: { "select.superseded": "show", "select.expired": "show", "select.archived": "show" } };

/** The panel. @param {import("./ask.js").Asked} asked */
export async function whyNot(asked) {
  const field = h("input", { name: "id", required: true, value: asked.values.get("not") ?? "", autocomplete: "off", list: "ids" });
  const out = h("div");
  const run = async () => {
    const shown = asked.now, wanted = field.value.trim();
    out.replaceChildren(h("p", { class: "quiet" }, "Looking …"));
    try {
      const found = await memoryOf(wanted);
      if (!found.id) { out.replaceChildren(choice(wanted, found.likely, (id) => { field.value = id; run(); })); return; }
      field.value = found.id;
      asked.keep({ not: found.id });
      const why = await post("why-not", { receipt: shown.receipt, id: found.id });
      if (shown !== asked.now) return;
      asked.steps.replaceChildren(funnel(shown.drawing.funnel, STAGES[why.stage] ?? why.stage));
      out.replaceChildren(obstacle(why, (change) => asked.apply(change)));
      say(why.reason);
    } catch (error) { out.replaceChildren(problem(error)); }
  };
  const ids = h("datalist", { id: "ids" });
  const offered = h("p", { class: "quiet" });
  post("browse", { limit: OFFERED }).then(({ records, total }) => {
    ids.append(...records.map((/** @type {any} */ each) => h("option", { value: each.id }, readable(each).slice(0, 60))));
    if (total > records.length) offered.append(`The list offers the newest ${records.length} of ${total}; words find any.`);
  }).catch(() => null);
  const form = h("form", { onsubmit: async (/** @type {Event} */ event) => { event.preventDefault(); await run(); out.scrollIntoView({ block: "nearest" }); } },
    h("label", {}, h("span", {}, "A memory that you expected: its id, or words of it"), field), ids, offered,
    h("button", { type: "submit" }, "Why is it missing?"));
  if (field.value) await run();
  return h("div", {}, form, out);
}

/** The memory with this id; else the one with this text, or those with its words. @param {string} wanted
 * @returns {Promise<{id: string | null, likely: any[]}>} */
async function memoryOf(wanted) {
  try { return { id: (await call("get", { id: wanted })).id, likely: [] }; } catch (error) {
    if (/** @type {any} */ (error).status !== 400) throw error; // not an answer about the id
  }
  const likely = (await post("recall", { ...ANY, query: wanted })).hits.map((/** @type {any} */ hit) => hit.record ?? hit);
  const [same, ...others] = likely.filter((/** @type {any} */ each) => each.text.trim() === wanted);
  return { id: same && !others.length ? same.id : null, likely };
}

/** @param {string} wanted @param {any[]} likely @param {(id: string) => void} take */
function choice(wanted, likely, take) {
  if (!likely.length) return problem({ message: `no memory has the id or the words “${brief(wanted)}”`, hint: "the view Memories lists all of them" });
  return h("div", {}, h("p", {}, "No memory has this id. Do you mean one of these?"),
    h("ul", { class: "likely" }, likely.map((each) => h("li", {}, h("button", { type: "button", class: "plain", onclick: () => take(each.id) }, brief(readable(each)))))));
}

/** @param {any} why @param {(change: any) => void} apply */
function obstacle(why, apply) {
  const lanes = Object.entries(why.lanes ?? {});
  const list = lanes.length ? h("ul", {}, lanes.map(([lane, reason]) => h("li", {}, h("b", {}, lane), `: ${reason}`))) : null;
  if (why.stage === "hit") return h("p", { class: "good" }, why.reason);
  const change = why.change && Object.keys(why.change).length ? why.change : null;
  return h("div", { class: "obstacle" },
    h("p", {}, "Stopped at ", h("b", { "data-stage": why.stage }, why.stage), `: ${why.reason}`), list,
    change
      ? [h("p", {}, `The smallest change that lets it in${why.rank_then ? `, at rank ${why.rank_then}` : ""}:`),
        h("pre", { tabindex: "0" }, JSON.stringify(change, null, 1)),
        h("button", { type: "button", onclick: () => apply(change) }, "Apply it and compare")]
      : h("p", {}, "No change of the call lets it in."));
}
