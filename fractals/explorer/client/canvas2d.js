/** Draws pictures without WebGL2: sRGB pixels of the server, onto a 2D canvas. */
import { canvasOfPixels, newCanvas } from "./picture.js";

const GROUND = "#09090b";
const SMALL = 24; // pixels of the width of a blurred picture
const FADES = 1.2; // sides of a picture, beyond which nothing of it is seen

/** Return a picture, as small as blurred, with its mirror images around it or the colors of its edges (`plain`), the darker the farther away.
 * @param {CanvasImageSource} from @param {number} width @param {number} height @param {boolean} plain */
function surrounded(from, width, height, plain) {
  const w = SMALL,
    h = Math.max(1, Math.round((SMALL * height) / width)),
    short = Math.min(w, h);
  const [made, context] = newCanvas(3 * w, 3 * h, { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(from, w, h, w, h);
  for (const [x, y] of [
    [0, 1],
    [2, 1],
    [0, 0],
    [1, 0],
    [2, 0],
    [0, 2],
    [1, 2],
    [2, 2],
  ]) {
    context.setTransform(
      x === 1 ? 1 : -1,
      0,
      0,
      y === 1 ? 1 : -1,
      x === 1 ? 0 : (2 * x + 1) * w,
      y === 1 ? 0 : (2 * y + 1) * h,
    );
    const [left, across, top, down] = plain
      ? [x > 1 ? 2 * w - 1 : w, x === 1 ? w : 1, y > 1 ? 2 * h - 1 : h, y === 1 ? h : 1]
      : [w, w, h, h];
    context.drawImage(made, left, top, across, down, x * w, y * h, w, h);
  }
  const pixels = context.getImageData(0, 0, 3 * w, 3 * h),
    { data } = pixels;
  for (let k = 0; k < data.length; k += 4) {
    const x = ((k / 4) % (3 * w)) + 0.5,
      y = Math.floor(k / 4 / (3 * w)) + 0.5;
    const far =
      Math.hypot(Math.max(0, w - x, x - 2 * w), Math.max(0, h - y, y - 2 * h)) / short / FADES;
    data[k + 3] = 255 * Math.max(0, 1 - Math.min(1, far)) ** 1.5;
  }
  context.putImageData(pixels, 0, 0);
  return made;
}

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./picture.js").Image} Image */

export class PlainRenderer {
  values = false;
  lost = false;

  constructor(/** @type {HTMLCanvasElement} */ canvas) {
    this.canvas = canvas;
    // WebKit loses a canvas of one memory that is drawn on one of another memory (1 of 10 pictures was black).
    this.context = /** @type {CanvasRenderingContext2D} */ (
      canvas.getContext("2d", { alpha: false, willReadFrequently: true })
    );
    this.picture = /** @type {Picture|null} */ (null);
    this.planes = /** @type {{coarse?: Image, exact?: Image}} */ ({});
    this.onto = { context: this.context, share: 1 }; // what is drawn on
    this.light = /** @type {HTMLCanvasElement|null} */ (null); // of fewer pixels, over the canvas while they are drawn
    this.lies = ""; // how it lies there
  }

  end() {}

  /** Draw on the canvas, or on one of fewer pixels that lies over it: of the browser's work that with pixels is the most.
   * @param {number} share of the pixels of each axis */
  #choose(share) {
    const { canvas } = this;
    if (share === 1) {
      this.light?.remove();
      this.onto = { context: this.context, share };
      return;
    }
    this.light ??= Object.assign(document.createElement("canvas"), { className: "light" });
    const size = [canvas.width, canvas.height].map((side) => Math.max(1, Math.round(share * side))),
      { light } = this;
    if (light.width !== size[0] || light.height !== size[1]) [light.width, light.height] = size;
    const style = {
      left: `${canvas.offsetLeft}px`,
      top: `${canvas.offsetTop}px`,
      width: `${canvas.clientWidth}px`,
      height: `${canvas.clientHeight}px`,
      translate: canvas.style.translate,
    };
    const lies = Object.values(style).join();
    if (lies !== this.lies) Object.assign(light.style, style); // the page would be laid out anew in each frame
    this.lies = lies;
    const context = light.getContext("2d", { alpha: false });
    this.onto = context ? { context, share } : { context: this.context, share: 1 };
    if (!light.isConnected) canvas.after(light);
  }

  /** Draw as `Renderer.draw` does.
   * @type {import("./renderer.js").Renderer["draw"]} */
  draw(under, picture, { map, coarse, exact, beyond, share }) {
    this.#choose(share);
    const { canvas } = this,
      { context } = this.onto;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = GROUND;
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (beyond) this.#beyond(beyond);
    let below = coarse;
    for (const { image, map: its, above } of under) {
      if (above && below) {
        this.#show(this.#plane(picture, "coarse"), map);
        below = false;
      }
      this.#show(image, its);
    }
    if (!picture) return;
    if (below) this.#show(this.#plane(picture, "coarse"), map);
    if (exact) this.#show(this.#plane(picture, "exact"), map);
  }

  /** @param {Picture} picture @param {{exact: boolean, phase: number}} [_how] @returns {Image[]} */
  bake(picture, _how) {
    const images = [this.#plane(picture, "coarse"), this.#plane(picture, "exact")].filter(
      (image) => image !== null,
    );
    this.planes = {};
    if (!picture.complete && !picture.whole) return images;
    const newest = images.slice(-1);
    for (const image of newest) image.whole = true;
    return newest;
  }

  free(/** @type {Image} */ { canvas }) {
    /** @type {ImageBitmap|null|undefined} */ (canvas)?.close?.(); // its memory, before garbage is collected
  }

  /** Return a small image of the canvas as it was just drawn. @returns {Image} */
  keep(plain = false) {
    const { width, height } = this.canvas;
    return {
      canvas: null,
      around: surrounded(this.canvas, width, height, plain),
      step: 1,
      size: [width, height],
      extent: [width, height],
      bytes: 0,
    };
  }

  /** Fill the canvas with a picture that goes on, mirrored, blurred and ever darker.
   * @param {{image: Image, map: number[], plain: boolean}} what */
  #beyond({ image, plain, map: [a, b, c, d, e, f] }) {
    const { context, share } = this.onto,
      [w, h] = image.size;
    image.around ??= surrounded(/** @type {CanvasImageSource} */ (image.canvas), w, h, plain);
    context.setTransform(share * a, share * c, share * b, share * d, share * e, share * f);
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = "high";
    context.drawImage(image.around, -w, -h, 3 * w, 3 * h);
    context.imageSmoothingQuality = "low"; // of all else, which is drawn in each frame
  }

  read() {
    const { width, height } = this.canvas,
      { data } = this.context.getImageData(0, 0, width, height);
    return data.filter((_, k) => k % 4 !== 3);
  }

  #show(/** @type {Image|null} */ image, /** @type {number[]} */ [a, b, c, d, e, f]) {
    if (!image?.canvas) return;
    const { context, share } = this.onto;
    context.setTransform(share * a, share * c, share * b, share * d, share * e, share * f);
    context.imageSmoothingEnabled = Math.abs(share * a - 1) > 1e-6 || Math.abs(b) > 1e-6;
    context.drawImage(image.canvas, 0, 0, image.extent[0], image.extent[1]);
  }

  /** Bring what is new into a canvas of the newest picture, and return its image.
   * @param {Picture|null} picture @param {"coarse"|"exact"} name @returns {Image|null} */
  #plane(picture, name) {
    if (!picture) return null;
    if (this.picture !== picture) {
      this.picture = picture;
      this.planes = {};
      picture.restore();
    }
    const { size, changes } = picture,
      coarse = name === "coarse" ? picture.coarse : null;
    const data = name === "coarse" ? coarse?.pixels : picture.exact;
    if (!data) return null;
    const step = coarse?.step ?? 1,
      [w, h] = coarse ? [coarse.w, coarse.h] : size;
    const known = this.planes[name];
    if (changes[name] || !known) {
      const canvas = data instanceof Uint8Array ? canvasOfPixels(data, w, h) : data;
      this.planes[name] = {
        canvas,
        step,
        size,
        extent: [w * step, h * step],
        bytes: 4 * w * h,
        whole: name === "coarse",
      };
      changes[name] = false;
    } else if (name === "exact") {
      const context = /** @type {HTMLCanvasElement} */ (known.canvas).getContext?.("2d"); // tiles make a canvas of an image
      for (const tile of changes.tiles) {
        context?.putImageData(
          new ImageData(new Uint8ClampedArray(tile.data), tile.w, tile.h),
          tile.x,
          tile.y,
        );
      }
    }
    if (name === "exact") changes.tiles = [];
    return this.planes[name] ?? null;
  }
}
