/** Values over the time of a film, and their places in a graph. films/tracks.py has the same curves. */

const slowly = (/** @type {number} */ t) => 2 * t ** 3 - t ** 4; // from rest
/** How far a value has come, by the share of the time. @type {Record<string, (share: number) => number>} */
const WAYS = {
  constant: (t) => t,
  in: slowly,
  out: (t) => 1 - slowly(1 - t),
  both: (t) => (t < 0.5 ? slowly(2 * t) / 2 : 1 - slowly(2 - 2 * t) / 2),
  hold: (t) => Math.floor(t),
};
const STEPS = 24; // of a curve between two keys
const MARGIN = 0.14; // of a graph's height, above and below its values

/** @typedef {[number, number, string?]} Point time, value, and how the value comes here */

/** Return the slopes of a cubic that never turns back between points (Fritsch and Carlson, 1980). @param {Point[]} points */
function slopes(points) {
  const rises = points
    .slice(1)
    .map(([at, value], k) => (value - points[k][1]) / (at - points[k][0]));
  return points.map((_, k) => {
    const [one, two] = [rises[Math.max(k - 1, 0)], rises[Math.min(k, rises.length - 1)]];
    if (k === 0 || k === rises.length) return one;
    if (one * two <= 0) return 0;
    const [before, after] = [points[k][0] - points[k - 1][0], points[k + 1][0] - points[k][0]];
    return (3 * (before + after)) / ((2 * after + before) / one + (after + 2 * before) / two);
  });
}

/** Return the value of a time. @param {Point[]} points @param {number} time */
export function curveAt(points, time) {
  const k = points.findLastIndex(([at]) => at <= time);
  if (k < 0 || k === points.length - 1) return points[Math.max(k, 0)][1];
  const [[begins, from], [ends, to, ease = "soft"]] = points.slice(k, k + 2),
    t = (time - begins) / (ends - begins),
    rise = to - from;
  if (WAYS[ease]) return from + rise * WAYS[ease](t);
  const [a, b] = slopes(points)
    .slice(k, k + 2)
    .map((slope) => slope * (ends - begins));
  return from + t * (a + t * (3 * rise - 2 * a - b + t * (a + b - 2 * rise)));
}

/** Return times and values along the curve of points, whose times are shares of the film. @param {Point[]} points @returns {number[][]} */
export const traced = (points) => [
  [0, points[0][1]],
  ...points.flatMap(([at, value], k) => {
    const next = points[k + 1];
    if (!next)
      return [
        [at, value],
        [1, value],
      ];
    if (next[2] === "hold")
      return [
        [at, value],
        [next[0], value],
      ];
    return Array.from({ length: STEPS }, (_, n) => at + ((next[0] - at) * n) / STEPS).map(
      (time) => [time, curveAt(points, time)],
    );
  }),
];

/** Return the least and the greatest value that a graph shows. @param {number[]} values */
export function rangeOf(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const spare = high > low ? 0 : Math.abs(low) / 2 || 0.5; // a straight line lies in the middle
  return [low - spare, high + spare];
}

/** Return how high a value lies in a graph, from 0 to 1. @param {number[]} range @param {number} value */
export const heightOf = ([low, high], value) =>
  MARGIN + ((1 - 2 * MARGIN) * (value - low)) / (high - low);

/** Return the value at a height. @param {number[]} range @param {number} height */
export const valueAt = ([low, high], height) =>
  Number((low + ((height - MARGIN) / (1 - 2 * MARGIN)) * (high - low)).toPrecision(4));
