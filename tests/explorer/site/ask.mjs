/**
 * Ask the modules of a site's page: node ask.mjs SITE FLAVOR. Reads a question in each line of stdin, and answers each with
 * a line of JSON. Counts and pixels of a picture go to the file that the question names.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { inflateSync } from "node:zlib";

import { Drawer, isFused } from "../../../fractals/explorer/client/site/drawer.js";
import { direction } from "../../../fractals/explorer/client/site/exact.js";
import { Palettes } from "../../../fractals/explorer/client/site/palettes.js";
import { sideOf } from "../../../fractals/explorer/client/site/parts.js";
import { mapBetween, Place } from "../../../fractals/explorer/client/site/places.js";
import { gridOf, homeOf, planOf } from "../../../fractals/explorer/client/site/plan.js";
import { linkOf, ofLink, whole } from "../../../fractals/explorer/client/site/scene.js";
import { settle } from "../../../fractals/explorer/client/site/views.js";

const [site, flavor] = process.argv.slice(2);
const facts = JSON.parse(inflateSync(readFileSync(`${site}/engine/facts.bin`)));
const palettes = new Palettes(facts.spaces, facts.palettes);
const load = async (/** @type {string} */ name) =>
  new Uint8Array(inflateSync(readFileSync(`${site}/engine/${name}.bin`)));
const drawer = new Drawer(load, palettes.encoding, palettes.decoding, flavor === "plain");

/** @type {Record<string, (asked: any) => any>} */
const ANSWERS = {
  fused: () => isFused(),
  async draw({ scene, file }) {
    const plan = planOf(facts, palettes, whole(facts, scene)),
      found = await settle(facts, plan, (job) => drawer.draw(job)),
      job = { ...plan, ...found, ...gridOf(plan, plan.size, plan.n) };
    const { count } = await drawer.draw({ ...job, want: "raw" }),
      { rgb } = await drawer.draw({ ...job, want: "pixels" });
    writeFileSync(file, Buffer.concat([new Uint8Array(count?.buffer ?? []), rgb ?? []]));
    return { limit: found.limit, offset: found.offset, note: plan.note };
  },
  async orbit({ formula, program, asked, file }) {
    const { programs } = facts.formulas[formula],
      job = { ...asked, start: asked.start.map(BigInt), c: asked.c.map(BigInt) },
      { points, tiny, ...found } = (
        await drawer.draw({ want: "orbit", file: programs[program], asked: job })
      ).orbit;
    writeFileSync(file, Buffer.from(points.buffer));
    return { ...found, tiny: [...tiny] };
  },
  lookup: ({ palette, inside, encoded, file }) =>
    writeFileSync(file, Buffer.from(palettes.lookup(palette, inside, encoded).buffer)),
  moves({ scene, size, moves }) {
    const made = whole(facts, scene);
    let place = new Place(made, size, homeOf(facts, made));
    return moves.map((/** @type {any} */ move) => {
      const before = place;
      place = place.moved(move);
      const { view } = place.scene();
      return { view, map: mapBetween(before, place), at: place.text([160, 80]) };
    });
  },
  directions: ({ angles }) => angles.map(direction),
  sides: ({ views }) =>
    views.map((/** @type {[number, number, number]} */ view) => sideOf(...view)),
  link: async ({ scene }) => linkOf(whole(facts, scene)),
  table: async ({ link }) => whole(facts, await ofLink(link)),
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  try {
    console.log(JSON.stringify({ answer: await ANSWERS[asked.do](asked) }));
  } catch (error) {
    console.log(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
  }
}
