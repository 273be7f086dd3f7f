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
page.fetch = () => new Promise((resolve) => asked.push(resolve));
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
