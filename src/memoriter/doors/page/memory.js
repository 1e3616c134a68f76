// @ts-check
// The memory itself: browse, one memory's life, changes, agents, reflections, health.

import { chip, h, into, svg } from "./drawing.js";
import { lastWhy } from "./ask.js";
import { confirmed, memories, problem, say } from "./notices.js";
import { call, get, may, post, to, toMemory } from "./server.js";
import { whole } from "./state.js";

const SHOWN = 280, PAGE = 20, ROWS = 12;
const REPLACING = ["supersedes", "corrects", "invalidates"];
/** @param {string} text */
const brief = (text) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
/** @param {unknown} value */
const plain = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value).replace(/(\d\dT\d\d:\d\d):\d\d(\.\d+)?Z$/, "$1").replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)$/, "$1 $2 UTC"));
/** @param {string | undefined} time */
const day = (time) => (time ?? "").slice(0, 10);

/** @param {any} record */
function line(record) {
  return h("li", { class: "record", "data-id": record.id },
    h("p", { class: "text", dir: "auto" }, record.title ? [h("b", {}, brief(record.title)), " "] : null, brief(record.text)),
    h("p", { class: "about" }, h("a", { href: toMemory(record.id) }, brief(record.id)), h("span", {}, day(record.created)), h("span", {}, record.kind),
      record.agent ? h("span", {}, `agent ${record.agent}`) : null,
      (record.tags ?? []).map((/** @type {string} */ tag) => h("span", {}, `#${tag}`)),
      record.trust && record.trust !== "learned" ? h("span", { class: record.trust === "external" ? "bad" : "" }, `trust ${record.trust}`) : null));
}

// -- browse -----------------------------------------------------------------------------------

/** @param {HTMLElement} main @param {URLSearchParams} values */
export async function listView(main, values) {
  const names = ["kind", "agent", "user", "session", "tags", "where", "as_of", "known_at"];
  /** @param {string} name @param {string} title @param {string} [placeholder] */
  const field = (name, title, placeholder = "") => h("label", {}, h("span", {}, title), h("input", { name, value: values.get(name) ?? "", placeholder, autocomplete: "off" }));
  const tick = (/** @type {string} */ name, /** @type {string} */ title) =>
    h("label", { class: "tick" }, h("input", { type: "checkbox", name, value: "show", checked: values.get(name) === "show" }), h("span", {}, title));
  const form = h("form", { class: "panel", onsubmit: (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    location.hash = to("memory", Object.fromEntries([...new FormData(/** @type {HTMLFormElement} */ (event.target))].map(([k, v]) => [k, String(v)])));
  } },
    h("details", { open: names.some((name) => values.get(name)) }, h("summary", {}, "Filters"),
      h("div", { class: "fields" }, field("kind", "Kind"), field("agent", "Agent"), field("user", "User"), field("session", "Session"),
        field("tags", "Tags, with commas"), field("as_of", "As of"), field("known_at", "Known at"), field("where", "Filter", '{"importance": {"gte": 0.5}}')),
      h("p", { class: "ticks" }, tick("expired", "expired too"), tick("archived", "archived too")),
      h("label", {}, h("span", {}, "Order"), h("select", { name: "sort" }, ["newest", "oldest"].map((sort) => h("option", { value: sort, selected: values.get("sort") === sort }, `${sort} first`)))),
      h("p", { class: "actions" }, h("button", { type: "submit" }, "Show"), h("a", { href: "#/memory" }, "All"))));
  into(main, h("h1", {}, "Memories"), form);
  const out = h("div");
  into(main, out);
  try {
    const from = whole(values, "from", 0);
    const page = await post("browse", { ...browseRequest(values), offset: from });
    const { records, total } = page;
    /** @param {number} at */
    const link = (at) => to("memory", { ...Object.fromEntries(values), from: at || "" });
    into(out, h("p", { class: "quiet", "data-total": total }, !total ? nothing(values)
      : records.length ? `${from + 1} to ${from + records.length} of ${total}` : `Only ${memories(total)}: there is none from ${from + 1} on.`),
      h("ul", { class: "records" }, records.map(line)),
      h("p", { class: "actions" },
        from ? h("a", { class: "button", rel: "prev", href: link(Math.max(0, Math.min(from, total) - PAGE)) }, "Previous page") : null,
        records.length && from + records.length < total ? h("a", { class: "button", rel: "next", href: link(from + records.length) }, "Next page") : null));
  } catch (error) { into(out, problem(error)); }
}

/** Why a list is empty. @param {URLSearchParams} values */
function nothing(values) {
  if ([...values.keys()].length) return "No memory passes these filters.";
  return ["There is no memory yet. ", may("remember") ? h("a", { href: "#/add" }, "Add one") : null];
}

/** @param {URLSearchParams} values */
function browseRequest(values) {
  /** @type {Record<string, any>} */
  const body = { limit: PAGE };
  for (const name of ["agent", "user", "session", "as_of", "known_at", "sort", "expired", "archived"]) if (values.get(name)) body[name] = values.get(name);
  const tags = (values.get("tags") ?? "").split(",").map((tag) => tag.trim()).filter(Boolean);
  if (tags.length) body.tags = tags;
  /** @type {any[]} */
  const tests = values.get("kind") ? [{ kind: values.get("kind") }] : [];
  if (values.get("where")) {
    try { tests.push(JSON.parse(values.get("where") ?? "")); } catch { throw Object.assign(new Error("the filter is not JSON"), { hint: 'for example {"kind": "fact"}' }); }
  }
  if (tests.length) body.where = tests.length === 1 ? tests[0] : { all: tests };
  return body;
}

// -- one memory -------------------------------------------------------------------------------

const QUIET = new Set(["id", "text", "title", "row", "position", "memory_type", "role"]);

/** @param {HTMLElement} main @param {string} id */
export async function memoryView(main, id) {
  const [record, { versions }, { links }] = await Promise.all(["get", "history", "links"].map((operation) => call(operation, { id })));
  const fields = Object.entries(record).filter(([key, value]) => !QUIET.has(key) && value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  const back = lastWhy(id);
  const members = links.filter((/** @type {any} */ edge) => edge.kind === "consolidated_from" && edge.source === id);
  into(main, 
    h("h1", {}, record.title || "A memory"),
    h("p", { class: "text whole", dir: "auto", tabindex: "0", role: "region", "aria-label": "The text" }, record.text),
    h("dl", { class: "fields-of" }, h("div", {}, h("dt", {}, "id"), h("dd", {}, h("code", {}, record.id))),
      fields.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, Array.isArray(value) ? value.join(", ") : plain(value))))),
    back ? h("p", { class: "actions" }, back) : null,
    actions(record, versions, links),
    h("section", { class: "panel" }, h("h2", {}, `Its life: ${versions.length} ${versions.length === 1 ? "version" : "versions"}`),
      h("ol", { class: "versions" }, versions.map((/** @type {any} */ version, /** @type {number} */ at) => h("li", {},
        h("p", { class: "quiet" }, `written ${plain(version.committed)}`, at ? `, changed: ${changed(versions[at - 1], version)}` : ""),
        h("p", { class: "text", dir: "auto" }, brief(version.text)))))),
    members.length ? h("section", { class: "panel" }, h("h2", {}, "Made from"), h("ul", {}, members.map((/** @type {any} */ edge) => h("li", {}, h("a", { href: toMemory(edge.target) }, edge.target))))) : null,
    h("section", { class: "panel" }, h("h2", {}, `Links: ${links.length}`),
      links.length ? h("ul", { class: "links" }, links.map((/** @type {any} */ edge) => linkLine(edge, id))) : h("p", { class: "quiet" }, "No link leads from it or to it.")));
}

/** @param {any} before @param {any} after */
const changed = (before, after) => Object.keys({ ...before, ...after }).filter((key) => !["row", "committed"].includes(key) && JSON.stringify(before[key]) !== JSON.stringify(after[key])).join(", ") || "nothing";

/** @param {any} edge @param {string} id */
function linkLine(edge, id) {
  const out = edge.source === id, other = out ? edge.target : edge.source;
  return h("li", {}, chip(out ? `${edge.kind} →` : `← ${edge.kind}`, null), " ", h("a", { href: toMemory(other) }, other), edge.valid_until ? ` until ${edge.valid_until}` : "");
}

/** What may be done with it. @param {any} record @param {any[]} versions @param {any[]} links */
function actions(record, versions, links) {
  const id = record.id;
  const out = h("div");
  /** @param {Promise<any>} work @param {string} done */
  const run = async (work, done) => {
    try { await work; say(done); window.dispatchEvent(new Event("hashchange")); } catch (error) { out.replaceChildren(problem(error)); }
  };
  const forms = [
    may("update") ? form("Edit", [["text", "Text", record.text, true], ["kind", "Kind", record.kind], ["tags", "Tags, one on each line", (record.tags ?? []).join("\n"), true], ["importance", "Importance, 0 to 1", record.importance ?? ""]],
      (sent, edited) => {
        if (edited.length) run(call("update", { id, ...edits(record, sent, edited) }), "changed");
        else out.replaceChildren(h("p", { class: "quiet" }, "No field was edited."));
      }) : null,
    may("link") ? form("Link", [["target", "To the memory with the id", ""], ["kind", "Kind of link", "related_to"]],
      (sent) => run(post("links", { source: id, target: sent.target, kind: sent.kind }), "linked")) : null,
    may("expire") ? form("Expire", [["at", "From when on (empty: now)", ""]], (sent) => run(call("expire", sent.at ? { id, at: sent.at } : { id }), "expired")) : null,
    may("forget") ? h("button", { type: "button", class: "danger", onclick: async () => {
      const content = h("div", {}, h("p", {}, "This cannot be undone. It goes from past views too, with:"),
        h("ul", {}, h("li", {}, `${versions.length} ${versions.length === 1 ? "version" : "versions"}`), h("li", {}, `${links.length} ${links.length === 1 ? "link" : "links"}`,
            links.length ? h("ul", {}, links.slice(0, ROWS).map((edge) => h("li", {}, edge.source === id ? `${edge.kind} → ${brief(edge.target)}` : `← ${edge.kind} ${brief(edge.source)}`)), links.length > ROWS ? h("li", {}, `and ${links.length - ROWS} more`) : null) : null)),
        links.some((edge) => edge.source === id && REPLACING.includes(edge.kind)) ? h("p", {}, "What it replaced may be shown in answers again.") : null,
        h("blockquote", { class: "text", dir: "auto" }, brief(record.text)));
      if (!(await confirmed(`Forget ${id}?`, content, "Forget it"))) return;
      try { await post("forget", { id }); say("forgotten"); location.hash = "#/memory"; } catch (error) { out.replaceChildren(problem(error)); }
    } }, "Forget") : null,
  ];
  return h("div", { class: "doing" }, forms, out);
}

/** @param {string} title @param {[string, string, any, boolean?][]} fields @param {(sent: any, edited: string[]) => void} send */
function form(title, fields, send) {
  const made = fields.map(([name, , value, long]) => long ? h("textarea", { name, rows: 5, value: value ?? "" }) : h("input", { name, value: value ?? "", autocomplete: "off" }));
  const first = made.map((field) => field.value); // as the field has it: it may not hold every character
  return h("details", { class: "panel", "data-form": title }, h("summary", {}, title),
    h("form", { onsubmit: (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      send(Object.fromEntries(made.map((field) => [field.name, field.value])), made.filter((field, at) => field.value !== first[at]).map((field) => field.name));
    } },
      fields.map(([, label], at) => h("label", {}, h("span", {}, label), made[at])),
      h("button", { type: "submit" }, title)));
}

/** The fields that a person edited, and no other. @param {any} record @param {any} sent @param {string[]} edited */
function edits(record, sent, edited) {
  /** @type {Record<string, any>} */
  const body = Object.fromEntries(edited.map((name) => [name, sent[name]]));
  if ("tags" in body) body.tags = body.tags.split("\n").filter((/** @type {string} */ tag) => tag.trim());
  if ("importance" in body) body.importance = body.importance.trim() ? Number(body.importance) : null;
  // A field of a form has \n alone: lines that ended with \r\n still do.
  if ("text" in body && /\r\n/.test(record.text) && !/[^\r]\n/.test(record.text)) body.text = body.text.replaceAll("\n", "\r\n");
  return body;
}

/** The fields of a form as the server takes them. @param {any} sent */
function shaped(sent) {
  /** @type {Record<string, any>} */
  const body = {};
  for (const [key, value] of Object.entries(sent)) {
    if (key === "tags") body.tags = value.split(",").map((/** @type {string} */ tag) => tag.trim()).filter(Boolean);
    else if (value !== "") body[key] = key === "importance" ? Number(value) : value;
  }
  return body;
}

/** @param {HTMLElement} main */
export async function addView(main) {
  const out = h("div");
  const made = form("Remember", [["text", "What to remember, one fact", "", true], ["kind", "Kind", "note"], ["tags", "Tags, with commas", ""], ["importance", "Importance, 0 to 1", ""], ["supersedes", "It replaces the memory with the id", ""]],
    async (sent) => {
      try { const { ids } = await post("memories", shaped(sent)); say("remembered"); location.hash = toMemory(ids[0]); } catch (error) { out.replaceChildren(problem(error)); }
    });
  made.open = true;
  into(main, h("h1", {}, "Add a memory"), made, out);
}

// -- agents, reflections ----------------------------------------------------------------------

/** @param {HTMLElement} main */
export async function agentsView(main) {
  const [{ agents }, { counts = {} }] = await Promise.all([get("agents"), get("status", { by: "agent" })]);
  const names = new Set([...agents.map((/** @type {any} */ each) => each.agent), ...Object.keys(counts)]);
  const known = new Map(agents.map((/** @type {any} */ each) => [each.agent, each]));
  const out = h("div");
  into(main, h("h1", {}, "Agents"), names.size ? h("ul", { class: "records" }, [...names].sort().map((name) => {
    const agent = known.get(name) ?? {};
    return h("li", { class: "record" }, h("p", {}, h("b", {}, agent.display_name ?? name), " ", agent.description ?? (known.has(name) ? "" : "not registered")),
      h("p", { class: "about" }, h("a", { href: to("memory", { agent: name }) }, memories(counts[name] ?? 0)), agent.owner ? h("span", {}, `owner ${agent.owner}`) : null,
        (agent.aliases ?? []).map((/** @type {string} */ alias) => h("span", {}, `also ${alias}`))));
  })) : h("p", { class: "quiet" }, "No agent is registered, and no memory names one."),
    may("agent") ? form("Register", [["agent", "Its name, as memories have it", ""], ["display_name", "The name that people read", ""], ["owner", "Responsible", ""], ["description", "What it does", ""]], async ({ agent, ...fields }) => {
      try { await call("agent", { agent, ...shaped(fields) }); say("registered"); window.dispatchEvent(new Event("hashchange")); } catch (error) { out.replaceChildren(problem(error)); }
    }) : null, out);
}

/** @param {HTMLElement} main */
export async function reflectionsView(main) {
  const out = h("div");
  into(main, h("h1", {}, "Reflections"), h("p", { class: "quiet" }, "Summaries of related memories. Each was made from others, its members."));
  const { records, total } = await post("browse", { where: { kind: "reflection" }, limit: 100 });
  into(main, h("p", { class: "quiet", "data-total": total }, total > records.length ? `The newest ${records.length} of ${total}.` : total ? `${total} in all` : "There is none yet."), h("ul", { class: "records" }, records.map(line)),
    may("reflect") ? h("p", { class: "actions" }, h("button", { type: "button", onclick: async () => {
      try {
        const plan = await post("reflect", { dry_run: true });
        if (!plan.created.length && !plan.retired.length) { out.replaceChildren(h("p", {}, `Nothing to do. Compared: ${memories(plan.considered)}.`)); return; }
        const content = h("div", {}, h("p", {}, `${plan.created.length} would be made, ${plan.retired.length} retired:`), h("ul", {}, plan.created.map((/** @type {any} */ each) => h("li", {}, brief(each.text ?? each.id ?? "")))));
        if (await confirmed("Write these reflections?", content, "Write them")) { await post("reflect", {}); say("written"); window.dispatchEvent(new Event("hashchange")); }
      } catch (error) { out.replaceChildren(problem(error)); }
    } }, "Look for new ones")) : null, out);
}

// -- health -----------------------------------------------------------------------------------

/** @type {Record<string, string>} */
const WORDS = {
  records: "memories", expired: "expired, hidden from answers", seq: "entries in the log", time: "the last commit", debt: "vectors still to compute",
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

/** The memories created in each of the last twelve months; the server counts. */
async function growth() {
  const now = new Date();
  const starts = Array.from({ length: 13 }, (_, at) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 11 + at, 1)).toISOString());
  const pages = await Promise.all(starts.slice(0, 12).map((from, at) => post("browse", { limit: 1, expired: "show", archived: "show", where: { created: { gte: from, lt: starts[at + 1] } } })));
  return bars(pages.map((page, at) => [starts[at].slice(0, 7), page.total]));
}

/** @param {[string, any][]} rows @param {(name: string) => string} [link] */
function bars(rows, link) {
  const most = Math.max(...rows.map(([, count]) => Number(count)), 1);
  if (!rows.length) return h("p", { class: "quiet" }, "Nothing to count.");
  return h("table", { class: "bars" }, h("tbody", {}, rows.map(([name, count]) => h("tr", {}, h("th", { scope: "row" }, link ? h("a", { href: link(name) }, name) : name),
    h("td", {}, svg("svg", { class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "fill-3", width: (100 * Number(count)) / most, height: 4 }))), h("td", { class: "rows" }, String(count))))));
}


