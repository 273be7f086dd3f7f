/**
 * Another scene in place of what is shown: each is made of what is wished for. A formula that shows nothing at the place of
 * another one gives way to all of its set.
 */
import { Trial } from "./trial.js";
import { changedScene, movedTo, wholeOf, wishedOf } from "./wishes.js";
import { say } from "./words.js";

/** @typedef {import("./queue.js").Wish} Wish */

export class Changes {
  trial = new Trial();

  /** @param {import("./explorer.js").Explorer} explorer @param {import("./explorer.js").Parts} parts */
  constructor(explorer, { queue, chain, undo, flight, fit }) {
    this.explorer = explorer;
    this.queue = queue;
    this.chain = chain;
    this.undo = undo;
    this.flight = flight;
    this.fit = fit;
  }

  /** What is wished for, of which the explorer's `scene` may not be placed yet. */
  get wished() {
    const { scene, placed } = this.explorer;
    return wishedOf(this.queue.asked, { scene, placed, frame: this.chain.newest });
  }

  /** @param {Opened} what @param {string} [step] @param {{jump?: boolean, aim?: boolean, from?: number}} [how] as of `Explorer.open` @returns {Wish} */
  open(what, step = "", { jump = Boolean(this.explorer.placed), aim = false, from } = {}) {
    const { explorer, queue } = this,
      { julia } = what;
    const sent = julia
      ? { julia: { frame: this.chain.newest, at: this.flight.here(julia.at) } }
      : what;
    const noted = explorer.placed ? this.undo.remember(step) : null;
    if (noted && from !== undefined) noted.entry = from; // undo returns there, also from what can't be drawn
    explorer.announce("opening");
    this.fit.end();
    const entry = /** @type {Wish} */ ({ open: sent, noted, jump });
    queue.open(entry);
    explorer.asks++;
    const middle = explorer.size.map((side) => 8 * side),
      { middle: seen, share } = explorer.seen;
    if (aim && share < 1) {
      const by = seen.map((part, k) => part - middle[k]),
        scale = Math.floor(64 * Math.log2(share));
      queue.move({ at: middle, by, scale, turn: 0 }, "settled");
    }
    explorer.wake();
    return entry;
  }

  home() {
    this.open({ scene: wholeOf(this.wished.scene) }, "", { aim: !this.explorer.placed.camera });
  }

  /** @param {Place|((asked: Place) => Place)} change */
  place(change) {
    this.open({ scene: movedTo(this.wished.scene, change) });
  }

  /** Show another scene at the place that is wished for. @param {(wished: WholeScene) => WholeScene} change
   * @param {string} step @param {{jump?: boolean}} [how] as of `open` */
  #here(change, step, how) {
    const { scene, moves, frame } = this.wished,
      made = change(scene),
      entry = Object.assign(this.open({ scene: made }, step, how), { of: frame });
    for (const move of moves) this.queue.move(move, "settled");
    return { entry, made };
  }

  /** @param {Scene} keys @param {string} step as of `open` */
  keys(keys, step) {
    const { entry } = this.#here((scene) => changedScene(scene, keys), step, { jump: false });
    entry.edits = true;
  }

  /** @param {Formula} formula */
  formula(formula) {
    const step = `flight to formula ${this.flight.frame}`;
    if (!Trial.fits(this.explorer.placed)) return void this.open({ formula }, step, { aim: true });
    const { entry, made } = this.#here(
      (scene) => ({ ...scene, title: "", note: "", formula }),
      step,
    );
    entry.trial = { formula, step, scene: made };
  }

  /** Show the whole set of a formula of which nothing is seen here.
   * @param {import("./trial.js").Tried} tried @param {boolean} jump */
  leave({ formula, step, scene }, jump) {
    this.open({ formula }, step, { jump, aim: true });
    this.explorer.tell(say("nothing_of_this_formula_is"), "info", [
      say("stay_here"),
      () => void this.open({ scene }),
    ]);
  }
}
