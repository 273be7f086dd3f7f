/**
 * Draw tiles of the middle of a page's own view: node live.mjs PACKED ZOOM SAMPLES [DENSITY OFFSET]. The counts and the pixels go to
 * stdout, and those of ZOOM times the zoom are drawn last, to which the ones before may leave nothing.
 */
import { readFileSync, writeSync } from "node:fs";
import { inflateSync } from "node:zlib";

import { TileDrawer, valuesOf } from "../../fractals/io/page/tiles.js";

const [path, zoom, n, ...colors] = process.argv.slice(2);
const drawer = new TileDrawer(new Uint8Array(inflateSync(readFileSync(path))));
const { facts, bytes } = drawer,
  { side } = facts;
function draw(/** @type {number} */ width, /** @type {number[]} */ colors) {
  const steps = drawer.draw({
    colors,
    center: facts.center,
    pixel: width / facts.size[0],
    left: -side / 2,
    top: -side / 2,
    step: 1,
    n: Number(n),
    ...valuesOf(facts, width),
  });
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
draw(facts.width, facts.colors);
const pixels = draw(facts.width / Number(zoom), colors.length ? colors.map(Number) : facts.colors);
for (const part of [bytes.slice(facts.count, facts.count + 4 * side ** 2), pixels])
  writeSync(1, part);
