/** The colors of the scene: what the user changes, what the server has accepted, and cycling. */
import { observe } from "./state.js";
import { say } from "./words.js";

const LAST_SEQ = 65_535;
const NUMBERS = ["density", "offset", "blend", "opacity"]; // the shader takes these as they are

export class Paints {
  seq = 0; // of the newest colors that the server accepted
  /** @type {{seq: number, color: Color}|null} */ #flight = null; // unanswered
  #returns = false; // to the accepted colors, because newer ones were refused
  /** @type {Color|null} */ #wanted = null; // the newest colors that were not sent
  /** @type {Color} */ #accepted = {};
  #live = false; // the user is changing colors
  #fresh = false; // new values follow
  speed = 0; // turns a second

  /** @param {import("./explorer.js").Explorer} explorer @param {(message: Sent.PaintMessage) => boolean} send false: not now */
  constructor(explorer, send) {
    observe(this, "speed");
    this.explorer = explorer;
    this.send = send;
  }

  get settled() {
    return !this.#flight && !this.#wanted && !this.#live && !this.speed;
  }
  get live() {
    return this.#live;
  }
  get cycling() {
    return this.speed !== 0;
  }

  /** Start with the colors of a scene that was opened. @param {Color} color @param {boolean} [values] false: it has none, so nothing is cycled */
  start(color, values = true) {
    if (!values && this.speed) {
      this.speed = 0;
      Object.assign(this.explorer.stage, { phase: 0, hideExact: false });
    }
    this.seq = 0;
    this.#flight = this.#wanted = null;
    this.#live = this.#fresh = this.#returns = false;
    this.#accepted = color;
  }

  /** Show other colors, and send them. @param {Color} color @param {boolean} live more follow at once */
  set(color, live) {
    const { explorer } = this,
      quick =
        explorer.stage.renderer.values &&
        explorer.placed?.values &&
        sameButNumbers(color, this.#accepted ?? {});
    this.#live = live;
    explorer.scene = { ...explorer.scene, color };
    explorer.drawn = null;
    if (quick) {
      const paints = paintsOf(color),
        groups = [...new Set(paints.flatMap(({ overs }) => overs))]; // in the order of the message `colors`
      explorer.stage.adjust(
        (layer, k) =>
          numbersOf(paints[k]?.paint, layer, paints[k]?.overs.at(-1) === paints[k]?.paint),
        (group, g) => numbersOf(groups[g], group),
      );
    }
    if (live && quick) return;
    this.#wanted = color;
    this.next();
  }

  /** End changes of colors that were live, if nothing has ended them. */
  rest() {
    if (this.#live) this.set(this.explorer.scene.color, false);
  }

  /** Tell whether colors are unanswered. @param {number} seq */
  waitsFor(seq) {
    return this.#flight?.seq === seq;
  }

  /** Send the newest colors, unless older ones are unanswered. */
  next() {
    if (!this.#wanted || this.#flight) return;
    const flight = { seq: (this.seq % LAST_SEQ) + 1, color: this.#wanted };
    if (!this.send({ t: "paint", ...flight })) return;
    this.#flight = flight;
    this.#wanted = null;
  }

  /** Take the answer `painted`. */
  accepted(/** @type {Received.Painted} */ { seq, color, values, title, author, rights, note }) {
    const { explorer } = this;
    this.#flight = null;
    this.#returns = false;
    this.seq = seq;
    this.#accepted = color;
    this.#fresh = values;
    explorer.drawn = null;
    explorer.scene = {
      ...explorer.scene,
      title,
      author,
      rights,
      note,
      ...(!this.#wanted && !this.#live && { color }),
    };
  }

  /** Return to the accepted colors, because newer ones are not valid. @returns {boolean} whether it did */
  refused(/** @type {number} */ seq) {
    if (!this.#flight || seq !== this.#flight.seq) return false; // what was accepted can't be drawn
    this.#flight = null;
    if (this.#wanted || this.#live || this.#returns) return false;
    this.#returns = true;
    this.set(this.#accepted, false);
    return true;
  }

  /** Tell whether values for other colors follow. @param {Received.ShownLayer[]} before @param {Received.ShownLayer[]} after */
  takeFresh(before, after) {
    const same = (/** @type {Received.ShownLayer} */ layer, /** @type {number} */ k) =>
      /** @type {const} */ (["coloring", "c0", "transfer"]).every(
        (key) => layer[key] === before[k]?.[key],
      );
    const fresh = this.#fresh || before.length !== after.length || !after.every(same);
    this.#fresh = false;
    return fresh;
  }

  /** Send unanswered colors again once there is a connection. */
  lost() {
    this.#wanted ??= this.#flight?.color ?? null;
    this.#flight = null;
  }

  /** Cycle the palette. @param {number} speed turns a second; 0 stops, and keeps the colors then shown */
  cycle(speed) {
    const {
        explorer,
        explorer: { stage, scene, layers },
      } = this,
      { phase } = stage;
    if (!explorer.placed?.values) return;
    if (speed && !stage.renderer.values) return explorer.tell(say("cycling_needs_a_graphics_card"));
    if (speed && matchMedia("(prefers-reduced-motion: reduce)").matches)
      return explorer.tell(say("palette_cycling_is_off_because"));
    this.speed = speed;
    explorer.wake();
    stage.hideExact = speed !== 0;
    if (speed || !phase) return;
    stage.phase = 0;
    const turned = (/** @type {Paint} */ table, /** @type {number} */ k) =>
      layers[k]?.cyclic === false
        ? table
        : { ...table, offset: Math.round((((table.offset ?? 0) + phase) % 1) * 1e6) / 1e6 };
    explorer.paint(
      paintsOf(scene.color).reduce(
        (color, { paint }, k) => changed(color, k, turned(paint, k)),
        scene.color,
      ),
    );
  }

  /** Go on cycling. @param {number} seconds */
  tick(seconds) {
    const { stage } = this.explorer;
    stage.phase = (stage.phase + this.speed * seconds) % 1;
  }
}

/** Return the base and the layers, also of groups, from the bottom: `path` leads to a layer, and `overs` are the groups that it
 * is in, from outside; a layer with a mask in no group is a group by itself.
 * @param {Color} color @returns {{paint: Paint, path: number[], overs: Paint[]}[]} */
export function paintsOf(color) {
  const found = [
    {
      paint: /** @type {Paint} */ (color),
      path: /** @type {number[]} */ ([]),
      overs: /** @type {Paint[]} */ ([]),
    },
  ];
  const add = (
    /** @type {Paint[]} */ layers,
    /** @type {number[]} */ path,
    /** @type {Paint[]} */ overs,
  ) =>
    layers.forEach((each, k) => {
      if (each.layers) add(each.layers, [...path, k], [...overs, each]);
      else
        found.push({
          paint: each,
          path: [...path, k],
          overs: each.picture_mask && !overs.length ? [each] : overs,
        });
    });
  add(color.layers ?? [], [], []);
  return found;
}

/** Return a table of colors in which the base (0) or a layer has other values.
 * @param {Color} color @param {number} layer @param {Paint} values @returns {Color} */
export function changed(color, layer, values) {
  /** @type {(own: Paint, path: number[]) => Paint} */
  const put = (own, [k, ...rest]) => {
    if (k === undefined) return { ...own, ...values };
    const { layers = [] } = own;
    return { ...own, layers: layers.with(k, put(layers[k], rest)) };
  };
  return put(color, paintsOf(color)[layer].path);
}

/** Tell whether two tables of colors differ at most in what the shader takes as it is. */
function sameButNumbers(/** @type {Color} */ one, /** @type {Color} */ other) {
  const text = (/** @type {Color} */ color) =>
    JSON.stringify(color, (key, value) => (NUMBERS.includes(key) ? undefined : value));
  return text(one) === text(other);
}

/** Return what a table says of the numbers of a layer or a group; `alone`: blend and opacity are those of its group.
 * @param {Paint} table @param {Partial<Received.ShownLayer>} layer @returns {import("./stage.js").Numbered} */
function numbersOf(table, layer, alone = false) {
  const { density, offset, opacity, blend } = alone
    ? /** @type {Paint} */ ({ ...table, opacity: 1, blend: "normal" })
    : (table ?? {});
  const number = (value = NaN, otherwise = NaN) => (Number.isFinite(value) ? value : otherwise);
  return {
    density: number(density, layer.density),
    offset: number(offset, layer.offset),
    opacity: number(opacity, layer.opacity),
    blend: blend && blend !== "auto" ? blend : (layer.blend ?? "normal"),
  };
}
