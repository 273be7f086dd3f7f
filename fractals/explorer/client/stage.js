/** The canvas: the newest picture, and older ones beneath, under the map of the user's moves. */
import { PlainRenderer } from "./canvas2d.js";
import { PIXELS } from "./decode.js";
import { apply, compose, IDENTITY, inverse, isIdentity, scaleOf } from "./frames.js";
import { canvasOf, newCanvas, Picture, pixelsOf } from "./picture.js";
import { makeRenderer } from "./renderer.js";

const FARTHEST = 2 ** 12; // scale between the view and an older picture that is still drawn
const LIMIT = 4096; // device pixels of a side
const MOST_IMAGES = 24,
  MOST_BYTES = 2 ** 27;

/** @typedef {import("./picture.js").Colors} Colors */
/** @typedef {import("./picture.js").Image} Image */
/** @typedef {{image: Image, map: number[]}} Mapped `map`: to the newest frame's pixels */
/** @typedef {Pick<Received.ShownLayer, "density"|"offset"|"opacity"|"blend">} Numbered what the shader takes as it is */
/** @typedef {Mapped & {stale: boolean, foreign: boolean}} Older */

export class Stage {
  /** @param {HTMLCanvasElement} canvas @param {() => void} changed called when something is to be drawn
   * @param {{plain?: boolean, software?: boolean}} [options] `plain`: without WebGL2; `software`: WebGL2 without a card too */
  constructor(canvas, changed, { plain = false, software = false } = {}) {
    this.canvas = canvas;
    this.renderer = (!plain && makeRenderer(canvas, software)) || new PlainRenderer(canvas);
    this.changed = changed;
    /** @type {Picture|null} */
    this.picture = null;
    this.coming = /** @type {Colors|null} */ (null); // colors whose tables have not all arrived
    this.older = /** @type {Older[]} */ ([]); // oldest first
    this.phase = 0; // turns that the palette has cycled
    this.added = 0; // how many tiles and pictures have come
    this.hideExact = false;
    this.share = 1; // of the pixels of each axis that are drawn while the picture flies
    this.edge = /** @type {(Mapped & {of: Picture})|null} */ (null); // small, of the newest picture that covered the canvas
    this.plain = false; // whether edges go on with their own colors: the mirror image of a solid would lie beside it
    this.peeked = /** @type {{picture: Picture, colors: Colors, hidden: boolean}|null} */ (null); // what is shown again after a look at another palette
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => this.#restore());
  }

  /** Go on to a new frame. @param {number} frame @param {number[]} size
   * @param {number[]|null} map from the newest frame until now; null: it lies elsewhere @param {boolean} plain */
  place(frame, size, map, plain) {
    this.peek(null);
    this.plain = plain;
    this.#bake();
    if (map && this.edge) this.edge.map = compose(this.edge.map, map);
    else this.#dropEdge();
    this.picture = new Picture(frame, size);
    this.coming = null;
    for (const each of this.older) {
      if (map) each.map = compose(each.map, map);
      else each.foreign = true; // shown until the new scene has a picture
    }
    this.#drop(({ map: its, foreign }) => !foreign && !near(its));
    this.changed();
  }

  /** Take the description of the layers; it counts once its tables have arrived. @param {Received.LayersMessage} message @param {boolean} fresh */
  colors({ layers, groups, planes }, fresh) {
    this.peek(null);
    if (fresh && this.picture) {
      const { frame, size } = this.picture;
      this.#bake();
      for (const each of this.older) each.stale = true;
      this.picture = new Picture(frame, size);
    }
    this.coming = {
      layers: layers.map((each) => ({ ...each })),
      groups: groups.map((each) => ({ ...each })),
      planes,
      tables: [],
    };
  }

  table(/** @type {import("./decode.js").Rows} */ { layer, data }) {
    const { coming, picture } = this;
    if (!coming || !picture) return;
    coming.tables[layer] = data;
    if (coming.layers.every((_, k) => coming.tables[k])) {
      if (picture.colors) picture.forgetExact(); // until there are new ones, values are shown in the new colors
      picture.colors = coming;
      this.coming = null;
      this.changed();
    }
  }

  /** Change numbers of the layers and of their groups at once.
   * @param {(layer: Received.ShownLayer, k: number) => Numbered} change
   * @param {(group: Received.ShownGroup, g: number) => Numbered} changeGroup */
  adjust(change, changeGroup) {
    this.peek(null);
    for (const colors of [this.picture?.colors, this.coming]) {
      colors?.layers.forEach((layer, k) => Object.assign(layer, change(layer, k)));
      colors?.groups.forEach((group, g) => Object.assign(group, changeGroup(group, g)));
    }
    this.picture?.forgetExact();
    for (const each of this.older) each.stale = true;
    this.changed();
  }

  /** Show a layer by another table, or by its own again (null). @param {{layer: number, cyclic: boolean, entries: number, rows: Uint16Array}|null} wish
   * @returns {boolean} whether it is shown */
  peek(wish) {
    if (this.peeked) {
      this.peeked.picture.colors = this.peeked.colors;
      this.hideExact = this.peeked.hidden;
      this.peeked = null;
      this.changed();
    }
    const { picture } = this,
      colors = picture?.colors;
    if (
      !wish ||
      !picture ||
      !colors?.layers[wish.layer] ||
      !(picture.fine || picture.coarse?.layers)
    )
      return false;
    const { layer, cyclic, entries, rows } = wish,
      several = colors.layers.length > 1; // which are mixed in sRGB
    this.peeked = { picture, colors, hidden: this.hideExact };
    picture.colors = {
      ...colors,
      layers: colors.layers.with(layer, { ...colors.layers[layer], entries, cyclic }),
      tables: colors.tables.with(layer, several ? rows.map(encoded) : rows),
    };
    this.hideExact = true;
    this.changed();
    return true;
  }

  /** Take a tile. @param {import("./decode.js").Message} message */
  add(message) {
    const { picture } = this;
    if (!picture) return;
    this.added += 1;
    if (message.kind === PIXELS)
      picture.addPixels(
        message.step > 1 && this.renderer.values
          ? enlarged(/** @type {import("./decode.js").Pixels} */ (message), picture.size)
          : /** @type {import("./decode.js").Pixels} */ (message),
      );
    else picture.addValues(/** @type {import("./decode.js").Values} */ (message));
    this.changed();
  }

  /** Tell whether a message is a whole picture that is drawn as one image. @param {import("./decode.js").Message} message */
  takesImage({ kind, format, w, h }) {
    const { picture, renderer } = this;
    return kind === PIXELS && !format && !renderer.values && `${picture?.size}` === `${[w, h]}`;
  }

  /** Note that a pass has arrived whole. @param {string} pass */
  arrived(pass) {
    if (pass !== "coarse" && this.picture) this.picture.complete = true;
    this.#drop(({ foreign, stale }) => foreign || (stale && pass !== "coarse"));
    this.changed();
  }

  /** Draw. @param {number[]} map the moves since the newest frame was placed @param {number} [share] of the pixels of each axis */
  draw(map, share = this.share) {
    const { renderer, picture } = this;
    if (renderer.lost) return;
    const how = {
      map,
      phase: this.phase,
      exact: !this.hideExact,
      coarse: false,
      share: 1,
      beyond: /** @type {(Mapped & {plain: boolean})|null} */ (null),
    };
    const covers = picture?.complete && isIdentity(map);
    if (!covers) how.share = share; // what rests is exact
    const coarse = picture?.coarse && !picture.empty ? picture.coarse.step * scaleOf(map) : 0;
    how.coarse = Boolean(coarse) && !covers;
    const older = this.plain ? this.older.slice(-1).filter(() => !picture?.complete) : this.older; // others show other sides of a solid
    const hides = (/** @type {{image: Image|Picture, map: number[]}} */ each) =>
      each.image.whole && surrounds(each, this.canvas); // what is drawn before
    const hidden = covers || (picture && how.exact && hides({ image: picture, map }));
    const under = hidden
      ? []
      : older.map((each) => this.#under(each, map, coarse)).filter(({ map: its }) => near(its));
    under.sort((one, other) => Number(one.above) - Number(other.above) || other.grain - one.grain);
    const first = under.findLastIndex(hides);
    if (first > 0) under.splice(0, first);
    if (!hidden && first < 0) how.beyond = this.#widest(map);
    renderer.draw(under, picture, how);
    if (covers && this.edge?.of !== picture) {
      this.#dropEdge();
      this.edge = { of: picture, image: renderer.keep(this.plain), map: IDENTITY };
    }
  }

  /** Return the picture that reaches farthest, with its map: it goes on beyond its edges. Null where none of them is seen. */
  #widest(/** @type {number[]} */ map) {
    const own = this.edge && { image: this.edge.image, map: compose(this.edge.map, map) };
    if (own && surrounds(own, this.canvas)) return null;
    const older = this.older
      .filter(({ foreign }) => !foreign)
      .map(({ image, map: its }) => ({ image, map: compose(its, map) }));
    const known = (this.plain && own ? [own] : [...(own ? [own] : []), ...older]).filter((each) =>
      near(each.map),
    );
    const [widest = null] = known.sort((one, other) => reach(other) - reach(one));
    return widest && { ...widest, plain: this.plain };
  }

  /** Return how many octaves lie between the view and the picture that is nearest to it; Infinity: there is none.
   * @param {number[]} map as of `draw` */
  away(map) {
    const maps = this.older
      .filter(({ foreign }) => !foreign)
      .map(({ map: its }) => compose(its, map));
    if (this.picture?.empty === false) maps.push(map);
    return Math.min(...maps.map((each) => Math.abs(Math.log2(scaleOf(each)))));
  }

  /** Give the graphics card's memory back: a browser keeps few contexts of WebGL, and takes the oldest one away for another. */
  end() {
    this.renderer.end();
  }

  #dropEdge() {
    if (this.edge) this.renderer.free(this.edge.image);
    this.edge = null;
  }

  /** Return the canvas as it is now: RGB, rows from the top. @param {number[]} map @returns {Uint8Array|Uint8ClampedArray} */
  read(map) {
    this.draw(map, 1);
    return this.renderer.read();
  }

  /** Return a canvas of what is seen. @param {number[]} map as of `draw` @param {number} width */
  still(map, width) {
    const { width: across, height: down } = this.canvas,
      height = Math.max(1, Math.round((width * down) / across));
    const [made, context] = newCanvas(width, height);
    this.draw(map, 1); // a browser keeps the pixels of WebGL until its next frame only
    context.imageSmoothingQuality = "high";
    context.drawImage(this.canvas, 0, 0, width, height);
    return made;
  }

  #under(
    /** @type {Older} */ { image, map: its, stale, foreign },
    /** @type {number[]} */ map,
    /** @type {number} */ coarse,
  ) {
    const total = compose(its, map),
      grain = Math.max(1, (image.step ?? 1) * scaleOf(total));
    return { image, map: total, grain, above: !stale && !foreign && grain < coarse };
  }

  /** Keep what has arrived of the newest picture as an image. */
  #bake() {
    const { picture, renderer } = this;
    if (!picture || picture.empty || renderer.lost) return;
    const images = renderer.bake(picture, { exact: !this.hideExact, phase: this.phase });
    for (const image of images)
      this.older.push({ image, map: IDENTITY, stale: false, foreign: false });
    let bytes = 0;
    const kept = [...this.older]
      .reverse()
      .filter(({ image }, k) => k < MOST_IMAGES && (bytes += image.bytes) < MOST_BYTES);
    this.#drop((each) => !kept.includes(each));
  }

  #drop(/** @type {(image: Older) => boolean} */ unwanted) {
    this.older = this.older.filter((each) => {
      if (!unwanted(each)) return true;
      this.renderer.free(each.image);
      return false;
    });
  }

  #restore() {
    /** @type {import("./renderer.js").Renderer} */ (this.renderer).begin();
    this.older = [];
    this.edge = null;
    this.picture?.restore();
    this.changed();
  }
}

/** Call `changed` with a canvas's size in device pixels, now and whenever it changes.
 * @param {HTMLCanvasElement} canvas @param {(size: number[]) => void} changed @returns {ResizeObserver} */
export function watchSize(canvas, changed) {
  const exact = "devicePixelContentBoxSize" in ResizeObserverEntry.prototype;
  const watch = new ResizeObserver(([entry]) => {
    const sides = (/** @type {ResizeObserverSize} */ box) => [box.inlineSize, box.blockSize];
    const near = sides(entry.contentBoxSize[0]).map((side) => side * devicePixelRatio);
    const found = exact ? sides(entry.devicePixelContentBoxSize[0]) : near;
    // A device scale that is only emulated is missing from the exact box.
    const sure = found.map((side, k) => (Math.abs(side - near[k]) <= 1 ? side : near[k]));
    changed(sure.map((side) => Math.max(1, Math.min(LIMIT, Math.round(side)))));
  });
  watch.observe(canvas, { box: exact ? "device-pixel-content-box" : "content-box" });
  return watch;
}

/** Return coarse pixels as those of a whole picture: the shader enlarges values, not pixels.
 * @param {import("./decode.js").Pixels} message @param {number[]} size */
function enlarged(message, size) {
  const [width, height] = size,
    { w, h, step } = message,
    data = pixelsOf(canvasOf(message), size, w * step, h * step);
  return { ...message, x: 0, y: 0, w: width, h: height, step: 1, data };
}

/** Tell whether a picture covers a canvas. */
function surrounds(
  /** @type {{image: Image|Picture, map: number[]}} */ { image, map },
  /** @type {HTMLCanvasElement} */ canvas,
) {
  const [w, h] = image.size,
    { width, height } = canvas;
  const back = inverse(map),
    corners = [
      [0, 0],
      [width, 0],
      [0, height],
      [width, height],
    ].map((corner) => apply(back, corner));
  return corners.every(([x, y]) => x >= 0 && y >= 0 && x <= w && y <= h);
}

const reach = (/** @type {Mapped} */ { image, map }) => image.size[0] * scaleOf(map);

/** Return 16 bits of sRGB of 16 bits of linear light. */
function encoded(/** @type {number} */ value) {
  const light = value / 65535;
  return Math.round(
    65535 * (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055),
  );
}

function near(/** @type {number[]} */ map) {
  const scale = scaleOf(map);
  return scale >= 1 / FARTHEST && scale <= FARTHEST;
}
