// @ts-check
// What the page says beside its content: errors, and news for those who do not see it.

import { h, safe } from "./drawing.js";

/** Say something to those who do not see the page. @param {string} text */
export function say(text) {
  const region = document.getElementById("news");
  if (region) region.textContent = safe(text);
}

/** How many memories. @param {number} count */
export const memories = (count) => (count === 1 ? "1 memory" : `${count} memories`);

/** An error with what to do next. @param {any} error */
export function problem(error) {
  return h("div", { class: "problem", role: "alert" }, h("p", {}, h("b", {}, error.message)),
    error.hint ? h("p", {}, error.hint) : null);
}

/** Ask before something that cannot be undone; resolves to whether it is wanted.
 * @param {string} title @param {any} content @param {string} word */
export function confirmed(title, content, word) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" },
      h("h2", { id: "dialog-title" }, title), content,
      h("p", { class: "actions" },
        h("button", { type: "button", autofocus: true, onclick: () => dialog.close("no") }, "Keep it"),
        h("button", { type: "button", class: "danger", onclick: () => dialog.close("yes") }, word)));
    const leave = () => dialog.close("no"); // the page behind it is another one
    window.addEventListener("hashchange", leave, { once: true });
    dialog.addEventListener("close", () => { window.removeEventListener("hashchange", leave); dialog.remove(); resolve(dialog.returnValue === "yes"); });
    document.body.append(dialog);
    dialog.showModal();
  });
}
