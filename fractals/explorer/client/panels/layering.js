/**
 * The list `layers` of a scene's colors, from the bottom: layers, and groups of layers.
 *
 * @typedef {number[]} Path where a layer or a group is in the list; of a layer in a group, the group and its place there
 */

export const MOST = 16; // layers of a scene, those of groups counted

/** Return what lies at a path. @param {Table[]} layers @param {Path} path @returns {Table|undefined} */
export const at = (layers, [k, m]) => (m === undefined ? layers[k] : layers[k]?.layers?.[m]);

/** Return the list with another thing at a path. @param {Table[]} layers @param {Path} path @param {Table} thing @returns {Table[]} */
export function withAt(layers, [k, m], thing) {
  return layers.with(k, m === undefined ? thing : { ...layers[k], layers: layers[k].layers.with(m, thing) });
}

/** Return the list without what lies at a path; a group whose last layer is taken ends.
 * @param {Table[]} layers @param {Path} path @returns {Table[]} */
export function without(layers, [k, m]) {
  if (m === undefined || layers[k].layers.length === 1) return layers.toSpliced(k, 1);
  return layers.with(k, { ...layers[k], layers: layers[k].layers.toSpliced(m, 1) });
}

/** Return the list with a thing put at a path. @param {Table[]} layers @param {Path} path @param {Table} thing @returns {Table[]} */
export function putAt(layers, [k, m], thing) {
  if (m === undefined) return layers.toSpliced(k, 0, thing);
  return layers.with(k, { ...layers[k], layers: layers[k].layers.toSpliced(m, 0, thing) });
}

/** Move what lies at a path one step up (1) or down (-1). A layer goes into the group beside it, and out of its own at its end.
 * @param {Table[]} layers @param {Path} path @param {number} step @returns {{layers: Table[], path: Path}} */
export function moved(layers, path, step) {
  const thing = /** @type {Table} */ (at(layers, path)), [k, m] = path;
  if (m === undefined) {
    const beside = layers[k + step];
    if (!beside) return { layers, path };
    if (thing.layers || !beside.layers) return { layers: layers.toSpliced(k, 1).toSpliced(k + step, 0, thing), path: [k + step] };
    const group = step > 0 ? k : k - 1, to = [group, step > 0 ? 0 : beside.layers.length];
    return { layers: putAt(without(layers, path), to, thing), path: to };
  }
  const own = layers[k].layers, inside = m + step >= 0 && m + step < own.length;
  if (inside) return { layers: putAt(without(layers, path), [k, m + step], thing), path: [k, m + step] };
  const to = [step > 0 && own.length > 1 ? k + 1 : k];
  return { layers: putAt(without(layers, path), to, thing), path: to };
}

/** Put what lies at one path above what lies at another; a layer that is put on a group goes into it, on top.
 * @param {Table[]} layers @param {Path} from @param {Path} to @returns {{layers: Table[], path: Path}} */
export function dropped(layers, from, to) {
  const thing = at(layers, from), target = at(layers, to);
  if (!thing || !target || from.join() === to.join() || (thing.layers && (to.length > 1 || from[0] === to[0]))) return { layers, path: from };
  if (target.layers && !thing.layers && from[0] === to[0] && from.length > 1) return { layers, path: from }; // it is there
  const marked = /** @type {Table} */ ({ ...thing, moving: true }), enters = target.layers && !thing.layers;
  const path = enters ? [to[0], target.layers.length] : to.with(-1, /** @type {number} */ (to.at(-1)) + 1);
  const whole = withAt(layers, from, marked), added = putAt(whole, path, thing);
  const old = pathOf(added, (each) => each.moving);
  const left = without(added, old), found = pathOf(left, (each) => each === thing);
  return { layers: left, path: found };
}

/** @param {Table[]} layers @param {(thing: Table) => boolean} wanted @returns {Path} */
function pathOf(layers, wanted) {
  for (const [k, each] of layers.entries()) {
    if (wanted(each)) return [k];
    const m = each.layers?.findIndex(wanted) ?? -1;
    if (m >= 0) return [k, m];
  }
  return [];
}

/** Make a group of a layer. @param {Table[]} layers @param {Path} path */
export const grouped = (layers, path) => withAt(layers, path, { blend: "normal", opacity: 1, layers: [at(layers, path)] });

/** Put a group's layers in its place. @param {Table[]} layers @param {number} k */
export const ungrouped = (layers, k) => layers.toSpliced(k, 1, ...layers[k].layers);
