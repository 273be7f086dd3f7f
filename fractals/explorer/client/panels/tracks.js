/** Values of the scene over the time of a film: palettes, density, offset, opacities, options of coloring and formula. */
import { html, useSignal } from "../html.js";
import { paintsOf } from "../paints.js";
import { Button, Select, TextField, whileHeld, words } from "../ui.js";
import { say } from "../words.js";
import { ANY } from "../written.js";
import { coloringName, coloringOf, shownPalette } from "./colors.js";
import { curveAt, heightOf, rangeOf, traced, valueAt } from "./curves.js";
import { Ease, Graph } from "./graph.js";
import { parametersOf } from "./parameters.js";

const GAP = 0.005; // of the film, between two keys of a track
const STEP = 0.02; // of the film, that an arrow key moves a key
const BOUNDS = /** @type {Record<string, {least: number, most?: number}>} */ ({
  density: { least: 1e-3 },
  opacity: { least: 0, most: 1 },
});
const LIFT = 0.05; // of a graph's height, that an arrow key lifts a key
const ARROWS = /** @type {Record<string, number[]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowDown: [0, -1],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
});
const MOST = 12,
  MOST_KEYS = 60; // tracks; keys of each

/** @typedef {number|Palette} Value of a palette a name or a table */
/** @typedef {[number, Value, string?]} TrackPoint share of the film's length as it runs forwards, value, and how the value comes here */
/** @typedef {{name: string, title: string, points: TrackPoint[]}} Track */
/** @typedef {{name: string, title: string, value: Value, least?: number|null, most?: number|null}} Choice */

/** Return the values of a scene that may change over time: their names as of film.tracks, titles, and values of now.
 * @param {WholeScene} scene @param {Received.Catalog} catalog @returns {Choice[]} */
export function choicesOf({ color, formula }, catalog) {
  /** @type {Choice[]} */
  const found = [
    { name: "palette", title: say("palette"), value: shownPalette(color, catalog) },
    { name: "density", title: say("density"), value: color.density ?? 1, ...BOUNDS.density },
    { name: "offset", title: say("offset"), value: color.offset ?? 0 },
  ];
  const seen = new Set();
  const nameOf = (/** @type {number[]} */ path) => `layers.${path.join(".layers.")}`,
    numbered = (/** @type {number[]} */ path) => path.map((part) => part + 1).join(".");
  for (const { paint, path, overs } of paintsOf(color).slice(1)) {
    const name = nameOf(path),
      title = say("layer_title", { name: words(coloringName(paint)), place: numbered(path) });
    overs.forEach((over, k) => {
      const group = path.slice(0, k + 1);
      if (over.layers && !seen.has(over))
        found.push({
          name: `${nameOf(group)}.opacity`,
          title: say("opacity_of_the_group", { place: numbered(group) }),
          value: over.opacity ?? 1,
          ...BOUNDS.opacity,
        });
      seen.add(over);
    });
    found.push({
      name: `${name}.palette`,
      title: say("palette_of", { title }),
      value: shownPalette(paint, catalog),
    });
    for (const key of /** @type {const} */ (["opacity", "density", "offset"]))
      found.push({
        name: `${name}.${key}`,
        title: say("of_layer", { name: words(key), title }),
        value: paint[key] ?? (key === "offset" ? 0 : 1),
        ...BOUNDS[key],
      });
  }
  const given = /** @type {Record<string, unknown>} */ (
      typeof color.coloring === "object" ? color.coloring : {}
    ),
    own = typeof formula === "object" ? formula : { name: formula };
  for (const { name, type, default: usual, least, most } of coloringOf(color, catalog)?.options ??
    [])
    if (type === "float")
      found.push({
        name: `coloring.${name}`,
        title: say("of_the_coloring", { name: words(name) }),
        value: /** @type {number} */ (given[name] ?? usual),
        least,
        most,
      });
  const known = catalog.formulas.find((each) => each.name === own.name),
    { options = {}, whole = [] } = known ?? {};
  for (const [name, usual] of Object.entries(options))
    if (!whole.includes(name))
      found.push({
        name: `formula.${name}`,
        title: say("of_the_formula", { name: words(name) }),
        value: /** @type {Value} */ (own[name] ?? usual),
      });
  for (const { name, part, value } of parametersOf(formula))
    if (part === null)
      found.push({ name: `formula.${name}`, title: say("of_the_formula", { name }), value });
  return found.filter(({ name, value }) => typeof value === "number" || isPalette(name));
}

/** Tell whether a track is one of palettes. @param {string} name */
const isPalette = (name) => name === "palette" || name.endsWith(".palette");

/** Return the text of a value. @param {Value} value */
const textOf = (value) =>
  typeof value === "object"
    ? (!Array.isArray(value) && value.title) || say("your_own")
    : typeof value === "number"
      ? String(value)
      : words(value);

/** Return the tracks of a message. @param {Track[]} tracks @param {number} length seconds */
export const tracksOf = (tracks, length) =>
  Object.fromEntries(
    tracks.map(({ name, points }) => [
      name,
      points.map(([share, ...rest]) => [Math.round(1000 * share * length) / 1000, ...rest]),
    ]),
  );

/** Return points after one was moved: it stays between its neighbors. @param {TrackPoint[]} points @param {number} index @param {number} share
 * @returns {TrackPoint[]} */
export function shifted(points, index, share) {
  const least = index ? points[index - 1][0] + GAP : 0,
    most = index + 1 < points.length ? points[index + 1][0] - GAP : 1,
    [, ...rest] = points[index];
  return points.with(index, [
    Math.round(1e4 * Math.max(least, Math.min(most, share))) / 1e4,
    ...rest,
  ]);
}

/** Return points with a key at a share of the film, of the value that is there or of another. @param {TrackPoint[]} points @param {number} share
 * @param {number} [wish] @returns {TrackPoint[]} */
export function keyed(points, share, wish) {
  if (points.length >= MOST_KEYS || points.some(([at]) => Math.abs(at - share) < GAP))
    return points;
  const after = points.findIndex(([at]) => at > share),
    k = after < 0 ? points.length : after;
  const [one, two] = [points[k - 1] ?? points[k], points[k] ?? points[k - 1]];
  const numbers = isNumbers(points) && (wish ?? Number(curveAt(points, share).toPrecision(6)));
  return points.toSpliced(k, 0, [
    Math.round(1e4 * share) / 1e4,
    numbers === false ? (2 * share < one[0] + two[0] ? one : two)[1] : numbers,
  ]);
}

/** Tell whether points are of a number. @param {TrackPoint[]} points @returns {points is import("./curves.js").Point[]} */
const isNumbers = (points) => points.every(([, value]) => typeof value === "number");

/**
 * A key on a line along the film: it is dragged, or moved by arrow keys, ten times as far with Shift.
 * @param {{label: string, title: string, text: string, share: number, height?: number, now: number, most: number, step: number, backwards: boolean, kind?: string,
 *   disabled?: boolean, move: (share: number, live: boolean, height: number) => void, done: () => void, held?: () => void, remove?: () => void, children?: unknown}} options
 * `share`: of the line, as the film runs forwards; `height`: of a graph, from 0 to 1; `now`, `most`: seconds; `move` is called all along a drag (`live`), which `done` ends
 */
export function Key({
  label,
  title,
  text,
  share,
  height = 0.5,
  now,
  most,
  step,
  backwards,
  kind = "",
  disabled = false,
  move,
  done,
  held = () => {},
  remove,
  children,
}) {
  const mirrored = (/** @type {number} */ at) => (backwards ? 1 - at : at);
  const grab = (/** @type {PointerEvent} */ event) => {
    const lane = /** @type {Element} */ (/** @type {Element} */ (event.currentTarget).parentNode),
      line = lane.getBoundingClientRect(),
      off = [event.clientX - mirrored(share) * line.width, event.clientY + height * line.height];
    held();
    if (!disabled)
      whileHeld(
        event,
        ({ clientX, clientY }) =>
          move(mirrored((clientX - off[0]) / line.width), true, (off[1] - clientY) / line.height),
        done,
      );
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    const by = ARROWS[event.key]?.map((each) => each * (event.shiftKey ? 10 : 1));
    if (by && !disabled)
      move(share + by[0] * step * (backwards ? -1 : 1), false, height + by[1] * LIFT);
    else if (event.key === "Delete" && remove) remove();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<button type="button" class=${`film-key${kind}`} role="slider" aria-disabled=${String(disabled)} title=${title} aria-label=${label} aria-valuemin="0" aria-valuemax=${most} aria-valuenow=${now} aria-valuetext=${text}
    style=${{ left: `${100 * mirrored(share)}%`, bottom: `${100 * height}%` }} onFocus=${held} onPointerDown=${grab} onKeyDown=${press}><span>${children}</span></button>`;
}

/**
 * @param {{catalog: Received.Catalog, tracks: Track[], choices: Choice[], length: number, backwards: boolean,
 *   moment: number, put: (tracks: Track[]) => void, look: (seconds: number) => void}} options `moment`: seconds that are looked at
 */
export function Tracks({ catalog, tracks, choices, length, backwards, moment, put, look }) {
  const picked = useSignal(/** @type {[number, number]|null} */ (null)),
    drag = useSignal(/** @type {Track[]|null} */ (null)),
    scale = useSignal(/** @type {number[]|null} */ (null)); // of a graph, while a key is dragged
  const shown = drag.value ?? tracks,
    [of, key] = picked.value ?? [-1, -1],
    point = shown[of]?.points[key];
  const change = (/** @type {number} */ index, /** @type {TrackPoint[]} */ points) =>
    put(tracks.with(index, { ...tracks[index], points }));
  const remove = (/** @type {number} */ index) => {
    picked.value = null;
    put(tracks.toSpliced(index, 1));
  };
  const add = (/** @type {string} */ name) => {
    const choice = choices.find((each) => each.name === name);
    if (!choice || tracks.length >= MOST) return;
    picked.value = [tracks.length, 1];
    put([
      ...tracks,
      {
        name,
        title: choice.title,
        points: [
          [0, choice.value],
          [1, choice.value],
        ],
      },
    ]);
  };
  const addKey = (
    /** @type {number} */ index,
    share = backwards ? 1 - moment / length : moment / length,
    /** @type {number|undefined} */ wish = undefined,
  ) => {
    const points = keyed(tracks[index].points, share, wish);
    picked.value = [index, points.findIndex(([at]) => Math.abs(at - share) < GAP)];
    if (points !== tracks[index].points) change(index, points);
  };
  const rangeAt = (/** @type {number} */ index) =>
    scale.value ?? rangeOf(shown[index].points.map(([, value]) => Number(value)));
  const bounded = (/** @type {number} */ index, /** @type {number} */ value) => {
    const { least, most } = choices.find(({ name }) => name === tracks[index].name) ?? {};
    return Math.max(least ?? -Infinity, Math.min(most ?? Infinity, value));
  };
  const move =
    (/** @type {number} */ index, /** @type {number} */ which) =>
    (/** @type {number} */ share, /** @type {boolean} */ live, /** @type {number} */ height) => {
      const { points } = tracks[index],
        range = rangeAt(index),
        [at, value, ...ease] = points[which];
      const lifted =
        typeof value === "number" && Math.abs(heightOf(range, value) - height) > 1e-9
          ? points.with(which, [at, bounded(index, valueAt(range, height)), ...ease])
          : points;
      const moved = shifted(lifted, which, share);
      if (!live) return change(index, moved);
      scale.value = range;
      drag.value = tracks.with(index, { ...tracks[index], points: moved });
    };
  const done = () => {
    if (drag.value) put(drag.value);
    drag.value = scale.value = null;
  };
  const hold = (/** @type {number} */ index, /** @type {number} */ which) => () => {
    const [share] = tracks[index].points[which];
    picked.value = [index, which];
    look((backwards ? 1 - share : share) * length);
  };
  const removeKey = (/** @type {number} */ index, /** @type {number} */ which) => () => {
    const left = tracks[index].points.length - 1;
    if (!left) return;
    picked.value = [index, Math.min(which, left - 1)]; // the focus stays here
    change(index, tracks[index].points.toSpliced(which, 1));
  };
  const typed = (/** @type {number} */ value) => choose(bounded(of, value));
  const paletteOf = (/** @type {Value} */ value) =>
    typeof value === "string"
      ? catalog.palettes.find(({ name }) => name === value)
      : typeof value === "object" && !Array.isArray(value)
        ? value
        : undefined;
  /** Palettes that the first one of a track can become, and a key's own where that is no name. */
  const palettes = (/** @type {TrackPoint[]} */ points, /** @type {Value} */ own) => [
    ...(typeof own === "string" ? [] : [["", textOf(own)]]),
    ...catalog.palettes
      .filter(({ cyclic }) => cyclic === (paletteOf(points[0][1])?.cyclic ?? true))
      .map(({ name, title }) => [name, title]),
  ];
  const choose = (/** @type {Value} */ value) => {
    const [at, , ...ease] = tracks[of].points[key];
    if (value !== "") change(of, tracks[of].points.with(key, [at, value, ...ease]));
  };
  const ease = (/** @type {string} */ name) =>
    change(
      of,
      tracks[of].points.with(key, [tracks[of].points[key][0], tracks[of].points[key][1], name]),
    );
  const free = choices.filter(({ name }) => !tracks.some((track) => track.name === name));
  return html`<div class="stack" role="group" aria-label=${say("values_over_time")}>
    ${shown.map(
      ({ name, title, points }, index) => html`<div key=${name} class="film-track">
      <div class="line tight"><span class="grow">${title}</span>
        <${Button} label=${say("add_a_key_of_at", { title })} symbol="plus" bare kind="quiet" onClick=${() => addKey(index)} />
        <${Button} label=${say("remove_name", { name: title })} symbol="trash" bare kind="quiet" onClick=${() => remove(index)} /></div>
      <${Lane} line=${isNumbers(points) && traced(points)} range=${rangeAt(index)} moment=${moment / length} backwards=${backwards} add=${(/** @type {number} */ share, /** @type {number} */ height) => addKey(index, share, bounded(index, valueAt(rangeAt(index), height)))}>
        ${points.map(
          (
            [share, value],
            which,
          ) => html`<${Key} key=${which} label=${say("key_of", { value: which + 1, title })} title=${textOf(value)} text=${say("at_s", { text: textOf(value), seconds: Number((share * length).toFixed(2)) })}
        share=${share} height=${typeof value === "number" ? heightOf(rangeAt(index), value) : 0.5} now=${share * length} most=${length} step=${STEP} backwards=${backwards} kind=${index === of && which === key ? " picked" : ""} move=${move(index, which)} done=${done} held=${hold(index, which)} remove=${removeKey(index, which)} />`,
        )}<//>
      ${
        index === of &&
        point &&
        typeof point[1] !== "number" &&
        html`<${Select} label=${say("palette_at_s", { seconds: Number((point[0] * length).toFixed(2)) })} choices=${palettes(points, point[1])}
        value=${typeof point[1] === "string" ? point[1] : ""} put=${choose} />`
      }
      ${
        index === of &&
        point &&
        typeof point[1] === "number" &&
        html`<div class="row slider-row"><div class="row-head"><label for="track-value">${say("value_at_s", { seconds: Number((point[0] * length).toFixed(2)) })}</label>
        <${TextField} id="track-value" class="number" inputmode="decimal" value=${String(point[1])} read=${ANY} put=${typed} /></div></div>`
      }
      ${index === of && point && key > 0 && html`<${Ease} label=${say("the_value_comes_here")} value=${point[2]} put=${ease} />`}</div>`,
    )}
    ${tracks.length < MOST && free.length > 0 && html`<${Select} label=${say("change_over_time")} choices=${[["", say("choose_a_value")], ...free.map(({ name, title }) => [name, title])]} value="" put=${add} />`}</div>`;
}

/** Where the keys of a track lie: on the curve of a number, or on a line. @param {{line: number[][]|false, range: number[], moment: number, backwards: boolean, add: (share: number, height: number) => void, children?: unknown}} options */
const Lane = ({ line, children, ...rest }) =>
  line
    ? html`<${Graph} line=${line} kind=" lane" ...${rest}>${children}<//>`
    : html`<div class="film-keys lane">${children}</div>`;
