// @ts-check
// The card of an answer inside a host of MCP Apps: a sandboxed frame that talks to the host in
// JSON-RPC by postMessage. `drawing.js` stands above this text in the same module.

/** @param {any} message */
const tell = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const root = /** @type {HTMLElement} */ (document.getElementById("card"));

/** @param {any} context */
function theme(context) {
  if (context?.theme) document.documentElement.style.colorScheme = context.theme;
  if (context?.theme) document.documentElement.dataset.theme = context.theme;
}

/** What the tool answered: drawn if the drawing came with it, else its text. @param {any} result */
function show(result) {
  const drawing = result?._meta?.["memoriter/drawing"];
  if (drawing) root.replaceChildren(draw(drawing));
  else root.replaceChildren(h("pre", { class: "text" }, (result?.content ?? []).map((/** @type {any} */ each) => each.text ?? "").join("\n")));
}

window.addEventListener("message", (event) => {
  if (event.source !== window.parent) return;
  const { id, method, params, result } = event.data ?? {};
  if (id === 1 && result) {
    theme(result.hostContext);
    tell({ method: "ui/notifications/initialized", params: {} });
  } else if (method === "ui/notifications/tool-result") show(params?.result ?? params);
  else if (method === "ui/notifications/host-context-changed") theme(params);
  else if (method === "ui/resource-teardown" || method === "ping") tell({ id, result: {} });
});
new ResizeObserver(() => {
  const { scrollWidth: width, scrollHeight: height } = document.documentElement;
  tell({ method: "ui/notifications/size-changed", params: { width, height } });
}).observe(root);
tell({ id: 1, method: "ui/initialize", params: {
  protocolVersion: "2026-01-26", appInfo: { name: "memoriter", version: "1" }, appCapabilities: {},
} });
