import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Queue } from "../../../fractals/explorer/client/queue.js";
import { Reconnect, watchSleep } from "../../../fractals/explorer/client/reconnect.js";

const MOVE = { at: [0, 0], by: [16, 0], scale: 0, turn: 0 };
const SCENE = /** @type {any} */ ({ title: "shown" });

/** A reconnection, with what its queue has told, and how often it made a new connection. */
function made(first = {}) {
  const told = /** @type {any[]} */ ([]),
    queue = new Queue((after) => void told.push(after.state));
  const renewed = mock.fn();
  const line = { silent: false };
  const reconnect = new Reconnect(queue, first, renewed, () => line.silent);
  return { told, queue, renewed, line, reconnect };
}
/** Put the next wish under way. */
function fly(/** @type {Queue} */ queue, id = 1) {
  const wish = /** @type {any} */ (queue.entries.shift());
  queue.flight = {
    ...wish,
    id,
    asked: { t: wish.open ? "open" : "view", frame: id, ...wish.open },
  };
}

test("a page begins with what it was started with, and later with the scene that is shown", () => {
  const { queue, reconnect } = made({ gallery: "arena" });
  reconnect.welcomed(null);
  fly(queue);
  reconnect.lost();
  reconnect.welcomed(null);
  assert.deepEqual(queue.asked, [{ open: { gallery: "arena" }, again: true }]);
  fly(queue);
  queue.flight = null;
  reconnect.welcomed(SCENE);
  assert.deepEqual(queue.asked, [{ open: { scene: SCENE }, again: true }]);
});

test("what was under way is asked for after the scene, in its order", () => {
  const { queue, reconnect } = made();
  queue.move(MOVE, "settled");
  fly(queue);
  queue.open({ open: { gallery: "arena" } });
  reconnect.lost();
  reconnect.welcomed(SCENE);
  assert.deepEqual(
    queue.entries.map(({ open, move }) => move ?? open?.scene ?? open?.gallery),
    [SCENE, MOVE, "arena"],
  );
  assert.equal(queue.flight, null);
});

test("a scene that was being opened is opened by the next connection", () => {
  const { queue, reconnect } = made();
  queue.open({ open: { gallery: "arena" } });
  fly(queue);
  reconnect.lost();
  reconnect.welcomed(SCENE);
  assert.deepEqual(
    queue.entries.map(({ open }) => open?.scene ?? open?.gallery),
    [SCENE, "arena"],
  );
});

test("states of undo after the scene that is shown again are told, and those of a Julia set end", () => {
  const { told, queue, reconnect } = made();
  reconnect.welcomed(SCENE);
  const shown = /** @type {any} */ ({ scene: null }),
    julia = /** @type {any} */ ({ scene: null });
  queue.note(shown);
  queue.open({ open: { julia: { frame: 3, at: [8, 8] } } });
  queue.note(julia);
  fly(queue);
  assert.deepEqual(reconnect.lost(), [julia]);
  assert.deepEqual(told, [shown]);
  assert.deepEqual(queue.asked, []);
});

test("a page whose own scene is refused shows what the server was started with", () => {
  const { queue, reconnect } = made({ scene: SCENE });
  reconnect.welcomed(null);
  fly(queue);
  const flight = /** @type {any} */ (queue.flight);
  queue.fail();
  reconnect.failed(flight, false);
  assert.deepEqual(queue.entries, [{ open: {}, again: true }]);
  queue.entries = [];
  reconnect.failed({ ...flight, again: false }, true);
  reconnect.failed({ ...flight, asked: { t: "view", frame: 2, base: 1 } }, false);
  assert.deepEqual(queue.entries, []);
  reconnect.welcomed(null);
  assert.deepEqual(queue.entries, [{ open: {}, again: true }]);
});

test("a line that answers nothing for 20 seconds is given up", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { renewed, reconnect } = made();
  reconnect.expect(() => false);
  mock.timers.tick(20_000);
  assert.equal(renewed.mock.callCount(), 0);
  reconnect.expect(() => true);
  mock.timers.tick(19_999);
  assert.equal(renewed.mock.callCount(), 0);
  mock.timers.tick(1);
  assert.equal(renewed.mock.callCount(), 1);
});

/** A page that looks once a second whether what it waits for comes. */
function watching() {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setInterval"] });
  const { renewed, line, reconnect } = made(),
    page = { waits: true, asked: 0, told: /** @type {boolean[]} */ ([]) },
    end = new AbortController();
  const how = {
    waits: () => page.waits,
    ask: () => void page.asked++,
    tell: (/** @type {boolean} */ unheard) => void page.told.push(unheard),
  };
  reconnect.watch(how, end.signal);
  return { renewed, line, page, end };
}

test("a page that waits and hears nothing asks once, says so after 8 looks, and gives the line up after 20", () => {
  const { renewed, line, page } = watching();
  mock.timers.tick(60_000); // what it waits for takes long, and other things come
  assert.deepEqual([page.asked, page.told, renewed.mock.callCount()], [0, [], 0]);
  line.silent = true;
  mock.timers.tick(7000);
  assert.deepEqual([page.asked, page.told, renewed.mock.callCount()], [1, [], 0]);
  mock.timers.tick(1000);
  assert.deepEqual([page.asked, page.told, renewed.mock.callCount()], [1, [true], 0]);
  mock.timers.tick(12_000);
  assert.deepEqual([page.asked, page.told, renewed.mock.callCount()], [1, [true], 1]);
  page.waits = false; // there is no connection: what was told stays
  mock.timers.tick(5000);
  assert.deepEqual(page.told, [true]);
});

test("a page that waits for nothing asks for nothing, and a word of the server is an answer", () => {
  const { renewed, line, page, end } = watching();
  line.silent = true;
  page.waits = false;
  mock.timers.tick(60_000);
  assert.equal(page.asked, 0);
  page.waits = true;
  for (let k = 0; k < 5; k++) {
    line.silent = true;
    mock.timers.tick(7000);
    line.silent = false;
    mock.timers.tick(1000);
  }
  assert.deepEqual([page.asked, page.told, renewed.mock.callCount()], [5, [], 0]);
  end.abort();
  line.silent = true;
  mock.timers.tick(60_000);
  assert.equal(renewed.mock.callCount(), 0);
});

test("an answer that comes late takes back what was said", () => {
  const { renewed, line, page } = watching();
  line.silent = true;
  mock.timers.tick(8000);
  assert.deepEqual([page.told, renewed.mock.callCount()], [[true], 0]);
  line.silent = false;
  mock.timers.tick(1000);
  assert.deepEqual(page.told, [true, false]);
  line.silent = true;
  mock.timers.tick(20_000);
  assert.equal(renewed.mock.callCount(), 1);
  mock.timers.reset();
});

test("a server that does not answer a question is connected to again, and one that refuses it is there", async () => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  const { renewed, reconnect } = made();
  await reconnect.check(async () => "here");
  await reconnect.check(() => Promise.reject(new Error("refused")));
  mock.timers.tick(60_000);
  assert.equal(renewed.mock.callCount(), 0);
  void reconnect.check(() => new Promise(() => {}));
  mock.timers.tick(5000);
  assert.equal(renewed.mock.callCount(), 0);
  mock.timers.tick(5000);
  assert.equal(renewed.mock.callCount(), 1);
  mock.timers.reset();
});

test("a page notices that the machine has slept, and not that it was not seen", () => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setInterval"] });
  let time = 0;
  const clock = mock.method(Date, "now", () => time),
    woken = mock.fn(),
    end = new AbortController();
  watchSleep(woken, end.signal);
  const rest = (/** @type {number} */ ms) => {
    time += ms;
    mock.timers.tick(5000);
  };
  for (const ms of [5000, 5000, 61_000, 5000]) rest(ms); // looks of a hidden page are a minute apart
  assert.equal(woken.mock.callCount(), 0);
  rest(2 * 3_600_000);
  rest(5000);
  assert.equal(woken.mock.callCount(), 1);
  end.abort();
  rest(3_600_000);
  assert.equal(woken.mock.callCount(), 1);
  clock.mock.restore();
  mock.timers.reset();
});
