/**
 * Draw scenes as a site does: node draw.mjs SITE FLAVOR. Reads lines of JSON, each a part of a scene's table with a `file`
 * that gets the counts and the pixels.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { inflateSync } from "node:zlib";

import { Drawer, isFused } from "../../../fractals/explorer/client/site/drawer.js";
import { Palettes } from "../../../fractals/explorer/client/site/palettes.js";
import { gridOf, planOf } from "../../../fractals/explorer/client/site/plan.js";
import { whole } from "../../../fractals/explorer/client/site/scene.js";
import { settle } from "../../../fractals/explorer/client/site/views.js";

const [site, flavor] = process.argv.slice(2);
if (flavor === "fused" && !isFused()) {
  console.log("unfused");
  process.exit(0);
}
const facts = JSON.parse(readFileSync(`${site}/engine/facts.json`, "utf8"));
const palettes = new Palettes(facts.spaces, facts.palettes);
const load = async (/** @type {string} */ name) =>
  new Uint8Array(inflateSync(readFileSync(`${site}/engine/${flavor}/${name}.bin`)));
const drawer = new Drawer(load, palettes.encoding, palettes.decoding);

for await (const line of createInterface({ input: process.stdin })) {
  const { file, ...given } = JSON.parse(line);
  try {
    const plan = planOf(facts, palettes, whole(facts, given)),
      { limit, offset } = await settle(facts, plan, (job) => drawer.draw(job));
    const job = { ...plan, limit, offset, ...gridOf(plan, plan.size, plan.n) };
    const { count } = await drawer.draw({ ...job, want: "raw" }),
      { rgb } = await drawer.draw({ ...job, want: "pixels" });
    writeFileSync(file, Buffer.concat([new Uint8Array(count.buffer), rgb]));
    console.log(JSON.stringify({ limit, offset, note: plan.note }));
  } catch (error) {
    console.log(JSON.stringify({ error: error.message }));
  }
}
