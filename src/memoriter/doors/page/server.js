// @ts-check
// Requests to the server, who is signed in, and the state that the address holds.

const BASE = new URL("../", import.meta.url);
const KEY = "memoriter.token";
/** Milliseconds within which another tab answers, and within which a late answer is still taken. */
const SOON = 150, LATE = 5000;
const tabs = new BroadcastChannel("memoriter");

/** What the server refused, with what to do next. */
export class Refused extends Error {
  /** @param {any} problem @param {number} status */
  constructor(problem, status) {
    super(problem.message ?? problem.detail ?? `the server answered ${status}`);
    this.hint = problem.hint ?? "";
    this.status = status;
    this.field = problem.field ?? "";
  }
}

let token = sessionStorage.getItem(KEY);
/** @type {{tenant: string, right: string, may: string[], version: string, name: string | null} | null} */
export let me = null;

tabs.addEventListener("message", (event) => {
  if (event.data === "token?" && token) tabs.postMessage({ token });
});

/** @param {string} method @param {string} path @param {any} [body] */
async function send(method, path, body) {
  return JSON.parse(await sendText(method, path, body === undefined ? undefined : JSON.stringify(body)));
}

/** The reply as the server wrote it. A receipt travels as text: 1.0 and 1 are one number to
 * JavaScript, and two to a digest. @param {string} method @param {string} path @param {string} [body] */
async function sendText(method, path, body) {
  /** @type {Record<string, string>} */
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(new URL(path, BASE), { method, headers, body, cache: "no-store", redirect: "error" });
  } catch {
    throw new Refused({ message: "the server does not answer", hint: "is memoriter still running?" }, 0);
  }
  const reply = await response.text();
  if (response.ok) return reply;
  let problem = {};
  try { problem = JSON.parse(reply); } catch { /* a proxy may answer in its own words */ }
  const refused = new Refused(problem, response.status);
  if (response.status === 401 && me) { drop(); ended(refused); }
  throw refused;
}

/** @param {string} path @param {any} body */
export const post = (path, body) => send("POST", `v1/${path}`, body);
/** The receipt of an answer, as text. @param {string} handle */
export const receiptText = (handle) => sendText("POST", "v1/receipt", JSON.stringify({ receipt: handle }));
/** A request about receipts, each as text. @param {string} path @param {Record<string, string>} receipts */
export const postReceipts = async (path, receipts) =>
  JSON.parse(await sendText("POST", `v1/${path}`, `{${Object.entries(receipts).map(([name, text]) => `"${name}":${text}`).join(",")}}`));
/** An operation by its name, for what would have an id in its path: a browser takes `.` and `..` out of a path.
 * @param {string} method @param {any} params */
export async function call(method, params) {
  const { result, error } = await send("POST", "rpc", { jsonrpc: "2.0", id: 1, method, params });
  if (error) throw new Refused(error.data ?? error, 400);
  return result;
}
/** @param {string} path @param {Record<string, string>} [query] */
export const get = (path, query = {}) => {
  const sent = new URLSearchParams(query).toString();
  return send("GET", `v1/${path}${sent ? `?${sent}` : ""}`);
};

/** Whether the token may run an operation. @param {string} operation */
export const may = (operation) => me?.may.includes(operation) ?? false;

/** Sign in by the link in the address, by a token that was typed, or by another tab.
 * @param {string} [typed] */
export async function signIn(typed) {
  const link = new URLSearchParams(location.hash.slice(1)).get("link");
  if (typed !== undefined) {
    if (!/^[\x21-\x7e]+$/.test(typed.trim())) throw new Refused({ message: "this is not a token", hint: "paste the whole token: letters, digits and signs, without spaces or dots that stand for a part left out" }, 400);
    token = typed.trim();
  }
  if (link) {
    history.replaceState(history.state, "", location.pathname);
    token = (await send("POST", "page/link", { secret: link })).token;
  }
  token ??= await fromOtherTab();
  if (!token) return false;
  try {
    me = await send("GET", "page/me");
  } catch (error) {
    drop();
    throw error;
  }
  sessionStorage.setItem(KEY, token ?? "");
  return true;
}

/** Forget the token, here and in the other tabs that have the same one. */
export function signOut() {
  const old = token;
  drop();
  if (old) tabs.postMessage({ drop: old });
}

function drop() {
  token = null;
  me = null;
  sessionStorage.removeItem(KEY);
}

/** @type {(error?: Refused) => void} */
let ended = () => {};

/** What to do when another tab signed out, or the token is no longer taken. @param {(error?: Refused) => void} then */
export function signedOut(then) {
  ended = then;
  tabs.addEventListener("message", (event) => {
    if (token && event.data?.drop === token) { drop(); then(); }
  });
}

/** The token of another tab: null after a moment without an answer. One that is busy may answer later: `late` is called then.
 * @returns {Promise<string | null>} */
function fromOtherTab() {
  return new Promise((resolve) => {
    let waiting = true;
    const answered = (/** @type {MessageEvent} */ event) => {
      if (!event.data?.token) return;
      tabs.removeEventListener("message", answered);
      if (waiting) resolve(event.data.token);
      else if (!token) { token = event.data.token; late(); }
    };
    tabs.addEventListener("message", answered);
    tabs.postMessage("token?");
    setTimeout(() => { waiting = false; resolve(null); }, SOON);
    setTimeout(() => tabs.removeEventListener("message", answered), LATE);
  });
}

let late = () => {};
/** What to do when a tab answers after the page has asked for a token. @param {() => void} then */
export function signedInLate(then) { late = then; }

// -- the address ------------------------------------------------------------------------------

/** A part of the address; null if it cannot be read. @param {string} part */
function decoded(part) {
  try { return decodeURIComponent(part); } catch { return null; }
}

/** The view and its values: `#/ask?q=ssh`. */
export function here() {
  const [, path = "", query = ""] = /^#?\/?([^?]*)\??(.*)$/s.exec(location.hash) ?? [];
  const parts = path.split("/").map(decoded);
  return { view: parts[0] || "ask", rest: parts.slice(1), values: new URLSearchParams(query) };
}

/** An address. @param {string} view @param {Record<string, any>} [values] */
export function to(view, values = {}) {
  const kept = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

/** The address of a memory, or of what it was at a time. @param {string} id @param {string} [knownAt] */
export const toMemory = (id, knownAt) => to(`memory/${encodeURIComponent(id)}`, { known_at: knownAt });

/** Change values of the present address without leaving the view. @param {Record<string, any>} changes */
export function note(changes) {
  const { view, rest, values } = here();
  for (const [key, value] of Object.entries(changes)) {
    if (value === "" || value === null || value === undefined) values.delete(key);
    else values.set(key, String(value));
  }
  const path = [view, ...rest.map((part) => encodeURIComponent(part ?? ""))].join("/");
  history.replaceState(history.state, "", to(path, Object.fromEntries(values)));
}
