/** Pictures of a page without a server, besides its view: small ones, thumbnails and files. */
import { blocks, cut, lay, sideOf } from "./parts.js";
import { gridOf, planOf } from "./plan.js";
import { KEYWORD, pngOf } from "./png.js";
import { curved, fitted } from "./values.js";
import { settle } from "./views.js";

/** @typedef {import("./pool.js").Asked} Asked */

export const HASTE = { question: 0, julia: 1, view: 2, sheet: 3, file: 4 }; // the least comes first
export const FIT = [96, 54]; // samples that a fit and a histogram are made of

export class Pictures {
  /** @param {{facts: SiteFacts, palettes: import("./palettes.js").Palettes, pool: import("./pool.js").Pool}} own */
  constructor({ facts, palettes, pool }) {
    this.facts = facts;
    this.palettes = palettes;
    this.pool = pool;
  }

  /** Return the plan of a scene, with its limit and count offset, and what draws its parts.
   * @param {SiteScene} scene @param {number} haste @param {AbortSignal} signal */
  async #opened(scene, haste, signal) {
    const plan = planOf(this.facts, this.palettes, scene),
      draw = (/** @type {Asked} */ job) => this.pool.draw(job, haste, signal);
    return { plan: { ...plan, ...(await settle(this.facts, plan, draw)) }, draw };
  }

  /** Draw a small picture of a scene. @param {SiteScene} scene @param {number[]} size @param {number} haste
   * @param {AbortSignal} signal @returns {Promise<Uint8Array>} */
  async small(scene, size, haste, signal) {
    const image = { ...scene.image, size, supersampling: 1 },
      { plan, draw } = await this.#opened({ ...scene, image }, haste, signal),
      { rgb } = await draw({ ...plan, ...gridOf(plan, size, 1), n: 1, want: "pixels" });
    return rgb;
  }

  /** Return a scene with density and offset that fit it. @param {SiteScene} scene @param {AbortSignal} signal @returns {Promise<SiteScene>} */
  async fittedTo(scene, signal) {
    const image = { ...scene.image, size: FIT, supersampling: 1 },
      { plan, draw } = await this.#opened({ ...scene, image }, HASTE.sheet, signal),
      [own] = plan.layers,
      grid = gridOf(plan, FIT, 1),
      { values } = await draw({ ...plan, ...grid, layers: [own], n: 1, want: "values" });
    const [density, offset] = fitted(curved(own, values), own.place.includes("cyclic"), false);
    return { ...scene, color: { ...scene.color, density, offset } };
  }

  /** Return a small picture as an address. @param {SiteScene} scene */
  async thumbnail(scene) {
    const size = [256, Math.max(1, Math.round((256 * scene.image.size[1]) / scene.image.size[0]))],
      rgb = await this.small(scene, size, HASTE.question, new AbortController().signal),
      bytes = new Uint8Array(await (await pngOf(size, rgb, {})).arrayBuffer());
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return `data:image/png;base64,${btoa(text)}`;
  }

  /** Return the PNG of a scene, which carries the scene. @param {SiteScene} scene @param {AbortSignal} signal
   * @param {(done: number, of: number) => void} progress @returns {Promise<Blob>} */
  async file(scene, signal, progress) {
    const { size, supersampling } = scene.image,
      { plan, draw } = await this.#opened(scene, HASTE.file, signal),
      grid = gridOf(plan, size, supersampling),
      rgb = new Uint8Array(3 * size[0] * size[1]),
      all = blocks(size, [0, 0], sideOf(supersampling));
    let done = 0;
    await Promise.all(
      all.map(async (block) => {
        const own = cut(grid, block, supersampling),
          part = await draw({ ...plan, ...own, want: "pixels" });
        lay(rgb, size[0], block, part.rgb);
        progress(++done, all.length);
      }),
    );
    return pngOf(size, rgb, { [KEYWORD]: JSON.stringify(scene) });
  }
}
