import assert from "node:assert/strict";
import { test } from "node:test";

import { Fit } from "../../../fractals/explorer/client/fit.js";

/** A layer's values that come, and a server that answers with a promise of the test. */
function made() {
  const asked = /** @type {any[]} */ ([]),
    put = /** @type {Color[]} */ ([]);
  const explorer = {
    scene: { color: { palette: "ember", layers: [{ palette: "ice" }] } },
    drawn: { pass: "coarse" },
    request: (/** @type {object} */ message) =>
      new Promise((resolve, reject) => asked.push({ message, resolve, reject })),
  };
  const fit = new Fit(/** @type {any} */ (explorer), (color) => put.push(color));
  return { fit, explorer, asked, put };
}

test("a layer is fitted once its values are there, and once only", async () => {
  const { fit, asked, put } = made();
  await fit.arrived();
  assert.equal(asked.length, 0);
  fit.want(1);
  assert.ok(fit.waits);
  const done = fit.arrived();
  assert.deepEqual(asked[0].message, { t: "fit", layer: 1, chosen: true });
  asked[0].resolve({ density: 3, offset: 0.25 });
  await done;
  assert.deepEqual(put, [
    { palette: "ember", layers: [{ palette: "ice", density: 3, offset: 0.25 }] },
  ]);
  await fit.arrived();
  assert.equal(asked.length, 1);
});

test("without an answer the next values are waited for, as long as some come", async () => {
  const { fit, explorer, asked, put } = made();
  fit.want(0);
  let done = fit.arrived();
  asked[0].reject(new Error("nothing to fit"));
  await done;
  assert.ok(fit.waits);
  explorer.drawn.pass = "exact";
  done = fit.arrived();
  asked[1].reject(new Error("nothing to fit"));
  await done;
  assert.ok(!fit.waits);
  assert.deepEqual(put, []);
});

test("an answer counts no more where another change has followed", async () => {
  const { fit, asked, put } = made();
  for (const after of [() => fit.want(), () => fit.end(), () => fit.want(1)]) {
    fit.want(0);
    const done = fit.arrived();
    after();
    asked.at(-1).resolve({ density: 3, offset: 0.25 });
    await done;
  }
  assert.deepEqual(put, []);
  assert.ok(fit.waits); // the other layer
});
