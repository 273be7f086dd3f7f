/**
 * Reference orbits of deep views, in whole numbers of any length: a part of a point is n / 2**bits. Runs in a worker.
 * The orbit is that of `fractals.deep.reference`, whose comments say why it ends where it does.
 */
import { bitLength } from "./exact.js";

/** @typedef {[number, number, number, number]} Operand its row; 1 or 0 to keep or drop its sign; 1 to turn it; doublings */
/** @typedef {{start: bigint[], c: bigint[], bits: number, most: number, escapeRadius: number, gate: [number, number]|null,
 * degree: number}} OrbitJob `start`, `c`: parts over 2**bits. `gate`: twice the view's radius as a mantissa and an exponent of two,
 * with which the orbit ends at a period */
/** @typedef {{points: Float64Array, tiny: Float64Array, columns: number, period: number, escaped: boolean, repeats: number,
 * unsure: boolean}} Orbit `points`: rows of the parts of a point, of the numbers whose absolute values the step takes, and of the
 * move from the point before, as `fractals.kernels.layout` has them. `tiny`: rows of points that float64 can't hold. `unsure`: a
 * point is so near to the escape radius that float64 can't tell on which side samples are */

const NEAR_RADIUS = 2 ** -20, // share of the escape radius
  MIN_END = 4, // the orbit ends beyond it
  MAX_SQUARE = 1e300,
  MAX_MANTISSA = 1e150, // of dZ/dc
  NEAR_KINK = 2 ** -10, // distance from an axis or a diagonal, within which a rounded point loses the numbers of kinks
  NEAR_MOVE = 2 ** -10, // share of a point: a shorter move of rounded points has lost digits
  MAX_BITS = 900, // that are read as a float64, which ends at 2**1023
  SMALL = 2 ** -800, // a number that has few of these bits
  MAX_LENGTH = 1020, // bits of a number that is not above a float64
  MAX_TINY = 2 ** -450, // parts of points that float64 can't hold with their squares
  ZERO_EXPONENT = -(2 ** 40), // of 0
  TINY = 4, // columns of `tiny`: index, parts, exponent
  BETWEEN = 500, // ms from one report of steps to the next
  STEPS = 256, // between two looks at the clock
  KINKS_AT = 2, // first column of the numbers of kinks
  FREE = 6; // first row of constants and results, behind x, y, unused ones and c at 2 and 3

/** Return the numbers that tell 2**k; out of a float64's range, 0 or 2**999. @param {number} k */
const scaled = (k) => (k > -1000 && k < 1000 ? 2 ** k : k < 0 ? 0 : 2 ** 999);

/** Return what computes two numbers of a point by lists of sums and products: `fractals.deep.orbit_steps`.
 * @param {DeepFacts["step"]} step @param {number} bits */
function calculator([constants, operations, ends], bits) {
  const shift = BigInt(bits),
    rows = /** @type {bigint[]} */ (new Array(FREE).fill(0n));
  for (const [row, value] of Object.entries(constants)) {
    const whole = Math.floor(value); // constants are whole numbers, or a few bits of a fraction
    rows[Number(row)] =
      (BigInt(whole) << shift) + ((BigInt((value - whole) * 2 ** 52) << shift) >> 52n);
  }
  const read = (
    /** @type {number} */ row,
    /** @type {number} */ kept,
    /** @type {number} */ turned,
    /** @type {number} */ doubled,
  ) => {
    let value = rows[row];
    if (!kept && value < 0n) value = -value;
    if (turned) value = -value;
    return doubled ? value << BigInt(doubled) : value;
  };
  const [[...first], [...second]] = ends;
  return (/** @type {bigint} */ x, /** @type {bigint} */ y, c = [0n, 0n]) => {
    [rows[0], rows[1], rows[2], rows[3]] = [x, y, ...c];
    for (const [product, row, a, b, c, d, p, q, r, s] of operations) {
      const left = read(a, b, c, d),
        right = read(p, q, r, s);
      rows[row] = product ? (left * right) >> shift : left + right;
    }
    return [read(...first), read(...second)];
  };
}

/** Return what computes the same of rounded points, in float64. @param {DeepFacts["step"]} step */
function rounded([constants, operations, ends]) {
  const rows = new Array(FREE).fill(0);
  for (const [row, value] of Object.entries(constants)) rows[Number(row)] = value;
  const read = (/** @type {number[]} */ [row, kept, turned, doubled]) =>
    (turned ? -1 : 1) * (kept ? rows[row] : Math.abs(rows[row])) * 2 ** doubled;
  return (/** @type {number} */ u, /** @type {number} */ v) => {
    [rows[0], rows[1]] = [u, v];
    for (const [product, row, ...operands] of operations) {
      const [left, right] = [read(operands.slice(0, 4)), read(operands.slice(4))];
      rows[row] = product ? left * right : left + right;
    }
    return ends.map(read);
  };
}

/** Return what tells whether a point may be near a kink. @param {number[]} powers of the point whose parts have kinks */
function nearKinks(powers) {
  const high = powers.filter((power) => power > 2);
  return (/** @type {number} */ u, /** @type {number} */ v) => {
    const [s, t] = [Math.abs(u), Math.abs(v)];
    if (s < NEAR_KINK || t < NEAR_KINK || Math.abs(s - t) < NEAR_KINK) return true;
    return high.some((power) => {
      let [p, q] = [u, v];
      for (let k = 1; k < power; k++) [p, q] = [p * u - q * v, p * v + q * u];
      const sizes = [Math.abs(p), Math.abs(q)];
      return Math.min(...sizes) < NEAR_KINK * Math.max(...sizes);
    });
  };
}

const size = (/** @type {bigint} */ n) => (n < 0n ? -n : n);

/** Return two numbers n / 2**bits as mantissas below 1 and their exponent of two. @param {bigint} x @param {bigint} y @param {number} bits */
function split(x, y, bits) {
  const [s, t] = [size(x), size(y)],
    larger = s > t ? s : t;
  if (!larger) return [0, 0, 0];
  const length = bitLength(larger),
    left = BigInt(Math.max(0, length - MAX_LENGTH)),
    unit = 2 ** -Math.min(length, MAX_LENGTH);
  return [Number(x >> left) * unit, Number(y >> left) * unit, length - bits];
}

/** Return value * 2**k; in two steps, as 2**k may leave the doubles. @param {number} value @param {number} k */
function shifted(value, k) {
  const own = Math.max(-2000, Math.min(2000, k)),
    half = Math.trunc(own / 2);
  return value * 2 ** half * 2 ** (own - half);
}

/** Return a number's mantissa, from 1/2 to below 1, and its exponent of two. @param {number} value */
function parts(value) {
  if (!value) return [0, 0];
  const k = Math.floor(Math.log2(Math.abs(value))) + 1,
    found = shifted(value, -k),
    near = Math.abs(found); // the logarithm may be rounded over a power of two
  return near >= 1 ? [found / 2, k + 1] : near < 0.5 ? [2 * found, k - 1] : [found, k];
}

/** Return what rounds a part of a point. @param {number} bits */
function rounder(bits) {
  const left = BigInt(Math.max(0, bits - MAX_BITS)),
    unit = 2 ** -(bits - Number(left));
  return (/** @type {bigint} */ part) => {
    const value = Number(left ? part >> left : part) * unit;
    if (!left || value >= SMALL || value <= -SMALL) return value;
    const [mantissa, , k] = split(part, 0n, bits);
    return shifted(mantissa, k);
  };
}

/** A point of an orbit: whole numbers over 2**bits, and rounded. */
class Point {
  /** @param {bigint} x @param {bigint} y @param {(part: bigint) => number} round */
  constructor(x, y, round) {
    this.x = x;
    this.y = y;
    this.u = round(x);
    this.v = round(y);
    this.tiny = Math.abs(this.u) < MAX_TINY && Math.abs(this.v) < MAX_TINY;
  }
}

/** The rows of an orbit's points. */
class Rows {
  #kinks;
  #roundedKinks;
  #near;
  #count;
  #extended;
  #bits;
  #round;
  #movesAt;
  #points;
  #tiny = /** @type {number[]} */ ([]);

  /** @param {DeepFacts} facts @param {number} bits @param {(part: bigint) => number} round */
  constructor({ kinks, extended, moves }, bits, round) {
    this.#kinks = kinks && calculator(kinks.step, bits);
    this.#roundedKinks = kinks && rounded(kinks.step);
    this.#near = nearKinks(kinks?.degrees ?? []);
    this.#count = kinks?.count ?? 0;
    this.#extended = extended;
    this.#bits = bits;
    this.#round = round;
    const after = KINKS_AT + this.#count * (extended ? 3 : 1);
    this.#movesAt = moves ? after : 0;
    this.columns = after + (moves ? (extended ? 3 : 2) : 0);
    this.#points = new Float64Array(1024 * this.columns);
  }

  /** Write the row of a point. @param {number} n @param {Point} point @param {Point} [before] the point before */
  put(n, point, before) {
    const at = this.columns * n;
    if (at + this.columns > this.#points.length) {
      const longer = new Float64Array(2 * this.#points.length);
      longer.set(this.#points);
      this.#points = longer;
    }
    this.#points[at] = point.u;
    this.#points[at + 1] = point.v;
    if (this.#count) this.#putKinks(at + KINKS_AT, point, n === 0);
    if (this.#movesAt) this.#points.set(this.#moveOf(point, before), at + this.#movesAt);
    if (point.tiny && (point.x || point.y))
      this.#tiny.push(n, ...split(point.x, point.y, this.#bits));
  }

  /** Write the numbers whose absolute values the step takes, of all digits where rounded ones may lose them.
   * @param {number} at @param {Point} point @param {boolean} exact */
  #putKinks(at, { x, y, u, v }, exact) {
    const count = this.#count,
      whole = exact || this.#near(u, v) ? this.#kinks?.(x, y) : null,
      own = whole ? [] : (this.#roundedKinks?.(u, v) ?? []);
    for (let k = 0; k < count; k++) {
      this.#points[at + k] = whole ? this.#round(whole[k]) : own[k];
      if (!this.#extended) continue;
      const [s, , e] = whole ? split(whole[k], 0n, this.#bits) : [0, 0, 0],
        found = !whole ? parts(own[k]) : whole[k] ? [s, e] : [0, ZERO_EXPONENT];
      this.#points.set(found, at + count + 2 * k);
    }
  }

  /** Return the move to a point from the one before, of all digits where rounded points have lost them.
   * @param {Point} point @param {Point} [before] */
  #moveOf({ x, y, u, v }, before) {
    const extended = this.#extended;
    if (!before) return extended ? [0, 0, ZERO_EXPONENT] : [0, 0];
    const [p, q] = [u - before.u, v - before.v],
      room = NEAR_MOVE * (Math.abs(u) + Math.abs(v));
    if (Math.abs(p) <= room && Math.abs(q) <= room) {
      const [s, t, k] = split(x - before.x, y - before.y, this.#bits);
      return extended ? [s, t, s || t ? k : ZERO_EXPONENT] : [shifted(s, k), shifted(t, k)];
    }
    if (!extended) return [p, q];
    const [, k] = parts(Math.max(Math.abs(p), Math.abs(q)));
    return p || q ? [shifted(p, -k), shifted(q, -k), k] : [p, q, ZERO_EXPONENT];
  }

  /** Return the rows up to a point. @param {number} n */
  until(n) {
    const { columns } = this,
      points = this.#points.slice(0, columns * (n + 1));
    return { points, tiny: Float64Array.from(this.#tiny), columns };
  }
}

/** How a point moves with c: dZ/dc = (p + qi) 2**e. The orbit ends where all of the view comes back with it. */
class Growth {
  #p = 0;
  #q = 0;
  #e = 0;
  #long = 0; // size of p + qi
  #reach; // of the view, in units of 2**e

  /** @param {[number, number]} gate @param {number} degree @param {number} bits */
  constructor(gate, degree, bits) {
    this.gate = gate;
    this.degree = degree;
    this.bits = bits;
    this.#reach = gate[0] * scaled(gate[1]);
  }

  /** Take the step after a point. @param {Point} point */
  step({ x, y, u, v, tiny }) {
    const { degree } = this;
    let [zx, zy, e] = [u, v, this.#e];
    if (tiny) {
      const [mx, my, k] = split(x, y, this.bits);
      [zx, zy, e] = [mx, my, e + k * (degree - 1)];
    }
    let [s, t] = [zx, zy];
    for (let k = 2; k < degree; k++) [s, t] = [s * zx - t * zy, s * zy + t * zx];
    let [p, q] = [degree * (s * this.#p - t * this.#q), degree * (s * this.#q + t * this.#p)];
    p += e ? scaled(-e) : 1;
    let long = Math.abs(p) + Math.abs(q);
    if (long && (tiny || !(long > 1 / MAX_MANTISSA && long < MAX_MANTISSA))) {
      const [, k] = parts(Math.max(Math.abs(p), Math.abs(q)));
      [p, q, e] = [shifted(p, -k), shifted(q, -k), e + k];
      long = Math.abs(p) + Math.abs(q);
      this.#reach = this.gate[0] * scaled(this.gate[1] + e);
    }
    [this.#p, this.#q, this.#e, this.#long] = [p, q, e, long];
  }

  /** Whether a point is so near to 0 that the orbit of one of the view is there. @param {Point} point */
  returns({ x, y, u, v, tiny }) {
    const far = this.#reach * this.#long;
    if (Math.abs(u) < far && Math.abs(v) < far) return true;
    if (!tiny) return false;
    const [s, t, k] = split(x, y, this.bits),
      [reach, exponent] = this.gate;
    return Math.max(Math.abs(s), Math.abs(t)) * scaled(k - exponent - this.#e) < reach * this.#long;
  }
}

/** Return the squares of radii: within the first two, float64 can't tell on which side samples are; beyond the last, the orbit ends.
 * @param {number} escapeRadius */
function radii(escapeRadius) {
  const squared = Math.min(escapeRadius ** 2, MAX_SQUARE),
    outer = squared * (1 + NEAR_RADIUS);
  return [squared * (1 - NEAR_RADIUS), outer, Math.max(outer, MIN_END ** 2)];
}

/** Return the orbit of a point until it escapes, repeats, or ends at a period or after `most` steps.
 * @param {DeepFacts} facts @param {OrbitJob} job @param {import("./drawer.js").Report} [report] hears of steps
 * @returns {Orbit} */
export function orbitOf(facts, job, report) {
  const { start, c, bits, most, gate, degree } = job,
    next = calculator(facts.step, bits),
    round = rounder(bits),
    rows = new Rows(facts, bits, round),
    growth = gate && new Growth(gate, degree, bits),
    [inner, outer, end] = radii(job.escapeRadius);
  let point = new Point(start[0], start[1], round);
  let [n, period, repeats, escaped, unsure] = [0, 0, 0, false, false];
  let [saved, savedAt, told] = [point, 0, performance.now()];
  rows.put(0, point);
  while (n < most) {
    n++;
    growth?.step(point);
    const before = point,
      [x, y] = next(before.x, before.y, c);
    point = new Point(x, y, round);
    rows.put(n, point, before);
    const square = point.u * point.u + point.v * point.v;
    unsure ||= square > inner && square < outer;
    escaped = square > end;
    if (escaped) break;
    if (growth?.returns(point)) period = n;
    else if (point.u === saved.u && x === saved.x && y === saved.y) repeats = n - savedAt;
    if (period || repeats) break;
    if (!(n & (n - 1))) [savedAt, saved] = [n, point];
    if (report && n % STEPS === 0 && performance.now() - told > BETWEEN) {
      told = performance.now();
      report(n, most);
    }
  }
  return { ...rows.until(n), period, escaped, repeats, unsure };
}

/** Return an orbit of at most some steps, continued if it repeats. @param {Orbit} orbit @param {number} most @returns {Orbit} */
export function until(orbit, most) {
  const { points, tiny, repeats, columns } = orbit,
    last = points.length / columns - 1;
  const few = (/** @type {number[]} */ rows) => {
    const kept = [];
    for (let k = 0; k < rows.length; k += TINY)
      if (rows[k] <= most) kept.push(...rows.slice(k, k + TINY));
    return Float64Array.from(kept);
  };
  if (last > most)
    return {
      ...orbit,
      points: points.slice(0, columns * (most + 1)),
      tiny: few([...tiny]),
      repeats: 0,
    };
  if (!repeats || last === most) return orbit;
  const longer = new Float64Array(columns * (most + 1));
  longer.set(points);
  for (let k = points.length; k < longer.length; k++) longer[k] = longer[k - columns * repeats];
  const all = [...tiny];
  for (let k = 0; k < all.length && all[k] <= most; k += TINY)
    if (all[k] > last - repeats) all.push(all[k] + repeats, ...all.slice(k + 1, k + TINY));
  return { ...orbit, points: longer, tiny: few(all) };
}
