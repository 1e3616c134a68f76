// @ts-check
// What is asked: the question, the change of a why-not that was applied, and the moved numbers. The
// address holds all three, and together they give one answer.

import { post } from "./server.js";

/** Options of a change whose entries are added to those of the call; the others replace them. */
const MERGED = ["overrides", "lists"];

/** A value of the address that is JSON. @param {URLSearchParams} values @param {string} name @param {any} otherwise */
export function parsed(values, name, otherwise) {
  const text = values.get(name);
  if (!text) return otherwise;
  try {
    const value = JSON.parse(text);
    if (value && typeof value === "object" && Array.isArray(value) === Array.isArray(otherwise)) return value;
  } catch { /* said below */ }
  throw Object.assign(new Error(`“${name}” in the address cannot be read`), { hint: "the link may be cut: ask again" });
}

/** A value of the address that is a whole number, from 0 on. @param {URLSearchParams} values @param {string} name @param {number} otherwise */
export function whole(values, name, otherwise) {
  const text = values.get(name);
  if (!text) return otherwise;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw Object.assign(new Error(`“${name}” in the address is not a whole number: ${text}`), { hint: "for example 20" });
}

/** @param {Record<string, any>} one @param {Record<string, any>} two */
function merged(one, two) {
  const out = { ...one, ...two };
  for (const key of MERGED) if (one[key] && two[key]) out[key] = { ...one[key], ...two[key] };
  return out;
}

export class State {
  /** @param {any} body @param {any} first the answer to the question alone @param {URLSearchParams} values */
  constructor(body, first, values) {
    this.body = body;
    this.first = first;
    /** The answer to the changed question, and what was asked for it: sliders alone do not ask again. @type {any} */
    this.base = null;
    this.asked = "";
    /** @type {Record<string, any>} */ this.moved = parsed(values, "o", {});
    /** @type {Record<string, any>} */ this.change = parsed(values, "change", {});
  }

  /** All overrides; the change comes after the sliders that were moved before it. */
  get overrides() { return { ...this.moved, ...this.change.overrides }; }

  /** The values that the address holds. */
  get noted() {
    const text = (/** @type {any} */ value) => (Object.keys(value).length ? JSON.stringify(value) : "");
    return { o: text(this.moved), change: text(this.change) };
  }

  /** Add a change to what is asked. @param {Record<string, any>} change */
  apply(change) { this.change = merged(this.change, change); }

  /** Move numbers; null is the recipe's value. A number that the change had set is the slider's from now on.
   * @param {Record<string, number | null>} numbers */
  move(numbers) {
    const { overrides = {}, ...rest } = this.change;
    const without = Object.entries(overrides).filter(([path]) => !(path in numbers));
    this.change = without.length ? { ...rest, overrides: Object.fromEntries(without) } : rest;
    this.moved = Object.fromEntries(Object.entries({ ...this.moved, ...numbers }).filter(([, value]) => value !== null));
  }

  /** The recipe as it is. */
  unmove() {
    const { overrides, ...rest } = this.change;
    this.change = rest;
    this.moved = {};
  }

  /** The call, at the moment of the first answer: nothing but the state makes a difference. */
  get request() {
    const { overrides, ...rest } = this.change;
    const body = { now: this.first.plan.steps[0].now, ...this.body, ...rest };
    for (const [name, value] of Object.entries(body)) if (value === null) delete body[name];
    return overrides ? { ...body, overrides } : body;
  }

  /** The answer, and that without the change if there is one. */
  async answers() {
    const { overrides, moved } = this; // as they are now: a slider may move meanwhile
    const changed = Object.keys(this.change).length > 0;
    const asked = JSON.stringify(this.request);
    if (changed && this.asked !== asked) this.base = await post("recall", { ...this.request, detail: "drawn" });
    this.asked = changed ? asked : "";
    const base = changed ? this.base : this.first;
    return { now: await rescored(base, overrides), before: changed ? await rescored(this.first, moved) : null };
  }
}

/** The answer with other numbers: the server scores the same candidates again. @param {any} reply @param {Record<string, any>} overrides */
const rescored = (reply, overrides) =>
  Object.keys(overrides).length ? post("what-if", { receipt: reply.receipt, overrides, detail: "drawn" }) : reply;
