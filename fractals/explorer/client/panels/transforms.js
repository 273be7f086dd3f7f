/** The transforms of a flame: triangles to drag on the picture, and fields of the one that is picked. */
import { summed } from "../arithmetic.js";
import { copied, symmetryOf, without } from "../flames.js";
import { apply, compose, inverse } from "../frames.js";
import { html } from "../html.js";
import {
  cornersOf,
  dragged,
  FINAL,
  fitting,
  ORIGIN,
  transformsOf,
  UNIT,
  withTransform,
} from "../points.js";
import { observe } from "../state.js";
import { Button, Row, Section, Segments, TextField, Toggle, whileHeld, words } from "../ui.js";
import { say } from "../words.js";
import { ANY } from "../written.js";
import { shownPalette, tableOf } from "./colors.js";
import { deskTool } from "./desk.js";
import { Dragged } from "./dragged.js";
import { mixed } from "./stops.js";
import { AddVariation, weightsOf } from "./variations.js";

const NUMBER = summed(ANY);
const NAMES = [say("middle"), say("end_of_x"), say("end_of_y")],
  NUMBERS = ["a", "b", "c", "d", "e", "f"],
  MAPS = [
    ["affine", say("map")],
    ["post", say("post_map")],
  ];
/** @type {Record<string, number[]>} */
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** @typedef {"weight"|"color"|"color_speed"|"opacity"} Share */
const NUDGE = 8,
  REACH = 9; // CSS pixels: that an arrow key moves a handle; the radius of one

/** @param {Pick<Context, "explorer"|"canvas"|"tried">} context */
export function transformsTool({ explorer, canvas, tried }) {
  // `fitted`: triangles have a scale of their own; `map`: which of a transform's two maps triangles and numbers are of
  const own = observe({
    map: /** @type {"affine"|"post"} */ ("affine"),
    picked: /** @type {number|string} */ (0),
    fitted: false,
  });
  let drags = 0,
    held = /** @type {number[]|null} */ (null); // the scale of the triangles while one is dragged: it stays
  const formula = () =>
    typeof explorer.wished?.formula === "object"
      ? explorer.wished.formula
      : { name: explorer.wished?.formula };
  const known = () => explorer.catalog?.formulas.find(({ name }) => name === formula().name);
  const all = () => transformsOf(formula(), known());
  const listed = () =>
    all()
      .filter(([each]) => each !== FINAL)
      .map(([, each]) => each);
  /** Return the transforms as of `transformsOf`, without the turns of a symmetry. */
  const shown = () => {
    const list = listed(),
      first = list.length - symmetryOf(list).count;
    return all().filter(([key]) => key === FINAL || Number(key) < first);
  };
  const picked = () => shown().find(([key]) => key === own.picked) ?? shown()[0];
  const mapOf = (/** @type {Transform} */ transform) => transform[own.map] ?? UNIT;
  const replace = (/** @type {Transform[]} */ transforms, step = "") =>
    explorer.change({ formula: { ...formula(), transforms } }, step);
  const desk = deskTool({ explorer, own, listed, shown, picked, replace });
  const put = (/** @type {Transform} */ values, step = "") =>
    explorer.change({ formula: withTransform(formula(), known(), picked()[0], values) }, step);

  /** Return the map from the plane to CSS pixels of the canvas: the picture's. */
  function pictured() {
    const ratio = canvas.clientWidth / canvas.width || 1,
      { placed, map } = explorer;
    return placed?.plane ? compose(compose(placed.plane, map), [ratio, 0, 0, ratio, 0, 0]) : null;
  }
  /** Return the map from the plane to CSS pixels of the canvas, in which the triangles are shown. */
  function onScreen() {
    const plane = pictured();
    if (!plane || !own.fitted) return plane;
    if (held) return held;
    const corners = shown().flatMap(([, transform]) =>
      cornersOf(mapOf(transform)).map((corner) => apply(plane, corner)),
    );
    const [left, top, right, bottom] = explorer.free ?? [0, 0, ...explorer.size],
      ratio = canvas.clientWidth / canvas.width || 1;
    return compose(
      plane,
      fitting(
        corners,
        [left, top, right, bottom].map((part) => part * ratio),
      ),
    );
  }

  function grab(
    /** @type {PointerEvent} */ event,
    /** @type {number|string} */ key,
    /** @type {number} */ corner,
  ) {
    event.preventDefault();
    event.stopPropagation();
    const plane = onScreen();
    if (!plane) return;
    const step = `gesture handle ${(drags += 1)}`;
    own.picked = key;
    held = plane;
    const begun = mapOf(picked()[1]),
      [at] = [apply(plane, cornersOf(begun)[corner])];
    const off = [event.clientX - at[0], event.clientY - at[1]];
    const move = (/** @type {PointerEvent} */ { clientX, clientY, shiftKey }) => {
      const to = apply(inverse(plane), [clientX - off[0], clientY - off[1]]);
      put({ [own.map]: dragged(begun, corner, to, shiftKey) }, step);
    };
    whileHeld(event, move, () => (held = null));
  }

  function nudge(
    /** @type {KeyboardEvent} */ event,
    /** @type {number|string} */ key,
    /** @type {number} */ corner,
  ) {
    const by = KEYS[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const plane = onScreen();
    if (!plane) return;
    own.picked = key;
    const affine = mapOf(picked()[1]),
      at = apply(plane, cornersOf(affine)[corner]);
    const to = apply(
      inverse(plane),
      at.map((part, k) => part + NUDGE * by[k]),
    );
    put({ [own.map]: dragged(affine, corner, to, event.shiftKey) }, `handle ${key} ${corner}`);
  }

  /** Return the color of a transform in the palette. @param {Transform} transform */
  function tintOf({ color = 0 }) {
    const { scene, catalog } = explorer;
    return mixed(tableOf(shownPalette(scene.color ?? {}, catalog), catalog), color);
  }

  function Triangle(
    /** @type {{entry: import("../points.js").Listed, plane: number[]}} */ { entry, plane },
  ) {
    const [key, transform, name] = entry,
      corners = cornersOf(mapOf(transform)).map((corner) => apply(plane, corner));
    if (!corners.flat().every((part) => Math.abs(part) < 1e6)) return null;
    const on = key === picked()[0];
    return html`<g class=${on ? "picked" : ""} data-transform=${name} style=${{ "--tint": tintOf(transform) }}>
      <polygon points=${corners.map((corner) => corner.join()).join(" ")} onPointerDown=${(/** @type {PointerEvent} */ event) => grab(event, key, ORIGIN)} />
      ${corners.map(
        (
          [x, y],
          corner,
        ) => html`<circle key=${corner} cx=${x} cy=${y} r=${REACH} tabindex=${on ? 0 : -1} role="button" aria-label=${say("of_transform", { value: NAMES[corner], name })}
        onPointerDown=${(/** @type {PointerEvent} */ event) => grab(event, key, corner)} onKeyDown=${(/** @type {KeyboardEvent} */ event) => nudge(event, key, corner)} />`,
      )}
      <text x=${corners[0][0]} y=${corners[0][1]}>${name}</text></g>`;
  }

  /** Return the corners of the picture among triangles that have a scale of their own. */
  function frameOf(/** @type {number[]} */ plane) {
    const { clientWidth: width, clientHeight: height } = canvas,
      back = compose(inverse(pictured() ?? plane), plane);
    return [
      [0, 0],
      [width, 0],
      [width, height],
      [0, height],
    ].map((corner) => apply(back, corner));
  }

  /** The triangles over the picture. */
  function Handles() {
    const plane = explorer.placed && explorer.scene ? onScreen() : null;
    if (!plane || !shown().length) return null;
    const sorted = [...shown()].sort(([one]) => (one === picked()[0] ? 1 : -1));
    const frame = own.fitted && frameOf(plane);
    return html`<svg class=${`handles${frame ? " fitted" : ""}`} style=${{ translate: canvas.style.translate }}>${frame && html`<polygon class="frame" points=${frame.map((corner) => corner.join()).join(" ")}><title>${say("the_picture")}</title></polygon>`}${sorted.map((entry) => html`<${Triangle} key=${entry[0]} entry=${entry} plane=${plane} />`)}</svg>`;
  }

  function Variations(/** @type {{transform: Transform}} */ { transform }) {
    const { variations = { linear: 1 } } = transform,
      weights = weightsOf(variations, explorer.catalog);
    const rest = (/** @type {string} */ key) =>
      Object.fromEntries(
        Object.entries(variations).filter(
          ([other]) => other !== key && !other.startsWith(`${key}_`),
        ),
      );
    return html`<${Section} title=${say("variations")}>${Object.entries(variations).map(
      ([key, value]) => html`<div key=${key} class="line">
        <div class="grow"><${Dragged} label=${words(key)} value=${value} least=${Math.min(-2, 2 * value)} most=${Math.max(2, 2 * value)} change=${(/** @type {number} */ now, /** @type {string} */ step) => put({ variations: { ...variations, [key]: now } }, step)} /></div>
        ${weights.includes(key) && Object.keys(rest(key)).length > 0 && html`<${Button} label=${say("remove_name", { name: words(key) })} symbol="trash" bare kind="quiet" onClick=${() => put({ variations: rest(key) })} />`}</div>`,
    )}
<//><${AddVariation} explorer=${explorer} tried=${tried} variations=${variations} put=${(given) => put({ variations: given })}
        change=${(given) => ({ formula: withTransform(formula(), known(), picked()[0], { variations: given }) })} />`;
  }

  /** The fields of the panel. */
  function Fields() {
    const entry = picked();
    if (!entry) return null;
    const [key, transform] = entry,
      affine = mapOf(transform),
      list = listed(),
      count = list.length - symmetryOf(list).count;
    const add = () => {
      own.picked = count;
      desk.forget();
      replace(copied(list, key === FINAL ? 0 : Number(key), count, { weight: 0.5 }));
    };
    const remove = () => {
      own.picked = 0;
      desk.forget();
      if (key === FINAL)
        explorer.change({
          formula: /** @type {FormulaTable} */ (
            Object.fromEntries(Object.entries(formula()).filter(([each]) => each !== FINAL))
          ),
        });
      else replace(without(list, Number(key)));
    };
    const typed = (/** @type {number} */ k) => (/** @type {number} */ value) =>
      put({ [own.map]: affine.with(k, value) });
    const share = (/** @type {Share} */ name, /** @type {number} */ usual, most = 1) =>
      html`<${Dragged} label=${words(name)} value=${transform[name] ?? usual} usual=${usual} least=${0} most=${Math.max(most, transform[name] ?? 0)} change=${(/** @type {number} */ now, /** @type {string} */ step) => put({ [name]: now }, step)} />`;
    return html`<${Section} title=${say("transforms")}>
        <p class="hint">${say("drag_the_triangles_on_the")}</p>
        <${Toggle} label=${say("fit_the_triangles_into_the")} about=${say("shows_all_triangles_at_a")} value=${own.fitted} put=${(/** @type {boolean} */ on) => (own.fitted = on)} />
        <${desk.List} />
        <div class="line"><${Button} label=${say("duplicate")} kind="quiet" onClick=${add} /><${Button} label=${say("remove")} kind="quiet" disabled=${key !== FINAL && count < 2} onClick=${remove} />
          ${!formula().final && html`<${Button} label=${say("final_transform")} kind="quiet" title=${say("it_moves_points_where_they")} onClick=${() => explorer.change({ formula: { ...formula(), transforms: list, final: { variations: { linear: 1 } } } })} />`}</div>
        ${key !== FINAL && share("weight", 1, 4)}${share("color", 0)}${share("color_speed", 0.5)}${key !== FINAL && share("opacity", 1)}
        <${Segments} label=${say("map")} choices=${MAPS} value=${own.map} put=${(/** @type {"affine"|"post"} */ map) => (own.map = map)} />
        <p class="hint">${own.map === "post" ? say("the_post_map_moves_points") : ""}</p>
        <div class="numbers" role="group" aria-label=${own.map === "post" ? say("post_map") : say("affine_map")}>${NUMBERS.map((name, k) => html`<${Row} key=${name} label=${name} control=${(/** @type {string} */ id) => html`<${TextField} id=${id} class="mono" inputmode="decimal" value=${String(affine[k])} read=${NUMBER} put=${typed(k)} />`} />`)}</div><//>
      <${Variations} transform=${transform} /><${desk.Symmetry} />`;
  }
  return { Handles, Fields };
}
