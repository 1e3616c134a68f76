// @ts-check
// Health: what waits, growth, copies, what is to be reviewed.

import { chip, h, into, svg } from "./drawing.js";
import { memories, problem, say } from "./notices.js";
import { brief, plain } from "./records.js";
import { get, may, post, to, toMemory } from "./server.js";

const ROWS = 12;

/** @type {Record<string, string>} */
const WORDS = {
  records: "memories", expired: "expired, hidden from answers", seq: "entries in the log", time: "the last commit", debt: "vectors still to compute",
  facts_owed: "turns whose facts are still to be read",
  segments: "index segments on disk", tail: "rows indexed in memory only", tenant: "tenant", unerased: "forgotten, still to be erased from files",
  unerased_since: "waiting for erasure since", compared: "memories compared for copies", repeat_groups: "groups of near-copies",
};

const CLAIMS = 100;
/** What the last upkeep did, for the view that is drawn after it. */
let upkeep = "";

/** @param {HTMLElement} main */
export async function healthView(main) {
  const [status, { claims }, ...counts] = await Promise.all([get("status", { repeats: "true" }), get("review", { limit: String(CLAIMS + 1) }),
    ...["kind", "trust", "agent"].map((by) => get("status", { by }))]);
  const out = h("div", {}, upkeep ? h("p", { class: "good" }, upkeep) : null);
  upkeep = "";
  const more = claims.length > CLAIMS ? `more than ${CLAIMS}` : null;
  const waits = [
    status.debt ? `Without a vector: ${memories(status.debt)}. Answers by meaning miss what has none; pending work computes it.` : null,
    status.unerased ? `Forgotten and hidden, but still in files: ${memories(status.unerased)}, since ${plain(status.unerased_since)}. Pending work erases what is left.` : null,
    claims.length ? `Against what is trusted more: ${more ?? memories(claims.length)}. Below, each waits for a decision.` : null,
  ].filter(Boolean);
  into(main, h("h1", {}, "Health"),
    waits.length ? h("ul", { class: "waits bad" }, waits.map((each) => h("li", {}, each))) : h("p", { class: "good" }, "Nothing waits: no vector is owed, nothing that was forgotten is left in files, nothing is to be reviewed."),
    h("dl", { class: "fields-of" }, Object.entries(status).filter(([, value]) => typeof value !== "object").map(([key, value]) =>
      h("div", {}, h("dt", {}, WORDS[key] ?? key.replaceAll("_", " ")), h("dd", { "data-status": key }, plain(value))))),
    may("maintain") ? h("p", { class: "actions" }, h("button", { type: "button", onclick: async () => {
      out.replaceChildren(h("p", { class: "quiet" }, "Working …"));
      try {
        const done = await post("maintain", {});
        upkeep = `${done.embedded} embedded, ${done.owed} owed, ${done.behind} behind, ${done.unerased} to erase`;
        say(upkeep);
        window.dispatchEvent(new Event("hashchange"));
      } catch (error) { out.replaceChildren(problem(error)); }
    } }, "Do pending work")) : null, out,
    h("section", { class: "panel" }, h("h2", {}, `Waiting for review: ${more ?? claims.length}`), more ? h("p", { class: "quiet" }, `The first ${CLAIMS} are listed.`) : null, review(claims.slice(0, CLAIMS))),
    h("section", { class: "panel" }, h("h2", {}, `Near-copies: ${status.repeat_groups} ${status.repeat_groups === 1 ? "group" : "groups"}`), copies(status)),
    h("section", { class: "panel" }, h("h2", {}, "Growth"), await growth()),
    counts.map((each) => h("section", { class: "panel" }, h("h2", {}, `By ${each.by}`), each.distinct > ROWS ? h("p", { class: "quiet" }, `The ${ROWS} most frequent of ${each.distinct}.`) : null, bars(Object.entries(each.counts ?? {}).slice(0, ROWS), (name) => to("memory", { [each.by === "agent" ? "agent" : "where"]: each.by === "agent" ? name : JSON.stringify({ [each.by]: name }) })))),
    h("section", { class: "panel" }, h("h2", {}, "Vector spaces"), h("ul", {}, status.calibrations.map((/** @type {any} */ each) => h("li", {}, `${each.embedder ?? each.space}: calibration ${each.state}`)))));
}

/** Memories that speak against one that is trusted more. @param {any[]} claims */
function review(claims) {
  if (!claims.length) return h("p", { class: "quiet" }, "No memory speaks against one that is trusted more.");
  const out = h("div");
  /** @param {any} claim @param {boolean} accept */
  const decide = async (claim, accept) => {
    try {
      await post("review", { source: claim.source.id, target: claim.target.id, accept });
      say(accept ? "accepted" : "rejected");
      window.dispatchEvent(new Event("hashchange"));
    } catch (error) { out.replaceChildren(problem(error)); }
  };
  /** @param {any} record */
  const one = (record) => [h("a", { href: toMemory(record.id) }, brief(record.id)), ` (${record.trust}): `, h("span", { class: "text", dir: "auto" }, brief(record.text))];
  return h("div", {}, h("ul", { class: "claims" }, claims.map((claim) => h("li", { "data-claim": claim.source.id },
    h("p", {}, one(claim.source)), h("p", {}, chip(`${claim.kind} →`, null), " ", one(claim.target)),
    may("decide") ? h("p", { class: "actions" },
      h("button", { type: "button", onclick: () => decide(claim, true) }, "Accept: trust it as much"),
      h("button", { type: "button", onclick: () => decide(claim, false) }, "Reject: end the link")) : null))), out);
}

/** Memories whose texts are nearly the same. @param {any} status */
function copies(status) {
  return h("div", {}, h("p", { class: "quiet" }, `Texts that are nearly the same, among the newest ${status.compared}. One of each group stands for all in an answer.`,
      status.repeat_groups > status.repeats.length ? ` The first ${status.repeats.length} groups are listed.` : ""),
    status.repeats.length ? h("ul", { class: "copy-groups" }, status.repeats.map((/** @type {any[]} */ group) => h("li", {},
      h("p", { class: "text", dir: "auto" }, brief(group[0].text)),
      h("p", { class: "about" }, group.slice(0, ROWS).map((each) => h("a", { href: toMemory(each.id) }, brief(each.id))),
        group.length > ROWS ? h("span", {}, `and ${group.length - ROWS} more`) : null)))) : h("p", {}, "There are none."));
}

/** The memories created in each of the last twelve months, and before; the server counts. */
async function growth() {
  const now = new Date();
  const starts = Array.from({ length: 13 }, (_, at) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11 + at, 1)).toISOString());
  /** @param {Record<string, string>} created */
  const count = async (created) => (await post("browse", { limit: 1, expired: "show", archived: "show", where: { created } })).total;
  const [before, ...months] = await Promise.all([count({ lt: starts[0] }), ...starts.slice(0, 12).map((gte, at) => count({ gte, lt: starts[at + 1] }))]);
  return bars([["before", before], ...months.map((total, at) => /** @type {[string, any]} */ ([starts[at].slice(0, 7), total]))]);
}

/** @param {[string, any][]} rows @param {(name: string) => string} [link] */
function bars(rows, link) {
  const most = Math.max(...rows.map(([, count]) => Number(count)), 1);
  if (!rows.length) return h("p", { class: "quiet" }, "Nothing to count.");
  return h("table", { class: "bars" }, h("tbody", {}, rows.map(([name, count]) => h("tr", {}, h("th", { scope: "row" }, link ? h("a", { href: link(name) }, name) : name),
    h("td", {}, svg("svg", { class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "fill-3", width: (100 * Number(count)) / most, height: 4 }))), h("td", { class: "rows" }, String(count))))));
}
