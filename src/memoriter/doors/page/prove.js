// @ts-check
// Receipts: verified, replayed, and two of them compared.

import { sideBySide } from "./compare.js";
import { h, into } from "./drawing.js";
import { memories, problem, say } from "./notices.js";
import { note, postReceipts, receiptText } from "./server.js";

/** @param {HTMLElement} main @param {string[]} rest @param {URLSearchParams} values */
export async function proveView(main, rest, values) {
  /** @type {[Slot, Slot]} */
  const slots = [new Slot("A receipt", "of"), new Slot("Another, to compare with", "and")];
  shown = slots;
  const both = h("div");
  for (const slot of slots) slot.changed = async () => {
    if (!slots[0].receipt || !slots[1].receipt) { both.replaceChildren(); return; }
    const [before, after] = slots.map((each) => each.text);
    try {
      const diff = await postReceipts("diff", { before, after });
      if (!slots[0].receipt || !slots[1].receipt || before !== slots[0].text || after !== slots[1].text) return;
      both.replaceChildren(sideBySide(slots[0].drawing(), slots[1].drawing(), diff, slots[0].name, slots[1].name));
    } catch (error) { both.replaceChildren(problem(error)); }
  };
  into(main, h("h1", {}, "Prove"),
    h("p", { class: "quiet" }, "A receipt holds every input of an answer. Here every number is derived again from the others, and the search runs again on the memory as it was."),
    h("div", { class: "slots" }, slots.map((slot) => slot.element)), both);
  await Promise.all(slots.map((slot) => slot.fetch(values.get(slot.key) ?? "")));
}

/** The slots of the view that is shown. @type {Slot[]} */
let shown = [];

/** Files that were dropped beside the slots: a free slot takes each; without one, the first is compared anew. @param {File[]} files */
export function dropped(files) {
  files.slice(0, 2).forEach((file, at) => (shown.find((slot) => !slot.receipt && !slot.busy) ?? shown[at]).read(file));
}

/** A place for a receipt: a file, or a handle, which the address keeps. */
class Slot {
  /** @param {string} title @param {string} key its name in the address */
  constructor(title, key) {
    this.key = key;
    /** @type {any} */ this.receipt = null;
    this.text = "";
    /** @type {any} */ this.replayed = null;
    this.name = title;
    this.turn = 0;
    this.busy = false;
    this.changed = async () => {};
    this.out = h("div");
    const file = h("input", { type: "file", accept: "application/json,.json" });
    file.addEventListener("change", () => { if (file.files[0]) this.read(file.files[0]); });
    this.handle = h("input", { name: key, autocomplete: "off", spellcheck: "false" });
    this.element = h("section", { class: "panel drop", "aria-label": title }, h("h2", {}, title), h("label", {}, h("span", {}, "Choose a file, or drop one here"), file),
      h("form", { class: "row", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); note({ [key]: this.handle.value.trim() }); this.fetch(this.handle.value.trim()); } },
        h("label", { class: "grow" }, h("span", {}, "Or the handle of a recent answer"), this.handle), h("button", { type: "submit" }, "Take it")), this.out);
    this.element.addEventListener("dragover", (/** @type {DragEvent} */ event) => { event.preventDefault(); this.element.classList.add("over"); });
    this.element.addEventListener("dragleave", () => this.element.classList.remove("over"));
    this.element.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      this.element.classList.remove("over");
      const [first, ...others] = event.dataTransfer?.files ?? [];
      if (first) this.read(first);
      dropped(others);
    });
  }

  /** The receipt that the server keeps under a handle. @param {string} handle */
  async fetch(handle) {
    this.handle.value = handle;
    if (handle) await this.show(`receipt ${handle.slice(0, 12)}`, () => receiptText(handle));
  }

  /** A file of the disk; no address leads to it. @param {File} file */
  async read(file) {
    this.handle.value = "";
    note({ [this.key]: "" });
    if (await this.show(file.name, () => file.text())) this.out.append(h("p", { class: "quiet" }, `It comes from your file ${file.name}, so the link of this page does not lead to it.`));
  }

  /** Verify a receipt and show it; false if another one came meanwhile. @param {string} name @param {() => Promise<string>} load */
  async show(name, load) {
    const own = ++this.turn;
    this.busy = true;
    this.receipt = null;
    this.changed();
    this.out.replaceChildren(h("p", { class: "quiet" }, "Verifying …"));
    try { await this.take(await load(), name, own); } catch (error) {
      if (own !== this.turn) return false;
      this.receipt = null;
      await this.changed();
      if (own !== this.turn) return false;
      this.out.replaceChildren(problem(error instanceof SyntaxError ? Object.assign(new Error(`${name} is not JSON`), { hint: "choose a receipt, as the page downloads it" }) : error));
    }
    if (own !== this.turn) return false;
    this.busy = false;
    return true;
  }

  /** @param {string} text @param {string} name @param {number} own the turn that it belongs to */
  async take(text, name, own) {
    const receipt = JSON.parse(text);
    const verified = await postReceipts("verify", { receipt: text });
    if (own !== this.turn) return;
    const parts = [verdict(verified, receipt)];
    let replayed = null;
    if (verified.ok) {
      try {
        replayed = await postReceipts("replay", { receipt: text });
        parts.push(replay(replayed));
      } catch (error) { parts.push(h("h3", {}, "Replay"), problem(error)); }
    }
    if (own !== this.turn) return;
    Object.assign(this, { name, text, replayed, receipt: verified.ok ? receipt : null });
    this.out.replaceChildren(...parts);
    say(verified.ok ? "verified" : "not verified");
    await this.changed();
  }

  /** What the two lists of a comparison show. */
  drawing() {
    const textById = new Map((this.replayed?.result.hits ?? []).map((/** @type {any} */ hit) => [hit.record.id, hit.record.text]));
    return { hits: this.receipt.hits.map((/** @type {string} */ id, /** @type {number} */ at) => ({ id, rank: at + 1, text: [{ text: textById.get(id) ?? id }] })) };
  }
}

/** @param {any} verified @param {any} receipt */
function verdict(verified, receipt) {
  const list = (/** @type {string} */ title, /** @type {string[]} */ items) => h("details", {}, h("summary", {}, `${title}: ${items.length}`), some(items, 200));
  return h("div", {},
    h("p", { class: verified.ok ? "good" : "bad", "data-verified": String(verified.ok) }, verified.ok ? "Verified: every number that follows from others was derived again and is equal." : "Not verified."),
    receipt?.query?.text ? h("p", {}, "The question: ", h("q", {}, receipt.query.text)) : null,
    verified.problems.length ? h("div", { class: "bad" }, some(verified.problems, 20)) : null,
    list("Proved, derived again", verified.checked), list("Attested, covered by the digest alone", verified.attested),
    list("Not covered: what no receipt can say", verified.not_covered));
}

/** The first entries of a list, and how many more there are. @param {string[]} items @param {number} most */
const some = (items, most) => h("ul", {}, items.slice(0, most).map((each) => h("li", {}, each)), items.length > most ? h("li", { class: "quiet" }, `and ${items.length - most} more`) : null);

/** @param {any} replayed */
function replay(replayed) {
  return h("div", {}, h("h3", {}, "Replay"),
    h("p", { class: replayed.same ? "good" : "bad", "data-replayed": String(replayed.same) }, replayed.same ? "The same search on the same view gives the same answer, bit for bit." : "The answer differs."),
    replayed.forgotten ? h("p", {}, `Forgotten since, of that view: ${memories(replayed.forgotten)}.`) : null,
    replayed.differences.length ? some(replayed.differences, 20) : null);
}
