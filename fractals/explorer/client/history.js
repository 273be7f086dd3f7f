/** What undo and redo return to: frames, and the scenes that they show. */
import { observe } from "./state.js";

const DEPTH = 200;
const TOGETHER = 500; // ms between moves of one step

/** @typedef {{frame: number, scene: Table|null, origin: number}} State `scene` null: not placed yet */

export class History {
  back = [];
  forth = [];
  #step = "";
  #when = 0;

  constructor() { observe(this, "back", "forth"); }

  get canUndo() { return this.back.length > 0; }
  get canRedo() { return this.forth.length > 0; }

  /** Note the state before a change. @param {string} step changes of the same name, shortly one
   * after the other, are one step; those of "flight 1" are one step however long it takes; "" is
   * always a step of its own @param {() => State} now */
  note(step, now) {
    const soon = step.startsWith("flight ") || performance.now() - this.#when < TOGETHER;
    const same = step && step === this.#step && soon;
    this.#step = step;
    this.#when = performance.now();
    if (same) return;
    this.back = [...this.back, now()].slice(-DEPTH);
    this.forth = [];
  }

  /** @param {() => State} now @returns {State|undefined} the state to show */
  undo(now) { return this.#go("back", "forth", now); }

  redo(now) { return this.#go("forth", "back", now); }

  #go(from, to, now) {
    this.#step = "";
    const state = this[from].at(-1);
    if (state === undefined) return undefined;
    this[to] = [...this[to], now()];
    this[from] = this[from].slice(0, -1);
    return state;
  }

  /** Forget states whose frame was never placed. */
  clean(isLost) {
    this.back = this.back.filter((state) => !isLost(state));
    this.forth = this.forth.filter((state) => !isLost(state));
  }
}
