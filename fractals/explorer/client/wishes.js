/** Scenes that are like the one that is shown, at another place or with other keys. What is asked for and not shown yet stays. */

/** @typedef {import("./queue.js").Queue} Queue */
const UNNAMED = { title: "", author: "", rights: "", note: "" };

/** Return the scene where all of its formula is seen. @param {WholeScene} scene @param {Received.Placed} placed @returns {WholeScene} */
export function wholeOf(scene, placed) {
  const { position: _position, target: _target, ...camera } = scene.camera ?? {};
  return { ...scene, view: kindOf(scene.view), ...(placed.camera && { camera }) };
}

/** Return the place that is wished for: some of center, width or zoom, and rotation are changed.
 * @param {Queue} queue @param {Received.Placed} placed @param {Place|((asked: Place) => Place)} change @returns {Place} */
export function placeOf(queue, { center, width, rotation }, change) {
  const asked = queue.asked.findLast(({ place }) => place)?.place ?? { center, width, rotation };
  const given = typeof change === "function" ? change(asked) : change;
  const { width: _width, zoom: _zoom, ...rest } = asked;
  return { ...(given.width || given.zoom ? rest : asked), ...given };
}

/** Return the scene at another place of its plane. @param {WholeScene} scene @param {Place} place @returns {WholeScene} */
export function sceneAt(scene, { center, width, zoom, rotation }) {
  const place = Object.entries({ center, width, zoom, rotation }).filter(
    ([, value]) => value !== undefined,
  );
  return { ...scene, view: { ...kindOf(scene.view), ...Object.fromEntries(place) } };
}

/** Return the keys that are wished for. @param {Queue} queue @param {Scene} keys @returns {Scene} */
export function keysOf(queue, keys) {
  return { ...queue.asked.findLast((each) => each.keys)?.keys, ...keys };
}

/** Return the scene with other keys, at the same place. @param {WholeScene} scene @param {Received.Placed} placed @param {Scene} keys @returns {WholeScene} */
export function changedScene(scene, placed, keys) {
  const { center, width, rotation, camera } = placed;
  const here = camera ? { ...scene, view: {} } : sceneAt(scene, { center, width, rotation });
  return { ...here, ...UNNAMED, ...keys, view: here.view };
}

/** Return the keys of a view that a formula's plane has, and not its place. */
function kindOf(/** @type {Scenes.View} */ { mirror, stretch, stretch_angle }) {
  return Object.fromEntries(
    Object.entries({ mirror, stretch, stretch_angle }).filter(([, value]) => value !== undefined),
  );
}
