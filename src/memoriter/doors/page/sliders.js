// @ts-check
// A slider for every number of a recipe. The server says what each means and how far it goes.

import { h } from "./drawing.js";

/** @param {any[]} numbers @param {Record<string, any>} overrides
 * @param {(moved: Record<string, number | null>) => void} move null: as the recipe has it @param {() => void} unmove */
export function sliders(numbers, overrides, move, unmove) {
  const current = { ...overrides };
  /** @type {Record<string, number | null>} */
  let moved = {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  /** @param {string} path @param {number | null} value */
  const tell = (path, value) => {
    moved[path] = value;
    clearTimeout(waiting);
    waiting = setTimeout(() => { move(moved); moved = {}; }, 120);
  };
  const groups = new Map();
  for (const each of numbers) groups.set(each.group, [...(groups.get(each.group) ?? []), each]);
  const weights = (/** @type {any[]} */ group) => Number(group[0].group.endsWith("fuse")); // they come first: they say the most
  const rows = [...groups.values()].sort((one, two) => weights(two) - weights(one)).map((group) => {
    const touched = group.some((/** @type {any} */ each) => each.path in current);
    return h("details", { class: "group", open: touched || weights(group) === 1 },
      h("summary", {}, group[0].title), group.map((/** @type {any} */ each) => slider(each, current, tell)));
  });
  const copies = h("div", { class: "copies" });
  const reset = h("button", { type: "button", onclick: () => {
    for (const path of Object.keys(current)) delete current[path];
    for (const input of element.querySelectorAll("input")) {
      input.value = input.dataset.first;
      if (input.type === "range") input.dataset.now = input.dataset.first;
    }
    for (const row of element.querySelectorAll(".slider")) row.classList.remove("changed");
    clearTimeout(waiting);
    moved = {};
    unmove();
  } }, "As the recipe has it");
  const element = h("div", { class: "sliders" }, h("p", { class: "quiet" }, "Move a number: the order moves. Nothing is stored."), h("p", { class: "actions" }, reset), copies, rows);
  /** @param {Record<string, string> | null} spelled */
  const show = (spelled) => copies.replaceChildren(...(spelled ? Object.entries({ python: "Python", command: "Command", toml: "Recipe as TOML" }).map(([key, title]) => copy(title, spelled[key])) : []));
  /** How far each slider goes beside the present values of the others. @param {any[]} now */
  const reach = (now) => {
    const ends = new Map(now.map((each) => [each.path, each]));
    for (const range of element.querySelectorAll("input[type=range]")) {
      const { low, high } = ends.get(range.dataset.path) ?? {};
      if (low !== undefined) Object.assign(range, { min: low, max: high, value: range.dataset.now });
    }
    element.dataset.turn = String(Number(element.dataset.turn ?? 0) + 1);
  };
  return { element, spelled: show, reach };
}

/** @param {string} title @param {string} text */
function copy(title, text) {
  const button = h("button", { type: "button", class: "plain", onclick: async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Select and copy"; }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } }, "Copy");
  return h("details", { class: "copy" }, h("summary", {}, title), h("pre", { tabindex: "0" }, text), button);
}

/** @param {any} each @param {Record<string, any>} current @param {(path: string, value: number | null) => void} tell */
function slider(each, current, tell) {
  const id = `n-${each.path.replaceAll(".", "-")}`;
  const first = each.value ?? "";
  const value = current[each.path] ?? each.value ?? each.low;
  const name = each.path.slice(each.group.length + 1);
  const range = h("input", { type: "range", id, min: each.low, max: each.high, step: each.step, value, "data-path": each.path, "data-now": value, "data-first": each.value ?? each.low, "aria-describedby": `${id}-about` });
  const exact = h("input", { type: "number", value: each.path in current ? value : first, step: "any", min: each.least, max: each.most, "aria-label": `${each.path}, exactly`, "data-first": first, placeholder: "off" });
  const row = h("div", { class: `slider ${each.path in current ? "changed" : ""}` },
    h("label", { for: id }, name), range, exact, h("small", { id: `${id}-about` }, each.about));
  /** @param {number | null} now */
  const set = (now) => {
    if (now === each.value) delete current[each.path];
    else current[each.path] = now;
    row.classList.toggle("changed", each.path in current);
    range.dataset.now = now ?? each.low;
    tell(each.path, current[each.path] ?? null);
  };
  range.addEventListener("input", () => { exact.value = range.value; set(Number(range.value)); });
  exact.addEventListener("change", () => {
    if (!exact.reportValidity()) return;
    if (exact.value === "") { // as the recipe has it
      exact.value = exact.dataset.first;
      range.value = range.dataset.first;
      set(each.value);
      return;
    }
    range.value = exact.value;
    set(Number(exact.value));
  });
  return row;
}
