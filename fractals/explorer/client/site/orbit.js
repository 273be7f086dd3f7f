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

/** Return the orbit of a point until it escapes, repeats, or ends at a period or after `most` steps.
 * @param {DeepFacts} facts @param {OrbitJob} job @param {import("./drawer.js").Report} [report] hears of steps
 * @returns {Orbit} */
export function orbitOf(facts, job, report) {
  const { step, kinks, extended, moves } = facts,
    { start, c, bits, most, escapeRadius, gate, degree } = job;
  const next = calculator(step, bits),
    left = BigInt(Math.max(0, bits - MAX_BITS)),
    unit = 2 ** -(bits - Number(left));
  const toDouble = (/** @type {bigint} */ part) => {
    const value = Number(left ? part >> left : part) * unit;
    if (!left || value >= SMALL || value <= -SMALL) return value;
    const [mantissa, , k] = split(part, 0n, bits);
    return shifted(mantissa, k);
  };
  const count = kinks?.count ?? 0,
    kinksAt = 2,
    movesAt = kinksAt + count * (extended ? 3 : 1),
    columns = movesAt + (moves ? (extended ? 3 : 2) : 0),
    near = nearKinks(kinks?.degrees ?? []),
    kinksOf = kinks && calculator(kinks.step, bits),
    roundedKinks = kinks && rounded(kinks.step);
  const squared = Math.min(escapeRadius ** 2, MAX_SQUARE),
    inner = squared * (1 - NEAR_RADIUS),
    outer = squared * (1 + NEAR_RADIUS),
    end = Math.max(outer, MIN_END ** 2);
  let points = new Float64Array(1024 * columns),
    [x, y] = start,
    [u, v] = start.map(toDouble);
  const tiny = /** @type {number[]} */ ([]);
  const isTiny = () => Math.abs(u) < MAX_TINY && Math.abs(v) < MAX_TINY;
  /** Write the row of a point. @param {number} n @param {bigint[]} [before] the point before */
  const put = (n, before) => {
    const at = columns * n;
    if (at + columns > points.length) {
      const longer = new Float64Array(2 * points.length);
      longer.set(points);
      points = longer;
    }
    points[at] = u;
    points[at + 1] = v;
    if (kinksOf && roundedKinks) {
      const whole = !n || near(u, v) ? kinksOf(x, y) : null,
        own = whole ? [] : roundedKinks(u, v);
      for (let k = 0; k < count; k++) {
        const found = whole
          ? whole[k]
            ? [0, 2].map((part) => split(whole[k], 0n, bits)[part])
            : [0, ZERO_EXPONENT]
          : parts(own[k]);
        points[at + kinksAt + k] = whole ? toDouble(whole[k]) : own[k];
        if (extended) points.set(found, at + kinksAt + count + 2 * k);
      }
    }
    if (moves) points.set(moveOf(at, before), at + movesAt);
    if (isTiny() && (x || y)) {
      const [s, t, k] = split(x, y, bits);
      tiny.push(n, s, t, k);
    }
  };
  /** Return the move to a point from the one before. @param {number} at @param {bigint[]} [before] */
  const moveOf = (at, before) => {
    if (!before) return extended ? [0, 0, ZERO_EXPONENT] : [0, 0];
    const [p, q] = [u - points[at - columns], v - points[at - columns + 1]],
      room = NEAR_MOVE * (Math.abs(u) + Math.abs(v));
    if (Math.abs(p) <= room && Math.abs(q) <= room) {
      const [s, t, k] = split(x - before[0], y - before[1], bits);
      return extended ? [s, t, s || t ? k : ZERO_EXPONENT] : [shifted(s, k), shifted(t, k)];
    }
    if (!extended) return [p, q];
    const [, k] = parts(Math.max(Math.abs(p), Math.abs(q)));
    return p || q ? [shifted(p, -k), shifted(q, -k), k] : [p, q, ZERO_EXPONENT];
  };
  put(0);
  let [p, q, e] = [0, 0, 0]; // dZ/dc = (p + qi) 2**e
  let reach = gate ? gate[0] * scaled(gate[1]) : 0;
  let [savedAt, savedX, savedY, savedU] = [0, x, y, u];
  let [n, period, repeats, escaped, unsure, small] = [0, 0, 0, false, false, false];
  let told = performance.now();
  while (n < most) {
    n++;
    let long = 0;
    if (gate) {
      let [zx, zy] = [u, v];
      if (small) {
        const [mx, my, k] = split(x, y, bits);
        [zx, zy, e] = [mx, my, e + k * (degree - 1)];
      }
      let [s, t] = [zx, zy];
      for (let k = 2; k < degree; k++) [s, t] = [s * zx - t * zy, s * zy + t * zx];
      [p, q] = [degree * (s * p - t * q), degree * (s * q + t * p)];
      p += e ? scaled(-e) : 1;
      long = Math.abs(p) + Math.abs(q);
      if (long && (small || !(long > 1 / MAX_MANTISSA && long < MAX_MANTISSA))) {
        const [, k] = parts(Math.max(Math.abs(p), Math.abs(q)));
        [p, q, e] = [shifted(p, -k), shifted(q, -k), e + k];
        long = Math.abs(p) + Math.abs(q);
        reach = gate[0] * scaled(gate[1] + e);
      }
    }
    const before = [x, y];
    [x, y] = next(x, y, c);
    [u, v] = [toDouble(x), toDouble(y)];
    put(n, before);
    small = isTiny();
    const square = u * u + v * v;
    unsure ||= square > inner && square < outer;
    if (square > end) {
      escaped = true;
      break;
    }
    if (gate && Math.abs(u) < reach * long && Math.abs(v) < reach * long) period = n;
    else if (gate && small) {
      const [s, t, k] = split(x, y, bits);
      if (Math.max(Math.abs(s), Math.abs(t)) * scaled(k - gate[1] - e) < gate[0] * long) period = n;
    }
    if (u === savedU && x === savedX && y === savedY) repeats = n - savedAt;
    if (period || repeats) break;
    if (!(n & (n - 1))) [savedAt, savedX, savedY, savedU] = [n, x, y, u];
    if (report && n % STEPS === 0 && performance.now() - told > BETWEEN) {
      told = performance.now();
      report(n, most);
    }
  }
  repeats = period ? 0 : repeats;
  const rows = points.slice(0, columns * (n + 1)),
    ends = { period, escaped, repeats, unsure };
  return { points: rows, tiny: Float64Array.from(tiny), columns, ...ends };
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
