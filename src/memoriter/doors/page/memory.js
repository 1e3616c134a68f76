// @ts-check
// The memory itself: browse, one memory's life, changes, agents, reflections.

import { chip, h, into } from "./drawing.js";
import { lastWhy } from "./ask.js";
import { confirmed, memories, problem, say } from "./notices.js";
import { brief, changes, counted, line, named, plain, readable, textsOf, versionText } from "./records.js";
import { call, get, may, post, to, toMemory } from "./server.js";
import { whole } from "./state.js";

const PAGE = 20, ROWS = 12;
const REPLACING = ["supersedes", "corrects", "invalidates"];
/** The kind of the links from a reflection to what it was made from. */
const MEMBER = "consolidated_from";

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
      h("ul", { class: "records" }, records.map((/** @type {any} */ record) => line(record, values.get("known_at") ?? ""))),
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

/** @param {HTMLElement} main @param {string} id @param {URLSearchParams} values */
export async function memoryView(main, id, values) {
  const knownAt = values.get("known_at") ?? "";
  const [record, { versions }, { links }] = await Promise.all([call("get", knownAt ? { id, known_at: knownAt } : { id }), call("history", { id }), call("links", { id })]);
  const fields = Object.entries(record).filter(([key, value]) => !QUIET.has(key) && value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  const back = lastWhy(id);
  const members = links.filter((/** @type {any} */ edge) => edge.kind === MEMBER && edge.source === id);
  const texts = await textsOf([...members.map((/** @type {any} */ edge) => edge.target), ...links.map((/** @type {any} */ edge) => (edge.source === id ? edge.target : edge.source))]);
  const reflection = record.kind === "reflection";
  into(main,
    h("h1", {}, record.title || (reflection ? "A reflection" : "A memory")),
    knownAt ? h("p", { class: "as-known" }, `As it was known at ${plain(knownAt)}. `, h("a", { href: toMemory(id) }, "As it is now")) : null,
    h("p", { class: "text whole", dir: "auto", tabindex: "0", role: "region", "aria-label": "The text" }, readable(record)),
    reflection && readable(record) !== record.text ? h("details", {}, h("summary", {}, "As it is stored"), h("pre", { tabindex: "0" }, record.text)) : null,
    h("dl", { class: "fields-of" }, h("div", {}, h("dt", {}, "id"), h("dd", {}, h("code", {}, record.id))),
      fields.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, Array.isArray(value) ? value.join(", ") : plain(value))))),
    back ? h("p", { class: "actions" }, back) : null,
    knownAt ? null : actions(record, versions, links),
    h("section", { class: "panel" }, h("h2", {}, `Its life: ${counted(versions.length, "version")}`),
      h("ol", { class: "versions" }, versions.map((/** @type {any} */ version, /** @type {number} */ at) => h("li", {},
        h("p", { class: "quiet" }, `written ${plain(version.committed)}`), at ? changed(versions[at - 1], version) : null,
        versionText(readable(version), at ? readable(versions[at - 1]) : undefined))))),
    members.length ? h("section", { class: "panel" }, h("h2", {}, "Made from"), h("ul", {}, members.map((/** @type {any} */ edge) => h("li", {}, named(edge.target, texts.get(edge.target)))))) : null,
    h("section", { class: "panel" }, h("h2", {}, `Links: ${links.length}`),
      links.length ? h("ul", { class: "links" }, links.map((/** @type {any} */ edge) => linkLine(edge, id, texts))) : h("p", { class: "quiet" }, "No link leads from it or to it.")));
}

/** What a version changed. @param {any} before @param {any} after */
function changed(before, after) {
  const fields = changes(before, after);
  return h("ul", { class: "changes" }, (fields.length ? fields : ["nothing"]).map((each) => h("li", {}, `changed ${each}`)));
}

/** @param {any} edge @param {string} id @param {Map<string, string>} texts */
function linkLine(edge, id, texts) {
  const out = edge.source === id, other = out ? edge.target : edge.source;
  return h("li", {}, chip(out ? `${edge.kind} →` : `← ${edge.kind}`, null), " ", named(other, texts.get(other)), edge.valid_until ? ` until ${edge.valid_until}` : "");
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
    may("update") ? form("Edit", [["text", "Text", record.text, "lines"], ["kind", "Kind", record.kind], ["tags", "Tags, one on each line", (record.tags ?? []).join("\n"), "lines"], ["importance", "Importance, 0 to 1", record.importance ?? "", "share"]],
      async (sent, edited) => {
        if (edited.length) await run(call("update", { id, ...edits(record, sent, edited) }), "changed");
        else out.replaceChildren(h("p", { class: "quiet" }, "No field was edited."));
      }) : null,
    may("link") ? form("Link", [["target", "To the memory with the id", ""], ["kind", "Kind of link", "related_to"]],
      (sent) => run(post("links", { source: id, target: sent.target.trim(), kind: sent.kind.trim() }), "linked")) : null,
    may("expire") ? form("Expire", [["at", "The time from which it is hidden (empty: now)", ""]], (sent) => run(call("expire", sent.at ? { id, at: sent.at } : { id }), "expired")) : null,
    may("forget") ? h("button", { type: "button", class: "danger", onclick: async () => {
      /** @type {any} */
      let preview;
      try { preview = await post("forget", { id, dry_run: true }); } catch (error) { out.replaceChildren(problem(error)); return; }
      const content = h("div", {}, h("p", {}, "This cannot be undone. It goes from past views too, with:"),
        h("ul", {}, h("li", {}, counted(versions.length, "version")), h("li", {}, counted(links.length, "link"),
            links.length ? h("ul", {}, links.slice(0, ROWS).map((edge) => h("li", {}, edge.source === id ? `${edge.kind} → ${brief(edge.target)}` : `← ${edge.kind} ${brief(edge.source)}`)), links.length > ROWS ? h("li", {}, `and ${links.length - ROWS} more`) : null) : null)),
        links.some((edge) => edge.source === id && REPLACING.includes(edge.kind)) ? h("p", {}, "What it replaced may be shown in answers again.") : null,
        (preview.reflections || []).map((/** @type {string} */ each) => h("p", { class: "goes" }, "The reflection ", h("a", { href: toMemory(each) }, each), " quotes it and goes too.")),
        (preview.derived || []).map((/** @type {string} */ each) => h("p", { class: "stays" }, h("a", { href: toMemory(each) }, each), " was made from it, stays, and may quote it.")),
        h("blockquote", { class: "text", dir: "auto" }, brief(readable(record))));
      if (!(await confirmed(`Forget ${id}?`, content, "Forget it"))) return;
      try { await post("forget", { id }); say("forgotten"); location.hash = "#/memory"; } catch (error) { out.replaceChildren(problem(error)); }
    } }, "Forget") : null,
  ];
  return h("div", { class: "doing" }, forms, out);
}

/** A form; while what it sends is under way, it sends nothing more.
 * @param {string} title @param {[string, string, any, ("lines" | "share")?][]} fields `share` is a number from 0 to 1
 * @param {(sent: any, edited: string[]) => Promise<void>} send */
function form(title, fields, send) {
  const made = fields.map(([name, , value, kind]) => (kind === "lines" ? h("textarea", { name, rows: 5, value: value ?? "" })
    : h("input", { name, ...(kind === "share" ? { type: "number", min: 0, max: 1, step: "any", required: value !== "" } : {}), value: value ?? "", autocomplete: "off" })));
  const button = h("button", { type: "submit" }, title);
  const first = made.map((field) => field.value); // as the field has it: it may not hold every character
  return h("details", { class: "panel", "data-form": title }, h("summary", {}, title),
    h("form", { onsubmit: async (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      if (button.disabled) return;
      button.disabled = true;
      await send(Object.fromEntries(made.map((field) => [field.name, field.value])), made.filter((field, at) => field.value !== first[at]).map((field) => field.name));
      button.disabled = false;
    } },
      fields.map(([, label], at) => h("label", {}, h("span", {}, label), made[at])), button));
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
  const made = form("Remember", [["text", "What to remember, one fact", "", "lines"], ["kind", "Kind", "note"], ["tags", "Tags, with commas", ""], ["importance", "Importance, 0 to 1", "", "share"], ["supersedes", "It replaces the memory with the id", ""]],
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
  into(main, h("p", { class: "quiet", "data-total": total }, total > records.length ? `The newest ${records.length} of ${total}.` : total ? `${total} in all` : "There is none yet."), h("ul", { class: "records" }, records.map((/** @type {any} */ record) => line(record))),
    may("reflect") ? h("p", { class: "actions" }, h("button", { type: "button", onclick: async () => {
      try {
        const plan = await post("reflect", { dry_run: true });
        if (!plan.created.length && !plan.retired.length) { out.replaceChildren(h("p", {}, `Nothing to do. Compared: ${memories(plan.considered)}.`)); return; }
        const texts = await textsOf(plan.created.flatMap((/** @type {any} */ each) => each.members));
        const content = h("div", {}, h("p", {}, `${plan.created.length} would be made, ${plan.retired.length} retired:`), h("ul", {}, plan.created.map((/** @type {any} */ each) =>
          h("li", {}, brief(`${each.summary}, made from ${memories(each.members.length)}`), h("ul", { class: "quiet" }, each.members.slice(0, ROWS).map((/** @type {string} */ id) => h("li", {}, brief(texts.get(id) ?? id))))))));
        if (await confirmed("Write these reflections?", content, "Write them")) { await post("reflect", {}); say("written"); window.dispatchEvent(new Event("hashchange")); }
      } catch (error) { out.replaceChildren(problem(error)); }
    } }, "Look for new ones")) : null, out);
}
