// @ts-check
// The memory itself: browse, one memory's life, changes, agents, reflections, health.

import { chip, h, into, svg } from "./drawing.js";
import { lastAsked } from "./ask.js";
import { confirmed, problem, say } from "./notices.js";
import { get, may, patch, post, put, to, toMemory } from "./server.js";

const SHOWN = 280;
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
      record.trust && record.trust !== "learned" ? h("span", { class: "bad" }, record.trust) : null));
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
    const page = await post("browse", browseRequest(values));
    const from = Number(values.get("from") ?? 0);
    const next = page.cursor ? to("memory", { ...Object.fromEntries(values), cursor: page.cursor, from: from + page.records.length }) : null;
    into(out, h("p", { class: "quiet", "data-total": page.total },
      page.total ? `${from + 1} to ${from + page.records.length} of ${page.total}` : "No memory passes these filters."),
      h("ul", { class: "records" }, page.records.map(line)),
      h("p", { class: "actions" }, next ? h("a", { class: "button", rel: "next", href: next }, "Next page") : null,
        values.get("cursor") ? h("a", { class: "button", href: to("memory", { ...Object.fromEntries(values), cursor: "", from: "" }) }, "First page") : null));
  } catch (error) { into(out, problem(error)); }
}

/** @param {URLSearchParams} values */
function browseRequest(values) {
  /** @type {Record<string, any>} */
  const body = { limit: 20 };
  for (const name of ["agent", "user", "session", "as_of", "known_at", "sort", "cursor", "expired", "archived"]) if (values.get(name)) body[name] = values.get(name);
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
  const path = `memories/${encodeURIComponent(id)}`;
  const [record, { versions }, { links }] = await Promise.all([get(path), get(`${path}/history`), get(`${path}/links`)]);
  const fields = Object.entries(record).filter(([key, value]) => !QUIET.has(key) && value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  const back = lastAsked();
  const members = links.filter((/** @type {any} */ edge) => edge.kind === "consolidated_from" && edge.source === id);
  into(main, 
    h("h1", {}, record.title || "A memory"),
    h("p", { class: "text whole", dir: "auto" }, record.text),
    h("dl", { class: "fields-of" }, h("div", {}, h("dt", {}, "id"), h("dd", {}, h("code", {}, record.id))),
      fields.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, Array.isArray(value) ? value.join(", ") : plain(value))))),
    back ? h("p", { class: "actions" }, h("a", { href: `${back}&not=${encodeURIComponent(id)}` }, "Why was it not in the last answer?")) : null,
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
  const path = `memories/${encodeURIComponent(id)}`;
  const forms = [
    may("update") ? form("Edit", [["text", "Text", record.text, true], ["kind", "Kind", record.kind], ["tags", "Tags, with commas", (record.tags ?? []).join(", ")], ["importance", "Importance, 0 to 1", record.importance ?? ""]],
      (sent) => run(patch(path, shaped(sent)), "changed")) : null,
    may("link") ? form("Link", [["target", "To the memory with the id", ""], ["kind", "Kind of link", "related_to"]],
      (sent) => run(post("links", { source: id, target: sent.target, kind: sent.kind }), "linked")) : null,
    may("expire") ? form("Expire", [["at", "From when on (empty: now)", ""]], (sent) => run(post(`${path}/expire`, sent.at ? { at: sent.at } : {}), "expired")) : null,
    may("forget") ? h("button", { type: "button", class: "danger", onclick: async () => {
      const content = h("div", {}, h("p", {}, "This cannot be undone. It goes from past views too, with:"),
        h("ul", {}, h("li", {}, `${versions.length} ${versions.length === 1 ? "version" : "versions"}`), h("li", {}, `${links.length} ${links.length === 1 ? "link" : "links"}`)),
        h("blockquote", { class: "text", dir: "auto" }, brief(record.text)));
      if (!(await confirmed(`Forget ${id}?`, content, "Forget it"))) return;
      try { await post("forget", { id }); say("forgotten"); location.hash = "#/memory"; } catch (error) { out.replaceChildren(problem(error)); }
    } }, "Forget") : null,
  ];
  return h("div", { class: "doing" }, forms, out);
}

/** @param {string} title @param {[string, string, any, boolean?][]} fields @param {(sent: any) => void} send */
function form(title, fields, send) {
  return h("details", { class: "panel", "data-form": title }, h("summary", {}, title),
    h("form", { onsubmit: (/** @type {SubmitEvent} */ event) => { event.preventDefault(); send(Object.fromEntries(new FormData(/** @type {HTMLFormElement} */ (event.target)))); } },
      fields.map(([name, label, value, long]) => h("label", {}, h("span", {}, label), long ? h("textarea", { name, rows: 5, value: value ?? "" }) : h("input", { name, value: value ?? "", autocomplete: "off" }))),
      h("button", { type: "submit" }, title)));
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
      h("p", { class: "about" }, h("a", { href: to("memory", { agent: name }) }, `${counts[name] ?? 0} memories`), agent.owner ? h("span", {}, `owner ${agent.owner}`) : null,
        (agent.aliases ?? []).map((/** @type {string} */ alias) => h("span", {}, `also ${alias}`))));
  })) : h("p", { class: "quiet" }, "No agent is registered, and no memory names one."),
    may("agent") ? form("Register", [["agent", "Its name, as memories have it", ""], ["display_name", "The name that people read", ""], ["owner", "Responsible", ""], ["description", "What it does", ""]], async ({ agent, ...fields }) => {
      try { await put(`agents/${encodeURIComponent(agent)}`, shaped(fields)); say("registered"); window.dispatchEvent(new Event("hashchange")); } catch (error) { out.replaceChildren(problem(error)); }
    }) : null, out);
}

/** @param {HTMLElement} main */
export async function reflectionsView(main) {
  const out = h("div");
  into(main, h("h1", {}, "Reflections"), h("p", { class: "quiet" }, "Summaries of related memories. Each was made from others, its members."));
  const { records, total } = await post("browse", { where: { kind: "reflection" }, limit: 100 });
  into(main, h("p", { class: "quiet", "data-total": total }, total ? `${total} in all` : "There is none yet."), h("ul", { class: "records" }, records.map(line)),
    may("reflect") ? h("p", { class: "actions" }, h("button", { type: "button", onclick: async () => {
      try {
        const plan = await post("reflect", { dry_run: true });
        if (!plan.created.length && !plan.retired.length) { out.replaceChildren(h("p", {}, `Nothing to do: ${plan.considered} memories were compared.`)); return; }
        const content = h("div", {}, h("p", {}, `${plan.created.length} would be made, ${plan.retired.length} retired:`), h("ul", {}, plan.created.map((/** @type {any} */ each) => h("li", {}, brief(each.text ?? each.id ?? "")))));
        if (await confirmed("Write these reflections?", content, "Write them")) { await post("reflect", {}); say("written"); window.dispatchEvent(new Event("hashchange")); }
      } catch (error) { out.replaceChildren(problem(error)); }
    } }, "Look for new ones")) : null, out);
}

// -- health -----------------------------------------------------------------------------------

/** @type {Record<string, string>} */
const WORDS = {
  records: "memories", expired: "expired, hidden from answers", seq: "entries in the log", time: "the last commit", debt: "vectors still to compute",
  segments: "index segments on disk", tail: "rows indexed in memory only", tenant: "tenant",
};

/** @param {HTMLElement} main */
export async function healthView(main) {
  const [status, ...counts] = await Promise.all([get("status"), ...["kind", "trust", "agent"].map((by) => get("status", { by }))]);
  const out = h("div");
  into(main, h("h1", {}, "Health"),
    status.debt ? h("p", { class: "bad" }, `${status.debt} memories lack a vector: answers by meaning miss them. memoriter maintain computes them.`) : h("p", { class: "good" }, "Every memory is indexed and has its vector."),
    h("dl", { class: "fields-of" }, Object.entries(status).filter(([, value]) => typeof value !== "object").map(([key, value]) =>
      h("div", {}, h("dt", {}, WORDS[key] ?? key.replaceAll("_", " ")), h("dd", { "data-status": key }, plain(value))))),
    h("section", { class: "panel" }, h("h2", {}, "Growth"), await growth()),
    counts.map((each) => h("section", { class: "panel" }, h("h2", {}, `By ${each.by}`), bars(Object.entries(each.counts ?? {}).slice(0, 12), (name) => to("memory", { [each.by === "agent" ? "agent" : "where"]: each.by === "agent" ? name : JSON.stringify({ [each.by]: name }) })))),
    h("section", { class: "panel" }, h("h2", {}, "Vector spaces"), h("ul", {}, status.calibrations.map((/** @type {any} */ each) => h("li", {}, `${each.embedder ?? each.space}: calibration ${each.state}`)))),
    may("maintain") ? h("p", { class: "actions" }, h("button", { type: "button", onclick: async () => {
      try { const done = await post("maintain", {}); out.replaceChildren(h("p", { class: "good" }, `${done.embedded} embedded, ${done.owed} owed, ${done.behind} behind`)); } catch (error) { out.replaceChildren(problem(error)); }
    } }, "Do pending work")) : null, out);
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


