/**
 * Images without values: the transforms of flames, their handles, the display; the sky of solids.
 *
 * The handle of an affine map is a triangle, whose corners are where a map takes (0, 0), (1, 0) and (0, 1).
 *
 * An affine map [a, b, c, d, e, f] takes (x, y) to (a x + b y + c, d x + e y + f), as in scenes.
 * @typedef {number[]} Affine
 */
import { say } from "./words.js";
const DIGITS = 6;

/** Return the name of a formula. */
export const nameOf = (/** @type {Formula|undefined} */ formula) =>
  typeof formula === "object" ? formula.name : formula;

/** @type {Affine} */
export const UNIT = [1, 0, 0, 0, 1, 0];
export const ORIGIN = 0;
export const FINAL = "final"; // key of the final transform, among numbers

const rounded = (/** @type {number} */ value) => Number(value.toFixed(DIGITS));

/** Return where the corners of a map's triangle lie in the plane. @param {Affine} affine @returns {number[][]} */
export function cornersOf([a, b, c, d, e, f]) {
  return [
    [c, f],
    [a + c, d + f],
    [b + c, e + f],
  ];
}

/** Return a map after its corner was dragged to a point: the whole triangle follows the first one.
 * @param {Affine} affine @param {number} corner @param {number[]} point @param {boolean} [whole] the triangle turns and
 * grows about its first corner, and keeps its shape @returns {Affine} */
export function dragged(affine, corner, [x, y], whole = false) {
  const [a, b, c, d, e, f] = affine;
  if (corner === ORIGIN) return [a, b, x, d, e, y].map(rounded);
  const [u, v] = [x - c, y - f];
  if (!whole) return (corner === 1 ? [u, b, c, v, e, f] : [a, u, c, d, v, f]).map(rounded);
  const [p, q] = corner === 1 ? [a, d] : [b, e],
    length = p * p + q * q;
  if (!length) return affine;
  const cos = (u * p + v * q) / length,
    sin = (v * p - u * q) / length; // of a turn, times a scale
  return [cos * a - sin * d, cos * b - sin * e, c, sin * a + cos * d, sin * b + cos * e, f].map(
    rounded,
  );
}

const AROUND = 84; // pixels between corners that are fitted and the edge: bars of buttons lie there

/** Return the map that fits points into a rectangle, without a turn. @param {number[][]} points
 * @param {number[]} into left, top, right, bottom @returns {number[]} a map as those of frames */
export function fitting(points, [left, top, right, bottom]) {
  const ends = [0, 1].map((axis) => {
    const parts = points.map((point) => point[axis]);
    return [Math.min(...parts), Math.max(...parts)];
  });
  const room = [right - left, bottom - top].map((side) => Math.max(1, side - 2 * AROUND));
  const k = Math.min(...ends.map(([low, high], axis) => room[axis] / Math.max(high - low, 1e-9)));
  const [x, y] = ends.map(([low, high]) => (low + high) / 2);
  return [k, 0, 0, k, (left + right) / 2 - k * x, (top + bottom) / 2 - k * y];
}

/** Return the transforms of a formula as [key, transform, name for people]; the final one comes last.
 * @typedef {[number|string, Transform, string]} Listed
 * @param {FormulaTable} formula @param {Received.FormulaFacts} [known] @returns {Listed[]} */
export function transformsOf(formula, known) {
  const usual = /** @type {Transform[]|undefined} */ (known?.tables?.transforms);
  const listed = (formula?.transforms ?? usual ?? []).map(
    (transform, k) => /** @type {Listed} */ ([k, transform, `${k + 1}`]),
  );
  return formula?.final ? [...listed, [FINAL, formula.final, say("final")]] : listed;
}

/** Return a formula in which a transform has other values.
 * @param {FormulaTable} formula @param {Received.FormulaFacts|undefined} known @param {number|string} key
 * @param {Transform} values @returns {FormulaTable} */
export function withTransform(formula, known, key, values) {
  if (key === FINAL) return { ...formula, final: { ...formula.final, ...values } };
  const transforms = transformsOf(formula, known)
    .filter(([own]) => own !== FINAL)
    .map(([, each]) => each);
  return {
    ...formula,
    transforms: transforms.with(Number(key), { ...transforms[Number(key)], ...values }),
  };
}

/** Return the values of a scene's display; the schema has those that it does not name.
 * @param {Scene} scene @param {SceneSchema} schema @returns {Required<Scenes.Display>} */
export function displayOf(scene, schema) {
  const known = schema.$defs.Display.properties;
  return /** @type {Required<Scenes.Display>} */ ({
    ...Object.fromEntries(Object.entries(known).map(([name, each]) => [name, each.default])),
    ...scene.display,
  });
}

// Points for each pixel, by quality, as `POINTS` of fractals/scatter/plan.py.
const POINTS = { draft: 5, good: 50, best: 500 },
  ORBITS = 5; // times as few samples, whose orbits cost more

/** Return the points for each pixel of a scene, whose quality may be a word. */
export function qualityOf(
  /** @type {{quality?: number|keyof typeof POINTS}} */ { quality = "good" },
  /** @type {string} */ formula,
) {
  if (typeof quality === "number") return quality;
  return POINTS[quality] / (formula === "buddhabrot" ? ORBITS : 1);
}

const OVERHEAD = 90,
  LOWEST = -30; // degrees above the horizon, in the middle and at the edge of a dome

/** @typedef {{position: number[], target: number[]}} Looking where a camera is, and what it looks at */
/** Return the angle by which the camera looks to the left of the x axis. */
const bearing = (/** @type {Looking} */ { position, target }) =>
  Math.atan2(target[1] - position[1], target[0] - position[0]);

/** Return where a direction lies on a dome of radius 1 that shows the sky from above; the top is ahead of the camera.
 * @param {number[]} direction @param {Looking} space of `placed` @returns {number[]} */
export function onDome([x, y, z], space) {
  const up = (Math.asin(Math.max(-1, Math.min(1, z / Math.hypot(x, y, z)))) * 180) / Math.PI;
  const far = Math.min(1, (OVERHEAD - up) / (OVERHEAD - LOWEST)),
    turn = Math.atan2(y, x) - bearing(space);
  return [-far * Math.sin(turn), -far * Math.cos(turn)];
}

/** Return the direction of a point of a dome. @param {number[]} at @param {Looking} space @returns {number[]} */
export function dome([x, y], space) {
  const up = ((OVERHEAD - Math.min(1, Math.hypot(x, y)) * (OVERHEAD - LOWEST)) * Math.PI) / 180,
    turn = Math.atan2(-x, -y) + bearing(space);
  return [Math.cos(up) * Math.cos(turn), Math.cos(up) * Math.sin(turn), Math.sin(up)].map((part) =>
    Number(part.toFixed(4)),
  );
}
