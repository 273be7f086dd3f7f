/** Parts of pictures, and of the grids of their samples. */

import { SIDE } from "./drawer.js";

export const BLOCK = 128; // pixels of a side that a worker draws at once
const QUICK = 1000, // ms of a view that fewer workers draw by larger blocks: each costs 0.1 ms besides its pixels
  ENOUGH = 4; // workers; more of them would wait for the last large blocks

/** Return the side of blocks in pixels: whole tiles. @param {number} n samples a pixel, a side
 * @param {number} [time] ms that all pixels take; infinite: blocks of a tile @param {number} [workers] */
export function sideOf(n, time = QUICK, workers = 1) {
  const tile = Math.max(1, Math.floor(SIDE / n)),
    most = time < QUICK ? BLOCK * Math.max(1, ENOUGH / workers) : BLOCK;
  return time === Infinity ? tile : tile * Math.max(1, Math.round(most / tile));
}

/** Return the part of a grid from a pixel on. @param {{columns: Float64Array[], rows: Float64Array[]}} grid
 * @param {number[]} block x, y, width and height in pixels @param {number} n samples a pixel, a side */
export const cut = ({ columns, rows }, [x, y, w, h], n) => ({
  columns: columns.map((part) => part.slice(x * n, (x + w) * n)),
  rows: rows.map((part) => part.slice(y * n, (y + h) * n)),
});

/** Return the blocks of a picture, the nearest to a point first. @param {number[]} size @param {number[]} focus @param {number} [side] */
export function blocks([width, height], focus, side = BLOCK) {
  const found = [];
  for (let y = 0; y < height; y += side)
    for (let x = 0; x < width; x += side)
      found.push([x, y, Math.min(side, width - x), Math.min(side, height - y)]);
  const far = (/** @type {number[]} */ [x, y, w, h]) =>
    Math.hypot(x + w / 2 - focus[0], y + h / 2 - focus[1]);
  return found.sort((one, other) => far(one) - far(other));
}

/** Lay the pixels of a block into a picture. @param {Uint8Array|Float32Array} picture @param {number} width @param {number[]} block
 * @param {Uint8Array|Float32Array} part @param {number} [each] numbers of a pixel */
export function lay(picture, width, [x, y, w, h], part, each = 3) {
  for (let row = 0; row < h; row++)
    picture.set(
      part.subarray(each * row * w, each * (row + 1) * w),
      each * ((y + row) * width + x),
    );
}

/** Return the sample in the middle of each step x step pixels. @param {{columns: Float64Array[], rows: Float64Array[]}} grid
 * @param {number} step */
export function thinned({ columns, rows }, step) {
  const some = (/** @type {Float64Array} */ part) =>
    Float64Array.from(
      { length: Math.ceil(part.length / step) },
      (_, k) => part[Math.min(step * k + (step >> 1), part.length - 1)],
    );
  return { columns: columns.map(some), rows: rows.map(some) };
}
