/** How an image of points is shown: the display of the scene, in place of values and layers. */
import { html } from "../html.js";
import { displayOf, nameOf } from "../points.js";
import { observe } from "../state.js";
import { Slider } from "../slider.js";
import { Row, Section, Select, words } from "../ui.js";
import { say } from "../words.js";

/** Ranges of the sliders; the fields beside them take all that a scene takes. */
const RANGES = /** @type {const} */ ({
  brightness: [0.1, 100, true],
  gamma: [0.5, 12, false],
  vibrancy: [0, 1, false],
  highlight_power: [-1, 8, false],
  gamma_threshold: [0, 0.2, false],
  estimator_radius: [0, 20, false],
  estimator_curve: [0.1, 2, false],
  filter_radius: [0, 3, false],
});
/** @typedef {keyof typeof RANGES} Name */
const SHOWN = /** @type {Name[]} */ (["brightness", "gamma", "vibrancy", "highlight_power"]);
const NOISE = /** @type {Name[]} */ ([
  "estimator_radius",
  "estimator_curve",
  "gamma_threshold",
  "filter_radius",
]);
const FLAME_GAMMA = 4; // of a formula that the catalog does not hold
const own = observe({ drags: 0 });

export function Shown(
  /** @type {{paint: Paint, edit: (changes: Paint, live?: boolean) => void, explorer: import("../explorer.js").Explorer}} */ {
    paint,
    edit,
    explorer,
  },
) {
  const { schema } = explorer.catalog,
    display = displayOf(explorer.wished, schema),
    known = schema.$defs.Display.properties,
    formula = nameOf(explorer.wished.formula),
    usual = explorer.catalog.formulas.find(({ name }) => name === formula)?.gamma ?? FLAME_GAMMA;
  const put = (/** @type {Scenes.Display} */ values, step = "") =>
    explorer.changeIn("display", values, step);
  const drag = (/** @type {Name} */ name) => (/** @type {number} */ value) =>
    put({ [name]: value }, `gesture ${name} ${own.drags}`);
  const done = (/** @type {Name} */ name) => (/** @type {number} */ value) =>
    put({ [name]: value }, `gesture ${name} ${own.drags++}`);
  const field = (/** @type {Name} */ name) => {
    const [least, most, log] = RANGES[name],
      chosen = display[name],
      value = chosen === "auto" ? usual : chosen;
    return html`<${Slider} key=${name} label=${words(name)} value=${value} usual=${known[name].default} least=${least} most=${most} log=${log} hint=${known[name].description} live=${drag(name)} put=${done(name)} />`;
  };
  const back =
    (/** @type {string} */ step) =>
    (/** @type {FieldEvent} */ { target }) =>
      put({ background: target.value }, step);
  return html`<${Section} title=${say("colors_along_the_palette")}>
      <${Slider} label=${say("density")} value=${paint.density ?? 1} usual=${1} least=${0.01} most=${10} log live=${(/** @type {number} */ density) => edit({ density }, true)} put=${(/** @type {number} */ density) => edit({ density })} />
      <${Slider} label=${say("offset")} value=${paint.offset ?? 0} usual=${0} least=${0} most=${1} live=${(/** @type {number} */ offset) => edit({ offset }, true)} put=${(/** @type {number} */ offset) => edit({ offset })} /><//>
    <${Section} title=${say("display")}>${SHOWN.map(field)}
      <${Row} label=${say("background")} control=${(/** @type {string} */ id) => html`<input type="color" id=${id} value=${display.background} onInput=${back("background")} onChange=${back("background")} />`} /><//>
    <${Section} title=${say("noise_and_edges")} open=${false}>${NOISE.map(field)}
      <${Select} label=${say("filter")} choices=${explorer.catalog.filters} value=${display.filter} put=${(/** @type {string} */ filter) => put({ filter })} /><//>`;
}
