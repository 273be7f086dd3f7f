/** Scenes of strangers' links and files, in a page without a server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { linkOf, ofLink, tableOf, whole } from "../../../fractals/explorer/client/site/scene.js";

const facts = /** @type {any} */ ({
  defaults: {
    view: {},
    image: { supersampling: 1 },
    iteration: { max_iterations: "auto", escape_radius: 256 },
    color: {},
  },
});

test("numbers of a view that the page would compute with for ever are refused", () => {
  for (const [key, value] of Object.entries({
    stretch: [0, -1, 1e4, Infinity, "wide", [1]],
    rotation: [Infinity, "up", 361],
    stretch_angle: ["left", -1e9],
  }))
    for (const each of value)
      assert.throws(() => whole(facts, { view: { [key]: each } }), new RegExp(`^Error: ${key} is`));
  const fine = { rotation: -360, stretch: 1e-3, stretch_angle: 12.5 };
  assert.deepEqual(whole(facts, { view: fine }).view, fine);
  const { view } = tableOf("[view]\nrotation = 12.3456789012345678");
  assert.deepEqual(whole(facts, { view }).view, { rotation: 12.345678901234567 }); // read as text
  assert.deepEqual(whole(facts, { view: { rotation: null } }).view, { rotation: null });
});

test("a scene changes nothing that all tables of the page have", () => {
  for (const name of ["toString", "hasOwnProperty", "valueOf", "__proto__", "constructor"]) {
    const own = /** @type {any} */ ({})[name];
    for (const text of [`[${name}]\ncall = 1`, `${name}.call = 1`, `view = { ${name} = 1 }`])
      assert.throws(() => tableOf(text), /not one of a scene/);
    assert.notEqual(own.call, 1);
  }
});

test("a link that holds too much is read no further than a scene is long", async () => {
  let read = 0;
  const own = globalThis.DecompressionStream;
  /** @type {any} */ (globalThis).DecompressionStream = class {
    constructor() {
      const { readable, writable } = new own("deflate");
      const counted = new TransformStream({
        transform(part, to) {
          read += part.length;
          to.enqueue(part);
        },
      });
      Object.assign(this, { writable, readable: readable.pipeThrough(counted) });
    }
  };
  const zeros = new Blob(Array(32).fill("0".repeat(2 ** 20)));
  const packed = zeros.stream().pipeThrough(new CompressionStream("deflate")),
    link = Buffer.from(await new Response(packed).arrayBuffer()).toString("base64url");
  await assert.rejects(ofLink(link), /too long|damaged/);
  assert.ok(read < 2 ** 22, `${read}`);
  const scene = { formula: "mandelbrot", title: "x".repeat(200_000) };
  assert.deepEqual(await ofLink(await linkOf(scene)), scene);
  globalThis.DecompressionStream = own;
});
