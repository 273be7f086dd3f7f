/** What undo and redo return to: states of the view, some of which are not placed yet. */
import { messageOf } from "./frames.js";
import { History } from "./history.js";

const KEPT = 250; // frames back that the server surely keeps

/** @typedef {import("./history.js").State} State */
/** @typedef {import("./frames.js").Move} Move */
/** @typedef {Omit<Sent.Open, "frame">|Omit<Sent.ViewMessage, "frame">} Unnumbered */
/** @typedef {{scene: WholeScene|null, entry: number, size: number[]}} Shown what the model shows; `entry`: of the browser's list of pages */

export class Undo {
  history = new History();
  origin = 0; // number of the scene that was opened
  still = ""; // a small picture of what is shown and settled, as an address

  /** @param {Shown} shown @param {import("./queue.js").Queue} queue @param {import("./frames.js").Chain} chain
   * @param {(color: Color) => void} paint gets the colors of a state whose frame is shown again */
  constructor(shown, queue, chain, paint) {
    this.shown = shown;
    this.queue = queue;
    this.chain = chain;
    this.paint = paint;
  }

  /** Note the state before a change. @param {string} step as of `History.note` @returns {State|null} what was noted */
  remember(step) {
    const noted = this.history.note(step, () => this.now());
    this.still = "";
    return noted;
  }

  /** Return the state of now; what is not placed yet fills it in later. @returns {State} */
  now() {
    const last = this.queue.asked.at(-1),
      { scene, entry } = this.shown;
    if (!last)
      return { frame: this.chain.newest, scene, origin: this.origin, entry, still: this.still };
    if (last.state && !last.color) return last.state;
    const coming = this.queue.asked.findLast(({ open, state }) => open ?? state),
      color = coming ? colorOf(coming) : scene?.color;
    const state = { frame: 0, scene: null, origin: 0, color, entry };
    this.queue.note(state);
    return state;
  }

  /** Fill in a state from what is placed now: the newest frame, moved. @param {import("./queue.js").After} after
   * @param {WholeScene|null} [opened] the scene, if it was just opened */
  fill({ state, move }, opened) {
    const shown = /** @type {WholeScene} */ (opened ?? this.shown.scene),
      scene = state.color ? { ...shown, color: state.color } : shown;
    const { newest } = this.chain,
      at = { frame: newest, scene, origin: this.origin, entry: this.shown.entry };
    Object.assign(state, at, move && { move });
  }

  /** The states that undo and redo return to, the oldest first. @returns {{back: State[], forth: State[]}} */
  get steps() {
    return { back: this.history.back, forth: [...this.history.forth].reverse() };
  }

  /** Undo (below 0) or redo some steps at once. @param {number} count @returns {State|undefined} the state to show */
  step(count) {
    let state = /** @type {State|undefined} */ (undefined);
    for (let k = Math.abs(count); k > 0; k--)
      state = this.history[count < 0 ? "undo" : "redo"](() => state ?? this.now()) ?? state;
    return state;
  }

  /** Return to what was shown at an entry of the browser's list. @param {number} entry @returns {State|undefined} */
  turnTo(entry) {
    return this.history.turnTo(entry, () => this.now());
  }

  /** Return the message for a state: a kept frame, or its scene; null: nothing is known of it.
   * @param {State} state @param {number} frame the newest id @returns {Unnumbered|null} */
  restoring(state, frame) {
    if (!state.scene) return null;
    const { shown } = this,
      kept = state.origin === this.origin && state.frame > frame - KEPT;
    if (!kept || state.scene.image?.size?.join() !== shown.size.join())
      return { t: "open", scene: state.scene };
    if (JSON.stringify(state.scene.color) !== JSON.stringify(shown.scene?.color))
      this.paint(state.scene.color ?? {});
    return { t: "view", base: state.frame, ...(state.move && messageOf(state.move)) };
  }
}

/** Return the colors of a scene that comes; undefined: only the server knows them. @param {import("./queue.js").Wish} wish */
const colorOf = ({ color, open, state }) =>
  color ?? open?.scene?.color ?? state?.scene?.color ?? state?.color;

/** Return the move from a state's scene to the state, on a canvas of another size; null: none is needed.
 * @param {State} state @param {number[]} size @returns {Move|null} */
export function resized({ move, scene }, size) {
  if (!move) return null;
  const before = scene?.image?.size ?? size,
    k = size[0] / before[0];
  const at = move.at.map((part, axis) =>
    Math.round(8 * size[axis] + k * (part - 8 * before[axis])),
  );
  const by = move.by.map((part) => Math.round(k * part));
  return { ...move, at, by, about: undefined }; // a search may be forgotten
}
