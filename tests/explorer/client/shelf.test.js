/** The shelf of records in a browser's database: what happens where it is full, or is closed meanwhile. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { shelfOf } from "../../../fractals/explorer/client/shelf.js";
import { unkept } from "../../../fractals/explorer/client/state.js";

/** @type {any} */
const page = globalThis;
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Stand in for a database, which may be full or closed. */
function makeBase() {
  const base = { opened: 0, full: false, broken: false, records: new Map() };
  const answered = (/** @type {any} */ request, /** @type {string} */ name) =>
    void queueMicrotask(() => request[name]());
  page.indexedDB = {
    open: () => {
      base.opened += 1;
      const request = /** @type {any} */ ({ error: new Error("broken") });
      const db = (request.result = /** @type {any} */ ({ isOpen: true }));
      db.transaction = () => {
        if (!db.isOpen) throw new Error("InvalidStateError");
        const transaction = /** @type {any} */ ({
          error: Object.assign(new Error("no room"), { name: "QuotaExceededError" }),
        });
        const store = {
          transaction,
          put: (/** @type {{id: string}} */ each) => base.full || base.records.set(each.id, each),
          delete: (/** @type {string} */ id) => base.records.delete(id),
          getAll: () => {
            const all = /** @type {any} */ ({ result: [...base.records.values()] });
            answered(all, "onsuccess");
            return all;
          },
        };
        transaction.objectStore = () => store;
        setTimeout(() => transaction[base.full ? "onabort" : "oncomplete"]?.());
        return transaction;
      };
      page.close = () => {
        db.isOpen = false;
        db.onclose();
      };
      answered(request, base.broken ? "onerror" : "onsuccess");
      return request;
    },
  };
  page.BroadcastChannel = class {
    postMessage() {}
  };
  return base;
}

test("a full database is told once, and a closed one is opened again", async () => {
  const base = makeBase(),
    shelf = shelfOf("versions", () => {}),
    before = unkept.count;
  base.broken = true;
  assert.deepEqual(await shelf.all(), []);
  base.broken = false;
  await shelf.write([{ id: "a" }]);
  assert.deepEqual(await shelf.all(), [{ id: "a" }]);
  base.full = true;
  for (const id of ["b", "c"]) await shelf.write([{ id }]);
  assert.equal(unkept.count, before + 1);
  base.full = false;
  page.close(); // as a browser does whose user clears its data
  await shelf.write([{ id: "d" }], ["a"]);
  await settled();
  assert.deepEqual(await shelf.all(), [{ id: "d" }]);
  assert.equal(base.opened, 3);
  assert.equal(unkept.count, before + 1);
});
