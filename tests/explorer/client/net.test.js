/** The connection: what happens while a page asks why no connection was made. */
import assert from "node:assert/strict";
import { test } from "node:test";

/** @type {any} */
const page = globalThis;
/** @type {any[]} */
const sockets = [];
/** @type {((answer: {status: number}) => void)[]} */
const asked = []; // `fetch` of the page, unanswered
page.WebSocket = class {
  static OPEN = 1;
  readyState = 0;
  binaryType = "";
  sent = /** @type {any[]} */ ([]);
  constructor() {
    sockets.push(this);
  }
  send(/** @type {string} */ text) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.readyState = 3;
  }
  /** @type {(() => void)|null} */ onopen = null;
  /** @type {((event: any) => void)|null} */ onclose = null;
};
page.document = Object.assign(new EventTarget(), { hidden: false });
const window = new EventTarget();
page.addEventListener = window.addEventListener.bind(window);
page.fetch = (/** @type {string} */ _, /** @type {RequestInit} */ { signal }) =>
  new Promise((resolve, reject) => {
    asked.push(resolve);
    signal?.addEventListener("abort", reject);
  });
Object.defineProperty(page, "navigator", { value: { onLine: true, languages: [] } });
delete page.document; // words are English where there is none
const { Connection } = await import("../../../fractals/explorer/client/net.js");
page.document = Object.assign(new EventTarget(), { hidden: false });
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Return a connection that has failed once, and once more: it asks why. @param {any} t */
function failing(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  sockets.length = asked.length = 0;
  const lost = /** @type {string[]} */ ([]),
    ended = new AbortController(),
    on = /** @type {any} */ ({ hello: () => ({ t: "hello" }), lost: (line) => lost.push(line) });
  const made = new Connection("ws://host/ws", on, ended.signal);
  made.connect();
  sockets[0].onclose({ code: 1006, reason: "" });
  t.mock.timers.tick(500);
  sockets[1].onclose({ code: 1006, reason: "" });
  t.mock.timers.reset();
  return { made, lost, ended };
}

test("a connection that is made while the page asks why the last one failed is not told to be lost", async (t) => {
  const { made, lost } = failing(t);
  assert.equal(asked.length, 1);
  window.dispatchEvent(new Event("online"));
  assert.equal(sockets.length, 3);
  sockets[2].readyState = 1;
  sockets[2].onopen();
  asked[0]({ status: 200 });
  await pause();
  assert.equal(lost.length, 1); // of the first failure
  assert.ok(made.open);
});

test("a connection that is ended while the page asks why it failed begins no other one", async (t) => {
  const { lost, ended } = failing(t);
  ended.abort();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  asked[0]({ status: 200 });
  for (let k = 0; k < 10; k++) await Promise.resolve();
  t.mock.timers.tick(10_000);
  assert.equal(sockets.length, 2);
  assert.equal(lost.length, 1);
});

/** @param {any} t */
function opening(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  sockets.length = asked.length = 0;
  const lost = /** @type {string[]} */ ([]),
    ended = new AbortController(),
    on = /** @type {any} */ ({
      hello: () => ({ t: "hello" }),
      text: () => {},
      lost: (line) => lost.push(line),
    });
  new Connection("ws://host/ws", on, ended.signal).connect();
  return { lost, ended };
}
const NO_ANSWER = "The server does not answer. Trying again.";

test("a server that does not greet is given up, and tried again", (t) => {
  const { lost, ended } = opening(t);
  sockets[0].readyState = 1;
  sockets[0].onopen(); // a stopped server may still have opened the line
  t.mock.timers.tick(9999);
  assert.deepEqual(lost, []);
  t.mock.timers.tick(1);
  assert.deepEqual([lost, sockets[0].readyState], [[NO_ANSWER], 3]);
  t.mock.timers.tick(500);
  assert.equal(sockets.length, 2);
  sockets[1].readyState = 1;
  sockets[1].onopen();
  sockets[1].onmessage({ data: JSON.stringify({ t: "welcome" }) });
  t.mock.timers.tick(60_000);
  assert.deepEqual([lost, sockets.length], [[NO_ANSWER], 2]);
  ended.abort();
});

test("a page whose question why gets no answer goes on trying", async (t) => {
  const gone = new AbortController();
  t.mock.method(AbortSignal, "timeout", () => gone.signal);
  const { lost, ended } = opening(t);
  t.mock.timers.tick(10_000);
  t.mock.timers.tick(500);
  t.mock.timers.tick(10_000); // it asks why
  assert.deepEqual([lost.length, asked.length], [1, 1]);
  gone.abort();
  for (let k = 0; k < 10; k++) await Promise.resolve();
  assert.deepEqual(lost, [NO_ANSWER, NO_ANSWER]);
  t.mock.timers.tick(1000);
  assert.equal(sockets.length, 3);
  ended.abort();
});

/** Return a message of pixels; `x` tells which. @param {number} x @param {number} bytes */
function tile(x, bytes) {
  const buffer = new ArrayBuffer(32 + bytes),
    view = new DataView(buffer);
  view.setUint8(0, 2);
  view.setUint16(8, x, true);
  return buffer;
}

test("what ends a pass is told after all its tiles, in whatever order they are decoded", async () => {
  const SMALL = 12,
    LARGE = 3 * 2 ** 16;
  /** @type {((told: {data: object}) => void)[]} */
  const decoded = [];
  page.Worker = class {
    onmessage = /** @type {any} */ (null);
    postMessage(/** @type {{id: number}} */ { id }) {
      decoded.push(() => this.onmessage({ data: { id, data: new Uint8Array(4) } }));
    }
    terminate() {}
  };
  let seed = 1;
  const random = (/** @type {number} */ most) =>
    (seed = (Math.imul(seed, 48271) >>> 0) % 2147483647) % most;
  for (let round = 0; round < 60; round++) {
    sockets.length = 0;
    const sent = /** @type {(number|string)[]} */ ([]),
      got = /** @type {(number|string)[]} */ ([]),
      ended = new AbortController();
    const on = /** @type {any} */ ({
      hello: () => ({ t: "hello" }),
      wanted: () => true,
      image: () => false,
      text: (/** @type {any} */ { t, ms }) => t === "drawn" && got.push(`drawn ${ms}`),
      binary: (/** @type {any} */ { x }) => got.push(x),
      lost: () => assert.fail("lost"),
    });
    new Connection("ws://host/ws", on, ended.signal).connect();
    const [socket] = sockets;
    for (let k = 1; k <= 40; k++) {
      const kind = random(5);
      if (kind === 0) {
        socket.onmessage({ data: JSON.stringify({ t: "drawn", ms: k }) });
        sent.push(`drawn ${k}`);
      } else {
        socket.onmessage({ data: tile(k, kind < 3 ? LARGE : SMALL) });
        sent.push(k);
      }
      while (decoded.length && random(3))
        decoded.splice(random(decoded.length), 1)[0]({ data: {} });
      if (random(2)) await pause();
    }
    while (decoded.length) decoded.splice(random(decoded.length), 1)[0]({ data: {} });
    await pause();
    assert.deepEqual(got, sent);
    ended.abort();
  }
});
