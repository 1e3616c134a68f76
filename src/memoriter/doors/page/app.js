// @ts-check
// The frame of the page: signing in, the views, errors.

import { h } from "./drawing.js";
import { askView, forgetLast } from "./ask.js";
import { healthView } from "./health.js";
import { addView, agentsView, listView, memoryView, reflectionsView } from "./memory.js";
import { problem, say } from "./notices.js";
import { dropped, proveView } from "./prove.js";
import { here, may, me, signIn, signOut, signedInLate, signedOut, to } from "./server.js";

/** @type {[string, string, string][]} view, title, operation that it needs */
const VIEWS = [
  ["ask", "Ask", "recall"],
  ["memory", "Memories", "browse"],
  ["add", "Add", "remember"],
  ["agents", "Agents", "agents"],
  ["reflections", "Reflections", "reflections"],
  ["health", "Health", "status"],
  ["prove", "Prove", "verify"],
];
/** @type {Record<string, (main: HTMLElement, rest: any[], values: URLSearchParams) => any>} */
const DRAW = {
  ask: askView, add: addView, agents: agentsView, reflections: reflectionsView, health: healthView, prove: proveView,
  memory: (main, rest, values) => (rest.length ? memoryView(main, rest[0], values) : listView(main, values)),
};

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
let turn = 0;

async function show() {
  const ownTurn = ++turn;
  const { view, rest, values } = here();
  const title = VIEWS.find(([name]) => name === view)?.[1] ?? "Not found";
  document.title = `${title} · Memoriter`;
  for (const link of document.querySelectorAll("#views a")) {
    if (link.getAttribute("href") === `#/${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const inner = h("div", { class: `view ${view}` }, h("p", { class: "quiet loading" }, "Loading …"));
  main.replaceChildren(inner);
  main.setAttribute("aria-busy", "true");
  try {
    if (!Object.hasOwn(DRAW, view)) throw Object.assign(new Error("there is no such page"), { hint: "choose one above" });
    if (!may(VIEWS.find(([name]) => name === view)?.[2] ?? "")) throw Object.assign(new Error(`this token may ${me?.right}: that is not enough for this page`), { hint: "sign out, then sign in with a token that may write" });
    if (rest.includes(null)) throw Object.assign(new Error("the address cannot be read"), { hint: "the link may be cut: choose a page above" });
    const drawn = h("div", { class: `view ${view}` });
    await DRAW[view](drawn, rest, values);
    if (ownTurn === turn) main.replaceChildren(drawn);
  } catch (error) {
    if (ownTurn === turn) main.replaceChildren(problem(error), h("p", { class: "actions" }, h("button", { type: "button", onclick: show }, "Try again")));
  } finally {
    if (ownTurn === turn) main.removeAttribute("aria-busy");
  }
}

function frame() {
  document.getElementById("views")?.replaceChildren(
    ...VIEWS.filter(([, , operation]) => may(operation)).map(([view, title]) => h("a", { href: `#/${view}` }, title)));
  document.getElementById("me")?.replaceChildren(
    h("span", {}, `${me?.tenant}`), " ", h("span", { class: "right" }, `may ${me?.right}`), " ",
    h("button", { type: "button", class: "plain", onclick: () => { signOut(); history.replaceState(history.state, "", to("ask")); askToken(); } }, "Sign out"));
}

/** @param {any} [above] */
function askToken(above) {
  turn += 1; // what is still being drawn belongs to nobody now
  forgetLast();
  say("");
  main.removeAttribute("aria-busy");
  document.getElementById("views")?.replaceChildren();
  document.getElementById("me")?.replaceChildren();
  document.title = "Sign in · Memoriter";
  const field = h("input", { id: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const form = h("form", { class: "panel sign-in", onsubmit: async (/** @type {Event} */ event) => {
    event.preventDefault();
    try { await signIn(field.value); start(); } catch (error) { askToken(problem(error)); }
  } },
    h("h1", {}, "Sign in"), above ?? null,
    h("label", { for: "token" }, "Token"), field, h("button", { type: "submit" }, "Sign in"),
    h("p", { class: "quiet" }, "memoriter token create --right write makes one. On your own machine, memoriter page signs in by itself."));
  main.replaceChildren(form);
  field.focus();
}

function start() {
  frame();
  if (!location.hash.startsWith("#/")) history.replaceState(history.state, "", to("ask"));
  show();
}

// Back leads to where one was: each entry of the history has a number, and each number a place.
history.scrollRestoration = "manual";
/** @type {Map<number, number>} */
const places = new Map();
/** @type {number} */
let entry = history.state?.entry ?? Math.random();
history.replaceState({ entry }, "");
window.addEventListener("hashchange", async (event) => {
  if (!me || !location.hash.startsWith("#/")) return;
  if (event instanceof HashChangeEvent) {
    places.set(entry, window.scrollY);
    entry = history.state?.entry ?? Math.random();
    history.replaceState({ entry }, "");
  } else places.set(entry, 0); // the same address, drawn again
  const at = entry;
  await show();
  if (at !== entry || document.getElementById("token")) return;
  main.focus({ preventScroll: true });
  window.scrollTo(0, places.get(at) ?? 0);
});
document.querySelector(".skip")?.addEventListener("click", (event) => { event.preventDefault(); main.focus(); });

// A file that is dropped beside the slots is a receipt to prove, whatever is shown.
window.addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
window.addEventListener("drop", async (event) => {
  const files = [...(event.dataTransfer?.files ?? [])];
  if (event.defaultPrevented || !files.length || !me) return;
  event.preventDefault();
  if (here().view !== "prove") {
    places.set(entry, window.scrollY);
    entry = Math.random();
    history.pushState({ entry }, "", to("prove"));
    await show();
  }
  dropped(files);
});
signedInLate(async () => {
  try { if (!me && await signIn()) start(); } catch (error) { askToken(problem(error)); }
});
signedOut((error) => askToken(error && problem(error)));
try {
  if (await signIn()) start();
  else askToken();
} catch (error) {
  askToken(problem(error));
}
