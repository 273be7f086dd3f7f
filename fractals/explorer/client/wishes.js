/**
 * The scene that is wished for: what is shown, with all that is asked for and not shown yet. Panels show it, and changes start
 * from it: else a change that follows another one at once would be a change of what was there before both.
 */

/** @typedef {import("./queue.js").Wish} Wish */
/** @typedef {import("./frames.js").Move} Move */
/** @typedef {{scene: WholeScene, moves: Move[], frame: number|null}} Wished the moves lead from the scene's place to the wished one, and the frame
 * shows that place; null: none does yet */
const UNNAMED = { title: "", author: "", rights: "", note: "" };

/** Return what is wished for. Of a scene that only the server knows nothing is told: what was wished for before it is.
 * @param {Wish[]} asked in its order @param {{scene: WholeScene, placed: Received.Placed, frame: number}} shown @returns {Wished} */
export function wishedOf(asked, { scene, placed, frame }) {
  const states = new Map(); // of undo, which are not shown yet: what is wished for there
  let now = /** @type {Wished} */ ({ scene: pinned(scene, placed), moves: [], frame }),
    known = true;
  for (const { move, state, open, of: at = null, color, after = [] } of asked) {
    const opened = open && sceneOf(open, now.scene);
    if (open) known = Boolean(opened);
    if (move && known) now = { ...now, moves: [...now.moves, move] };
    else if (state) now = stateOf(state) ?? states.get(state) ?? now;
    else if (opened) now = { scene: opened, moves: [], frame: at };
    if (color && known) now = { ...now, scene: { ...now.scene, color } };
    for (const { state: told, move: further } of after)
      states.set(told, {
        scene: told.color ? { ...now.scene, color: told.color } : now.scene,
        moves: further ? [...now.moves, further] : now.moves,
        frame: now.frame,
      });
  }
  return now;
}

/** Return the scene that a message opens; undefined: only the server knows it. @param {Partial<Sent.Open>} open @param {WholeScene} before */
function sceneOf({ scene, formula }, { image }) {
  const whole = { ...UNNAMED, formula: "mandelbrot", color: {}, view: {}, image };
  return scene || formula
    ? /** @type {WholeScene} */ ({ ...whole, ...(scene ?? { formula }) })
    : undefined;
}

/** Return what is wished for where a state of undo is shown again. @param {import("./history.js").State} state @returns {Wished|null} */
const stateOf = ({ scene, move, frame }) =>
  scene && { scene, moves: move ? [move] : [], frame: frame || null };

/** Return a scene with its place said: what is opened in its place lies there, too. @param {WholeScene} scene @param {Received.Placed} placed */
export function pinned(scene, { center, width, rotation, camera }) {
  return camera ? { ...scene, view: {} } : sceneAt(scene, { center, width, rotation });
}

/** Return the scene where all of its formula is seen. @param {WholeScene} scene @returns {WholeScene} */
export function wholeOf(scene) {
  const { camera: given, ...rest } = scene,
    { position: _position, target: _target, ...camera } = given ?? {};
  return { ...rest, view: kindOf(scene.view), ...(given && { camera }) };
}

/** Return the scene at a place of which some of center, width or zoom, and rotation are changed.
 * @param {WholeScene} scene @param {Place|((asked: Place) => Place)} change @returns {WholeScene} */
export function movedTo(scene, change) {
  const { center, width, zoom, rotation } = scene.view,
    asked = /** @type {Place} */ ({ center, width, zoom, rotation });
  const given = typeof change === "function" ? change(asked) : change;
  const { width: _width, zoom: _zoom, ...rest } = asked;
  return sceneAt(scene, { ...(given.width || given.zoom ? rest : asked), ...given });
}

/** Return the scene at another place of its plane. @param {WholeScene} scene @param {Place} place @returns {WholeScene} */
export function sceneAt(scene, { center, width, zoom, rotation }) {
  const place = Object.entries({ center, width, zoom, rotation }).filter(
    ([, value]) => value !== undefined,
  );
  return { ...scene, view: { ...kindOf(scene.view), ...Object.fromEntries(place) } };
}

/** Return the scene with other keys, at the same place. @param {WholeScene} scene @param {Scene} keys @returns {WholeScene} */
export const changedScene = (scene, keys) => ({ ...scene, ...UNNAMED, ...keys, view: scene.view });

/** Return the keys of a view that a formula's plane has, and not its place. */
function kindOf(/** @type {Scenes.View} */ { mirror, stretch, stretch_angle }) {
  return Object.fromEntries(
    Object.entries({ mirror, stretch, stretch_angle }).filter(([, value]) => value !== undefined),
  );
}
