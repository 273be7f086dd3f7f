/**
 * Similarities between frames, in pixels, and moves as the protocol has them.
 *
 * A map [a, b, c, d, e, f] takes (x, y) to (a x + b y + e, c x + d y + f).
 * @typedef {number[]} Matrix
 * @typedef {{at: number[], by: number[], scale: number, turn: number, about?: number, fly?: number[]}} Move
 * `fly`: of a solid's camera, as of PROTOCOL.md; nothing else moves then
 */
const FAR = 2 ** 40; // a frame farther away than this is no longer related to the view
const MOST = 2 ** 20,
  MOST_SCALE = 4096,
  CIRCLE = 36_000,
  MOST_FLOWN = 36_000;

/** @type {Matrix} */
export const IDENTITY = [1, 0, 0, 1, 0, 0];

/** Return the map that is `first`, then `second`. @returns {Matrix} */
export function compose(/** @type {number[]} */ first, /** @type {number[]} */ second) {
  const [a, b, c, d, e, f] = first,
    [p, q, r, s, u, v] = second;
  return [
    p * a + q * c,
    p * b + q * d,
    r * a + s * c,
    r * b + s * d,
    p * e + q * f + u,
    r * e + s * f + v,
  ];
}

/** @param {Matrix} map @returns {Matrix} */
export function inverse([a, b, c, d, e, f]) {
  const area = a * d - b * c;
  const [p, q, r, s] = [d / area, -b / area, -c / area, a / area];
  return [p, q, r, s, -(p * e + q * f), -(r * e + s * f)];
}

/** @param {Matrix} map @param {number[]} point @returns {number[]} */
export function apply([a, b, c, d, e, f], [x, y]) {
  return [a * x + b * y + e, c * x + d * y + f];
}

/** Return how much longer lengths become. @param {Matrix} map */
export function scaleOf([a, b, c, d]) {
  return Math.sqrt(Math.abs(a * d - b * c));
}

/** Tell whether a map moves no pixel visibly. @param {Matrix} map */
export function isIdentity(map) {
  return map.every((part, k) => Math.abs(part - IDENTITY[k]) < 1e-6);
}

/** Return the map of a move, in pixels. @param {Move} move @returns {Matrix} */
export function mapOf({ at, by, scale, turn }) {
  const size = 2 ** (scale / 64),
    angle = (turn / 18_000) * Math.PI;
  const p = size * Math.cos(angle),
    q = size * Math.sin(angle); // y runs down
  const [x, y] = at.map((part) => part / 16);
  return [p, q, -q, p, x + by[0] / 16 - p * x - q * y, y + by[1] / 16 + q * x - p * y];
}

/**
 * Return the move that is `first`, then `second`; null if one move can't say it.
 *
 * Exact, except where a scaling or a turn follows another one about another point: `by` is then
 * rounded to a sixteenth of a pixel.
 * @param {Move} first @param {Move} second @returns {Move|null}
 */
export function merged(first, second) {
  if (first.about !== second.about || Boolean(first.fly) !== Boolean(second.fly)) return null;
  if (first.fly && second.fly) {
    const fly = first.fly.map((part, k) => part + /** @type {number[]} */ (second.fly)[k]);
    return fly.some((part) => Math.abs(part) > MOST_FLOWN) ? null : { ...first, fly };
  }
  const sum = [first.by[0] + second.by[0], first.by[1] + second.by[1]];
  const scale = first.scale + second.scale,
    turn = (first.turn + second.turn) % CIRCLE;
  const still = (/** @type {Move} */ move) => !move.scale && !move.turn;
  let at = first.at,
    by = sum;
  if (first.about) {
    if (sum[0] || sum[1]) return null;
  } else if (still(first) && !still(second)) {
    at = second.at.map((part, k) => part - first.by[k]);
  } else if (!still(second) && second.at.some((part, k) => part !== first.at[k] + first.by[k])) {
    const total = compose(mapOf(first), mapOf(second));
    const pixel = (/** @type {number[]} */ point) =>
      point.map((/** @type {number} */ part) => part / 16);
    at = apply(inverse(mapOf(first)), pixel(second.at)).map((part) => Math.round(16 * part));
    by = apply(total, pixel(at)).map((part, k) => Math.round(16 * part) - at[k]);
  }
  if ([...at, ...by].some((part) => !(Math.abs(part) < MOST)) || Math.abs(scale) > MOST_SCALE)
    return null;
  return { at, by, scale, turn, about: first.about };
}

/** Return the keys of a `view` message that a move needs. @param {Move} move */
export function messageOf({ at, by, scale, turn, about, fly }) {
  if (fly) return { fly };
  return about ? { about, by, scale, turn } : { at, by, scale, turn };
}

/** Where the frames lie that the view was moved from, relative to the newest one. */
export class Chain {
  #maps = new Map();
  newest = 0;

  /** Forget all frames but a new one. @param {number} frame */
  start(frame) {
    this.#maps = new Map([[frame, IDENTITY]]);
    this.newest = frame;
  }

  /** Add the newest frame. @param {number} frame @param {number} base @param {Matrix|null} map
   * @returns {Matrix|null} the map from the newest frame until now to this one */
  add(frame, base, map) {
    const before = map && this.of(base);
    const step = before && compose(inverse(before), map);
    if (!step) {
      this.start(frame);
      return null;
    }
    const entries = [...this.#maps]
      .slice(-255)
      .map(([id, each]) => ({ id, map: compose(each, step) }));
    this.#maps = new Map();
    for (const { id, map: its } of entries) if (related(its)) this.#maps.set(id, its);
    this.#maps.set(frame, IDENTITY);
    this.newest = frame;
    return step;
  }

  /** Return the map from a frame's pixels to those of the newest one. @returns {Matrix|null} */
  of(/** @type {number} */ frame) {
    return this.#maps.get(frame) ?? null;
  }
}

function related(/** @type {number[]} */ map) {
  const scale = scaleOf(map);
  return scale > 1 / FAR && scale < FAR && map.every(Number.isFinite);
}
