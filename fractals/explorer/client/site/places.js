/** Where frames lie, exactly: what `fractals.explorer.frames` does on a server. */
import { SAID } from "../credits.js";
import {
  HALF,
  ONE,
  ZERO,
  add,
  decimal,
  decimalPlaces,
  decimals,
  direction,
  div,
  less,
  log2,
  mul,
  neg,
  ofDouble,
  power,
  ratio,
  same,
  significant,
  sub,
  toDouble,
} from "./exact.js";
import { told } from "./said.js";

/** @typedef {import("./exact.js").Ratio} Ratio */

const STEPS = 64, // of an octave
  SIXTEENTHS = 16, // of a pixel
  MOST_OCTAVES = 40, // between frames whose map is sent
  SPARE = 2, // digits of a center beyond those that tell samples apart
  FRAME_DIGITS = 25,
  WIDEST = 5; // decimal exponent of a width

/** Return (a, b, c, d) that takes offsets in the picture to the plane. @param {Scenes.View} view @returns {Ratio[]} */
export function matrix(view) {
  let [a, b, c, d] = [ONE, ZERO, ZERO, ONE];
  if ((view.stretch ?? 1) !== 1) {
    const [cos, sin] = direction(view.stretch_angle ?? 0).map(ofDouble),
      across = ofDouble(view.stretch ?? 1),
      along = div(ONE, across);
    const [cc, ss, cs] = [mul(cos, cos), mul(sin, sin), mul(cos, sin)];
    a = add(mul(along, cc), mul(across, ss));
    d = add(mul(along, ss), mul(across, cc));
    b = c = mul(sub(along, across), cs);
  }
  if (view.mirror) [c, d] = [neg(c), neg(d)];
  if (view.rotation) {
    const [cos, sin] = direction(view.rotation).map(ofDouble);
    [a, b, c, d] = [
      sub(mul(cos, a), mul(sin, c)),
      sub(mul(cos, b), mul(sin, d)),
      add(mul(sin, a), mul(cos, c)),
      add(mul(sin, b), mul(cos, d)),
    ];
  }
  return [a, b, c, d];
}

/** The place of a frame: what was opened, and the sums of all moves since. */
export class Place {
  scale = 0;
  turn = 0;

  /** @param {SiteScene} origin the whole table of a scene @param {number[]} size pixels
   * @param {{center: string[], width: string}} home of the formula */
  constructor(origin, size, home) {
    this.origin = origin;
    this.size = size;
    this.home = home;
    /** @type {Ratio[]} */
    this.center = (origin.view.center ?? home.center).map(decimal);
    if (origin.view.frame) {
      // it decides the width, by the shape of the picture
      const [least, height] = origin.view.frame.map(decimal),
        wide = mul(height, ratio(size[0], size[1]));
      const width = significant(less(least, wide) ? wide : least, FRAME_DIGITS, -7);
      this.origin = { ...origin, view: { ...origin.view, width } };
    }
  }

  /** Return a copy with other values. @param {Partial<Pick<Place, "origin"|"size"|"scale"|"turn">>} keys @returns {Place} */
  with(keys) {
    return Object.assign(Object.create(Place.prototype), this, keys);
  }

  get widthText() {
    const { width, zoom } = this.origin.view;
    if (!this.scale && width) return String(width);
    const whole = width ? decimal(width) : div(decimal(this.home.width), decimal(zoom ?? "1"));
    if (!this.scale) return significant(whole);
    const octaves = Math.floor(this.scale / STEPS),
      rest = this.scale - octaves * STEPS;
    return significant(div(div(whole, ofDouble(2 ** (rest / STEPS))), power(octaves)));
  }
  get width() {
    return decimal(this.widthText);
  }
  get pixel() {
    return div(this.width, ratio(this.size[0]));
  }
  get rotation() {
    const own = this.origin.view.rotation ?? 0;
    if (!this.turn) return own;
    const six = (/** @type {number} */ value) => Number(value.toFixed(6));
    const turned = six(own + this.turn / 100) + 180;
    return six((((turned % 360) + 360) % 360) - 180);
  }
  get octaves() {
    return log2(div(decimal(this.home.width), this.width));
  }
  get matrix() {
    return matrix({ ...this.origin.view, rotation: this.rotation });
  }

  /** Return an offset in the plane of one in pixels, to the right and up. @param {Ratio[]} offset */
  inPlane([right, up]) {
    const [a, b, c, d] = this.matrix,
      { pixel } = this;
    return [mul(add(mul(a, right), mul(b, up)), pixel), mul(add(mul(c, right), mul(d, up)), pixel)];
  }

  /** Return the offset in the plane from the middle to a pixel, in sixteenths. @param {number[]} at */
  offset(at) {
    return this.inPlane([
      sub(ratio(at[0], SIXTEENTHS), ratio(this.size[0], 2)),
      sub(ratio(this.size[1], 2), ratio(at[1], SIXTEENTHS)),
    ]);
  }

  /** Return the point of the plane at a pixel, in sixteenths. @param {number[]} at */
  point(at) {
    return this.offset(at).map((part, k) => add(this.center[k], part));
  }

  /** Return a point's distance from the middle in pixels, to the right and up. @param {Ratio[]} point */
  inPicture(point) {
    const [a, b, c, d] = this.matrix,
      [x, y] = point.map((part, k) => div(sub(part, this.center[k]), this.pixel)),
      area = sub(mul(a, d), mul(b, c));
    return [div(sub(mul(d, x), mul(b, y)), area), div(sub(mul(a, y), mul(c, x)), area)];
  }

  /** Return the place after a move of the protocol. @param {Pick<Sent.ViewMessage, "at"|"by"|"scale"|"turn"|"size">} move */
  moved({ at, by = [0, 0], scale = 0, turn = 0, size }) {
    if (size && (size[0] !== this.size[0] || size[1] !== this.size[1])) return this.with({ size });
    if (!(by[0] || by[1] || scale || turn)) return this;
    const turned = this.turn + (this.origin.view.mirror ? turn : -turn);
    const after = this.with({
      origin: { ...this.origin, ...Object.fromEntries(SAID.map((key) => [key, ""])) },
      scale: this.scale + scale,
      turn: ((turned % 36_000) + 36_000) % 36_000,
    });
    const exponent = log2(after.width) * Math.log10(2);
    if (exponent >= WIDEST) throw new Error(told("too_wide", { exponent: exponent.toFixed(0) }));
    const from = at ?? this.size.map((side) => (SIXTEENTHS * side) / 2),
      fixed = this.point(from),
      offset = after.offset([from[0] + by[0], from[1] + by[1]]);
    after.center = fixed.map((part, k) => sub(part, offset[k]));
    return after;
  }

  /** Return the table of the scene that is drawn: its text is the view that the user sees. @returns {SiteScene} */
  scene() {
    const { view } = this.origin,
      image = { ...this.origin.image, size: this.size };
    const first = (view.center ?? this.home.center).map(decimal),
      fresh = !this.scale && !this.turn && this.center.every((part, k) => same(part, first[k]));
    if (fresh && view.width && view.center) return { ...this.origin, image };
    const stretch = view.stretch ?? 1,
      finest = div(this.width, ofDouble(Math.max(stretch, 1 / stretch)));
    const places = decimals(div(finest, ratio(this.size[0] * image.supersampling))) + SPARE;
    const center =
      fresh && view.center ? view.center : this.center.map((part) => decimalPlaces(part, places));
    const { zoom: _zoom, frame: _frame, ...rest } = view;
    return {
      ...this.origin,
      image,
      view: { ...rest, center, width: this.widthText, rotation: this.rotation },
    };
  }

  /** Return the coordinates of a pixel as text. @param {number[]} at in sixteenths */
  text(at) {
    const places = decimals(this.pixel) + 3;
    return this.point(at).map((part) => decimalPlaces(part, places));
  }
}

/** Return 2**octaves as decimal text with three digits. @param {number} octaves */
export function zoomText(octaves) {
  const exponent = octaves * 0.3010299956639812,
    whole = Math.floor(exponent);
  if (exponent > -4 && exponent < 5) return String(Number((2 ** octaves).toPrecision(4)));
  return `${(10 ** (exponent - whole)).toFixed(2)}e${whole}`;
}

/** Return the map from pixels of one frame to those of another, as of PROTOCOL.md; null where there is none.
 * @param {Place} base @param {Place} after */
export function mapBetween(base, after) {
  if (
    JSON.stringify([base.origin.formula, base.origin.julia]) !==
    JSON.stringify([after.origin.formula, after.origin.julia])
  )
    return null;
  if (Math.abs(base.octaves - after.octaves) > MOST_OCTAVES) return null;
  const [a, b, c, d] = after.matrix,
    [p, q, r, s] = base.matrix,
    area = sub(mul(a, d), mul(b, c)),
    share = div(div(base.pixel, after.pixel), area);
  const linear = [
    sub(mul(d, p), mul(b, r)),
    sub(mul(d, q), mul(b, s)),
    sub(mul(a, r), mul(c, p)),
    sub(mul(a, s), mul(c, q)),
  ].map((part) => toDouble(mul(part, share)));
  const [right, up] = after.inPicture(base.center).map(toDouble),
    [u, v, w, z] = [linear[0], -linear[1], -linear[2], linear[3]];
  const [x, y] = base.size.map((side) => side / 2),
    e = after.size[0] / 2 + right,
    f = after.size[1] / 2 - up;
  if (Math.max(Math.abs(e), Math.abs(f)) > 1e12) return null;
  return [u, v, w, z, e - u * x - v * y, f - w * x - z * y];
}

/** Return the positions of a grid's samples: real and imaginary parts of columns, and of rows, each rounded once from
 * its exact value (`fractals.rendering.sampling.coordinates`).
 * @param {Ratio[]} center @param {Ratio} width @param {Ratio[]} axes of `matrix` @param {number[]} size pixels
 * @param {number} n samples a pixel, a side @returns {{columns: Float64Array[], rows: Float64Array[]}} */
export function coordinates(center, width, axes, size, n) {
  const [across, down] = size.map((side) => side * n),
    half = mul(div(width, ratio(across)), HALF),
    [a, b, c, d] = axes,
    [x, y] = center;
  const line = (
    /** @type {Ratio} */ middle,
    /** @type {Ratio} */ step,
    /** @type {number} */ count,
  ) => {
    const found = new Float64Array(count),
      top = middle.n * step.d,
      each = step.n * middle.d,
      below = middle.d * step.d;
    if (!each && !top) return found;
    for (let k = 0; k < count; k++)
      found[k] = toDouble({ n: top + each * BigInt(2 * k + 1 - count), d: below });
    return found;
  };
  const plain = !b.n && !c.n;
  return plain
    ? {
        columns: [line(x, mul(a, half), across), new Float64Array(across)],
        rows: [new Float64Array(down), line(y, neg(mul(d, half)), down)],
      }
    : {
        columns: [line(x, mul(a, half), across), line(y, mul(c, half), across)],
        rows: [line(ZERO, neg(mul(b, half)), down), line(ZERO, neg(mul(d, half)), down)],
      };
}
