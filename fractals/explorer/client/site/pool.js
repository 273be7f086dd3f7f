/** Workers that draw: what waits is drawn in the order of its haste, and what is no longer wanted ends. */
import { isFused } from "./drawer.js";
import { told } from "./said.js";

const MOST = 8, // workers
  LONG = 2000, // ms: what takes longer is not done twice to be measured
  MOST_STEPS = 2 ** 23, // of the orbits that all workers keep, with some 100 bytes a step
  PATIENCE = 400; // ms that a job which nobody wants may still take

/** @typedef {import("./drawer.js").Job|import("./drawer.js").OrbitAsked} Asked */
/** @typedef {import("./drawer.js").Found} Found */
/** @typedef {{id: number, job: Asked, haste: number, signal?: AbortSignal, done: (found: Found) => void,
 * failed: (error: Error) => void, report?: import("./drawer.js").Report}} Waiting */
/** @typedef {{worker: Worker, now: Waiting|null, last: Record<string, object|null>}} Hand `last`: tables of its last job */

export class Pool {
  /** @type {Waiting[]} */ #waiting = [];
  /** @type {Hand[]} */ #hands = [];
  #count = 0;

  /** @param {string} folder of the programs @param {boolean} relaxed whether they have relaxed SIMD
   * @param {{encoding: Uint8Array, decoding: Float32Array}} tables of `Palettes` */
  constructor(folder, relaxed, { encoding, decoding }) {
    this.begin = { folder, encoding, decoding, plain: relaxed && !isFused() };
    this.size = Math.max(1, Math.min(MOST, navigator.hardwareConcurrency || 2));
  }

  /** Draw what a job asks for. @param {Asked} job @param {number} [haste] the least comes first
   * @param {AbortSignal} [signal] @param {import("./drawer.js").Report} [report] hears of the steps of an orbit
   * @returns {Promise<Found>} rejected with the reason of `signal` once it ends the job */
  draw(job, haste = 0, signal, report) {
    return new Promise((done, failed) => {
      if (signal?.aborted) return failed(signal.reason);
      const one = { id: ++this.#count, job, haste, signal, report, done, failed };
      this.#waiting.push(one);
      signal?.addEventListener("abort", () => this.#unwanted(one), { once: true });
      this.#next();
    });
  }

  #unwanted(/** @type {Waiting} */ one) {
    one.failed(one.signal?.reason);
    this.#waiting = this.#waiting.filter((each) => each !== one);
    const hand = this.#hands.find(({ now }) => now === one);
    if (hand) setTimeout(() => hand.now === one && this.#replace(hand), PATIENCE);
  }

  /** End a worker, and go on with others. @param {Hand} hand */
  #replace(hand) {
    hand.worker.terminate();
    this.#hands = this.#hands.filter((each) => each !== hand);
    this.#next();
  }

  #next() {
    this.#waiting.sort((one, other) => one.haste - other.haste || one.id - other.id);
    for (const one of [...this.#waiting]) {
      const most = handsFor(one.job, this.size);
      let hand = this.#hands.slice(0, most).find(({ now }) => !now);
      if (!hand && this.#hands.length < most) hand = this.#made();
      if (!hand && most === this.size) return; // all are at work
      if (!hand) continue;
      this.#waiting.splice(this.#waiting.indexOf(one), 1);
      hand.now = one;
      const job = { ...one.job };
      for (const key of /** @type {const} */ (["layers", "deep"])) {
        const table = job[key]; // which is long: a worker keeps the last one
        if (table === undefined) continue;
        if (hand.last[key] === table) delete job[key];
        hand.last[key] = table;
      }
      hand.worker.postMessage({ id: one.id, job });
    }
  }

  #made() {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" }),
      hand = /** @type {Hand} */ ({ worker, now: null, last: {} });
    worker.postMessage({ begin: this.begin });
    worker.onmessage = ({ data: { id, found, error, values, steps } }) => {
      const one = hand.now;
      if (!one || one.id !== id) return;
      if (steps) return one.signal?.aborted ? undefined : one.report?.(steps.done, steps.of);
      hand.now = null;
      if (error) one.failed(new Error(values ? told(error, values) : error));
      else one.done(found);
      this.#next();
    };
    worker.onerror = (event) => {
      event.preventDefault();
      hand.now?.failed(new Error(told("worker_failed")));
      this.#replace(hand);
    };
    this.#hands.push(hand);
    return hand;
  }
}

/** Return the ms that `draw` takes where its programs are there: the first time, a worker loads and compiles them.
 * @param {() => Promise<unknown>} draw @param {() => number} [now] the time in ms */
export async function paceOf(draw, now = () => performance.now()) {
  let least = Infinity;
  for (let times = 0; times < 2; times++) {
    const begun = now();
    await draw();
    least = Math.min(least, now() - begun);
    if (least > LONG) break;
  }
  return least;
}

/** Return how many workers may take a job: each keeps the orbit of a deep view, and its tables. @param {Asked} job @param {number} all */
function handsFor({ deep }, all) {
  const steps = deep ? deep.points.length / deep.columns : 1;
  return Math.max(1, Math.min(all, Math.floor(MOST_STEPS / steps)));
}
