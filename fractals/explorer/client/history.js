/** What undo and redo return to: frames, and the scenes that they show. */
import { observe } from "./state.js";

const DEPTH = 200;
const TOGETHER = 700; // ms between moves of one step, from when the earlier one is seen

/** @typedef {{frame: number, scene: WholeScene|null, origin: number, entry: number, still?: string, color?: Color, move?: import("./frames.js").Move}} State `scene` null: not placed
 * yet; `entry`: of the browser's list of pages, which has one for each jump; `still`: a small picture's address, if it was settled; `move`: from the frame
 * and scene to what is shown, where no frame was drawn of it */

/** @typedef {"back"|"forth"} Side */
const BACK = /** @type {Side} */ ("back"),
  FORTH = /** @type {Side} */ ("forth");

export class History {
  back = /** @type {State[]} */ ([]);
  forth = /** @type {State[]} */ ([]);
  #step = "";
  #when = 0;
  #unseen = false; // whether nothing was drawn since the newest change

  constructor() {
    observe(this, "back", "forth");
  }

  get canUndo() {
    return this.back.length > 0;
  }
  get canRedo() {
    return this.forth.length > 0;
  }

  /** Note the state before a change. @param {string} step changes of the same name, shortly one
   * after the other, are one step; those of "flight 1" and "gesture 1" are one step however long it takes;
   * "" is always a step of its own @param {() => State} now @returns {State|null} what was noted */
  note(step, now) {
    const soon =
      this.#unseen || /^(flight|gesture) /.test(step) || performance.now() - this.#when < TOGETHER;
    const same = step && step === this.#step && soon;
    this.#step = step;
    this.#when = performance.now();
    this.#unseen = true;
    if (same) return null;
    const state = now();
    this.back = [...this.back, state].slice(-DEPTH);
    this.forth = [];
    return state;
  }

  /** Something was drawn: on a busy machine long after the change, and a user waits to see one before the next. */
  seen() {
    if (this.#unseen) this.#when = performance.now();
    this.#unseen = false;
  }

  /** Make the next change a step of its own, whatever its name. */
  end() {
    this.#step = "";
  }

  /** @param {() => State} now @returns {State|undefined} the state to show */
  undo(now) {
    return this.#go(BACK, FORTH, now);
  }

  redo(/** @type {() => State} */ now) {
    return this.#go(FORTH, BACK, now);
  }

  /** Return to the newest state before a jump, or to the first one after it. @param {number} entry
   * @param {() => State} now @returns {State|undefined} */
  turnTo(entry, now) {
    const here = now(),
      past = here.entry > entry;
    const [from, to] = past ? [BACK, FORTH] : [FORTH, BACK];
    const there = this[from].findLastIndex((state) =>
      past ? state.entry <= entry : state.entry >= entry,
    );
    let state = /** @type {State|undefined} */ (undefined);
    while (there >= 0 && this[from].length > there) state = this.#go(from, to, () => state ?? here);
    return state;
  }

  /** Keep what is known of the states, for the page's next life. @returns {{back: State[], forth: State[]}} */
  toJSON() {
    const plain = (/** @type {State[]} */ states) =>
      states
        .filter(({ scene }) => scene)
        .map(({ scene, entry, still, move }) => ({
          frame: 0,
          scene,
          origin: -1,
          entry,
          still,
          ...(move && { move }),
        }));
    return { back: plain(this.back), forth: plain(this.forth) };
  }

  #go(/** @type {Side} */ from, /** @type {Side} */ to, /** @type {() => State} */ now) {
    this.#step = "";
    const state = this[from].at(-1);
    if (state === undefined) return undefined;
    this[to] = [...this[to], now()];
    this[from] = this[from].slice(0, -1);
    return state;
  }

  /** Forget states whose frame was never placed. */
  clean(/** @type {(state: State) => boolean} */ isLost) {
    this.back = this.back.filter((state) => !isLost(state));
    this.forth = this.forth.filter((state) => !isLost(state));
  }
}
