/**
 * What is asked for and not placed yet: one view in flight, and one that is wished for.
 *
 * Moves that follow each other are one move. Where undo returns to in the middle of it is not drawn: it is told from the
 * frame before by the part of the move until there, which is what would have been sent.
 */
import { compose, merged } from "./frames.js";

/** @typedef {import("./frames.js").Move} Move */
/** @typedef {import("./history.js").State} State */
/** @typedef {{state: State, move: Move|null}} After a state of undo: where an entry ends, moved */
/** @typedef {{move?: Move|null, stage?: "moving"|"settled", size?: {map: number[]}, state?: State,
 *   open?: Partial<Sent.Open>, after?: After[], noted?: State|null, jump?: boolean, again?: boolean, returned?: boolean,
 *   color?: Color, of?: number|null, edits?: boolean, trial?: import("./trial.js").Tried}} Wish one of `move`, `size` (a canvas
 * of another size), `state` and `open`. `after`: what it leads to. Of `open`: `noted`, the state before it; `jump`: the
 * browser's Back returns to that; `again`: it is what a new connection begins with; `of`: a frame of the same place;
 * `edits`: it is the shown scene with other keys; `color`: chosen since then. `returned`: from a view that can't be drawn */
/** @typedef {Wish & {id: number, asked: Sent.Open|Sent.ViewMessage,
 *   drawn: Received.DrawnMessage|null, then: Move|null}} InFlight `drawn`: of the frame before; `then`: the move from its frame to the state that is wished for */

export class Queue {
  /** @type {Wish[]} */ entries = []; // what has not been sent
  /** @type {InFlight|null} */ flight = null; // the `view` or `open` that is not answered

  /** @param {(after: After) => void} fill a state that is told from what is placed now */
  constructor(fill) {
    this.fill = fill;
  }

  /** What is not placed yet, in its order. @returns {Wish[]} */
  get asked() {
    return this.flight ? [this.flight, ...this.entries] : this.entries;
  }
  /** Whether a scene is wanted that is not placed yet. */
  get opening() {
    return this.asked.some(({ open }) => open);
  }
  /** Whether a scene of another place is wanted that is not placed yet. */
  get leaving() {
    return this.asked.some(isElsewhere);
  }

  /** Note a state: where all that is asked for leads. @param {State} state */
  note(state) {
    this.#tell(this.asked.at(-1), { state, move: null });
  }

  /** Add a move; it joins the one before, if that is not sent yet. @param {Move} move @param {"moving"|"settled"} stage */
  move(move, stage) {
    const last = this.entries.at(-1),
      whole = last?.move && merged(last.move, move);
    if (last && whole && this.#hand(last)) Object.assign(last, { move: whole, stage });
    else this.entries.push({ move, stage });
  }

  /** Add another size of the canvas; it joins the one before, if that is not sent yet. @param {number[]} map from the canvas before */
  size(map) {
    const last = this.entries.at(-1);
    if (last?.size && !last.after) last.size = { map: compose(last.size.map, map) };
    else this.entries.push({ size: { map } });
  }

  /** Add a scene; what leads to the view that is left is not drawn. @param {Wish} entry */
  open(entry) {
    this.#leave(true);
    this.entries.push(entry);
  }

  /** Add a state of undo, in place of what is not sent yet. @param {State} state */
  show(state) {
    this.#leave(false);
    const last = this.asked.at(-1);
    if (last?.state !== state || last.color) this.entries.push({ state });
  }

  /** Forget all; nothing leads to the states that are returned. @returns {State[]} */
  fail() {
    const never = this.asked.flatMap(({ after }) => after ?? []);
    this.entries = [];
    this.flight = null;
    return never.map(({ state }) => state);
  }

  /** Remove what a newer wish makes needless, the last first. @param {boolean} sized whether the wish has the new size */
  #leave(sized) {
    for (let last = this.entries.at(-1); last; last = this.entries.at(-1)) {
      if (last.move ? !this.#hand(last) : last.after || (last.size && !sized)) return;
      this.entries.pop();
    }
  }

  /** Tell the states at the end of the last entry, a move, from the entry before it.
   * @param {Wish} last @returns {boolean} false: one move can't say it */
  #hand(last) {
    const handed = [];
    for (const { state, move } of last.after ?? []) {
      const whole = last.move && joined(last.move, move);
      if (!whole) return false;
      handed.push({ state, move: whole });
    }
    delete last.after;
    const before = this.asked.at(-2);
    for (const each of handed) this.#tell(before, each);
    return true;
  }

  /** Tell a state from where an entry ends. @param {Wish|undefined} entry @param {After} after */
  #tell(entry, after) {
    if (!entry) this.fill(after);
    else if (!entry.state || !this.#beside(entry.state, after)) (entry.after ??= []).push(after);
  }

  /** Tell a state from another one. @param {State} known @param {After} after @returns {boolean} whether that can be */
  #beside(known, { state, move }) {
    const whole = (/** @type {Move|null|undefined} */ first) =>
      first ? joined(first, move) : move;
    if (known.scene) {
      const moved = whole(known.move);
      if (known.move && !moved) return false;
      const { frame, scene, origin, entry } = known;
      const colored = state.color ? { ...scene, color: state.color } : scene;
      Object.assign(state, { frame, scene: colored, origin, entry, ...(moved && { move: moved }) });
      return true;
    }
    for (const { after } of this.asked) {
      const found = after?.find((each) => each.state === known);
      if (!after || !found) continue;
      const moved = whole(found.move);
      if (found.move && !moved) return false;
      after.push({ state, move: moved });
      return true;
    }
    return false;
  }
}

/** @param {Move} first @param {Move|null} second @returns {Move|null} null: one move can't say it */
const joined = (first, second) => (second ? merged(first, second) : first);

/** Tell whether a wish is a scene of another place than that of what is shown. @param {Wish} wish */
export const isElsewhere = ({ open, of = null }) => Boolean(open) && of === null;
