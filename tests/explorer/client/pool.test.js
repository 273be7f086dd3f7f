/** What workers of a site are sent: tables of layers once, where a job has those of the last one. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** @type {any[]} */
const sent = [];
/** Answers each job at once. */
class FakeWorker {
  onmessage = (/** @type {any} */ _event) => {};

  postMessage(/** @type {any} */ message) {
    sent.push(message);
    const { id } = message;
    if (id) setTimeout(() => this.onmessage({ data: { id, found: { id } } }));
  }

  terminate() {}
}
Object.defineProperty(globalThis, "navigator", {
  value: { hardwareConcurrency: 1 },
  configurable: true,
});
Object.assign(globalThis, { Worker: FakeWorker });
const { texts } = await import("../../../fractals/explorer/client/site/said.js");
const { paceOf, Pool } = await import("../../../fractals/explorer/client/site/pool.js");

test("a worker is sent the tables of layers where they are not those of its last job", async () => {
  const tables = { encoding: new Uint8Array(1), decoding: new Float32Array(1) };
  const pool = new Pool("http://host/engine/", ["plain"], tables);
  const [one, other] = /** @type {any[]} */ ([[{ value: "smooth" }], [{ value: "slopes" }]]);
  const job = (/** @type {any} */ layers, limit = 100) => /** @type {any} */ ({ layers, limit });
  for (const each of [job(one), job(one, 200), job(other), job(one), job(one)])
    await pool.draw(each);
  const jobs = sent.filter(({ id }) => id).map(({ job: each }) => each);
  assert.deepEqual(
    jobs.map(({ layers }) => layers),
    [one, undefined, other, one, undefined],
  );
  assert.deepEqual(
    jobs.map(({ limit }) => limit),
    [100, 200, 100, 100, 100],
  );
});

test("what fails in a worker is told in words of the page", async () => {
  const tables = { encoding: new Uint8Array(1), decoding: new Float32Array(1) };
  const pool = new Pool("http://host/engine/", true, tables),
    { postMessage } = FakeWorker.prototype;
  FakeWorker.prototype.postMessage = function ({ id }) {
    const data = { id, error: "memory", values: { most: 700 } };
    if (id) setTimeout(() => this.onmessage({ data }));
  };
  await assert.rejects(pool.draw(/** @type {any} */ ({ limit: 1 })), /takes a worker 700 MB/);
  FakeWorker.prototype.postMessage = postMessage;
  for (const name of ["drawer", "worker"]) {
    const path = `../../../fractals/explorer/client/site/${name}.js`,
      module = readFileSync(new URL(path, import.meta.url), "utf8"),
      keys = [...module.matchAll(/new Told\("(\w+)"/g)].map(([, key]) => key);
    assert.ok(keys.length > 0, name);
    for (const key of keys) assert.ok(Object.hasOwn(texts, key), `${name}: ${key}`);
  }
});

test("a worker that takes the place of another one knows no tables", async () => {
  const tables = { encoding: new Uint8Array(1), decoding: new Float32Array(1) };
  const pool = new Pool("http://host/engine/", ["plain"], tables);
  const layers = /** @type {any} */ ([{ value: "smooth" }]);
  const work = new AbortController();
  FakeWorker.prototype.postMessage = (message) => sent.push(message); // never answers
  const lost = pool.draw(/** @type {any} */ ({ layers }), 0, work.signal);
  work.abort(new Error("replaced"));
  await assert.rejects(lost, /replaced/);
  const before = sent.length;
  const coming = pool.draw(/** @type {any} */ ({ layers })); // waits until the worker is replaced
  coming.catch(() => {});
  const asked = () => sent.slice(before).find(({ id }) => id);
  while (!asked()) await new Promise((done) => setTimeout(done, 10));
  assert.deepEqual(asked().job, { layers });
});

test("a pace is that of a worker that has its programs, and what takes long is drawn once", async () => {
  /** @param {number[]} lasts ms of each drawing */
  const measured = async (...lasts) => {
    let [now, times] = [0, 0];
    const draw = async () => void (now += lasts[times++]);
    return [await paceOf(draw, () => now), times];
  };
  assert.deepEqual(await measured(900, 20), [20, 2]); // the first one loads and compiles
  assert.deepEqual(await measured(20, 30), [20, 2]); // the second one waits for a worker
  assert.deepEqual(await measured(9000, 20), [9000, 1]);
});
