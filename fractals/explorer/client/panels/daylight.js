/** The fields of a solid: sun, sky, surface, and the camera. */
import { html } from "../html.js";
import { dome, onDome } from "../points.js";
import { Slider } from "../slider.js";
import { Button, Knob, Row, Section, Segments, TextField, Toggle, words } from "../ui.js";
import { numberField, partField } from "../written.js";

/** Ranges of the sliders: least, most, equal factors, whole numbers; the fields beside them take all that a scene takes. */
/** @type {Record<string, any[]>} */
const LIGHT = {
  sun_power: [0, 20],
  sun_size: [0, 45],
  haze: [0, 2],
  gloss: [0, 2],
  bounces: [0, 16, false, true],
  emission: [0, 20],
  emission_at: [0, 1],
  emission_width: [0.01, 1, true],
};
const CAMERA = {
  field: [5, 130],
  lens: [0, 0.1],
  stereo: [0, 0.2],
  roll: [0, 360],
  ray_step: [0.2, 1],
};
const DISTANCE = numberField({ such: "2.5 or auto", positive: true });
/** Read the distance at which a camera is sharp; none: it finds one. @param {string} text @returns {Read} */
const focusOf = (text) => (/^\s*(auto)?\s*$/i.test(text) ? { value: undefined } : DISTANCE(text));
const EYES = [
  ["both", "Both"],
  ["left", "Left"],
  ["right", "Right"],
];
const SKY = ["Horizon", "Zenith", "Ground"];
const DOME = 150; // CSS pixels: across the sky that shows the sun
let drags = 0;

/** Return the values of a table of the scene; the schema has those that it does not name. */
function valuesOf(
  /** @type {import("../explorer.js").Explorer} */ explorer,
  /** @type {string} */ table,
  /** @type {string} */ part,
) {
  const known = explorer.catalog.schema.$defs[table].properties;
  return {
    ...Object.fromEntries(Object.entries(known).map(([name, each]) => [name, each.default])),
    ...explorer.scene[part],
  };
}

/** A field of a table of the scene, whose drag is one step of undo. */
function Field(
  /** @type {{explorer: import("../explorer.js").Explorer, table: string, part: string, name: string, range: any}} */ {
    explorer,
    table,
    part,
    name,
    range,
  },
) {
  const [least, most, log = false, whole = false] = range,
    known = explorer.catalog.schema.$defs[table].properties[name];
  const put = (/** @type {() => string} */ step) => (/** @type {any} */ value) =>
    explorer.changeIn(part, { [name]: whole ? Math.round(value) : value }, step());
  return html`<${Slider} label=${words(name)} value=${valuesOf(explorer, table, part)[name]} usual=${known.default} least=${least} most=${most} log=${log} step=${whole ? 1 : 0} hint=${known.description}
    live=${put(() => `gesture ${name} ${drags}`)} put=${put(() => `gesture ${name} ${drags++}`)} />`;
}

/** The sky from above: the middle is the zenith, the ring the horizon, and what is ahead of the camera lies at the top. */
function Sun(
  /** @type {{explorer: import("../explorer.js").Explorer, space: Table}} */ { explorer, space },
) {
  const radius = DOME / 2;
  const put = (/** @type {any} */ sun, step = "") => explorer.changeIn("light", { sun }, step);
  const at = onDome(space.sun, space).map((part) => radius * (1 + part));
  const drag = (/** @type {number[]} */ to, /** @type {string} */ step) =>
    put(
      dome(
        to.map((/** @type {number} */ part) => part / radius - 1),
        space,
      ),
      step,
    );
  return html`<div class="row"><div class="dome" style=${{ width: `${DOME}px`, height: `${DOME}px` }}><span class="faint">ahead</span>
      <${Knob} label="Sun" kind="ring sun" at=${at} style=${{ "--color": valuesOf(explorer, "Light", "light").sun_color }} put=${drag} /></div>
    <p class="hint">The sky from above: drag the sun. In the middle it is overhead, on the ring at the horizon.</p>
    <${Button} label="Beside the camera" kind="wide-button" aria-pressed=${String((explorer.scene.light?.sun ?? "key") === "key")} title="Above and to the left of the camera, wherever it is" onClick=${() => put("key")} /></div>`;
}

/** The table [light]: sun, sky and surface; `space`: where the camera looks, and where the sun is. */
export function Daylight(
  /** @type {{explorer: import("../explorer.js").Explorer, space: Table}} */ { explorer, space },
) {
  const light = valuesOf(explorer, "Light", "light");
  const field = (/** @type {string} */ name) =>
    html`<${Field} key=${name} explorer=${explorer} table="Light" part="light" name=${name} range=${LIGHT[name]} />`;
  const put = (/** @type {any} */ values, /** @type {string} */ step) =>
    explorer.changeIn("light", values, step);
  const color = (
    /** @type {string} */ label,
    /** @type {any} */ value,
    /** @type {(value: string, step: string) => void} */ change,
  ) =>
    html`<${Row} key=${label} label=${label} control=${(
      /** @type {string} */ id,
    ) => html`<input type="color" id=${id} value=${value}
    onInput=${(/** @type {Table} */ { target }) => change(target.value, `gesture ${label} ${drags}`)} onChange=${(/** @type {Table} */ { target }) => change(target.value, `gesture ${label} ${drags++}`)} />`} />`;
  return html`<${Section} title="Sun"><${Sun} explorer=${explorer} space=${space} />${["sun_power", "sun_size"].map(field)}
      ${color("Sun color", light.sun_color, (/** @type {string} */ now, /** @type {string} */ step) => put({ sun_color: now }, step))}<//>
    <${Section} title="Sky and haze">${light.sky.map((/** @type {any} */ value, /** @type {number} */ k) => color(SKY[k], value, (/** @type {string} */ now, /** @type {string} */ step) => put({ sky: light.sky.with(k, now) }, step)))}${field("haze")}<//>
    <${Section} title="Light of its own" open=${false}>${["emission", "emission_at", "emission_width"].map(field)}
      ${color("Emission color", light.emission_color, (/** @type {string} */ now, /** @type {string} */ step) => put({ emission_color: now }, step))}<//>
    <${Section} title="Surface">${["gloss", "bounces"].map(field)}<//>`;
}

/** The light of a solid, in place of values and layers. */
export function Lit(
  /** @type {{paint: Table, edit: (changes: Table, live?: boolean) => void, explorer: import("../explorer.js").Explorer}} */ {
    paint,
    edit,
    explorer,
  },
) {
  if (!explorer.placed?.space) return null;
  return html`<${Daylight} explorer=${explorer} space=${explorer.placed.space} />
    <${Section} title="Colors along the palette">
      <${Slider} label="Density" value=${paint.density ?? 1} usual=${1} least=${0.01} most=${10} log live=${(/** @type {number} */ density) => edit({ density }, true)} put=${(/** @type {number} */ density) => edit({ density })} />
      <${Slider} label="Offset" value=${paint.offset ?? 0} usual=${0} least=${0} most=${1} live=${(/** @type {number} */ offset) => edit({ offset }, true)} put=${(/** @type {number} */ offset) => edit({ offset })} /><//>`;
}

/** The fields of the camera. @param {{explorer: import("../explorer.js").Explorer, space: Table}} given `space`: as of `spaceTool` */
export function Camera({ explorer, space: { aim, camera } }) {
  const values = valuesOf(explorer, "Camera", "camera"),
    known = explorer.catalog.schema.$defs.Camera.properties;
  const focus = (/** @type {number|undefined} */ distance) => camera({ focus: distance });
  return html`<${Section} title="Camera">
      <div class="line"><${Button} label="Fly" aria-pressed=${String(explorer.flying)} title="W A S D fly, Q and E go down and up; a drag looks around (Shift+F)" onClick=${() => {
        explorer.flying = !explorer.flying;
      }} />
        <${Button} label="Focus by a click" aria-pressed=${String(aim.aiming)} title="The next click makes sharp what it meets; Alt and a click do so, too" onClick=${() => {
          aim.aiming = !aim.aiming;
        }} /></div>
      <p class="hint">${explorer.flying ? "W A S D or the pad fly, as fast as the surface is far; a drag looks around." : "A drag goes around the solid; W A S D fly."}</p>
      <${Row} label="Focus" hint=${known.focus.description} control=${(/** @type {string} */ id) => html`<${TextField} id=${id} inputmode="decimal" value=${values.focus ?? "auto"} read=${focusOf} put=${focus} />`} />
      ${Object.entries(CAMERA).map(([name, range]) => html`<${Field} key=${name} explorer=${explorer} table="Camera" part="camera" name=${name} range=${range} />`)}
      <${Toggle} label="Panorama" value=${values.panorama} put=${(/** @type {boolean} */ panorama) => camera({ panorama })} />
      ${
        values.stereo > 0 &&
        html`<div class="row" data-about=${known.eye.description}><span>Eye</span><${Segments} label="Eye" choices=${EYES} value=${values.eye} put=${(/** @type {string} */ eye) => camera({ eye })} /></div>`
      }
      <${Row} label="Part of" hint=${known.whole.description} control=${(/** @type {string} */ id) => html`<${TextField} id=${id} class="mono" placeholder="the whole picture" value=${values.whole ?? ""} read=${partField(explorer.placed.size)} put=${(/** @type {string|null} */ whole) => camera({ whole })} />`} /><//>`;
}
