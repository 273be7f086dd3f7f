/** The help panel: all keys, by group, and what the mouse and the fingers do. */
import { inWords } from "../heard.js";
import { html } from "../html.js";
import { commands } from "../keys.js";
import { Button, Select, touched } from "../ui.js";
import { language, LANGUAGES, say, speak } from "../words.js";

const POINTER = [
  [say("drag"), say("move_the_picture")],
  [say("wheel"), say("zoom_about_the_pointer")],
  [say("shift_and_drag"), say("zoom_to_a_box")],
  [say("double_click"), say("zoom_in_four_times")],
  [say("hold_still_then_steer"), say("fly_in_with_shift_out")],
  [say("two_fingers"), say("zoom_and_turn")],
  [say("right_click_long_press"), say("menu_of_the_point")],
];
const FINGERS = [
  [say("drag"), say("move_the_picture")],
  [say("two_fingers"), say("zoom_and_turn")],
  [say("double_tap"), say("zoom_in_four_times")],
  [say("tap_then_hold"), say("fly_in_with_a_second")],
  [say("long_press"), say("menu_of_the_point")],
  [say("tap"), say("hide_the_bars_or_show")],
];
/** @type {Record<string, string>} */
const NAMES = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: say("esc"),
  " ": say("space"),
  Control: say("ctrl"),
};

const Key = (/** @type {{keys: string}} */ { keys }) =>
  html`<span class="keys">${keys.split(/(?<=.)\+/).map((/** @type {string} */ name) => html`<kbd>${NAMES[name] ?? (name.length === 1 ? name.toUpperCase() : name)}</kbd>`)}</span>`;

/** Two keys fit in a line, or one with a modifier. */
const shown = (/** @type {string[]} */ keys) => keys.slice(0, keys[0].includes("+", 1) ? 1 : 2);

const Group = (/** @type {{title: string, lines: any[]}} */ { title, lines }) =>
  html`<section><h3>${title}</h3><dl class="keys-list">${lines.map(([names, text]) => html`<div><dt>${names}</dt><dd>${text}</dd></div>`)}</dl></section>`;

export function helpPanel(/** @type {Context} */ { explorer, open }) {
  function View() {
    const groups = Map.groupBy(
      commands.filter(({ hidden }) => !hidden),
      ({ group }) => group,
    );
    const { version = "", device = "", why } = explorer.welcome ?? {};
    return html`<div class="stack"><div class="line"><${Button} label=${say("lessons_in_the_picture")} kind="primary" onClick=${() => open("lessons")} />
      <p class="hint grow">${say("what_is_seen_in_seven")}</p></div>
      <${Select} label=${say("language")} choices=${LANGUAGES} value=${language} hint=${say("names_stay_english")} put=${speak} />
      <div class="columns">
      <${Group} title=${touched() ? say("touch") : say("mouse_and_touch")} lines=${(touched() ? FINGERS : POINTER).map(([what, text]) => [html`<span>${what}</span>`, text])} />
      ${[...groups].map(([title, list]) => html`<${Group} key=${title} title=${title} lines=${list.map(({ keys, title: does }) => [shown(keys).map((each) => html`<${Key} keys=${each} />`), does])} />`)}
    </div><p class="hint">${say("fractals_drawing_with", { version, device })}${why && html`<br />${inWords(why)}`}</p></div>`;
  }
  return { View };
}
