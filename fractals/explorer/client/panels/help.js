/** The help panel: all keys, by group, and what the mouse and the fingers do. */

import { commands } from "../keys.js";
import { element } from "../ui.js";

const POINTER = [
  ["Drag", "Move the picture"],
  ["Wheel", "Zoom about the pointer"],
  ["Shift and drag", "Zoom to a box"],
  ["Double click", "Zoom in four times"],
  ["Two fingers", "Zoom and turn"],
];
const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", " ": "Space", Control: "Ctrl" };

const key = (text) => element("span.keys", {}, text.split(/(?<=.)\+/).map((name) => {
  return element("kbd", {}, NAMES[name] ?? (name.length === 1 ? name.toUpperCase() : name));
}));

export function helpPanel({ explorer }) {
  const group = (title, lines) => element("section", {}, element("h3", {}, title),
    element("dl.keys-list", {}, lines.map(([names, text]) => element("div", {}, element("dt", {}, names), element("dd", {}, text)))));
  const build = () => {
    const groups = Map.groupBy(commands.filter((command) => !command.hidden), (command) => command.group);
    return [group("Mouse and touch", POINTER.map(([what, text]) => [element("span", {}, what), text])),
      ...[...groups].map(([title, list]) => group(title, list.map((command) => [shown(command.keys).map(key), command.title])))];
  };
  const about = element("p.hint");
  const columns = element("div.columns");
  return {
    node: element("div.stack", {}, columns, about),
    shown: () => {
      columns.replaceChildren(...build());
      const { version = "", device = "" } = explorer.welcome ?? {};
      about.textContent = `fractals ${version}, drawing with ${device}`;
    },
  };
}

/** Two keys fit in a line, or one with a modifier. */
const shown = (keys) => keys.slice(0, keys[0].includes("+", 1) ? 1 : 2);
