/** Frames of the screen, as long as there is something to draw; a page that is not seen draws none. */

const LONGEST = 0.1; // seconds between two frames, as animations are told

export class Ticker {
  #animations = /** @type {Set<(seconds: number) => void>} */ (new Set());
  #waiting = 0; // the id of the next frame, if one is asked for
  #time = 0; // of the newest frame

  /** @param {(time: number, seconds: number) => boolean} draw is called in each frame, with its time in ms and the seconds since
   * the last one; true: another frame is wanted @param {AbortSignal} ended */
  constructor(draw, ended) {
    this.draw = draw;
    this.ended = ended;
    document.addEventListener("visibilitychange", () => this.wake(), { signal: ended });
    ended.addEventListener("abort", () => cancelAnimationFrame(this.#waiting));
  }

  /** Draw a frame soon. */
  wake() {
    if (this.#waiting || document.hidden || this.ended.aborted) return;
    this.#waiting = requestAnimationFrame((time) => this.#tick(time));
  }

  /** Call a function before each frame, with the seconds since the last.
   * @param {(seconds: number) => void} each @returns {() => void} ends it */
  animate(each) {
    this.#animations.add(each);
    this.wake();
    return () => this.#animations.delete(each);
  }

  #tick(/** @type {number} */ time) {
    this.#waiting = 0;
    if (document.hidden) return; // it goes on once the page is seen
    const seconds = Math.min(LONGEST, (time - this.#time) / 1000);
    this.#time = time;
    for (const each of this.#animations) each(seconds);
    if (this.draw(time, seconds) || this.#animations.size) this.wake();
  }
}
