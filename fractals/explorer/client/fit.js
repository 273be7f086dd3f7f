/** Density and offset of a layer whose coloring or palette was chosen: they are fitted to its values, once these have come. */
import { changed } from "./paints.js";

export class Fit {
  /** @type {{layer: number}|null} */ #wanted = null;

  /** @param {import("./explorer.js").Explorer} explorer @param {(color: Color) => void} put */
  constructor(explorer, put) {
    this.explorer = explorer;
    this.put = put;
  }

  get waits() {
    return this.#wanted !== null;
  }

  /** Fit a layer (0: the base) once its values are there. @param {number} [layer] undefined: none */
  want(layer) {
    this.#wanted = layer === undefined ? null : { layer };
  }
  /** Fit nothing more. */
  end() {
    this.#wanted = null;
  }

  /** Values have come: fit what waits for them. Without an answer it waits for the next ones, if any will come. */
  async arrived() {
    const { explorer } = this,
      wanted = this.#wanted;
    if (!wanted) return;
    const { layer } = wanted,
      told = await explorer.request({ t: "fit", layer, chosen: true }).catch(() => null);
    if (wanted !== this.#wanted || (!told && explorer.drawn?.pass !== "exact")) return; // else it is asked again once more is drawn
    this.#wanted = null;
    if (!told) return;
    const { density, offset } = told;
    this.put(changed(explorer.scene.color, layer, { density, offset }));
  }
}
