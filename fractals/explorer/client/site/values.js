/** Values of a layer's samples: their curve, what fits them, and how many there are of each size. */

/** @type {Record<string, (value: number) => number>} */
const CURVES = {
  linear: (v) => v,
  sqrt: (v) => Math.sqrt(Math.max(v, 0)),
  cbrt: (v) => Math.cbrt(Math.max(v, 0)),
  log: (v) => Math.sign(v) * Math.log2(1 + Math.abs(v)),
  atan: (v) => (Math.atan(Math.max(v, 0)) * 2) / Math.PI,
};
const SHARES = [0.01, 0.99], // quantiles, between which the palette is spread
  LEAST_TURNS = 0.5; // of the palette, between the two, that fill it

/** Return a layer's curve; NaN: the layer draws nothing there. @param {{place: string, range: number[]}} layer
 * @returns {(value: number) => number} */
export function curveOf({ place, range: [low, high] }) {
  const curve = CURVES[place.split(" ")[1]];
  return place.endsWith("ranged") ? (v) => (v >= low && v <= high ? curve(v) : NaN) : curve;
}

/** Return the finite ones of the values that a layer draws, after its curve. @param {{place: string, range: number[]}} layer
 * @param {Float64Array} values */
export const curved = (layer, values) =>
  Array.from(values.filter(Number.isFinite), curveOf(layer)).filter(Number.isFinite);

/** Return the number in the middle of some, in order; 0 of none. @param {Float32Array} values */
export function medianOf(values) {
  const sorted = values.filter(Number.isFinite).sort();
  return sorted.length ? sorted[sorted.length >> 1] : 0;
}

/** Return density and offset that spread a layer's values over the palette. @param {number[]} values
 * @param {boolean} cyclic @param {boolean} always @returns {number[]} */
export function fitted(values, cyclic, always) {
  if (!values.length) return [1, 0];
  const sorted = values.toSorted((a, b) => a - b);
  const [first, last] = SHARES.map((share) => {
    const at = share * (sorted.length - 1),
      k = Math.floor(at),
      next = sorted[Math.min(k + 1, sorted.length - 1)];
    return sorted[k] + (at - k) * (next - sorted[k]);
  });
  const filled = last - first >= LEAST_TURNS && (cyclic || (first >= 0 && last <= 1));
  if (last <= first || (filled && !always)) return [1, 0];
  const three = (/** @type {number} */ value) => Number(value.toPrecision(3));
  const density = Math.min(three(1 / (last - first)), 1e6);
  return [density, Math.max(-1e6, Math.min(1e6, three(-density * first)))];
}

/** Return the ends, and how many values lie in each of equal steps between them. @param {number[]} values
 * @param {number} bins */
export function histogramOf(values, bins) {
  const counts = new Array(bins).fill(0);
  if (!values.length) return { low: 0, high: 1, counts };
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!(high > low)) high = low + 1;
  for (const value of values)
    counts[Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins))]++;
  return { low, high, counts };
}
