/** The picture of a page: it is moved and zoomed, and drawn anew by workers where the page has programs. */
import { opened, valuesOf } from "./tiles.js";

/** A point of the screen, or of the plane. @typedef {[number, number]} Point */
/** Pictures that lie in the plane: `center` is a point of it, `pixel` the length of a device pixel there.
 * @typedef {{ center: Point, pixel: number }} Place */
/** A rectangle of a layer, in its pixels from its center. @typedef {{ bitmap: CanvasImageSource, left: number,
 * top: number, width: number, height: number, step: number, n: number }} Part */
/** @typedef {Place & { parts: Map<string, Part>, colors: number[] }} Layer */
/** @typedef {{ layer: Layer, i: number, j: number, step: number, n: number }} Wanted */

const STEPS = [16, 4, 1]; // pixels between samples, one pass after the other
const MAX_WORKERS = 8,
  MAX_LAYERS = 6,
  MAX_PARTS = 6000;
const PAUSE = 60; // ms between two layers, while a zoom goes on
const EASE = 70; // ms in which a zoom has gone 63 % of its way
const MAGNIFIED = 2; // times that a still picture is magnified at most, beyond its own pixels and the window
const BITS = 50; // of the 53 of a number: pixels that are closer are not told apart
const WIDEST = 8; // widths of the home view that are shown at most
const GROUND = "#0b0a0a";

/** Return the bytes of a base64 text, decompressed. @param {string} text */
export async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Workers, each with one tile at a time. */
class Pool {
  /** @param {Uint8Array<ArrayBuffer>} content @param {Viewer} viewer */
  constructor(content, viewer) {
    this.viewer = viewer;
    this.idle = /** @type {Worker[]} */ ([]);
    this.under = /** @type {Map<Worker, Wanted>} */ (new Map());
    const code = /** @type {HTMLElement} */ (document.getElementById("tiles")).textContent;
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    const count = Math.max(2, Math.min(MAX_WORKERS, navigator.hardwareConcurrency - 1 || 2));
    for (let k = 0; k < count; k++) {
      const worker = new Worker(url);
      worker.onerror = (event) => viewer.fail(event.message || "its workers can't be started");
      worker.onmessage = ({ data: { bitmap, error } }) => {
        const wanted = this.under.get(worker);
        this.under.delete(worker);
        if (error) return viewer.fail(error);
        this.idle.push(worker);
        if (wanted && bitmap) viewer.take(wanted, bitmap);
        else if (wanted) viewer.again(wanted);
        this.go();
      };
      worker.postMessage({ content });
    }
  }

  /** Have workers stop to make tiles smoother, because tiles are missing. */
  hurry() {
    for (const [worker, { n }] of this.under) if (n > 1) worker.postMessage({});
  }

  /** Give work to workers that have none. */
  go() {
    while (this.idle.length) {
      const wanted = this.viewer.next([...this.under.values()]);
      if (!wanted) return;
      const worker = /** @type {Worker} */ (this.idle.pop());
      this.under.set(worker, wanted);
      worker.postMessage({ job: this.viewer.job(wanted) });
    }
  }
}

/** What a page shows. */
export class Viewer {
  /** @param {HTMLCanvasElement} canvas @param {HTMLImageElement} still @param {Uint8Array<ArrayBuffer> | null} content
   * what workers draw with; null: the still picture is magnified @param {(text: string) => void} say */
  constructor(canvas, still, content, say) {
    ((this.canvas = canvas), (this.say = say));
    this.context = /** @type {CanvasRenderingContext2D} */ (
      canvas.getContext("2d", { alpha: false })
    );
    this.size = /** @type {Point} */ (
      ["width", "height"].map((side) => Number(still.getAttribute(side)))
    ); // not as it is laid out
    this.facts = content && opened(content).facts;
    this.axes = this.facts?.axes ?? [1, 0, 0, 1];
    const [w, h] = this.size,
      { center, width } = this.facts ?? { center: /** @type {Point} */ ([0, 0]), width: 1 };
    const whole = { bitmap: still, left: -w / 2, top: -h / 2, width: w, height: h, step: 1, n: 1 };
    this.colors = /** @type {number[]} */ (this.facts?.colors ?? []); // density and offset of the palette
    /** @type {Layer} */
    this.still = { colors: this.colors, center, pixel: width / w, parts: new Map([["", whole]]) };
    /** @type {Layer[]} the last one is drawn, the others are shown until it covers them */
    this.layers = [];
    /** @type {Wanted[]} the next one last */
    this.queue = [];
    /** @type {Place} */
    this.shown = { center, pixel: this.still.pixel };
    this.pixel = this.still.pixel; // that a zoom goes to
    /** @type {{ at: Point, point: Point } | null} points of the canvas and of the plane, which meet while a zoom goes on */
    this.anchor = null;
    this.frame = this.drawn = this.begun = 0;
    this.stale = true; // whether tiles may be missing
    /** @type {(() => void) | null} */
    this.onmove = null;
    this.resize();
    this.home();
    new ResizeObserver(() => this.resize()).observe(canvas);
    try {
      if (content) this.pool = new Pool(content, this);
    } catch (error) {
      this.fail(String(error));
    }
  }

  /** @param {string} error */
  fail(error) {
    this.say(`This browser can't draw here, so the picture is only magnified: ${error}`);
    this.queue = [];
    this.pool = undefined;
    document.getElementById("colors")?.remove();
  }

  // Places

  /** Return a point of the plane, moved by pixels of the screen, right and down, times `by`. @param {Point} from
   * @param {Point} step @returns {Point} */
  moved(from, [x, y]) {
    const [a, b, c, d] = this.axes;
    return [from[0] + a * x - b * y, from[1] + c * x - d * y];
  }

  /** Return by how much to the right and down a point lies from another, in the plane's lengths. @param {Point} from
   * @param {Point} to @returns {Point} */
  offset(from, to) {
    const [a, b, c, d] = this.axes,
      x = to[0] - from[0],
      y = to[1] - from[1],
      area = a * d - b * c;
    return [(d * x - b * y) / area, (c * x - a * y) / area];
  }

  /** Return how many device pixels of the canvas a pixel of a picture of the scene's size has. */
  get fit() {
    return Math.min(this.canvas.width / this.size[0], this.canvas.height / this.size[1]);
  }

  /** Return the place that is shown, as a scene has it. */
  get place() {
    return { center: this.shown.center, width: this.pixel * this.size[0] * this.fit };
  }

  /** Return the bounds of the length of a pixel. @returns {Point} */
  get bounds() {
    const { facts } = this;
    if (!facts)
      return [this.still.pixel / MAGNIFIED / Math.max(1, this.fit), this.still.pixel / this.fit];
    const own = this.still.pixel / this.fit;
    if (facts.deep) return [own / facts.nearer, (own * facts.around) / 4];
    const far = Math.max(...this.shown.center.map(Math.abs), 0.1);
    return [
      far * 2 ** -BITS,
      (WIDEST * Math.max(facts.home, facts.width)) / this.size[0] / this.fit,
    ];
  }

  /** Show a place at once. @param {Point} center @param {number} width */
  go(center, width) {
    const [least, most] = this.bounds;
    this.shown = {
      center,
      pixel: Math.max(least, Math.min(most, width / this.size[0] / this.fit)),
    };
    this.pixel = this.shown.pixel;
    this.anchor = null;
    this.changed();
  }

  /** Show the scene's own view. */
  home() {
    this.go(this.still.center, this.still.pixel * this.size[0]);
  }

  resize() {
    const { canvas } = this,
      sharp = Math.min(2, devicePixelRatio);
    const width = Math.max(1, Math.round(canvas.clientWidth * sharp)),
      height = Math.max(1, Math.round(canvas.clientHeight * sharp));
    if (canvas.width === width && canvas.height === height) return;
    const { center, width: own } = this.place;
    ((canvas.width = width), (canvas.height = height));
    this.go(center, own);
  }

  /** Move the picture by device pixels. @param {number} x @param {number} y */
  pan(x, y) {
    const { shown } = this;
    this.finish();
    shown.center = this.moved(shown.center, [-x * shown.pixel, -y * shown.pixel]);
    this.changed();
  }

  /** Return the point of the plane at a point of the canvas. @param {Point} at @returns {Point} */
  under([x, y]) {
    const { canvas, shown } = this;
    return this.moved(shown.center, [
      (x - canvas.width / 2) * shown.pixel,
      (y - canvas.height / 2) * shown.pixel,
    ]);
  }

  /** Zoom about a point of the canvas. @param {number} times @param {Point} at @param {boolean} [smooth] */
  zoom(times, at, smooth = true) {
    const [least, most] = this.bounds,
      wanted = this.pixel / times;
    this.pixel = Math.max(least, Math.min(most, wanted));
    this.anchor = { at, point: this.under(at) };
    const one = `This page holds one picture of ${this.size.join(" x ")} pixels.`;
    const on = "The command fractals explore goes on: save the scene, and open it there.";
    this.say(wanted >= least ? "" : this.facts ? `This page ends here. ${on}` : `${one} ${on}`);
    if (!smooth || matchMedia("(prefers-reduced-motion: reduce)").matches) this.finish();
    this.changed();
  }

  /** Show the place that a zoom goes to. @returns {Place} */
  get target() {
    const { anchor, canvas, pixel } = this;
    if (!anchor) return { center: this.shown.center, pixel };
    const [x, y] = anchor.at;
    return {
      center: this.moved(anchor.point, [
        (canvas.width / 2 - x) * pixel,
        (canvas.height / 2 - y) * pixel,
      ]),
      pixel,
    };
  }

  finish() {
    if (this.anchor) this.shown = this.target;
    this.anchor = null;
  }

  // Drawing

  changed() {
    this.stale = true;
    this.paint();
    this.onmove?.();
  }

  /** Keep a still picture on the screen, and a deep view where it can be drawn. */
  keepInside() {
    const { shown, still, canvas, facts } = this;
    if (facts) {
      const most = facts.deep ? (facts.around / 4) * facts.width : Infinity;
      shown.center = /** @type {Point} */ (
        shown.center.map((part) => Math.max(-most, Math.min(most, part)))
      );
      return;
    }
    if (this.anchor) return;
    shown.center = /** @type {Point} */ (
      shown.center.map((part, axis) => {
        const room = Math.max(
          0,
          (this.size[axis] * still.pixel - (axis ? canvas.height : canvas.width) * shown.pixel) / 2,
        );
        return Math.max(-room, Math.min(room, part));
      })
    );
  }

  /** Begin a layer of the place that a zoom goes to. */
  begin() {
    const { center, pixel } = this.target;
    this.layers = this.layers.filter((layer) => layer.parts.size);
    this.layers.push({ center, pixel, colors: this.colors, parts: new Map() });
    let parts = this.layers.reduce((sum, layer) => sum + layer.parts.size, 0);
    while (this.layers.length > 1 && (this.layers.length > MAX_LAYERS || parts > MAX_PARTS)) {
      const { parts: gone } = /** @type {Layer} */ (this.layers.shift());
      parts -= gone.size;
      this.forget(gone);
    }
  }

  /** Forget what is not seen of a layer, about a point of it. @param {Layer} layer @param {number} x @param {number} y */
  prune({ parts }, x, y) {
    const { width, height } = this.canvas;
    for (const [key, part] of parts) {
      const across = Math.abs(part.left + part.width / 2 - x) - part.width / 2,
        down = Math.abs(part.top + part.height / 2 - y) - part.height / 2;
      if (across < width / 2 && down < height / 2) continue;
      parts.delete(key);
      this.forget(new Map([[key, part]]));
    }
  }

  /** @param {Map<string, Part>} parts */
  forget(parts) {
    for (const { bitmap } of parts.values()) if (bitmap instanceof ImageBitmap) bitmap.close();
  }

  /** List the tiles that are missing, the coarse ones and those in the middle first. */
  plan() {
    const layer = this.layers.at(-1),
      { facts, canvas } = this;
    if (!layer || !facts) return;
    const { center, pixel } = this.target;
    const [x, y] = this.offset(layer.center, center).map((part) => Math.round(part / pixel));
    if (layer.parts.size > MAX_PARTS) this.prune(layer, x, y);
    /** @type {[number, Wanted][]} */
    const found = [];
    const most = Math.min(4, facts.supersampling);
    const passes = [
      ...STEPS.map((step) => [step, 1]),
      ...(most > 1 ? [[1, 2]] : []),
      ...(most > 2 ? [[1, most]] : []),
    ];
    passes.forEach(([step, n], pass) => {
      const side = facts.side * step;
      const first = [x - canvas.width / 2, y - canvas.height / 2].map((edge) =>
        Math.floor(edge / side),
      );
      const last = [x + canvas.width / 2, y + canvas.height / 2].map((edge) =>
        Math.ceil(edge / side),
      );
      for (let j = first[1]; j < last[1]; j++) {
        for (let i = first[0]; i < last[0]; i++) {
          if ((layer.parts.get(`${step},${i},${j}`)?.n ?? 0) >= n) continue;
          const away = Math.hypot((i + 0.5) * side - x, (j + 0.5) * side - y);
          found.push([1e6 * pass + away, { layer, i, j, step, n }]);
        }
      }
    });
    this.queue = found.sort((one, other) => other[0] - one[0]).map(([, wanted]) => wanted); // taken from the end
    if (this.queue.at(-1)?.n === 1) this.pool?.hurry();
    this.pool?.go();
  }

  /** Draw a tile later, which was stopped. @param {Wanted} wanted */
  again(wanted) {
    if (wanted.layer === this.layers.at(-1)) this.queue.unshift(wanted);
  }

  /** Return the next tile that is missing, unless it is `under` way. @param {Wanted[]} under */
  next(under) {
    const layer = /** @type {Layer} */ (this.layers.at(-1));
    for (let wanted = this.queue.pop(); wanted; wanted = this.queue.pop()) {
      const { i, j, step, n } = wanted;
      if (
        !under.some(
          (one) =>
            one.layer === layer && one.i === i && one.j === j && one.step === step && one.n === n,
        )
      )
        return wanted;
    }
    return undefined;
  }

  /** @param {Wanted} wanted */
  job({ layer: { center, pixel, colors }, i, j, step, n }) {
    const facts = /** @type {import("./tiles.js").Facts} */ (this.facts);
    const side = facts.side * step;
    return {
      colors,
      center,
      pixel,
      left: i * side,
      top: j * side,
      step,
      n,
      ...valuesOf(facts, pixel * this.size[0] * this.fit),
    };
  }

  /** @param {Wanted} wanted @param {ImageBitmap} bitmap */
  take({ i, j, step, n, layer }, bitmap) {
    if (!this.layers.includes(layer)) return bitmap.close();
    const side = /** @type {import("./tiles.js").Facts} */ (this.facts).side * step,
      key = `${step},${i},${j}`;
    const before = layer.parts.get(key);
    if (before && before.n > n) return bitmap.close();
    if (before?.bitmap instanceof ImageBitmap) before.bitmap.close();
    layer.parts.set(key, {
      bitmap,
      left: i * side,
      top: j * side,
      width: side,
      height: side,
      step,
      n,
    });
    const left = [...this.queue, ...(this.pool?.under.values() ?? [])];
    if (layer === this.layers.at(-1) && !this.stale && left.every((other) => other.n > 1)) {
      // it covers the others
      this.layers.splice(0, this.layers.length - 1).forEach((old) => this.forget(old.parts));
    }
    this.paint();
  }

  /** Tell whether all is drawn, and seen. */
  get settled() {
    return (
      !!this.pool &&
      !this.stale &&
      !this.queue.length &&
      !this.pool.under.size &&
      !this.anchor &&
      !this.frame
    );
  }

  paint() {
    this.frame ||= requestAnimationFrame((now) => {
      this.frame = 0;
      this.ease(now);
      this.keepInside();
      if (this.facts && this.stale) this.refresh(now);
      this.show();
    });
  }

  /** Have what is missing drawn: in a new layer, at most every PAUSE, where a zoom goes to another width, or colors change. @param {number} now */
  refresh(now) {
    const last = this.layers.at(-1),
      same = last?.pixel === this.pixel && last.colors === this.colors;
    if (!same && now - this.begun < PAUSE) return this.paint();
    if (!same) {
      this.begun = now;
      this.begin();
    }
    this.stale = false;
    this.plan();
  }

  /** Go on with a zoom. @param {number} now */
  ease(now) {
    const { shown } = this,
      since = Math.min(50, now - this.drawn);
    this.drawn = now;
    if (!this.anchor) return;
    const left = Math.log(shown.pixel / this.pixel) * Math.exp(-since / EASE);
    if (Math.abs(left) < 0.004) this.finish();
    else {
      const {
          at: [x, y],
          point,
        } = this.anchor,
        pixel = this.pixel * Math.exp(left);
      this.shown = {
        center: this.moved(point, [
          (this.canvas.width / 2 - x) * pixel,
          (this.canvas.height / 2 - y) * pixel,
        ]),
        pixel,
      };
      this.paint();
    }
  }

  /** Draw all parts, those of other colors and the coarse ones first. */
  show() {
    const { context, canvas, shown } = this;
    context.fillStyle = GROUND;
    context.fillRect(0, 0, canvas.width, canvas.height);
    /** @type {[number, Part, number, number, number][]} */
    const found = [];
    [this.still, ...this.layers].forEach((layer, age) => {
      const scale = layer.pixel / shown.pixel;
      const [x, y] = this.offset(shown.center, layer.center).map((part, axis) => {
        const at = part / shown.pixel + (axis ? canvas.height : canvas.width) / 2;
        return scale === 1 ? Math.round(at) : at;
      });
      for (const part of layer.parts.values()) {
        const left = x + part.left * scale,
          top = y + part.top * scale;
        if (
          left > canvas.width ||
          top > canvas.height ||
          left + part.width * scale < 0 ||
          top + part.height * scale < 0
        )
          continue;
        const newer = layer.colors === this.layers.at(-1)?.colors ? 1e6 : 0;
        found.push([newer - Math.max(1, part.step * scale) + 1e-6 * age, part, scale, left, top]);
      }
    });
    found.sort((one, other) => one[0] - other[0]);
    for (const [, part, scale, x, y] of found) {
      const left = Math.round(x),
        top = Math.round(y);
      context.imageSmoothingEnabled = part.step * scale !== 1;
      context.imageSmoothingQuality = scale < 0.7 ? "medium" : "low";
      context.drawImage(
        part.bitmap,
        left,
        top,
        Math.round(x + part.width * scale) - left,
        Math.round(y + part.height * scale) - top,
      );
    }
  }
}
