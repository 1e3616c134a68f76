// @ts-check
// Draws an answer and its explanation. The server decides what is drawn (why/drawing.py): every
// length, colour, number and word. This file makes elements of it, and nothing else. It imports
// nothing, so that the page loads it as a file, and the card of MCP, a saved answer and a notebook
// carry it inside.

const SVG = "http://www.w3.org/2000/svg";
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f]/g;

/** A text without characters that hide or reorder others: direction marks, controls, tags.
 * @param {unknown} text */
export function safe(text) {
  return String(text).replace(HIDDEN, "\ufffd");
}

/** An element: attributes, listeners (`onclick`), and children. Texts become text nodes, never markup.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...any} children
 * @returns {any} */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** @param {string} name @param {Record<string, any>} [attributes] @param {...any} children @returns {any} */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Add children to an element: nodes, texts, lists of them; nothing for null. @param {any} made @param {...any} children */
export function into(made, ...children) {
  return fill(made, {}, children);
}

/** @param {any} made @param {Record<string, any>} attributes @param {any[]} children */
function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "value") made.value = value; // as it is: what is edited must not change by being shown
    else made.setAttribute(key, value === true ? "" : key.startsWith("data-") ? String(value) : safe(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    made.append(child instanceof Node ? child : document.createTextNode(safe(child)));
  }
  return made;
}

/** @param {string} text @param {number | null | undefined} hue */
export function chip(text, hue) {
  return h("span", { class: `chip hue-${hue ?? "none"}` }, text);
}

/** The pieces of a text, those that matched marked. @param {any[]} pieces */
function marked(pieces) {
  return pieces.map((piece) => (piece.mark ? h("mark", {}, piece.text) : piece.text));
}

// -- a bar ------------------------------------------------------------------------------------

/** @param {any} hit */
function bar(hit) {
  const words = hit.sum.map((/** @type {any} */ each) => `${each.label} ${each.text}`).join(", ");
  return svg(
    "svg",
    { class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", role: "img",
      "aria-label": `score ${hit.total}: ${words}` },
    hit.bar.map((/** @type {any} */ each) =>
      svg("rect", { class: each.less ? "less" : `fill-${each.hue}`, x: each.x, width: each.width, height: 4 },
        svg("title", {}, each.text))),
  );
}

/** The parts as a sum that adds up as it is shown. @param {any} hit */
function sum(hit) {
  return h("p", { class: "sum" },
    hit.sum.map((/** @type {any} */ each, /** @type {number} */ at) => [
      each.text.startsWith("-") ? " − " : at ? " + " : "",
      h("span", { class: `chip hue-${each.hue}` },
        h("b", { "data-part": each.text }, each.text.replace("-", "")), ` ${each.label}`)]),
    " = ", h("b", { "data-total": hit.total }, hit.total));
}

// -- pictures ---------------------------------------------------------------------------------
// A part of the recipe says which of these shapes is drawn beside its number (core/picture.py).

/** @param {any} picture @param {...any} drawn */
const figure = (picture, ...drawn) => h("figure", {}, drawn, h("figcaption", {}, picture.caption));
/** @param {string} text */
const cut = (text) => (text.length > 18 ? `${text.slice(0, 17)}…` : text);

/** @type {Record<string, (picture: any) => any>} */
const SHAPES = {
  /** Words on both sides, joined by lines. */
  lines: (picture) => figure(picture,
    svg("svg", { class: "joined", viewBox: `0 0 360 ${24 * picture.rows.length + 6}`, role: "img", "aria-label": picture.label },
      picture.rows.map((/** @type {any} */ row, /** @type {number} */ at) => {
        const y = 24 * at + 18;
        return [
          svg("text", { x: 118, y, "text-anchor": "end" }, row.left),
          svg("line", { x1: 126, x2: 234, y1: y - 4, y2: y - 4, "stroke-opacity": row.share, "stroke-width": 1 + 5 * row.share }),
          svg("text", { class: "on-line", x: 180, y: y - 9, "text-anchor": "middle" }, row.text),
          svg("text", { x: 242, y }, row.right),
        ];
      }))),
  /** Records in a row, and the link that leads to each. */
  chain: (picture) => figure(picture,
    svg("svg", { class: "chain", viewBox: `0 0 ${150 * picture.rows.length} 56`, role: "img", "aria-label": picture.label },
      picture.rows.map((/** @type {any} */ row, /** @type {number} */ at) => [
        row.link ? svg("line", { x1: 150 * at - 63, x2: 150 * at + 63, y1: 20, y2: 20 }) : null,
        row.link ? svg("text", { class: "on-line", x: 150 * at, y: 13, "text-anchor": "middle" }, cut(row.link)) : null,
        svg("circle", { cx: 150 * at + 75, cy: 20, r: 8 }, svg("title", {}, row.text)),
        svg("text", { x: 150 * at + 75, y: 46, "text-anchor": "middle" }, cut(row.text)),
      ])),
    h("ol", { class: "stops" }, picture.rows.map((/** @type {any} */ row) => h("li", {}, row.link ? `${row.link} ` : "", h("span", { "data-memory": row.text }, row.text))))),
  table: (picture) => h("table", {}, h("caption", {}, picture.caption),
    h("thead", {}, h("tr", {}, picture.heads.map((/** @type {string} */ head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, picture.rows.map((/** @type {string[]} */ row) => h("tr", {}, row.map((cell, at) => h("td", { "data-memory": at === picture.ids ? cell : null }, cell)))))),
};

/** What stands beside a number; null if nothing does. @param {any} picture */
const pictureOf = (picture) => SHAPES[picture?.shape]?.(picture) ?? null;

// -- the tree ---------------------------------------------------------------------------------

/** Whether a picture stands at a node or below it. @param {any} node @returns {boolean} */
const pictured = (node) => Boolean(node.picture) || node.parts.some(pictured);

/** @param {any} node @param {number} depth */
function tree(node, depth = 0) {
  const name = node.matched ? [h("mark", {}, node.matched), " ", node.label]
    : node.hue === null || node.hue === undefined ? node.label : chip(node.label, node.hue);
  const line = [h("b", { class: "value", title: `exactly ${node.exact}`, "data-value": node.value }, node.value), " ", name];
  const facts = node.facts ?? [];
  const detail = [node.detail, node.about].filter(Boolean).join(" · ");
  const picture = pictureOf(node.picture);
  if (!facts.length && !node.parts.length && !picture) {
    return h("li", { "data-op": node.op }, line, detail ? h("span", { class: "how" }, ` ${detail}`) : null);
  }
  const inside = [
    detail ? h("p", { class: "how" }, detail) : null,
    facts.length ? h("dl", { class: "facts" }, facts.map((/** @type {any} */ fact) =>
      h("div", {}, h("dt", {}, fact.name), h("dd", {}, h("b", {}, fact.text), " ", h("span", {}, fact.about))))) : null,
    picture,
    node.parts.length ? h("ul", {}, node.parts.map((/** @type {any} */ part) => tree(part, depth + 1))) : null,
  ].filter(Boolean);
  return h("li", { "data-op": node.op }, h("details", { open: depth < 2 || pictured(node) }, h("summary", {}, line), inside));
}

/** The rank through the stages, as a line that falls to the best rank. @param {any[]} journey */
function journey(journey) {
  const x = (/** @type {number} */ at) => 40 + at * 90;
  const y = (/** @type {any} */ stage) => 22 + 44 * stage.depth;
  const points = journey.map((stage, at) => `${x(at)},${y(stage)}`).join(" ");
  return h("figure", { class: "wide", tabindex: "0", role: "group", "aria-label": "Its rank, stage by stage" },
    svg("svg", { class: "journey", viewBox: `0 0 ${80 + 90 * (journey.length - 1)} 96`, role: "img",
      "aria-label": journey.map((stage) => `${stage.stage}: rank ${stage.rank}`).join(", ") },
      svg("polyline", { points }),
      journey.map((stage, at) => [
        svg("circle", { class: `fill-${stage.hue}`, cx: x(at), cy: y(stage), r: 5 }),
        svg("text", { x: x(at), y: y(stage) - 9, "text-anchor": "middle" }, `#${stage.rank}`),
        svg("text", { class: "on-line", x: x(at), y: 90, "text-anchor": "middle" }, stage.stage),
      ])),
    h("figcaption", {}, "Its rank in each lane, and after each stage."));
}

/** Why a hit has its score, its rank and its relevance. @param {any} hit */
export function explanation(hit) {
  return h("div", { class: "why" },
    h("p", { class: "chips" }, hit.chips.map((/** @type {any} */ each) => chip(each.text, each.hue))),
    h("h3", {}, "The score"), h("ul", { class: "tree" }, tree(hit.tree)),
    hit.before.map((/** @type {any} */ lane) => [
      h("h3", {}, `${lane.label}, rank ${lane.rank}, before the second pass`), h("ul", { class: "tree" }, tree(lane.tree))]),
    hit.why_relevant ? [h("h3", {}, "The relevance"), h("ul", { class: "tree" }, tree(hit.why_relevant))] : [],
    h("h3", {}, "The rank"), journey(hit.journey),
    hit.moves.length ? h("ul", { class: "moves" }, hit.moves.map((/** @type {any} */ m) => h("li", {}, `${m.stage}: ${m.text}`))) : []);
}

// -- an answer --------------------------------------------------------------------------------

/** One hit. `more` adds what belongs to the place where it is shown: links, marks.
 * @param {any} hit @param {{open?: boolean, note?: any, actions?: any, ontoggle?: (open: boolean) => void}} [more] */
export function hitCard(hit, more = {}) {
  const why = h("details", { class: "why-of", open: more.open }, h("summary", {}, "Why: every number"));
  const draw = () => { if (why.open && why.childElementCount === 1) why.append(explanation(hit)); };
  draw();
  why.addEventListener("toggle", () => { draw(); more.ontoggle?.(why.open); });
  return h("article", { class: `hit ${hit.strength ?? ""}`, "data-id": hit.id, "aria-label": `hit ${hit.rank}` },
    h("header", {}, h("b", { class: "rank" }, hit.rank), h("b", { class: "score" }, hit.score),
      hit.relevance ? h("span", { class: `strength ${hit.strength}` }, hit.relevance) : null, more.note ?? null),
    bar(hit), sum(hit),
    hit.title.length ? h("h3", {}, marked(hit.title)) : null,
    h("p", { class: "text", dir: "auto" }, marked(hit.text)),
    h("p", { class: "about" }, hit.about.map((/** @type {string} */ each) => h("span", {}, each)), more.actions ?? null),
    hit.copies ? h("p", { class: "about" }, hit.copies) : null,
    hit.superseded_by.length ? h("p", { class: "bad" }, `superseded by ${hit.superseded_by.join(", ")}`) : null,
    why);
}

/** How many memories each stage left, how long it took, and what did not run. @param {any[]} funnel @param {string} [stopped] */
export function funnel(funnel, stopped) {
  return h("ol", { class: "funnel" }, funnel.map((stage) =>
    h("li", { class: `${stage.skipped ? (stage.missed ? "missed" : "skipped") : ""} ${stage.stage === stopped ? "stopped" : ""}` },
      h("span", { class: "stage" }, chip(stage.stage, stage.hue), stage.stage === stopped ? h("b", { class: "bad" }, " stopped here") : null),
      stage.skipped ? h("span", { class: "reason" }, `did not run: ${stage.skipped}`)
        : [svg("svg", { class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
            svg("rect", { class: stage.hue === undefined ? "fill-none" : `fill-${stage.hue}`, width: stage.share, height: 4 })),
          h("span", { class: "rows" }, stage.rows ?? "", stage.ms ? h("small", {}, ` ${stage.ms}`) : null)],
      h("small", { class: "what" }, stage.about, stage.attempts ? ` (${stage.attempts.join(", ")})` : "", stage.options ? ` · ${stage.options}` : ""))));
}

/** A whole answer. `more(hit)` is what is added to a hit. @param {any} drawing @param {(hit: any) => any} [more] */
export function answer(drawing, more = () => ({})) {
  return h("div", { class: "answer" },
    h("h2", { class: "title" }, drawing.title),
    drawing.missing.map((/** @type {any} */ each) => h("p", { class: "bad" }, `${each.label} did not run: ${each.reason}`)),
    drawing.verdict ? h("p", { class: "verdict" }, drawing.verdict) : null,
    drawing.remarks.map((/** @type {string} */ each) => h("p", { class: "quiet" }, each)),
    drawing.hits.map((/** @type {any} */ hit, /** @type {number} */ at) => [
      at && at === drawing.hits.findLastIndex((/** @type {any} */ each) => each.strength !== "none") + 1 ? h("h3", { class: "apart" }, drawing.apart) : null,
      hitCard(hit, more(hit))]),
    drawing.comparable ? h("p", { class: "quiet" }, drawing.comparable) : null);
}

/** What each drawing becomes; `draws` names it. @type {Record<string, (drawing: any) => any>} */
const DRAWN = {
  answer: (drawing) => [answer(drawing), h("details", {}, h("summary", {}, "How it was found"), funnel(drawing.funnel))],
  hit: (drawing) => [hitCard(drawing, { open: true }), h("p", { class: "quiet" }, drawing.comparable)],
  explanation: (drawing) => [sum(drawing), h("ul", { class: "tree" }, tree(drawing.tree))],
  plan: (drawing) => [h("p", { class: "answer" }, h("b", { class: "title" }, drawing.title)), funnel(drawing.funnel)],
};

/** An answer, a hit, an explanation or a plan. @param {any} drawing */
export function draw(drawing) {
  return h("div", { class: "drawing" }, DRAWN[drawing.draws](drawing));
}

/** `<memoriter-drawing>`: draws the JSON that it carries, with the style in its template. What else
 * it holds is seen only where scripts are blocked. */
class DrawingElement extends HTMLElement {
  connectedCallback() {
    const data = this.querySelector('script[type="application/json"]');
    const style = this.querySelector("template");
    if (!data || !style || this.shadowRoot) return;
    this.attachShadow({ mode: "open" }).append(style.content.cloneNode(true), draw(JSON.parse(data.textContent ?? "")));
  }
}

// Every card of a notebook brings this module: only the first one defines the element.
if (!customElements.get("memoriter-drawing")) customElements.define("memoriter-drawing", DrawingElement);
