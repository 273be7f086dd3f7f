/** The catalog: a page that has not got it asks again. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { beforePanels, makePage } from "./page.js";

beforePanels();
/** @type {any} */
const page = globalThis;
const { Explorer } = await import("../../../fractals/explorer/client/explorer.js");
const document = makePage();

test("a catalog that did not come is asked for again until it comes, and missed once", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  page.location = { href: "http://localhost/" };
  const answers = [null, "<html>", { palettes: [] }],
    told = /** @type {string[]} */ ([]),
    come = /** @type {any[]} */ ([]);
  let asked = 0;
  const own = page.fetch;
  page.fetch = async () => {
    const answer = answers[asked++];
    if (!answer) throw new TypeError("Failed to fetch");
    return { json: async () => (typeof answer === "string" ? JSON.parse(answer) : answer) };
  };
  try {
    const explorer = new Explorer(document.createElement("canvas"), { plain: true });
    explorer.addEventListener("message", ({ detail }) => told.push(detail.text));
    explorer.addEventListener("catalog", ({ detail }) => come.push(detail));
    void explorer.load();
    for (let k = 0; k < 5; k++) {
      for (let n = 0; n < 9; n++) await null;
      t.mock.timers.tick(4000);
    }
    assert.equal(asked, 3);
    assert.deepEqual(told, ["The catalog was not loaded. This page tries again."]);
    assert.deepEqual(come, [{ palettes: [] }]);
    assert.deepEqual(explorer.catalog, { palettes: [] });
    explorer.end();
  } finally {
    page.fetch = own;
  }
});
