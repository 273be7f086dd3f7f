import assert from "node:assert/strict";
import { test } from "node:test";

import { formOf, REPOSITORY, SITE, siteOf } from "../../../fractals/explorer/client/offer.js";

const fields = (/** @type {string} */ address) => Object.fromEntries(new URL(address).searchParams);

test("the form has the scene, its title and its author", () => {
  const address = formOf({ title: 'A "sea" & more', author: "Ünal" }, "[view]\nwidth = 1\n");
  assert.equal(address.split("?")[0], `${REPOSITORY}/issues/new`);
  assert.deepEqual(fields(address), {
    template: "picture.yml",
    title: 'Picture: A "sea" & more',
    author: "Ünal",
    scene: "[view]\nwidth = 1\n",
  });
});

test("a scene that is too long is left to be pasted", () => {
  const address = formOf({ title: null }, "ü".repeat(4000));
  assert.deepEqual(fields(address), {
    template: "picture.yml",
    title: "Picture: untitled",
    author: "",
  });
});

test("anybody sees what the explorer of the documentation draws", () => {
  assert.equal(siteOf({ formula: "mandelbrot", develop: {}, relief: null }, "eJx"), `${SITE}#eJx`);
  assert.equal(siteOf({ formula: "flame", transforms: [{ weight: 1 }] }, "eJx"), "");
  assert.equal(siteOf({ formula: "mandelbulb", camera: { lens: 1 } }, "eJx"), "");
});
