/**
 * Draws tiles: replays the calls that `fractals.rendering.live` recorded, in WebAssembly.
 *
 * A web page holds this text once. It runs it itself, and in its workers.
 */

/** @typedef {{ side: number, module: number, stack: number, memory: number, data: [number, number, number][],
 * calls: [number, number][], limitAt: number[], offsetAt: number[], scaled: [number, number, number][],
 * columns: number, rows: number, rgb: number, count: number, constants: number, colors: [number, number], size: [number, number], supersampling: number,
 * center: [number, number], width: number, axes: number[], home: number, limit: number, limits: number[] | null,
 * offset: number, depths: [number, number], deep: [string, string] | null, exponent: number, around: number,
 * middle: [Parts, Parts] | null, nearer: number, place: string[], toml: string }} Facts */
/** A number as a sum, its largest part first. @typedef {[number, number, number]} Parts */
/** A tile: `center` of its lattice in the plane; `left` and `top`, in `pixel`s to the right and down of the center, of
 * its first sample's cell; a sample every `step` pixels, and in the middle of each of n x n parts of that cell.
 * `colors`: density and offset of the palette of the lowest layer.
 * @typedef {{ colors: number[], center: number[], pixel: number, left: number, top: number, step: number, n: number, limit: number,
 * offset: number }} Job */

/** Return the facts of a page's programs, and the bytes behind them. @param {Uint8Array<ArrayBuffer>} content
 * @returns {{ facts: Facts, rest: Uint8Array<ArrayBuffer> }} */
export function opened(content) {
  const end = 4 + new DataView(content.buffer, content.byteOffset).getUint32(0, true);
  return {
    facts: JSON.parse(new TextDecoder().decode(content.subarray(4, end))),
    rest: content.subarray(end),
  };
}

/** Return a number moved by another one, as a double-double number: its parts' sums lose nothing (Knuth, 1969).
 * @param {Parts} parts @param {number} by @returns {[number, number]} */
export function doubled([high, low, rest], by) {
  const s = high + by,
    t = s - high,
    lost = high - (s - t) + (by - t);
  const u = lost + low,
    v = u - lost,
    less = lost - (u - v) + (low - v) + rest;
  const sum = s + u;
  return [sum, u - (sum - s) + less];
}

/** Return light for each level of sRGB. */
function lightOfLevels() {
  return Float32Array.from({ length: 256 }, (_, level) => {
    const v = level / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
}

const SHADES = 4096;

/** Return levels of sRGB for light from 0 to 1, in SHADES steps. */
function levelsOfLight() {
  return Uint8Array.from({ length: SHADES + 1 }, (_, shade) => {
    const v = shade / SHADES;
    return Math.round(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055));
  });
}

/** The memory and the programs of one worker. */
export class TileDrawer {
  /** @param {Uint8Array<ArrayBuffer>} content of a page, decompressed */
  constructor(content) {
    const { facts, rest } = opened(content);
    this.facts = facts;
    const memory = new WebAssembly.Memory({ initial: Math.ceil(facts.memory / 65536) });
    const own = {
      __linear_memory: memory,
      __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, facts.stack),
      __indirect_function_table: new WebAssembly.Table({ initial: 1, element: "anyfunc" }),
    };
    const known = /** @type {Record<string, any>} */ ({ ...own });
    for (const name of Object.getOwnPropertyNames(Math))
      known[name] = known[`${name}f`] = /** @type {any} */ (Math)[name];
    const module = new WebAssembly.Module(rest.subarray(0, facts.module));
    this.programs = /** @type {Record<string, Function>} */ (
      new WebAssembly.Instance(module, { env: known }).exports
    );
    this.bytes = new Uint8Array(memory.buffer);
    this.view = new DataView(memory.buffer);
    let at = facts.module;
    for (const [address, length, row] of facts.data)
      this.take(rest.subarray(at, (at += length)), address, row);
    this.light = lightOfLevels();
    this.levels = levelsOfLight();
  }

  /** Put an array into the memory, whose bytes lie by their place in a row; an incomplete row comes last.
   * @param {Uint8Array<ArrayBuffer>} content @param {number} address @param {number} row bytes */
  take(content, address, row) {
    const end = content.length - (content.length % row);
    let from = 0;
    for (let place = 0; place < row; place++)
      for (let to = place; to < end; to += row) this.bytes[address + to] = content[from++];
    this.bytes.set(content.subarray(end), address + end);
  }

  /** Fill the memory with the pixels of samples that are moved by parts of a step. @param {Job} job @param {number} x
   * @param {number} y */
  fill(job, x, y) {
    const { facts, view } = this,
      { side, middle } = facts,
      [a, b, c, d] = facts.axes,
      [u, v] = job.center;
    /** @param {number} at @param {number[]} values */
    const put = (at, values) =>
      values.forEach((value, row) => view.setFloat64(at + 8 * side * row, value, true));
    for (let k = 0; k < side; k++) {
      const right = (job.left + (k + x) * job.step) * job.pixel,
        up = -(job.top + (k + y) * job.step) * job.pixel;
      const column = facts.columns + 8 * k,
        row = facts.rows + 8 * k;
      if (!middle) {
        put(column, [u + a * right, c * right]);
        put(row, [b * up, v + d * up]);
        continue;
      }
      // As `grid_places` does: rows have their part of the center where they lie along an axis
      const [p, low] = doubled(middle[0], u + a * right),
        turned = b !== 0 || c !== 0;
      const [q, rest] = doubled(middle[1], v + (turned ? c * right : d * up));
      put(column, turned ? [p, q, low, rest] : [p, 0, low, 0]);
      put(row, turned ? [b * up, d * up, 0, 0] : [0, q, 0, rest]);
    }
    for (const [program, cells] of facts.calls) this.programs[program](0, 0, cells);
  }

  /** Return the pixels of a tile, RGBA; pause after each sample of its pixels. @param {Job} job
   * @returns {Generator<undefined, Uint8ClampedArray<ArrayBuffer>, void>} */
  *draw(job) {
    const { facts, view, bytes } = this,
      n = job.n,
      size = facts.side ** 2;
    for (const at of facts.limitAt) view.setBigInt64(at, BigInt(job.limit), true);
    for (const at of facts.offsetAt) view.setFloat64(at, job.offset, true);
    job.colors.forEach((value, k) => view.setFloat64(facts.constants + 8 * k, value, true));
    const times = (job.pixel * facts.size[0]) / facts.width;
    for (const [at, value, power] of facts.scaled)
      view.setFloat64(at, value * times ** power, true);
    const pixels = new Uint8ClampedArray(4 * size).fill(255);
    const sums = n > 1 ? new Float32Array(3 * size) : null;
    for (let j = 0; j < n; j++) {
      for (let i = 0; i < n; i++) {
        this.fill(job, (i + 0.5) / n, (j + 0.5) / n);
        if (!sums) continue;
        for (let k = 0; k < 3 * size; k++) sums[k] += this.light[bytes[facts.rgb + k]];
        yield;
      }
    }
    const share = SHADES / n ** 2;
    for (let k = 0, from = 0, to = 0; k < size; k++, to++) {
      for (let channel = 0; channel < 3; channel++, from++) {
        pixels[to++] = sums ? this.levels[Math.round(sums[from] * share)] : bytes[facts.rgb + from];
      }
    }
    return pixels;
  }
}

/** Return the limit of iterations and the count offset of a view, as colors go on from those of the scene.
 * @param {Facts} facts @param {number} width */
export function valuesOf(facts, width) {
  const { limits } = facts;
  const octave = (/** @type {number} */ of) => Math.log2(facts.home / of);
  let limit = facts.limit;
  if (limits) {
    const by = (/** @type {number} */ of) =>
      limits[Math.max(0, Math.min(limits.length - 1, Math.round(octave(of)) + 4))];
    limit = Math.max(by(width), Math.round((limit * by(width)) / by(facts.width)));
  }
  const [begin, end] = facts.depths;
  const depth = (/** @type {number} */ of) =>
    Math.min(1, Math.max(0, (octave(of) - begin) / (end - begin)));
  const own = facts.deep ? 0 : depth(facts.width);
  return { limit, offset: own ? facts.offset * Math.min(1, depth(width) / own) : facts.offset };
}

if (typeof document === "undefined" && typeof postMessage === "function") {
  // in a worker
  /** @type {TileDrawer} */
  let drawer;
  let stopped = false;
  const { port1, port2 } = new MessageChannel();
  /** Wait until messages that have arrived are read. */
  const pause = () =>
    new Promise((done) => {
      port1.onmessage = done;
      port2.postMessage(0);
    });
  const post = /** @type {(message: any, taken?: any[]) => void} */ (postMessage);
  globalThis.onmessage = async ({ data: { content, job } }) => {
    stopped = !job;
    try {
      if (content) {
        drawer = new TileDrawer(content);
        return post({});
      }
      if (!job) return;
      const steps = drawer.draw(job),
        { side } = drawer.facts;
      let step = steps.next();
      while (!step.done) {
        await pause();
        if (stopped) return post({});
        step = steps.next();
      }
      const bitmap = await createImageBitmap(new ImageData(step.value, side, side));
      post({ bitmap }, [bitmap]);
    } catch (error) {
      post({ error: String(error) });
    }
  };
}
