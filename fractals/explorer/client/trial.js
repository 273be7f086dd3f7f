/** A formula that is tried at the place of another one: where nothing of it is seen or can be drawn, all of it is shown. */

/** @typedef {{formula: Formula, step: string, scene: Scene}} Tried the formula, and its scene at the place; `step`: of undo */

export class Trial {
  /** @type {Tried|null} */ #shown = null; // placed, and not drawn yet

  /** Whether a formula is tried at the place that is shown: not where all of one formula, a Julia set or an image of points is.
   * @param {{julia?: object|null, octaves: number, values: boolean}} placed */
  static fits({ julia, octaves, values }) {
    return !julia && octaves >= 1 && values;
  }

  /** A view is placed. @param {{trial?: Tried}} flight */
  placed({ trial }) {
    this.#shown = trial ?? null;
  }

  /** A picture has come. @param {Received.DrawnMessage} drawn @param {boolean} values of the frame
   * @returns {Tried|null} what is left, because nothing of it is seen */
  drawn({ pass, least, most }, values) {
    const tried = this.#shown;
    this.#shown = null;
    return pass === "coarse" && values && least === most ? tried : null;
  }

  /** A message has failed. @param {Received.ErrorMessage} error @param {{id: number, trial?: Tried}|null} flight
   * @param {number} newest frame @returns {{tried: Tried, flew: boolean}|null} what is left, because it can't be drawn here;
   * `flew`: it was not placed */
  failed({ re, frame, key = "" }, flight, newest) {
    const own = key.split(".")[0] === "formula", // an error of the formula is no matter of the place
      flew = Boolean(flight?.trial) && frame === flight?.id && !own;
    const tried = flew ? flight?.trial : frame === newest && re === "open" ? this.#shown : null;
    if (!tried) return null;
    this.#shown = null;
    return { tried, flew };
  }
}
