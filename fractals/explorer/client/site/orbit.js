/**
 * Reference orbits of deep views, in whole numbers of any length: a part of a point is n / 2**bits. Runs in a worker.
 * The orbit is that of `fractals.deep.reference`, whose comments say why it ends where it does.
 */

/** @typedef {[number, number, number, number]} Operand its row; 1 or 0 to keep or drop its sign; 1 to turn it; doublings */
/** @typedef {{c: bigint[], bits: number, most: number, escapeRadius: number, gate: [number, number]|null, degree: number}} OrbitJob
 * `c`: its parts, over 2**bits. `gate`: twice the view's radius as a mantissa and an exponent of two, with which the orbit ends
 * at a period */
/** @typedef {{points: Float64Array, columns: number, period: number, escaped: boolean, repeats: number, unsure: boolean}} Orbit
 * `points`: rows of the parts of a point, and of the numbers whose absolute values the step takes. `unsure`: a point is so near to
 * the escape radius that float64 can't tell on which side samples are */

const NEAR_RADIUS = 2 ** -20, // share of the escape radius
  MIN_END = 4, // the orbit ends beyond it
  MAX_SQUARE = 1e300,
  MAX_MANTISSA = 1e150, // of dZ/dc
  NEAR_KINK = 2 ** -10, // distance from an axis or a diagonal, within which a rounded point loses the numbers of kinks
  MAX_BITS = 900, // that are read as a float64, which ends at 2**1023
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

/** Return the orbit of 0 until it escapes, repeats, or ends at a period or after `most` steps.
 * @param {DeepFacts} facts @param {OrbitJob} job @returns {Orbit} */
export function orbitOf({ step, kinks }, { c, bits, most, escapeRadius, gate, degree }) {
  const next = calculator(step, bits),
    left = BigInt(Math.max(0, bits - MAX_BITS)),
    unit = 2 ** -(bits - Number(left)),
    toDouble = (/** @type {bigint} */ part) => Number(left ? part >> left : part) * unit;
  const columns = 2 + (kinks?.count ?? 0),
    near = nearKinks(kinks?.degrees ?? []),
    kinksOf = kinks && calculator(kinks.step, bits),
    roundedKinks = kinks && rounded(kinks.step);
  const squared = Math.min(escapeRadius ** 2, MAX_SQUARE),
    inner = squared * (1 - NEAR_RADIUS),
    outer = squared * (1 + NEAR_RADIUS),
    end = Math.max(outer, MIN_END ** 2);
  let points = new Float64Array(1024 * columns),
    [x, y] = [0n, 0n];
  let [u, v, p, q, e] = [0, 0, 0, 0, 0]; // the point; dZ/dc = (p + qi) 2**e
  let reach = gate ? gate[0] * scaled(gate[1]) : 0;
  let [savedAt, savedX, savedY, savedU] = [0, 0n, 0n, 0];
  let [n, period, repeats, escaped, unsure] = [0, 0, 0, false, false];
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
    [x, y] = next(x, y, c);
    [u, v] = [toDouble(x), toDouble(y)];
    const at = columns * n;
    if (at + columns > points.length) {
      const longer = new Float64Array(2 * points.length);
      longer.set(points);
      points = longer;
    }
    points[at] = u;
    points[at + 1] = v;
    if (kinksOf && roundedKinks) {
      const own = near(u, v) ? kinksOf(x, y).map(toDouble) : roundedKinks(u, v);
      for (let k = 2; k < columns; k++) points[at + k] = own[k - 2];
    }
    const square = u * u + v * v;
    unsure ||= square > inner && square < outer;
    if (square > end) {
      escaped = true;
      break;
    }
    if (gate && Math.abs(u) < reach * long && Math.abs(v) < reach * long) period = n;
    if (u === savedU && x === savedX && y === savedY) repeats = n - savedAt;
    if (period || repeats) break;
    if (!(n & (n - 1))) [savedAt, savedX, savedY, savedU] = [n, x, y, u];
  }
  repeats = period ? 0 : repeats;
  return { points: points.slice(0, columns * (n + 1)), columns, period, escaped, repeats, unsure };
}

/** Return an orbit that repeats, continued to some steps. @param {Orbit} orbit @param {number} most @returns {Orbit} */
export function until(orbit, most) {
  const { points, repeats, columns } = orbit,
    last = points.length / columns - 1;
  if (!repeats || last >= most) return orbit;
  const longer = new Float64Array(columns * (most + 1));
  longer.set(points);
  for (let k = points.length; k < longer.length; k++) longer[k] = longer[k - columns * repeats];
  return { ...orbit, points: longer };
}
