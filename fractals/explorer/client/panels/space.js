/** Solids: light, camera, the focus by a click, and flights by keys and by touch. */
import { html } from "../html.js";
import { dome, onDome } from "../points.js";
import { observe } from "../state.js";
import {
  Button,
  Knob,
  Row,
  Section,
  Segments,
  Slider,
  TextField,
  Toggle,
  whileHeld,
  words,
} from "../ui.js";
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
const SPEED = 700; // thousandths of the distance to the nearest surface that a flight takes a second
const LENS = 0.01; // of a camera that gets a focus, and has none
const DOME = 150,
  PAD = 120; // CSS pixels: across the sky that shows the sun, and the pad of a flight
const isSolid = (/** @type {import("../explorer.js").Explorer} */ { placed }) =>
  Boolean(placed?.camera);
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

/** Flights, the focus, and the fields of the camera. */
export function spaceTool(/** @type {Pick<Context, "explorer"|"notify">} */ { explorer, notify }) {
  const own = observe({ aiming: false, stick: /** @type {number[]|null} */ (null) }); // aiming: the next click is the focus
  let count = 0;

  const camera = (/** @type {any} */ values, step = "") =>
    explorer.change({ camera: { ...explorer.scene.camera, ...values } }, step);

  /** Make sharp what a point of the canvas shows. @param {number[]} at */
  async function focusAt(at) {
    own.aiming = false;
    const told = await explorer
      .request({ t: "pick", at })
      .catch((/** @type {Error} */ error) => notify(error.message, "error"));
    if (!told) return;
    if (told.focus === null) return void notify("There is no surface at this point.");
    camera({ focus: told.focus, lens: explorer.scene.camera?.lens || LENS });
  }
  explorer.addEventListener("tap", (/** @type {any} */ event) => {
    if (!isSolid(explorer) || !(own.aiming || event.detail.alt)) return;
    event.stopImmediatePropagation(); // it does not hide the bars
    focusAt(event.detail.at);
  });

  /** Fly as long as something is held. @param {() => number[]} way to the right, up and ahead, from -1 to 1 @returns {() => void} */
  function fly(way) {
    const step = `flight ${(count += 1)} of the camera`,
      rest = [0, 0, 0];
    explorer.dispatchEvent(new Event("gesture"));
    return explorer.animate((/** @type {number} */ seconds) => {
      if (!isSolid(explorer)) return;
      const whole = way().map((part, k) => {
        rest[k] += part * SPEED * seconds;
        const now = Math.trunc(rest[k]);
        rest[k] -= now;
        return now;
      });
      if (whole.some(Boolean)) explorer.move({ fly: [...whole, 0, 0], stage: "moving", step });
    });
  }

  function held(/** @type {number[]} */ ...way) {
    let end = /** @type {(() => void)|null} */ (null);
    const stop = () => {
      end?.();
      end = null;
    };
    return {
      start: () => (stop(), (end = fly(() => way))),
      stop,
      when: isSolid,
      group: "Fly over a solid",
    };
  }
  const commands = [
    { id: "fly-ahead", title: "Fly ahead", keys: ["w"], ...held(0, 0, 1) },
    { id: "fly-back", title: "Fly back", keys: ["s"], ...held(0, 0, -1) },
    { id: "fly-left", title: "Fly to the left", keys: ["a"], ...held(-1, 0, 0) },
    { id: "fly-right", title: "Fly to the right", keys: ["d"], ...held(1, 0, 0) },
    { id: "fly-up", title: "Fly up", keys: ["e"], ...held(0, 1, 0) },
    { id: "fly-down", title: "Fly down", keys: ["q"], ...held(0, -1, 0) },
    {
      id: "fly-look",
      title: "A drag looks around, or goes around the solid",
      group: "Fly over a solid",
      keys: ["Shift+F"],
      when: isSolid,
      run: () => {
        explorer.flying = !explorer.flying;
      },
    },
  ];

  const land = () => {
    const ended = own.aiming || (explorer.flying && isSolid(explorer));
    Object.assign(own, { aiming: false, stick: null });
    explorer.flying = false;
    return ended;
  };

  /** The fields of the camera. */
  function Camera() {
    if (!isSolid(explorer)) return null;
    const values = valuesOf(explorer, "Camera", "camera"),
      known = explorer.catalog.schema.$defs.Camera.properties;
    const focus = (/** @type {number|undefined} */ distance) => camera({ focus: distance });
    return html`<${Section} title="Camera">
      <div class="line"><${Button} label="Fly" aria-pressed=${String(explorer.flying)} title="W A S D fly, Q and E go down and up; a drag looks around (Shift+F)" onClick=${() => {
        explorer.flying = !explorer.flying;
      }} />
        <${Button} label="Focus by a click" aria-pressed=${String(own.aiming)} title="The next click makes sharp what it meets; Alt and a click do so, too" onClick=${() => {
          own.aiming = !own.aiming;
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

  /** The pad that fingers fly with. */
  function View() {
    if (!explorer.flying || !isSolid(explorer)) return null;
    const [x, y] = own.stick ?? [0, 0];
    const grab = (/** @type {any} */ event) => {
      event.preventDefault();
      const box = event.currentTarget.getBoundingClientRect();
      const move = (/** @type {Table} */ { clientX, clientY }) => {
        const to = [
            (clientX - box.left) / (box.width / 2) - 1,
            (clientY - box.top) / (box.height / 2) - 1,
          ],
          far = Math.max(1, Math.hypot(...to));
        own.stick = to.map((part) => part / far);
      };
      move(event);
      const end = fly(() => [(own.stick ?? [0])[0], 0, -(own.stick ?? [0, 0])[1]]);
      whileHeld(event, move, () => {
        own.stick = null;
        end();
      });
    };
    return html`<div class="pad glass" style=${{ width: `${PAD}px`, height: `${PAD}px` }} aria-hidden="true" onPointerDown=${grab}>
      <i style=${{ left: `${50 * (1 + 0.6 * x)}%`, top: `${50 * (1 + 0.6 * y)}%` }}></i></div>`;
  }
  const flies = (/** @type {string} */ key) => commands.some(({ keys }) => keys.includes(key));
  /** Return the key of a command: where it flies over the solid that is shown, Shift is held, too. @param {string} key */
  const keyOf = (key) => (isSolid(explorer) && flies(key) ? `Shift+${key.toUpperCase()}` : key);
  /** Return the commands of flights, and those of others whose keys fly, with Shift. @param {import("../keys.js").Command[]} others */
  const withOthers = (others) => [
    ...commands,
    ...others
      .filter(({ keys }) => flies(keys[0]))
      .map((each) => ({
        ...each,
        id: `${each.id}-solid`,
        group: "Fly over a solid",
        keys: [`Shift+${each.keys[0].toUpperCase()}`],
        when: isSolid,
      })),
  ];
  return { View, Camera, focusAt, land, keyOf, withOthers };
}
