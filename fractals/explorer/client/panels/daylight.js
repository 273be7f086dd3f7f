/** The fields of a solid: sun, sky, surface, and the camera. */
import { html } from "../html.js";
import { dome, onDome } from "../points.js";
import { Slider } from "../slider.js";
import { Button, Knob, Row, Section, Segments, TextField, Toggle, words } from "../ui.js";
import { say } from "../words.js";
import { numberField, partField } from "../written.js";

/** Ranges of the sliders: least, most, equal factors, whole numbers; the fields beside them take all that a scene takes. */
/** @type {Record<string, [number, number, boolean?, boolean?]>} */
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
/** @type {Record<string, [number, number]>} */
const CAMERA = {
  field: [5, 130],
  lens: [0, 0.1],
  stereo: [0, 0.2],
  roll: [0, 360],
  ray_step: [0.2, 1],
};
const DISTANCE = numberField({ such: say("n2_5_or_auto"), positive: true });
/** Read the distance at which a camera is sharp; none: it finds one. @param {string} text @returns {Read} */
const focusOf = (text) => (/^\s*(auto)?\s*$/i.test(text) ? { value: undefined } : DISTANCE(text));
const EYES = [
  ["both", say("both")],
  ["left", say("left")],
  ["right", say("right")],
];
const SKY = [say("horizon"), say("zenith"), say("ground")];
const DOME = 150; // CSS pixels: across the sky that shows the sun
let drags = 0;

/** Return the values of a table of the scene; the schema has those that it does not name. */
function valuesOf(
  /** @type {import("../explorer.js").Explorer} */ explorer,
  /** @type {"Light"|"Camera"} */ table,
  /** @type {"light"|"camera"} */ part,
) {
  const known = explorer.catalog.schema.$defs[table].properties;
  return /** @type {Required<Scenes.Light & Camera>} */ ({
    ...Object.fromEntries(Object.entries(known).map(([name, each]) => [name, each.default])),
    ...explorer.wished[part],
  });
}

/** A field of a table of the scene, whose drag is one step of undo. */
function Field(
  /** @type {{explorer: import("../explorer.js").Explorer, table: "Light"|"Camera", part: "light"|"camera", name: string, range: [number, number, boolean?, boolean?]}} */ {
    explorer,
    table,
    part,
    name,
    range,
  },
) {
  const [least, most, log = false, whole = false] = range,
    known = explorer.catalog.schema.$defs[table].properties[name];
  const put = (/** @type {() => string} */ step) => (/** @type {number} */ value) =>
    explorer.changeIn(part, { [name]: whole ? Math.round(value) : value }, step());
  return html`<${Slider} label=${words(name)} value=${/** @type {Record<string, any>} */ (valuesOf(explorer, table, part))[name]} usual=${known.default} least=${least} most=${most} log=${log} step=${whole ? 1 : 0} hint=${known.description}
    live=${put(() => `gesture ${name} ${drags}`)} put=${put(() => `gesture ${name} ${drags++}`)} />`;
}

/** The sky from above: the middle is the zenith, the ring the horizon, and what is ahead of the camera lies at the top. */
function Sun(
  /** @type {{explorer: import("../explorer.js").Explorer, space: Pick<Received.SpaceFacts, "position"|"target"|"sun">}} */ {
    explorer,
    space,
  },
) {
  const radius = DOME / 2;
  const put = (/** @type {number[]|"key"} */ sun, step = "") =>
    explorer.changeIn("light", { sun }, step);
  const at = onDome(space.sun, space).map((part) => radius * (1 + part));
  const drag = (/** @type {number[]} */ to, /** @type {string} */ step) =>
    put(
      dome(
        to.map((part) => part / radius - 1),
        space,
      ),
      step,
    );
  return html`<div class="row"><div class="dome" style=${{ width: `${DOME}px`, height: `${DOME}px` }}><span class="faint">${say("ahead")}</span>
      <${Knob} label=${say("sun")} kind="ring sun" at=${at} style=${{ "--color": valuesOf(explorer, "Light", "light").sun_color }} put=${drag} /></div>
    <p class="hint">${say("the_sky_from_above_drag")}</p>
    <${Button} label=${say("beside_the_camera")} kind="wide-button" aria-pressed=${String((explorer.wished.light?.sun ?? "key") === "key")} title=${say("above_and_to_the_left")} onClick=${() => put("key")} /></div>`;
}

/** The table [light]: sun, sky and surface; `space`: where the camera looks, and where the sun is. */
export function Daylight(
  /** @type {{explorer: import("../explorer.js").Explorer, space: Pick<Received.SpaceFacts, "position"|"target"|"sun">}} */ {
    explorer,
    space,
  },
) {
  const light = valuesOf(explorer, "Light", "light");
  const field = (/** @type {string} */ name) =>
    html`<${Field} key=${name} explorer=${explorer} table="Light" part="light" name=${name} range=${LIGHT[name]} />`;
  const put = (/** @type {Scenes.Light} */ values, /** @type {string} */ step) =>
    explorer.changeIn("light", values, step);
  const color = (
    /** @type {string} */ label,
    /** @type {string} */ value,
    /** @type {(value: string, step: string) => void} */ change,
  ) =>
    html`<${Row} key=${label} label=${label} control=${(
      /** @type {string} */ id,
    ) => html`<input type="color" id=${id} value=${value}
    onInput=${(/** @type {FieldEvent} */ { target }) => change(target.value, `gesture ${label} ${drags}`)} onChange=${(/** @type {FieldEvent} */ { target }) => change(target.value, `gesture ${label} ${drags++}`)} />`} />`;
  return html`<${Section} title=${say("sun")}><${Sun} explorer=${explorer} space=${space} />${["sun_power", "sun_size"].map(field)}
      ${color(say("sun_color"), light.sun_color, (/** @type {string} */ now, /** @type {string} */ step) => put({ sun_color: now }, step))}<//>
    <${Section} title=${say("sky_and_haze")}>${light.sky.map((value, k) => color(SKY[k], value, (/** @type {string} */ now, /** @type {string} */ step) => put({ sky: light.sky.with(k, now) }, step)))}${field("haze")}<//>
    <${Section} title=${say("light_of_its_own")} open=${false}>${["emission", "emission_at", "emission_width"].map(field)}
      ${color(say("emission_color"), light.emission_color, (/** @type {string} */ now, /** @type {string} */ step) => put({ emission_color: now }, step))}<//>
    <${Section} title=${say("surface")}>${["gloss", "bounces"].map(field)}<//>`;
}

/** The light of a solid, in place of values and layers. */
export function Lit(
  /** @type {{paint: Paint, edit: (changes: Paint, live?: boolean) => void, explorer: import("../explorer.js").Explorer}} */ {
    paint,
    edit,
    explorer,
  },
) {
  if (!explorer.placed?.space) return null;
  return html`<${Daylight} explorer=${explorer} space=${explorer.placed.space} />
    <${Section} title=${say("colors_along_the_palette")}>
      <${Slider} label=${say("density")} value=${paint.density ?? 1} usual=${1} least=${0.01} most=${10} log live=${(/** @type {number} */ density) => edit({ density }, true)} put=${(/** @type {number} */ density) => edit({ density })} />
      <${Slider} label=${say("offset")} value=${paint.offset ?? 0} usual=${0} least=${0} most=${1} live=${(/** @type {number} */ offset) => edit({ offset }, true)} put=${(/** @type {number} */ offset) => edit({ offset })} /><//>`;
}

/** The fields of the camera. @param {{explorer: import("../explorer.js").Explorer, space: Context["space"]}} given `space`: as of `spaceTool` */
export function Camera({ explorer, space: { aim, camera } }) {
  const values = valuesOf(explorer, "Camera", "camera"),
    known = explorer.catalog.schema.$defs.Camera.properties;
  const focus = (/** @type {number|undefined} */ distance) => camera({ focus: distance });
  return html`<${Section} title=${say("camera")}>
      <div class="line"><${Button} label=${say("fly")} aria-pressed=${String(explorer.flying)} title=${say("w_a_s_d_fly")} onClick=${() => {
        explorer.flying = !explorer.flying;
      }} />
        <${Button} label=${say("focus_by_a_click")} aria-pressed=${String(aim.aiming)} title=${say("the_next_click_makes_sharp")} onClick=${() => {
          aim.aiming = !aim.aiming;
        }} /></div>
      <p class="hint">${explorer.flying ? say("w_a_s_d_or") : say("a_drag_goes_around_the")}</p>
      <${Row} label=${say("focus")} hint=${known.focus.description} control=${(/** @type {string} */ id) => html`<${TextField} id=${id} inputmode="decimal" value=${values.focus ?? "auto"} read=${focusOf} put=${focus} />`} />
      ${Object.entries(CAMERA).map(([name, range]) => html`<${Field} key=${name} explorer=${explorer} table="Camera" part="camera" name=${name} range=${range} />`)}
      <${Toggle} label=${say("panorama")} value=${values.panorama} put=${(/** @type {boolean} */ panorama) => camera({ panorama })} />
      ${
        values.stereo > 0 &&
        html`<div class="row" data-about=${known.eye.description}><span>${say("eye")}</span><${Segments} label=${say("eye")} choices=${EYES} value=${values.eye} put=${(/** @type {Camera["eye"]} */ eye) => camera({ eye })} /></div>`
      }
      <${Row} label=${say("part_of")} hint=${known.whole.description} control=${(/** @type {string} */ id) => html`<${TextField} id=${id} class="mono" placeholder=${say("the_whole_picture")} value=${values.whole ?? ""} read=${partField(explorer.placed.size)} put=${(/** @type {string|null} */ whole) => camera({ whole })} />`} /><//>`;
}
