/**
 * Draws parts of pictures by WebAssembly: samples are iterated by the programs of a formula, tile by tile, and colored
 * by those of `colors.bin`. Runs in workers, and in Node.
 */

import { curveOf } from "./values.js";

/** @typedef {{file: string, key: string, point: Float64Array, planes: number, derivative: boolean, turn: number[]|null,
 * layers: import("./plan.js").LayerJob[], limit: number, offset: number, columns: Float64Array[], rows: Float64Array[],
 * n: number, want: "pixels"|"raw"|"values", tally?: boolean, centers?: number[], deep?: import("./deep.js").DeepJob|null}} Job
 * `n`: samples a pixel, a side; `tally`: whether counts are told; `centers`: of the layers' values after their curves, if these are told
 * beside the pixels; "raw": counts and z, "values": of the lowest layer; `deep`: iterated along an orbit */
/** @typedef {{want: "orbit", file: string, asked: import("./orbit.js").OrbitJob, layers?: undefined, deep?: undefined}} OrbitAsked */
/** @typedef {{facts: ProgramsFacts, module: WebAssembly.Module}} Opened */
/** @typedef {{rgb: Uint8Array<ArrayBuffer>, values: Float64Array, count: Int32Array, x: Float64Array, y: Float64Array,
 * inside: number, least: number, most: number, drawn: Float32Array<ArrayBuffer>, orbit: import("./orbit.js").Orbit}} Found
 * `drawn`: values of one sample a pixel, less the layer's center, layer by layer; NaN: none. Of what a job has not asked for there is nothing */
/** @typedef {(done: number, of: number) => void} Report of steps that are done, and of those that there are at most */
/** @typedef {Int32Array|Float64Array} Numbers */
/** @typedef {{at: number, shape: number[], bytes: number}} Block of memory that holds an array */

/** A failure in a worker, where there are no words of the page: the pool tells the user of it, by a key of `said.js`. */
export class Told extends Error {
  /** @param {string} key @param {Record<string, number>} [values] what stands in the text's braces */
  constructor(key, values = {}) {
    super(key);
    this.values = values;
  }
}

export const SIDE = 64; // samples of a tile's side
export const AREA = SIDE * SIDE;
const MOST_PROGRAMS = 6, // that keep memory of their own
  MOST_DEEP = 2, // of them whose tables of orbits may take hundreds of MB
  MOST_LAYERS = 16,
  MOST_SIDE = 16, // samples a pixel, a side
  CELLS = 1024, // bytes of the arguments of a call
  MOST_KINDS = 3; // of programs, by samples a pixel, a side: the last one takes any number

/** Whether the multiply-adds of relaxed SIMD are there, and rounded once.
 * A module: (func (param f64 f64 f64) (result f64), by f64x2.relaxed_madd). */
export function isFused() {
  const code = [0x20, 0, 0xfd, 0x14, 0x20, 1, 0xfd, 0x14, 0x20, 2, 0xfd, 0x14];
  const body = [0, ...code, 0xfd, 0x87, 0x02, 0xfd, 0x21, 0, 0x0b];
  const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 8, 1, 0x60, 3, 0x7c, 0x7c, 0x7c, 1, 0x7c];
  const rest = [3, 2, 1, 0, 7, 5, 1, 1, 0x61, 0, 0, 10, body.length + 2, 1, body.length, ...body];
  try {
    const made = new WebAssembly.Instance(
      new WebAssembly.Module(Uint8Array.from([...head, ...rest])),
    );
    const near = 1 + 2 ** -30;
    return /** @type {Function} */ (made.exports.a)(near, near, -(1 + 2 ** -29)) === 2 ** -60;
  } catch {
    return false;
  }
}

/** @param {Uint8Array<ArrayBuffer>} content of a file, decompressed
 * @param {boolean} plain whether other operations take the place of those of relaxed SIMD @returns {Promise<Opened>} */
async function opened(content, plain) {
  const end = 4 + new DataView(content.buffer, content.byteOffset).getUint32(0, true),
    given = content.subarray(end),
    module = plain ? (await import("./unfused.js")).unfused(given) : given;
  return {
    facts: JSON.parse(new TextDecoder().decode(content.subarray(4, end))),
    module: new WebAssembly.Module(module),
  };
}

/** @param {WebAssembly.Memory} memory @param {number} stack */
function imports(memory, stack) {
  const known = /** @type {Record<string, WebAssembly.ImportValue>} */ ({
    __linear_memory: memory,
    __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, stack),
    __indirect_function_table: new WebAssembly.Table({ initial: 1, element: "anyfunc" }),
  });
  for (const name of Object.getOwnPropertyNames(Math))
    known[name] = known[`${name}f`] = /** @type {Record<string, WebAssembly.ImportValue>} */ (
      /** @type {unknown} */ (Math)
    )[name];
  return { env: known };
}

/** A memory, programs that work in it, and arrays behind each other. */
export class Room {
  #end;
  #cells = 0;
  #stack;
  blocks = /** @type {Record<string, Block>} */ ({});

  /** @param {WebAssembly.Module} module @param {number} stack the address behind its stack @param {number} end of what it holds */
  constructor(module, stack, end) {
    this.memory = new WebAssembly.Memory({ initial: Math.ceil(end / 65536) });
    this.#stack = stack;
    this.#end = Math.ceil(end / 16) * 16;
    this.programs = this.add(module);
  }

  /** Return the programs of a module that has no constants of its own. @param {WebAssembly.Module} module */
  add(module) {
    return /** @type {Record<string, Function>} */ (
      new WebAssembly.Instance(module, imports(this.memory, this.#stack)).exports
    );
  }

  /** @param {number} bytes */
  #take(bytes) {
    const at = this.#end;
    this.#end += Math.ceil(bytes / 16) * 16;
    const lacking = this.#end - this.memory.buffer.byteLength;
    if (lacking <= 0) return at;
    try {
      this.memory.grow(Math.ceil(lacking / 65536));
    } catch {
      throw new Told("memory", { most: Math.ceil(this.#end / 1e6) });
    }
    return at;
  }

  /** Make an array, where it was if it fits there. @param {string} name @param {number[]} shape @param {number} size bytes of an element */
  make(name, shape, size) {
    const bytes = shape.reduce((all, side) => all * side, size),
      known = this.blocks[name],
      fits = known && known.bytes >= bytes;
    this.blocks[name] = {
      // what grows again and again leaves no more behind than it takes
      at: fits ? known.at : this.#take(known ? 2 * bytes : bytes),
      shape,
      bytes: fits ? known.bytes : known ? 2 * bytes : bytes,
    };
  }

  /** Return an array as numbers, until the memory grows. @param {string} name */
  floats(name) {
    const { at, shape } = this.blocks[name];
    return new Float64Array(
      this.memory.buffer,
      at,
      shape.reduce((all, side) => all * side, 1),
    );
  }

  /** @param {string} name */
  integers(name) {
    const { buffer, byteOffset, length } = this.floats(name);
    return new BigInt64Array(buffer, byteOffset, length);
  }

  /** Call a program: names of arrays, whole numbers as bigint, others as numbers.
   * @param {Function} program @param {(string|bigint|number|Block)[]} given */
  call(program, given) {
    this.#cells ||= this.#take(CELLS);
    const view = new DataView(this.memory.buffer);
    let at = this.#cells;
    const put = (/** @type {bigint|number} */ value) => {
      if (typeof value === "bigint") view.setBigInt64(at, value, true);
      else view.setFloat64(at, value, true);
      at += 8;
    };
    for (const each of given) {
      if (typeof each === "string" || typeof each === "object") {
        const { at: where, shape } = typeof each === "string" ? this.blocks[each] : each;
        put(BigInt(where));
        for (const side of shape) put(BigInt(side));
      } else put(each);
    }
    program(0, 0, this.#cells);
  }
}

/** The programs that iterate one formula's samples, with a memory of their own. */
class Iteration {
  #point = "";
  colors = /** @type {Colors|null} */ (null); // that color what it finds

  /** @param {ProgramFacts} facts @param {WebAssembly.Module} module */
  constructor(facts, module) {
    this.facts = facts;
    this.planes = facts.planes;
    this.room = new Room(module, facts.stack, facts.memory);
    this.programs = this.room.programs;
    for (const [name, at] of Object.entries(facts.places))
      this.room.blocks[name] = { at, shape: [SIDE, SIDE], bytes: 0 };
    this.memory = this.room.memory;
    const bytes = new Uint8Array(this.memory.buffer);
    for (const [at, text] of facts.data)
      bytes.set(
        Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)),
        at,
      );
  }

  /** Iterate a tile. @param {Job} job @param {number} i first column @param {number} j first row */
  run(job, i, j) {
    const { places, calls, limitAt } = this.facts,
      { buffer } = this.memory;
    const put = (
      /** @type {number} */ at,
      /** @type {Float64Array} */ from,
      /** @type {number} */ first,
    ) => {
      const to = new Float64Array(buffer, at, SIDE),
        part = from.subarray(first, first + SIDE);
      to.set(part);
      to.fill(part[part.length - 1], part.length);
    };
    put(places.columns, job.columns[0], i);
    put(places.columns + 8 * SIDE, job.columns[1], i);
    put(places.rows, job.rows[0], j);
    put(places.rows + 8 * SIDE, job.rows[1], j);
    const point = job.point.join();
    if (point !== this.#point) {
      new Float64Array(buffer, places.point, job.point.length).set(job.point);
      this.#point = point;
    }
    const view = new DataView(buffer);
    for (const at of limitAt) view.setBigInt64(at, BigInt(job.limit), true);
    for (const [program, cells] of calls) this.programs[program](0, 0, cells);
  }

  /** Return an array of the tile, until the memory grows. @param {string} name @returns {Numbers} */
  read(name) {
    const numbers = name === "count" ? Int32Array : Float64Array;
    return new numbers(this.memory.buffer, this.facts.places[name], AREA);
  }
}

/** What iterates tiles. @typedef {{room: Room, planes: number, colors: Colors|null, run: (job: Job, i: number, j: number) => void,
 * read: (name: string) => Numbers}} Iterating */

/** The programs that color what those of an iteration find, in its memory: they have no constants there. */
export class Colors {
  #layers = /** @type {Job["layers"]|null} */ (null);

  /** @param {Opened} opened @param {Iterating} iteration @param {Uint8Array} encoding @param {Float32Array} decoding */
  constructor({ facts, module }, { planes, room }, encoding, decoding) {
    this.numbers = /** @type {Record<string, number>} */ (facts.programs);
    this.room = room;
    this.memory = room.memory;
    this.programs = room.add(module);
    const { blocks } = room;
    for (const name of ["alongX", "alongY", "values"]) room.make(name, [SIDE, SIDE], 8);
    room.make("none", [1, 1], 8);
    blocks.statistics = planes
      ? { ...blocks.statistics, shape: [planes, SIDE, SIDE] }
      : { ...blocks.none, shape: [1, 1, 1] };
    room.make("position", [SIDE, SIDE], 4);
    room.make("colors", [SIDE, SIDE, 3], 4);
    blocks.channels = { ...blocks.colors, shape: [SIDE, 3 * SIDE] };
    for (const name of ["places", "parts", "above", "shares", "linear"])
      room.make(name, [4 * MOST_SIDE * SIDE], 4); // scratch for a row of pixels
    room.make("rgb", [SIDE, SIDE, 3], 1);
    room.make("arms", [2, 1], 8);
    room.make("matrix", [4], 8);
    room.make("encoding", [encoding.length], 1);
    room.make("decoding", [decoding.length], 4);
    new Uint8Array(this.memory.buffer).set(encoding, blocks.encoding.at);
    new Float32Array(this.memory.buffer, blocks.decoding.at, decoding.length).set(decoding);
  }

  /** Call a program: see `Room.call`. @param {string} name @param {(string|bigint|number|Block)[]} given */
  #call(name, ...given) {
    const number = this.numbers[name];
    if (number === undefined) throw new Error(`this page has no program '${name}'`);
    this.room.call(this.programs[number], given);
  }

  /** Turn the derivative of a tile as the picture is turned. @param {Job} job */
  turn({ turn }) {
    if (!turn) return;
    new Float64Array(this.memory.buffer, this.room.blocks.matrix.at, 4).set(turn);
    this.#call("turn", "alongX", "alongY", "x", "y", "dx", "dy", "matrix", "arms");
  }

  /** @param {Job} job @param {number} k */
  #inputs(job, k) {
    const { plane, constants, counted, range } = job.layers[k],
      given = { at: this.room.blocks[`constants${k}`].at, shape: [constants.length], bytes: 0 };
    return [BigInt(plane), given, BigInt(job.limit), counted ? job.offset : 0, ...range];
  }

  /** Fill the values of a layer. @param {Job} job @param {number} k */
  values(job, k) {
    const slope = !job.derivative
        ? ["none", "none"]
        : job.turn
          ? ["alongX", "alongY"]
          : ["dx", "dy"],
      given = ["values", "count", "x", "y", ...slope, "statistics", ...this.#inputs(job, k)];
    this.#call(`value ${job.layers[k].value}`, ...given);
  }

  /** Bring what the layers' programs read into memory. @param {Job["layers"]} layers */
  prepare(layers) {
    if (this.#layers === layers) return;
    if (layers.length > MOST_LAYERS)
      throw new Error(`this page draws at most ${MOST_LAYERS} layers`);
    layers.forEach(({ constants, lookup }, k) => {
      this.room.make(`constants${k}`, [constants.length], 8);
      this.room.make(`lookup${k}`, [lookup.length / 3, 3], 4);
      this.room.make(`padded${k}`, [4 * (lookup.length / 3 + 1)], 4);
      const { buffer } = this.memory,
        padded = new Float32Array(
          buffer,
          this.room.blocks[`padded${k}`].at,
          (4 * lookup.length) / 3,
        );
      new Float64Array(buffer, this.room.blocks[`constants${k}`].at).set(constants);
      new Float32Array(buffer, this.room.blocks[`lookup${k}`].at).set(lookup);
      for (let to = 0, from = 0; from < lookup.length; to += 4, from += 3) {
        padded[to] = lookup[from];
        padded[to + 1] = lookup[from + 1];
        padded[to + 2] = lookup[from + 2];
      }
    });
    this.#layers = layers;
  }

  /** Tell whether no sample of a tile has a color: none escaped. @param {Job} job */
  #isBare({ layers, limit }) {
    if (!layers.every(({ value }) => value.endsWith(" escaped"))) return false;
    const counts = new Int32Array(this.memory.buffer, this.room.blocks.count.at, AREA);
    for (let k = 0; k < AREA; k++) if (counts[k] < limit) return false;
    return true;
  }

  /** Return the pixels of a tile, and their number in a row. @param {Job} job
   * @param {((k: number) => void)|null} take called while a layer's values are there, unless no sample has one */
  pixels(job, take) {
    const { layers, n } = job,
      side = Math.floor(SIDE / n),
      share = 1 / n ** 2,
      kind = Math.min(n, MOST_KINDS),
      several = layers.length > 1;
    this.room.blocks.rgb.shape = [side, side, 3];
    const bare = this.#isBare(job);
    if (bare) new Float32Array(this.memory.buffer, this.room.blocks.position.at, AREA).fill(-1);
    layers.forEach(({ place, blend, opacity }, k) => {
      if (!bare) {
        this.values(job, k);
        take?.(k);
        this.#call(place, "position", "values", ...this.#inputs(job, k));
      }
      if (blend === "first" && several)
        this.#call("blend first", "colors", "position", `lookup${k}`, opacity);
      else if (several)
        this.#call(
          `blend ${blend}`,
          "channels",
          "position",
          `padded${k}`,
          opacity,
          ...["places", "parts", "above", "shares"],
        );
    });
    if (several)
      this.#call(
        `mean ${kind}`,
        "rgb",
        "channels",
        "decoding",
        "encoding",
        BigInt(n),
        share,
        "linear",
      );
    else
      this.#call(
        `paint ${kind}`,
        ...["rgb", "position", "padded0", "encoding", BigInt(n), share, "places", "parts"],
      );
    return {
      side,
      rgb: new Uint8Array(this.memory.buffer, this.room.blocks.rgb.at, 3 * side * side),
    };
  }

  /** @param {string} name */
  read(name) {
    return new Float64Array(this.memory.buffer, this.room.blocks[name].at, AREA);
  }
}

/** Add up how many of a tile's samples are inside, and the least and the greatest count of the others.
 * @param {{inside: number, least: number, most: number}} found @param {Int32Array} counts @param {number} w @param {number} h
 * @param {number} limit */
function tally(found, counts, w, h, limit) {
  for (let y = 0; y < h; y++) {
    for (let k = y * SIDE, end = k + w; k < end; k++) {
      const count = counts[k];
      if (count >= limit) found.inside++;
      else {
        if (count < found.least) found.least = count;
        if (count > found.most) found.most = count;
      }
    }
  }
}

/** Write values of one of the n x n samples of each pixel of a tile, after a curve and less a center.
 * @param {Float32Array} to rows of `width` pixels @param {number} width @param {Float64Array} from rows of SIDE samples
 * @param {number} w samples @param {number} h samples @param {number} n
 * @param {(value: number) => number} curve @param {number} center */
function pick(to, width, from, w, h, n, curve, center) {
  const middle = n >> 1;
  for (let y = 0; n * y < h; y++) {
    let k = (n * y + middle) * SIDE + middle;
    for (let at = y * width, end = at + w / n; at < end; at++, k += n)
      to[at] = curve(from[k]) - center;
  }
}

/** Draws what jobs ask for. */
export class Drawer {
  #files = new Map();
  #iterations = /** @type {Map<string, Iterating>} */ (new Map());

  /** @param {(name: string) => Promise<Uint8Array<ArrayBuffer>>} load a file, decompressed
   * @param {Uint8Array} encoding @param {Float32Array} decoding of `Palettes`
   * @param {boolean} plain whether programs with relaxed SIMD are to run without it */
  constructor(load, encoding, decoding, plain) {
    this.load = load;
    this.plain = plain;
    this.encoding = encoding;
    this.decoding = decoding;
  }

  /** @param {string} name @returns {Promise<Opened>} */
  #file(name) {
    if (!this.#files.has(name)) {
      const coming = this.load(name).then((content) => opened(content, this.plain));
      this.#files.set(name, coming);
      coming.catch(() => this.#files.delete(name)); // the next job asks again
    }
    return this.#files.get(name);
  }

  /** @param {Job} job @returns {Promise<Iterating>} */
  async #iteration({ file, key, deep }) {
    const name = deep ? file : `${file} ${key}`;
    let found = this.#iterations.get(name);
    if (!found) {
      const [opened, { DeepIteration }] = await Promise.all([
        this.#file(file),
        deep ? import("./deep.js") : { DeepIteration: null },
      ]);
      found = DeepIteration
        ? new DeepIteration(opened)
        : new Iteration(
            /** @type {Record<string, ProgramFacts>} */ (opened.facts.programs)[key],
            opened.module,
          );
    }
    this.#iterations.delete(name); // the newest comes last
    this.#iterations.set(name, found);
    const names = [...this.#iterations.keys()],
      isDeep = (/** @type {string} */ each) => !each.includes(" "), // as `name` is made
      old = [...names.slice(0, -MOST_PROGRAMS), ...names.filter(isDeep).slice(0, -MOST_DEEP)];
    for (const each of old) this.#iterations.delete(each);
    return found;
  }

  /** Return the reference orbit of a deep view. @param {OrbitAsked} asked @param {Report} [report] */
  async #orbit({ file, asked }, report) {
    const [{ facts }, { orbitOf }] = await Promise.all([this.#file(file), import("./orbit.js")]);
    return orbitOf(/** @type {DeepFacts} */ (/** @type {unknown} */ (facts)), asked, report);
  }

  /** Draw a part of a picture, or find the orbit that it is drawn along. @param {Job|OrbitAsked} job
   * @param {Report} [report] hears of the steps of an orbit @returns {Promise<Found>} */
  async draw(job, report) {
    if (job.want === "orbit")
      return /** @type {Found} */ (
        /** @type {object} */ ({ orbit: await this.#orbit(job, report) })
      );
    const [iteration, opened] = await Promise.all([this.#iteration(job), this.#file("colors")]),
      colors = (iteration.colors ??= new Colors(opened, iteration, this.encoding, this.decoding));
    const { n, want, limit } = job,
      [across, down] = [job.columns[0].length, job.rows[0].length],
      [width, height] = [across / n, down / n],
      step = n * Math.floor(SIDE / n);
    const found = /** @type {Found} */ ({ inside: 0, least: limit, most: 0 });
    if (want === "pixels") found.rgb = new Uint8Array(3 * width * height);
    if (job.centers) found.drawn = new Float32Array(job.layers.length * width * height).fill(NaN);
    if (want === "values") found.values = new Float64Array(across * down);
    if (want === "raw")
      Object.assign(found, {
        count: new Int32Array(across * down),
        x: new Float64Array(across * down),
        y: new Float64Array(across * down),
      });
    if (want !== "raw") colors.prepare(job.layers);
    for (let j = 0; j < down; j += step) {
      for (let i = 0; i < across; i += step) {
        iteration.run(job, i, j);
        const [w, h] = [Math.min(step, across - i), Math.min(step, down - j)];
        if (job.tally)
          tally(found, /** @type {Int32Array} */ (iteration.read("count")), w, h, limit);
        const rows = (/** @type {Numbers} */ to, /** @type {Numbers} */ from) => {
          for (let y = 0; y < h; y++)
            to.set(from.subarray(y * SIDE, y * SIDE + w), (j + y) * across + i);
        };
        if (want === "raw") {
          for (const name of /** @type {const} */ (["count", "x", "y"]))
            rows(found[name], iteration.read(name));
          continue;
        }
        colors.turn(job);
        if (want === "values") {
          colors.values(job, 0);
          rows(found.values, colors.read("values"));
          continue;
        }
        const values = (/** @type {number} */ k) => {
          const to = found.drawn.subarray((k * height + j / n) * width + i / n),
            [curve, center] = [curveOf(job.layers[k]), job.centers?.[k] ?? 0];
          pick(to, width, colors.read("values"), w, h, n, curve, center);
        };
        const { side, rgb } = colors.pixels(job, job.centers ? values : null);
        for (let y = 0; y < h / n; y++)
          found.rgb.set(
            rgb.subarray(3 * y * side, 3 * (y * side + w / n)),
            3 * ((j / n + y) * width + i / n),
          );
      }
    }
    return found;
  }
}
