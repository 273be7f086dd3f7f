/**
 * Iterates the samples of deep views: the difference from a reference orbit (perturbation). The programs, and those that fill
 * the tables by which they skip steps, are those of the CPU. Loaded by a worker when a deep view is asked for.
 */
import { AREA, Room, SIDE } from "./drawer.js";

/** @typedef {import("./drawer.js").Job} Job */
/** @typedef {{points: Float64Array, width: number, reach: number, radius: number}} DeepJob `points`: of the reference orbit, in rows.
 * `width` of the view, by which derivatives are multiplied. `reach`: exponent of two above all distances from the center */

const STEPS = 2 ** 52; // more than a sample takes

/** The programs of a formula, and the tables of one orbit. */
export class DeepIteration {
  planes = 0;
  /** @type {import("./drawer.js").Colors|null} */ colors = null;
  /** @type {DeepJob|null} */ #deep = null;
  #values = /** @type {Record<string, number>} */ ({});

  /** @param {import("./drawer.js").Opened} opened */
  constructor({ facts, module }) {
    this.facts = /** @type {DeepFacts} */ (/** @type {unknown} */ (facts));
    this.room = new Room(module, this.facts.stack, this.facts.stack);
    const shapes = this.#shapes();
    for (const [name, shape] of shapes) this.room.make(name, shape, size(name));
    this.room.make("ends", [1], 8);
    this.room.make("found", [2], 8);
  }

  #shapes() {
    return /** @type {[string, number[]][]} */ (
      this.facts.cells.iterate.filter(([, kind]) => typeof kind !== "string")
    );
  }

  /** Call a program. @param {string} name @param {string} kind of its cells @param {Record<string, number>} values
   * @param {Record<string, import("./drawer.js").Block>} [blocks] */
  #call(name, kind, values, blocks = {}) {
    const given = this.facts.cells[kind].map(([own, type]) =>
      type === "d" ? values[own] : type === "q" ? BigInt(values[own]) : (blocks[own] ?? own),
    );
    this.room.call(this.room.programs[this.facts.programs[name]], given);
  }

  /** Fill the tables for an orbit. @param {DeepJob} deep */
  #fill(deep) {
    const { room, facts } = this,
      { points, width, reach, radius } = deep,
      columns = Object.fromEntries(
        this.#shapes().map(([name, shape]) => [name, shape.at(-1) ?? 1]),
      ),
      count = points.length / columns.orbit,
      last = count - 1;
    const sizes = /** @type {number[]} */ ([]);
    for (let k = facts.lowest; (count - 2) >> k > 0; k++) sizes.push(((count - 2) >> k) + 1);
    const levels = sizes.map((_, k) => sizes.slice(0, k).reduce((sum, each) => sum + each, 0)),
      rows = sizes.reduce((sum, each) => sum + each, 0);
    const table = (/** @type {string} */ name, /** @type {number} */ count) =>
      room.make(name, [Math.max(1, count), columns[name]], 8);
    table("orbit", count);
    table("bla_tree", rows);
    table("la_entries", (count >> 1) + 64);
    room.make("levels", [Math.max(1, levels.length)], 8);
    room.floats("orbit").set(points);
    room.floats("tiny")[0] = -1; // of no point
    room.floats("bla_tree").fill(0); // the last entry of a level is never valid
    room.integers("levels").set(levels.map(BigInt));
    room.integers("ends")[0] = BigInt(last);
    room.integers("found").fill(0n);
    const squared = radius ** 2,
      within = (radius * facts.within) ** 2;
    const largestC = facts.programs.curved !== undefined && reach >= facts.least ? 2 ** reach : 0,
      part = { part0: 0, part1: levels.length, part2: 0, part3: count };
    this.#call(largestC ? "curved" : "straight", "tree", {
      ...{ exponent: 0, largest_c: largestC, radius_squared: squared, ...part },
    });
    if (facts.cells.stages)
      this.#call("stages", "stages", { first: 0, last, within_squared: within });
    const stages = Number(room.integers("found")[0]);
    this.#values = {
      ...{ escape_radius_squared: squared, exponent: 0, width, first_end: last },
      ...{ rebase_start: 0, rebase_end: last, first_launch: 1, step_budget: STEPS },
      ...{ stage_count: stages, level_count: levels.length },
      ...{ rebase_bottom: 0, rebase_top: stages - 1 },
    };
    this.#deep = deep;
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
    const planes = ["count", "x", "y", "dx", "dy"],
      blocks = Object.fromEntries(
        planes.map((name) => [name, { ...room.blocks[name], shape: [h, w] }]),
      );
    blocks.columns = { ...room.blocks.columns, shape: [2, w] };
    blocks.rows = { ...room.blocks.rows, shape: [2, h] };
    this.#call(job.key, "iterate", { ...this.#values, max_iterations: job.limit }, blocks);
    if (w < SIDE) for (const name of planes) spread(this.read(name), w, h);
  }

  /** Return an array of the tile, until the memory grows. @param {string} name @returns {import("./drawer.js").Numbers} */
  read(name) {
    const numbers = name === "count" ? Int32Array : Float64Array;
    return new numbers(this.room.memory.buffer, this.room.blocks[name].at, AREA);
  }
}

/** Return the bytes of an element. @param {string} name */
const size = (name) => (name === "count" || name === "under_way" ? 4 : 8);

/** Move the rows of a narrow tile to where those of a whole one lie. @param {import("./drawer.js").Numbers} numbers
 * @param {number} width @param {number} height */
function spread(numbers, width, height) {
  for (let row = height - 1; row > 0; row--)
    numbers.copyWithin(row * SIDE, row * width, (row + 1) * width);
}
