/**
 * Iterates the samples of deep views: the difference from a reference orbit (perturbation). The programs, and those that fill
 * the tables by which they skip steps, are those of the CPU. Loaded by a worker when a deep view is asked for.
 */
import { AREA, Room, SIDE } from "./drawer.js";

/** @typedef {import("./drawer.js").Job} Job */
/** @typedef {{points: Float64Array, tiny: Float64Array, columns: number, ends: number[], julia: boolean, exponent: number, width: number,
 * reach: number, radius: number}} DeepJob `points`: of the reference orbits behind each other, in rows of `columns`, and `ends`: their
 * last rows. `exponent` of two, over which positions are, and the `width` of the view, by which derivatives are multiplied. `reach`:
 * exponent of two above all distances from the center */
/** @typedef {DeepFacts["calls"][string][number]} Call */

const STEPS = 2 ** 52, // more than a sample takes
  LATER = "later_"; // begins the names of the view's cells in further launches

/** The programs of a formula, and the tables of one orbit. */
export class DeepIteration {
  planes = 0;
  /** @type {import("./drawer.js").Colors|null} */ colors = null;
  /** @type {DeepJob|null} */ #deep = null;
  #values = /** @type {Record<string, number>} */ ({});
  #columns = /** @type {Record<string, number>} */ ({}); // of tables

  /** @param {import("./drawer.js").Opened} opened */
  constructor({ facts, module }) {
    this.facts = /** @type {DeepFacts} */ (/** @type {unknown} */ (facts));
    this.room = new Room(module, this.facts.stack, this.facts.stack);
    const shapes = /** @type {Record<string, number[]>} */ ({}),
      area = (/** @type {number[]} */ shape) => shape.reduce((all, side) => all * side, 1);
    for (const [, cells] of Object.values(this.facts.calls).flat())
      for (const [name, shape] of cells)
        if (typeof shape !== "string" && area(shape) > area(shapes[name] ?? [0]))
          shapes[name] = shape;
    for (const [name, shape] of Object.entries(shapes)) {
      this.room.make(name, shape, size(name));
      this.#columns[name] = shape[shape.length - 1];
    }
    if (shapes.statistics[1] === SIDE) this.planes = shapes.statistics[0];
  }

  /** Call a program. @param {Call} call @param {Record<string, number>} values
   * @param {Record<string, import("./drawer.js").Block>} [blocks] */
  #call([number, cells], values, blocks = {}) {
    const value = (/** @type {string} */ name) =>
      name === `${LATER}first_launch` ? 0 : values[name.replace(LATER, "")];
    const given = cells.map(([own, type]) =>
      type === "d" ? value(own) : type === "q" ? BigInt(value(own)) : (blocks[own] ?? own),
    );
    this.room.call(this.room.programs[number], given);
  }

  /** Fill the tables for an orbit. @param {DeepJob} deep */
  #fill(deep) {
    const { room, facts } = this,
      { points, tiny, ends, columns, julia, exponent, width, radius } = deep,
      count = points.length / columns;
    const table = (
      /** @type {string} */ name,
      /** @type {number} */ count,
      across = this.#columns[name],
    ) => room.make(name, [Math.max(1, count), across], 8);
    table("orbit", count, columns);
    table("tiny", tiny.length / this.#columns.tiny);
    room.floats("orbit").set(points);
    room.floats("tiny").set(tiny.length ? tiny : [-1]); // of no point
    const skips = facts.calls.straight
      ? this.#fillSkips(deep, count)
      : { first: 0, all: 0, levels: 0 };
    this.#values = {
      ...{ escape_radius_squared: radius ** 2, exponent, width, first_end: ends[0] },
      ...{ rebase_start: julia ? ends[0] + 1 : 0, rebase_end: ends[ends.length - 1] },
      ...{
        first_launch: 1,
        step_budget: STEPS,
        stage_count: skips.first,
        level_count: skips.levels,
      },
      ...{ rebase_bottom: julia ? skips.first : 0, rebase_top: skips.all - 1 },
    };
    this.#deep = deep;
  }

  /** Fill the tables by which steps are skipped. @param {DeepJob} deep @param {number} count of points
   * @returns {{first: number, all: number, levels: number}} stages along the first orbit, all stages, and the tree's levels */
  #fillSkips({ ends, julia, exponent, reach, radius }, count) {
    const { room, facts } = this,
      { curved, stages, straight, floatexp } = facts.calls;
    const sizes = /** @type {number[]} */ ([]);
    for (let k = facts.lowest; (count - 2) >> k > 0; k++) sizes.push(((count - 2) >> k) + 1);
    const levels = sizes.map((_, k) => sizes.slice(0, k).reduce((sum, each) => sum + each, 0)),
      rows = Math.max(
        1,
        sizes.reduce((sum, each) => sum + each, 0),
      );
    room.make("bla_tree", [rows, this.#columns.bla_tree], 8);
    room.make("levels", [Math.max(1, levels.length)], 8);
    room.make("ends", [ends.length], 8);
    room.floats("bla_tree").fill(0); // the last entry of a level is never valid
    room.integers("levels").set(levels.map(BigInt));
    room.integers("ends").set(ends.map(BigInt));
    const squared = radius ** 2,
      largest = curved && !julia && reach >= facts.least ? 2 ** reach : 0,
      part = { part0: 0, part1: levels.length, part2: 0, part3: count };
    const values = { exponent, largest_c: largest, radius_squared: squared, ...part };
    this.#call((largest ? curved : straight)[0], values);
    if (floatexp) {
      room.make("floatexp_tree", [rows, this.#columns.floatexp_tree], 8);
      room.floats("floatexp_tree").fill(0);
      this.#call(floatexp[0], { radius_squared: squared });
    }
    if (!stages) return { first: 0, all: 0, levels: levels.length };
    room.make("la_entries", [(count >> 1) + 64, this.#columns.la_entries], 8);
    room.integers("found").fill(0n);
    const cut = (/** @type {number} */ first, /** @type {number} */ last) => {
      const within = (radius * facts.within) ** 2;
      this.#call(stages[0], { first, last, within_squared: within });
      return Number(room.integers("found")[0]);
    };
    const first = cut(0, ends[0]),
      all = julia && facts.extended ? cut(ends[0] + 1, ends[1]) : first;
    return { first, all, levels: levels.length };
  }

  /** Iterate a tile. @param {Job} job @param {number} i first column @param {number} j first row */
  run(job, i, j) {
    const { room } = this;
    if (job.deep && job.deep !== this.#deep) this.#fill(job.deep);
    const [w, h] = [job.columns[0].length - i, job.rows[0].length - j].map((side) =>
      Math.min(SIDE, side),
    );
    const grid = (
      /** @type {string} */ name,
      /** @type {Float64Array[]} */ parts,
      first = 0,
      n = 0,
    ) => parts.forEach((part, k) => room.floats(name).set(part.subarray(first, first + n), k * n));
    grid("columns", job.columns, i, w);
    grid("rows", job.rows, j, h);
    if (room.blocks.point) room.floats("point").set(job.point);
    const planes = ["count", "x", "y", "dx", "dy", "state", ...(this.planes ? ["statistics"] : [])],
      blocks = Object.fromEntries(
        planes.map((name) => {
          const block = room.blocks[name];
          return [name, { ...block, shape: [...block.shape.slice(0, -2), h, w] }];
        }),
      );
    blocks.columns = { ...room.blocks.columns, shape: [2, w] };
    blocks.rows = { ...room.blocks.rows, shape: [2, h] };
    const flag = () => new Int32Array(room.memory.buffer, room.blocks.under_way.at, 1);
    flag()[0] = 0;
    // The first call leaves to the next one what has become too small for float64
    for (const [k, call] of this.facts.calls[job.key].entries())
      if (!k || flag()[0])
        this.#call(
          call,
          { ...this.#values, first_launch: Number(!k), max_iterations: job.limit },
          blocks,
        );
    if (w === SIDE && (h === SIDE || !this.planes)) return;
    for (const name of planes) {
      if (name === "state") continue;
      const numbers = this.read(name, Math.max(1, name === "statistics" ? this.planes : 1));
      for (let k = numbers.length / AREA - 1; k >= 0; k--)
        for (let row = h - 1; row >= 0; row--) {
          const from = (k * h + row) * w;
          numbers.copyWithin(k * AREA + row * SIDE, from, from + w);
        }
    }
  }

  /** Return an array of the tile, until the memory grows. @param {string} name @param {number} [planes]
   * @returns {import("./drawer.js").Numbers} */
  read(name, planes = 1) {
    const numbers = name === "count" ? Int32Array : Float64Array;
    return new numbers(this.room.memory.buffer, this.room.blocks[name].at, planes * AREA);
  }
}

/** Return the bytes of an element. @param {string} name */
const size = (name) => (name === "count" || name === "under_way" ? 4 : 8);
