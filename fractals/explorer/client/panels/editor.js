/** The editor of a palette: stops on a strip, each with a color. It shows the palette of the scene, and keeps none. */
import { html } from "../html.js";
import { observe } from "../state.js";
import { Slider } from "../slider.js";
import { Button, Segments, TextField, Toggle } from "../ui.js";
import { say } from "../words.js";
import { gradient, tableOf } from "./colors.js";
import { hexOf, hexOfParts, mixed, moved, partsOf, reversed } from "./stops.js";

const MOST_STOPS = 64; // that the strip can show apart
const PARTS = /** @type {[string, number][]} */ ([
  [say("lightness"), 1],
  [say("chroma"), 0.37],
  [say("hue"), 360],
]); // of a color in OKLCH, and the most of each
/** @type {Record<string, number>} */
const KEYS = {
  ArrowLeft: -0.01,
  ArrowRight: 0.01,
  ArrowDown: -0.01,
  ArrowUp: 0.01,
  PageDown: -0.1,
  PageUp: 0.1,
};

let rail = /** @type {HTMLElement|null} */ (null); // the element of the strip
const own = observe({ picked: 0, tuned: /** @type {number[]} */ ([0, 0, 0]), dragged: false }); // `tuned`: of a gray's text the hue is lost, so it is kept

/** @param {{palette: Palette, catalog: Received.Catalog, put: (table: StopTable, live: boolean) => void}} options */
export function Editor({ palette, catalog, put }) {
  const table = tableOf(palette, catalog),
    { stops } = table,
    picked = Math.min(own.picked, stops.length - 1);
  const shade = hexOf(stops[picked][1]),
    parts = partsOf(shade, own.tuned);
  const at = (/** @type {MouseEvent} */ { clientX }) => {
    const { left, width } = /** @type {HTMLElement} */ (rail).getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width));
  };
  const focus = (/** @type {number} */ index) =>
    requestAnimationFrame(() =>
      /** @type {NodeListOf<HTMLElement>|undefined} */ (rail?.querySelectorAll(".stop"))?.[
        index
      ]?.focus(),
    );
  const place = (/** @type {number} */ where, live = false) => {
    const [now, index] = moved(table, picked, where);
    own.picked = index;
    put(now, live);
    return index;
  };
  const recolor = (/** @type {string} */ hex, live = false) =>
    put(
      {
        ...table,
        stops: stops.map((stop, k) => (k === picked ? [stop[0], hex] : stop)),
      },
      live,
    );
  const tune = (
    /** @type {number} */ index,
    /** @type {number} */ value,
    /** @type {boolean} */ live,
  ) => {
    own.tuned = parts.with(index, value);
    recolor(hexOfParts(own.tuned), live);
  };
  const add = (/** @type {number} */ where) => {
    if (stops.length >= MOST_STOPS) return;
    const [now, index] = moved(
      { ...table, stops: [...stops, [where, mixed(table, where)]] },
      stops.length,
      where,
    );
    own.picked = index;
    put(now, false);
  };
  const remove = () => {
    if (stops.length < 3) return;
    own.picked = Math.max(0, picked - 1);
    put({ ...table, stops: stops.toSpliced(picked, 1) }, false);
    focus(own.picked);
  };
  const ramp = (/** @type {number} */ index, /** @type {number} */ most) =>
    `linear-gradient(to right, ${Array.from({ length: 13 }, (_, k) => hexOfParts(parts.with(index, (most * k) / 12))).join(", ")})`;
  const typed = (/** @type {string} */ text) => hexOf(text) && recolor(hexOf(text));
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (KEYS[event.key]) focus(place(stops[picked][0] + KEYS[event.key]));
    else if (event.key === "Delete" || event.key === "Backspace") remove();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const grab = (/** @type {PointerEvent} */ event) => {
    const target = /** @type {Element} */ (event.target),
      strip = /** @type {HTMLElement} */ (event.currentTarget);
    if (!target.matches(".stop")) return;
    own.picked = [...strip.children].indexOf(target);
    strip.setPointerCapture(event.pointerId);
    own.dragged = false;
  };
  const drag = (/** @type {PointerEvent} */ event) => {
    const strip = /** @type {HTMLElement} */ (event.currentTarget);
    if (!strip.hasPointerCapture(event.pointerId)) return;
    own.dragged = true;
    place(at(event), true);
  };
  const drop = () => {
    if (own.dragged) put(table, false);
    own.dragged = false;
    focus(picked);
  };
  return html`<div class="stack editor">
    <div class="rail" ref=${(/** @type {HTMLElement|null} */ made) => {
      rail = made;
    }}>
      <div class="strip track" title=${say("double_click_to_add_a")} style=${{ background: gradient(table, catalog) }} onDblClick=${(/** @type {MouseEvent} */ event) => add(at(event))}></div>
      <div class="stops" role="group" aria-label=${say("stops")} onPointerDown=${grab} onPointerMove=${drag} onLostPointerCapture=${drop}>${stops.map(
        ([where, color], index) => html`
        <button key=${index} type="button" class=${`stop${index === picked ? " picked" : ""}`} role="slider" aria-label=${say("stop_of", { value: index + 1, count: stops.length })} aria-valuemin="0" aria-valuemax="100"
          aria-valuenow=${Math.round(100 * where)} aria-valuetext=${`${(100 * where).toFixed(1)} %, ${color}`} style=${{ left: `${100 * where}%`, "--color": color }}
          onFocus=${() => {
            own.picked = index;
          }} onKeyDown=${key} />`,
      )}</div></div>
    <div class="line">
      <input type="color" aria-label=${say("color_of_the_stop")} value=${shade} onInput=${(/** @type {FieldEvent} */ { target }) => recolor(target.value, true)} onChange=${(/** @type {FieldEvent} */ { target }) => recolor(target.value)} />
      <${TextField} class="hex" aria-label=${say("color_as_text")} value=${shade} put=${typed} /><span class="grow"></span>
      <${Button} label=${say("add_a_stop")} symbol="plus" bare kind="quiet" onClick=${() => add((stops[picked][0] + (stops[picked + 1]?.[0] ?? 1)) / 2)} />
      <${Button} label=${say("remove_the_stop")} symbol="trash" bare kind="quiet" onClick=${remove} />
      <${Button} label=${say("reverse")} symbol="swap" bare kind="quiet" onClick=${() => put(reversed(table), false)} /></div>
    ${PARTS.map(
      (
        [label, most],
        index,
      ) => html`<${Slider} key=${label} label=${label} value=${parts[index]} least=${0} most=${most} track=${ramp(index, most)}
      live=${(/** @type {number} */ value) => tune(index, value, true)} put=${(/** @type {number} */ value) => tune(index, value, false)} />`,
    )}
    <${Toggle} label=${say("the_last_color_leads_back")} value=${table.cyclic} put=${(/** @type {boolean} */ cyclic) => put({ ...table, cyclic }, false)} />
    <div class="row"><span class="row-head">${say("mix_colors_in")}</span>
      <${Segments} label=${say("mix_colors_in")} choices=${[
        ["oklab", "OKLab"],
        ["oklch", "OKLCH"],
        ["srgb", "sRGB"],
      ]} value=${table.space ?? "oklab"} put=${(/** @type {string} */ space) => put({ ...table, space }, false)} /></div></div>`;
}
