/** The help panel: all keys, by group, and what the mouse and the fingers do. */
import { html } from "../html.js";
import { commands } from "../keys.js";
import { Button, touched } from "../ui.js";

const POINTER = [
  ["Drag", "Move the picture"],
  ["Wheel", "Zoom about the pointer"],
  ["Shift and drag", "Zoom to a box"],
  ["Double click", "Zoom in four times"],
  ["Hold still, then steer", "Fly in, with Shift out: the faster, the farther from the middle"],
  ["Two fingers", "Zoom and turn"],
  ["Right click, long press", "Menu of the point"],
];
const FINGERS = [
  ["Drag", "Move the picture"],
  ["Two fingers", "Zoom and turn"],
  ["Double tap", "Zoom in four times"],
  ["Tap, then hold", "Fly in, with a second finger out"],
  ["Long press", "Menu of the point"],
  ["Tap", "Hide the bars, or show them"],
];
/** @type {Record<string, string>} */
const NAMES = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  " ": "Space",
  Control: "Ctrl",
};

const Key = (/** @type {{keys: string}} */ { keys }) =>
  html`<span class="keys">${keys.split(/(?<=.)\+/).map((/** @type {string} */ name) => html`<kbd>${NAMES[name] ?? (name.length === 1 ? name.toUpperCase() : name)}</kbd>`)}</span>`;

/** Two keys fit in a line, or one with a modifier. */
const shown = (/** @type {string[]} */ keys) => keys.slice(0, keys[0].includes("+", 1) ? 1 : 2);

const Group = (/** @type {{title: string, lines: any[]}} */ { title, lines }) =>
  html`<section><h3>${title}</h3><dl class="keys-list">${lines.map((/** @type {any[]} */ [names, text]) => html`<div><dt>${names}</dt><dd>${text}</dd></div>`)}</dl></section>`;

export function helpPanel(/** @type {Context} */ { explorer, open }) {
  function View() {
    const groups = Map.groupBy(
      commands.filter(({ hidden }) => !hidden),
      ({ group }) => group,
    );
    const { version = "", device = "" } = explorer.welcome ?? {};
    return html`<div class="stack"><div class="line"><${Button} label="Lessons in the picture" kind="primary" onClick=${() => open("lessons")} />
      <p class="hint grow">What is seen, in seven steps (L).</p></div><div class="columns">
      <${Group} title=${touched() ? "Touch" : "Mouse and touch"} lines=${(touched() ? FINGERS : POINTER).map(([what, text]) => [html`<span>${what}</span>`, text])} />
      ${[...groups].map(([title, list]) => html`<${Group} key=${title} title=${title} lines=${list.map(({ keys, title: does }) => [shown(keys).map((each) => html`<${Key} keys=${each} />`), does])} />`)}
    </div><p class="hint">fractals ${version}, drawing with ${device}</p></div>`;
  }
  return { View };
}
