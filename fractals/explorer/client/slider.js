/** Sliders, and the fields of options. */
import { summed } from "./arithmetic.js";
import { breathing, placeOf, valueAt } from "./breathe.js";
import { html, useRef, useSignal } from "./html.js";
import { asText, idOf, Row, Select, TextField, Toggle, whileHeld } from "./ui.js";
import { words } from "./words.js";
import { numberField } from "./written.js";

/** Return how many Latin letters are about as wide as a text: a Chinese one is as wide as two. @param {string} text */
const breadth = (text) => text.length + (text.match(/[\p{Script=Han}，。；（）]/gu)?.length ?? 0);

/**
 * A slider with its value as a field beside the label.
 * @param {{label: string, value: number|"auto", auto?: number, usual?: unknown, least: number, most: number, step?: number, log?: boolean, hint?: string,
 *   digits?: number, track?: string, tools?: unknown, live?: ((value: number) => void)|false, put: (value: any) => void}} options
 *   `log`: equal steps are equal factors; values up to 0 then lie at the left end. `live` gets the values of a drag.
 *   `auto`: what the value "auto" stands for; the field then takes this word, too. `usual`: the value of a double click;
 *   `tools`: buttons before the field
 */
export function Slider({
  label,
  value: given,
  auto,
  usual,
  least: lowest,
  most: highest,
  step = 0,
  log = false,
  hint = "",
  digits = 3,
  track = "",
  tools,
  live = false,
  put,
}) {
  const draft = useSignal(/** @type {number|null} */ (null)), // while it is dragged
    value = given === "auto" ? (auto ?? lowest) : given,
    ends = useRef([lowest, highest]),
    rest = useRef(0);
  if (draft.value === null) ends.current = [lowest, highest]; // a range that follows the value would run away under the pointer
  const [least, most] = ends.current;
  const range = { least, most, log, whole: step > 0 && step % 1 === 0, digits };
  const set = (/** @type {number} */ to) => {
    draft.value = to;
    if (live) live(to);
  };
  const drag = (/** @type {FieldEvent} */ { target }) => {
    const at = Number(target.value);
    set(valueAt(log ? at : placeOf(at, range), range));
  };
  const done = () => {
    const now = draft.peek();
    if (now === null) return;
    draft.value = null;
    put(now);
  };
  const reset = () => {
    draft.value = null;
    put(usual);
  };
  const now = draft.value ?? value;
  const ways = breathing({
    range,
    now: () => draft.peek() ?? value,
    set,
    done,
    reset: usual === undefined ? undefined : reset,
    held: whileHeld,
    rest,
  });
  const number = summed(
    numberField({ such: String(step % 1 ? most / 2 : most), large: most >= 1000 }),
  );
  const read = (/** @type {string} */ typed) =>
    auto !== undefined && typed.trim().toLowerCase() === "auto" ? { value: "auto" } : number(typed);
  const isAuto = given === "auto" && draft.value === null,
    text = isAuto ? "auto" : String(Number(now.toPrecision(digits)));
  const at = placeOf(now, range);
  const style = {
    "--at": `${Math.min(100, Math.max(0, 100 * at))}%`,
    ...(track && { "--track": track }),
  };
  const [low, high] = log ? [0, 1] : [least, most];
  const short = breadth(label) + breadth(hint) < 38 && !tools;
  return html`<div class="row slider-row">
    <div class="row-head"><label for=${idOf(label)}>${label}</label>${short && hint && html`<span class="faint">${hint}</span>`}${tools && html`<span class="tools">${tools}</span>`}
      <${TextField} class="number" inputmode="decimal" id=${idOf(label)} value=${text} read=${read} put=${put} ...${ways.number} /></div>
    <input type="range" aria-label=${label} aria-valuetext=${text} min=${low} max=${high} step=${log ? 0.001 : step || (most - least) / 500}
      style=${style} value=${log ? at : now} onInput=${drag} onChange=${done} onPointerUp=${done} onBlur=${done} ...${ways.slider} />
    ${!short && hint && html`<p class="hint">${hint}</p>`}</div>`;
}

/** The field of one option of a coloring or a formula. @param {{option: OptionOf, value: any, put: (value: any, live?: boolean) => void}} given */
export function OptionField({ option, value, put }) {
  const { name, type, choices = [], least, most, meaning = "" } = option,
    label = words(name);
  if (type === "choice" || choices.length)
    return html`<${Select} label=${label} choices=${choices} value=${value} put=${put} />`;
  if (type === "bool")
    return html`<${Toggle} label=${label} about=${meaning} value=${value} put=${put} />`;
  if (type === "text" || typeof least !== "number" || typeof most !== "number") {
    const read =
      type === "text" ? asText : summed(numberField({ such: String(option.default ?? 1) }));
    return html`<${Row} label=${label} hint=${meaning} control=${(/** @type {string} */ id) => html`<${TextField} id=${id} value=${value} read=${read} put=${put} />`} />`;
  }
  // Bounds above zero that are decades apart are for equal factors.
  return html`<${Slider} label=${label} value=${value} usual=${option.default} least=${least} most=${most} log=${least > 0 && most / least > 500} step=${type === "int" ? 1 : 0}
    hint=${meaning} live=${option.part === "color" && ((/** @type {number} */ now) => put(now, true))} put=${put} />`;
}
