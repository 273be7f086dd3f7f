/**
 * The list of a flame's transforms: which are drawn, their order, and the turns of a symmetry.
 *
 * What a transform's points add is its `opacity`: a muted transform moves points as before, and they are not drawn there. Factors
 * `xaos` belong to the transforms that follow, by their numbers, so they go along with them.
 *
 * @typedef {Transform[]} Transforms
 */
import { UNIT } from "./points.js";

export const MOST_FOLD = 12; // of a symmetry
const NEAR = 1e-4; // between numbers of a turn: files have six digits

const opacityOf = (/** @type {Transform} */ { opacity = 1 }) => opacity;
const withOpacity = (
  /** @type {Transform} */ { opacity: _, ...rest },
  /** @type {number} */ opacity,
) => (opacity === 1 ? rest : { ...rest, opacity });

/** Tell whether a transform is drawn. @param {Transform} transform */
export const isMuted = (transform) => opacityOf(transform) === 0;
/** Tell whether a transform is the only one that is drawn. @param {Transforms} list @param {number} k */
export const isSolo = (list, k) =>
  list.length > 1 && list.every((each, index) => isMuted(each) === (index !== k));

/** Mute a transform, or draw it again. @param {Transforms} list @param {number} k @param {number[]} before opacities of before, by number
 * @returns {{list: Transforms, before: number[]}} */
export function muted(list, k, before) {
  if (isMuted(list[k])) return { list: list.with(k, withOpacity(list[k], before[k] || 1)), before };
  const known = list.map((_, index) => before[index] ?? opacityOf(list[index]));
  known[k] = opacityOf(list[k]);
  return { list: list.with(k, withOpacity(list[k], 0)), before: known };
}

/** Draw one transform alone, or all of before again. @param {Transforms} list @param {number} k @param {number[]} before
 * @returns {{list: Transforms, before: number[]}} */
export function soloed(list, k, before) {
  if (isSolo(list, k))
    return { list: list.map((each, index) => withOpacity(each, before[index] ?? 1)), before };
  const other = list.some((_, index) => isSolo(list, index)); // whose mates are muted for now
  const known = other && before.length === list.length ? before : list.map(opacityOf);
  return {
    list: list.map((each, index) => withOpacity(each, index === k ? known[k] || 1 : 0)),
    before: known,
  };
}

/** Return the list in another order, with the factors of each. @param {Transforms} list @param {number[]} order numbers of before */
function ordered(list, order) {
  return order.map((from) => {
    const { xaos, ...rest } = list[from];
    return xaos ? { ...rest, xaos: order.map((to) => xaos[to] ?? 1) } : rest;
  });
}

/** Return the numbers of before after one was moved. @param {number} count @param {number} from @param {number} to @returns {number[]} */
export function moving(count, from, to) {
  const all = Array.from({ length: count }, (_, k) => k);
  return all.toSpliced(from, 1).toSpliced(to, 0, from);
}

/** Move a transform to another's place. @param {Transforms} list @param {number} from @param {number} to */
export const reordered = (list, from, to) => ordered(list, moving(list.length, from, to));

/** Remove a transform. @param {Transforms} list @param {number} k */
export const without = (list, k) =>
  ordered(
    list,
    list.map((_, index) => index).filter((index) => index !== k),
  );

/** Put a copy of a transform after another one, with changes. @param {Transforms} list @param {number} k of the copied one @param {number} to @param {Transform} changes */
export function copied(list, k, to, changes) {
  const all = list.map((_, index) => index),
    made = ordered(list, all.toSpliced(to, 0, k));
  return made.with(to, { ...made[to], ...changes });
}

/** Return the affine maps of a symmetry: turns by parts of a circle, and a mirror. @param {number} fold @param {boolean} mirrored @returns {number[][]} */
function mapsOf(fold, mirrored) {
  const turns = Array.from({ length: fold - 1 }, (_, k) => {
    const angle = (2 * Math.PI * (k + 1)) / fold,
      [cos, sin] = [Math.cos(angle), Math.sin(angle)].map((part) => Number(part.toFixed(6)) + 0);
    return [cos, -sin + 0, 0, sin, cos, 0];
  });
  return mirrored ? [...turns, [-1, 0, 0, 0, 1, 0]] : turns;
}

const isNear = (/** @type {number[]} */ one, /** @type {number[]} */ other) =>
  one.every((part, k) => Math.abs(part - other[k]) < NEAR);

/** Tell whether a transform only moves points: it keeps their color, and draws all of them or none. @param {Transform} transform */
const isPlain = ({
  color_speed: speed = 0.5,
  variations = { linear: 1 },
  post = UNIT,
  opacity = 1,
}) =>
  speed === 0 &&
  (opacity === 1 || opacity === 0) &&
  isNear(post, UNIT) &&
  Object.entries(variations).join() === "linear,1";

/** Return the symmetry of a flame, and how many of its last transforms make it. @param {Transforms} list
 * @returns {{fold: number, mirrored: boolean, count: number}} fold 1: none, or the mirror alone */
export function symmetryOf(list) {
  let plain = 0;
  const last = list[list.length - 1]; // turns are drawn together: all are muted where another transform is drawn alone
  while (plain < list.length - 1) {
    const each = list[list.length - 1 - plain];
    if (!isPlain(each) || isMuted(each) !== isMuted(last)) break;
    plain++;
  }
  for (let count = plain; count > 0; count--) {
    const maps = list.slice(-count).map(({ affine = UNIT }) => affine);
    for (const mirrored of [true, false]) {
      const wanted = mapsOf(count + 1 - Number(mirrored), mirrored);
      if (wanted.every((map) => maps.some((each) => isNear(each, map))))
        return { fold: count + 1 - Number(mirrored), mirrored, count };
    }
  }
  return { fold: 1, mirrored: false, count: 0 };
}

/** Return a list with another symmetry: its turns have the weight of all others each, so all parts are alike bright.
 * @param {Transforms} list @param {{fold: number, mirrored: boolean}} wanted @returns {Transforms} */
export function withSymmetry(list, { fold, mirrored }) {
  const own = list.slice(0, list.length - symmetryOf(list).count),
    weight = own.reduce((sum, { weight: each = 1 }) => sum + each, 0) || 1;
  const alone = own.some((_, k) => isSolo(list, k));
  const turns = mapsOf(fold, mirrored).map((affine) => ({
    weight,
    affine,
    variations: { linear: 1 },
    color: 1,
    color_speed: 0,
    ...(alone && { opacity: 0 }),
  }));
  const kept = own.map(({ xaos, ...rest }) =>
    xaos ? { ...rest, xaos: xaos.slice(0, own.length) } : rest,
  );
  return [...kept, ...turns];
}
