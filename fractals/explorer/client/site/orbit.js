/**
 * Reference orbits of deep views, in whole numbers of any length: a part of a point is n / 2**bits. Runs in a worker.
 * The orbit is that of `fractals.deep.reference`, whose comments say why it ends where it does.
 */

/** @typedef {[number, number, number, number]} Operand its row; 1 or 0 to keep or drop its sign; 1 to turn it; doublings */
/** @typedef {{c: bigint[], bits: number, most: number, escapeRadius: number, gate: [number, number]|null, degree: number}} OrbitJob
 * `c`: its parts, over 2**bits. `gate`: twice the view's radius as a mantissa and an exponent of two, with which the orbit ends
 * at a period */
/** @typedef {{points: Float64Array, period: number, escaped: boolean, repeats: number}} Orbit */

const NEAR_RADIUS = 2 ** -20, // share of the escape radius
  MIN_END = 4, // the orbit ends beyond it
  MAX_SQUARE = 1e300,
  MAX_MANTISSA = 1e150, // of dZ/dc
  MAX_BITS = 900, // that are read as a float64, which ends at 2**1023
  FREE = 6; // first row of constants and results, behind x, y, unused ones and c at 2 and 3

/** Return the numbers that tell 2**k; out of a float64's range, 0 or 2**999. @param {number} k */
const scaled = (k) => (k > -1000 && k < 1000 ? 2 ** k : k < 0 ? 0 : 2 ** 999);

/** Take steps of a formula as lists of sums and products: `fractals.deep.orbit_steps`.
 * @param {DeepFacts["step"]} step @param {number} bits */
function stepper([constants, operations, ends], bits) {
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
  return {
    rows,
    next() {
      for (const [product, row, a, b, c, d, p, q, r, s] of operations) {
        const left = read(a, b, c, d),
          right = read(p, q, r, s);
        rows[row] = product ? (left * right) >> shift : left + right;
      }
      const [x, y] = ends.map((end) => read(...end));
      rows[0] = x;
      rows[1] = y;
    },
  };
}

/** Return the orbit of 0 until it escapes, repeats, or ends at a period or after `most` steps.
 * @param {DeepFacts["step"]} step @param {OrbitJob} job @returns {Orbit} */
export function orbitOf(step, { c, bits, most, escapeRadius, gate, degree }) {
  const { rows, next } = stepper(step, bits),
    left = BigInt(Math.max(0, bits - MAX_BITS)),
    unit = 2 ** -(bits - Number(left));
  [rows[2], rows[3]] = c;
  const squared = Math.min(escapeRadius ** 2, MAX_SQUARE),
    inner = squared * (1 - NEAR_RADIUS),
    end = Math.max(squared * (1 + NEAR_RADIUS), MIN_END ** 2);
  let points = new Float64Array(2048);
  let [u, v, p, q, e] = [0, 0, 0, 0, 0]; // the point; dZ/dc = (p + qi) 2**e
  let reach = gate ? gate[0] * scaled(gate[1]) : 0;
  let [savedAt, savedX, savedY, savedU] = [0, 0n, 0n, 0];
  let [n, period, repeats, escaped] = [0, 0, 0, false];
  while (n < most) {
    n++;
    let long = 0;
    if (gate) {
      let [s, t] = [u, v];
      for (let k = 2; k < degree; k++) [s, t] = [s * u - t * v, s * v + t * u];
      [p, q] = [degree * (s * p - t * q), degree * (s * q + t * p)];
      p += e ? scaled(-e) : 1;
      long = Math.abs(p) + Math.abs(q);
      if (!(long > 1 / MAX_MANTISSA && long < MAX_MANTISSA) && long) {
        const k = Math.floor(Math.log2(Math.max(Math.abs(p), Math.abs(q)))) + 1;
        [p, q, e] = [p * 2 ** -k, q * 2 ** -k, e + k];
        long = Math.abs(p) + Math.abs(q);
        reach = gate[0] * scaled(gate[1] + e);
      }
    }
    next();
    const [x, y] = rows;
    u = Number(left ? x >> left : x) * unit;
    v = Number(left ? y >> left : y) * unit;
    if (2 * n + 2 > points.length) {
      const longer = new Float64Array(2 * points.length);
      longer.set(points);
      points = longer;
    }
    points[2 * n] = u;
    points[2 * n + 1] = v;
    const square = u * u + v * v;
    if (square > inner && square > end) {
      escaped = true;
      break;
    }
    if (gate && Math.abs(u) < reach * long && Math.abs(v) < reach * long) period = n;
    if (u === savedU && x === savedX && y === savedY) repeats = n - savedAt;
    if (period || repeats) break;
    if (!(n & (n - 1))) [savedAt, savedX, savedY, savedU] = [n, x, y, u];
  }
  repeats = period ? 0 : repeats;
  return { points: points.slice(0, 2 * n + 2), period, escaped, repeats };
}

/** Return an orbit that repeats, continued to some steps. @param {Orbit} orbit @param {number} most @returns {Orbit} */
export function until(orbit, most) {
  const { points, repeats } = orbit,
    last = points.length / 2 - 1;
  if (!repeats || last >= most) return orbit;
  const longer = new Float64Array(2 * most + 2);
  longer.set(points);
  for (let k = points.length; k < longer.length; k++) longer[k] = longer[k - 2 * repeats];
  return { ...orbit, points: longer };
}
