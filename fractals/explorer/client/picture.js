/**
 * What has arrived of one frame, in arrays: a lost WebGL context is filled again from them.
 *
 * @typedef {{layers: Received.ShownLayer[], groups: Received.ShownGroup[], planes: number, tables: Uint16Array[]}} Colors
 *   `planes`: of values and masks
 * @typedef {"coarse"|"fine"|"exact"} Plane
 * @typedef {{layer?: number, x: number, y: number, w: number, h: number, data: Float32Array|Uint8Array}} Tile
 * @typedef {{size: number[], extent: number[], bytes: number, step?: number, whole?: boolean, texture?: WebGLTexture|null,
 *   canvas?: HTMLCanvasElement|ImageBitmap|null, around?: HTMLCanvasElement}} Image of a picture, as a renderer keeps it: a texture, or a canvas
 */
import { HOLE } from "./decode.js";
import { say } from "./words.js";

const MOST_CHANGES = 64; // tiles that wait to be uploaded; beyond, a whole texture is

export class Picture {
  /** @param {number} frame @param {number[]} size device pixels */
  constructor(frame, size) {
    this.frame = frame;
    this.size = size;
    /** @type {Colors|null} */
    this.colors = null;
    /** @type {{step: number, w: number, h: number, layers?: Float32Array[], pixels?: Uint8Array}|null} */
    this.coarse = null;
    /** @type {Float32Array[]|null} a value a pixel, of each layer */
    this.fine = null;
    /** @type {Uint8Array|ImageBitmap|null} sRGB and 255; 0 in place of 255 where a pixel has not arrived */
    this.exact = null;
    /** Whether each pixel has a value, or its exact color. */
    this.complete = false;
    /** Whether no pixel of `exact` is missing: then nothing is seen of what lies beneath. */
    this.whole = false;
    this.#coming = null;
  }

  /** @type {{step: number, w: number, h: number, layers: Float32Array[]}|null} */ #coming; // a coarse pass of which a layer is missing

  static #all = () => ({
    coarse: true,
    fine: true,
    exact: true,
    tiles: /** @type {(Tile & {plane: Plane})[]} */ ([]),
  });
  changes = Picture.#all(); // what has to be uploaded

  get empty() {
    return !this.coarse && !this.fine && !this.exact;
  }

  /** Have everything uploaded again. */
  restore() {
    this.changes = Picture.#all();
  }

  /** Keep values. @param {import("./decode.js").Values} message */
  addValues({ layer, x, y, w, h, step, data }) {
    const count = this.colors?.planes ?? 1;
    if (step > 1) {
      let coming = this.#coming;
      if (!coming || coming.step !== step || coming.layers.length !== count)
        coming = this.#coming = { step, w, h, layers: new Array(count).fill(null) };
      coming.layers[layer] = data;
      if (coming.layers.some((each) => !each)) return;
      this.coarse = coming;
      this.#coming = null;
      this.changes.coarse = true;
      return;
    }
    const [width, height] = this.size;
    if (this.fine?.length !== count) {
      this.fine = Array.from({ length: count }, () => new Float32Array(width * height).fill(HOLE));
      this.changes.fine = true;
    }
    for (let row = 0; row < h; row++)
      this.fine[layer].set(data.subarray(row * w, row * w + w), (y + row) * width + x);
    this.#changed("fine", { layer, x, y, w, h, data });
  }

  /** Keep sRGB pixels. @param {import("./decode.js").Message & {data: any}} message `data`: bytes, or an image of a whole picture */
  addPixels({ x, y, w, h, step, data: pixels }) {
    if (step > 1) {
      this.coarse = { step, w, h, pixels };
      this.changes.coarse = true;
      return;
    }
    const [width, height] = this.size;
    if (w === width && h === height) {
      this.exact = pixels;
      this.whole = this.changes.exact = true;
      return;
    }
    if (!(this.exact instanceof Uint8Array)) {
      this.exact = this.exact
        ? pixelsOf(this.exact, this.size)
        : new Uint8Array(width * height * 4);
      this.changes.exact = true;
    }
    for (let row = 0; row < h; row++)
      this.exact.set(pixels.subarray(row * w * 4, (row + 1) * w * 4), ((y + row) * width + x) * 4);
    this.#changed("exact", { x, y, w, h, data: pixels });
  }

  #changed(/** @type {Plane} */ plane, /** @type {Tile} */ tile) {
    if (this.changes[plane]) return;
    this.changes.tiles.push({ plane, ...tile });
    if (this.changes.tiles.length > MOST_CHANGES) {
      this.changes.tiles = [];
      this.changes.fine = this.changes.exact = true;
    }
  }

  /** Forget exact pixels: their colors are old. */
  forgetExact() {
    this.exact = null;
    this.whole = false;
    this.complete &&= this.fine !== null;
    this.changes.tiles = this.changes.tiles.filter(({ plane }) => plane !== "exact");
  }
}

/** Return a new canvas, and what draws on it. @param {number} width @param {number} height @param {CanvasRenderingContext2DSettings} [how]
 * @returns {[HTMLCanvasElement, CanvasRenderingContext2D]} */
export function newCanvas(width, height, how = {}) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height }),
    context = canvas.getContext("2d", how);
  if (!context) throw new Error(say("the_browser_has_no_memory"));
  return [canvas, context];
}

/** Return the sRGB pixels of a canvas. @param {CanvasRenderingContext2D} context @param {number} width @param {number} height */
export function pixelsIn(context, width, height) {
  return new Uint8Array(context.getImageData(0, 0, width, height).data.buffer);
}

/** Return the sRGB pixels of an image, drawn so large on a canvas of a size. @param {CanvasImageSource} image @param {number[]} size
 * @param {number} w @param {number} h */
export function pixelsOf(image, [width, height], w = width, h = height) {
  const [, context] = newCanvas(width, height, { willReadFrequently: true });
  context.drawImage(image, 0, 0, w, h);
  return pixelsIn(context, width, height);
}

/** Return a canvas of pixels, in the memory that they are in. @param {Uint8Array} pixels sRGB and opacity @param {number} width @param {number} height */
export function canvasOfPixels(pixels, width, height) {
  const [canvas, context] = newCanvas(width, height, { willReadFrequently: true });
  context.putImageData(
    new ImageData(new Uint8ClampedArray(/** @type {ArrayBuffer} */ (pixels.buffer)), width, height),
    0,
    0,
  );
  return canvas;
}

/** Return a canvas of sRGB pixels. @param {{w: number, h: number, data: Uint8Array}} message of decode.js */
export const canvasOf = ({ w, h, data }) => canvasOfPixels(data, w, h);
