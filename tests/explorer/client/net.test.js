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
