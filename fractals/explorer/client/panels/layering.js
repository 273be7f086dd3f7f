/**
 * The list `layers` of a scene's colors, from the bottom: layers, and groups of layers and groups.
 *
 * @typedef {number[]} Path where a layer or a group is: places in the list, in the group there, and so on
 */

import { DEEPEST } from "../shaders.js";
import { words } from "../words.js";
import { coloringName } from "./colors.js";

export const MOST = 16; // layers of a scene, those of groups counted

/** Return names of the base and the layers; where a coloring comes twice, with the layer's number from the bottom.
 * @param {{paint: Paint}[]} paints as of `paintsOf` @returns {string[]} */
export function layerNames(paints) {
  const [base, ...names] = paints.map(({ paint }) => words(coloringName(paint)));
  const isOne = (/** @type {string} */ name) => names.indexOf(name) === names.lastIndexOf(name);
  return [base, ...names.map((name, k) => (isOne(name) ? name : `${name} ${k + 1}`))];
}

/** Return what lies at a path. @param {Paint[]} layers @param {Path} path @returns {Paint|undefined} */
export const at = (layers, [k, ...rest]) =>
  rest.length ? at(layers[k]?.layers ?? [], rest) : layers[k];

/** Return the list after what lies around the end of a path has changed.
 * @param {Paint[]} layers @param {Path} path @param {(own: Paint[], k: number) => Paint[]} change of the innermost list @returns {Paint[]} */
function around(layers, [k, ...rest], change) {
  return rest.length
    ? layers.with(k, { ...layers[k], layers: around(layers[k].layers ?? [], rest, change) })
    : change(layers, k);
}

/** Return the list with another thing at a path. @param {Paint[]} layers @param {Path} path @param {Paint} thing */
export const withAt = (layers, path, thing) => around(layers, path, (own, k) => own.with(k, thing));

/** Return the list with a thing put at a path. @param {Paint[]} layers @param {Path} path @param {Paint} thing */
const putAt = (layers, path, thing) => around(layers, path, (own, k) => own.toSpliced(k, 0, thing));

/** Return the list without what lies at a path; a group whose last layer is taken ends.
 * @param {Paint[]} layers @param {Path} path @returns {Paint[]} */
export function without(layers, path) {
  const outer = path.slice(0, -1);
  if (outer.length && at(layers, outer)?.layers?.length === 1) return without(layers, outer);
  return around(layers, path, (own, k) => own.toSpliced(k, 1));
}

/** Return how many groups lie in one another, from this thing on. @param {Paint} thing @returns {number} */
const depthOf = (thing) => (thing.layers ? 1 + Math.max(...thing.layers.map(depthOf)) : 0);

/** Move what lies at a path one step up (1) or down (-1): into a group beside it, and out of its own at its end.
 * @param {Paint[]} layers @param {Path} path @param {number} step @returns {{layers: Paint[], path: Path}} */
export function moved(layers, path, step) {
  const k = /** @type {number} */ (path.at(-1)),
    outer = path.slice(0, -1),
    beside = at(layers, path.with(-1, k + step));
  const thing = /** @type {Paint} */ (at(layers, path)),
    enters = beside?.layers && outer.length + 1 + depthOf(thing) <= DEEPEST;
  if (k + step >= 0 && beside)
    return transferred(
      layers,
      path,
      enters
        ? [...path.with(-1, k + step), step > 0 ? 0 : (beside.layers?.length ?? 0)]
        : path.with(-1, step > 0 ? k + 2 : k - 1),
    );
  if (!outer.length) return { layers, path };
  return transferred(
    layers,
    path,
    step > 0 ? outer.with(-1, /** @type {number} */ (outer.at(-1)) + 1) : outer,
  );
}

/** Put what lies at one path above what lies at another; what is put on a group goes into it, on top.
 * @param {Paint[]} layers @param {Path} from @param {Path} to @returns {{layers: Paint[], path: Path}} */
export function dropped(layers, from, to) {
  const thing = at(layers, from),
    target = at(layers, to),
    inside = from.every((part, k) => part === to[k]);
  const enters = target?.layers && from.slice(0, -1).join() !== to.join();
  const path = enters
    ? [...to, target.layers?.length ?? 0]
    : to.with(-1, /** @type {number} */ (to.at(-1)) + 1);
  const there = target?.layers && !enters; // it is in this group
  if (!thing || !target || inside || there || path.length - 1 + depthOf(thing) > DEEPEST)
    return { layers, path: from };
  return transferred(layers, from, path);
}

/** Take what lies at one path, and put it where another path leads before that. @param {Paint[]} layers @param {Path} from @param {Path} to
 * @returns {{layers: Paint[], path: Path}} */
function transferred(layers, from, to) {
  const thing = /** @type {Paint} */ (at(layers, from)),
    marked = { ...thing, moving: true };
  const added = putAt(withAt(layers, from, marked), to, thing),
    left = without(added, pathOf(added, (each) => each === marked) ?? []);
  return { layers: left, path: pathOf(left, (each) => each === thing) ?? [] };
}

/** @param {Paint[]} layers @param {(thing: Paint) => boolean} wanted @returns {Path|null} */
function pathOf(layers, wanted) {
  for (const [k, each] of layers.entries()) {
    if (wanted(each)) return [k];
    const inner = pathOf(each.layers ?? [], wanted);
    if (inner) return [k, ...inner];
  }
  return null;
}

/** Tell whether there may be a group of what lies at a path. @param {Paint[]} layers @param {Path} path */
export const canGroup = (layers, path) => path.length + depthOf(at(layers, path) ?? {}) <= DEEPEST;

/** Make a group of what lies at a path; the picture stays, because the group blends as the thing did.
 * @param {Paint[]} layers @param {Path} path */
export function grouped(layers, path) {
  const thing = /** @type {Paint} */ (at(layers, path)),
    { blend = "auto", opacity = 1 } = thing;
  if (blend === "auto")
    return withAt(layers, path, { blend: "normal", opacity: 1, layers: [thing] }); // which only the server knows
  return withAt(layers, path, {
    blend,
    opacity,
    layers: [{ ...thing, blend: "normal", opacity: 1 }],
  });
}

/** Put what a group holds in its place; a single thing, which no mask hides, blends as the group did.
 * @param {Paint[]} layers @param {Path} path */
export const ungrouped = (layers, path) =>
  around(layers, path, (own, k) => {
    const { blend, opacity = 1, picture_mask: mask, layers: [first, ...others] = [] } = own[k];
    const alone = !others.length && !mask && (first.blend ?? "normal") === "normal";
    return own.toSpliced(
      k,
      1,
      ...(alone
        ? [{ ...first, blend, opacity: opacity * (first.opacity ?? 1) }]
        : [first, ...others]),
    );
  });
