import assert from "node:assert/strict";
import { test } from "node:test";

import { Grain, holdTool, pull, pulled } from "../../../fractals/explorer/client/hold.js";
import { attachPad, wishOf } from "../../../fractals/explorer/client/pad.js";

const FRAME = 1000 / 60;

/** A view of 800 x 600 whose moves are kept; `tick` is a frame of the screen. */
class View extends EventTarget {
  moves = /** @type {Table[]} */ ([]);
  size = [800, 600];
  seen = { middle: [16 * 400, 16 * 300], share: 1 };
  placed = /** @type {Table} */ ({});
  map = [];
  drawn = /** @type {number[]} */ ([]);
  each = new Set();
  stage = { share: 1, added: 0, draw: () => this.drawn.push(this.stage.share), changed() {} };
  animate(each) {
    this.each.add(each);
    return () => this.each.delete(each);
  }
  move(wish) {
    this.moves.push(wish);
  }
  tick(seconds = 1 / 60) {
    for (const each of this.each) each(seconds);
  }
}

/** Return a machine's shares of pixels in some frames, and how many were late. `work`: ms of a frame by its share */
function run(work, frames, share = new Grain()) {
  const shares = [];
  let late = 0,
    now = share.share;
  for (let k = 0; k < frames; k++) {
    const ms = Math.ceil(work(now, k) / FRAME) * FRAME; // the screen waits for the next of its frames
    late += ms > 1.5 * FRAME;
    now = share.frame(ms);
    shares.push(now);
  }
  return { shares, late };
}

test("nothing moves near the middle, and the speed grows steadily to the edge, and no more", () => {
  assert.equal(pulled(0), 0);
  assert.equal(pulled(0.08), 0);
  assert.equal(pulled(1), 1);
  assert.equal(pulled(3), 1);
  let before = 0;
  for (let far = 0.09; far <= 1; far += 0.01) {
    const now = pulled(far);
    assert.ok(now > before && now - before < 0.02);
    before = now;
  }
  assert.ok(pulled(0.2) < 0.1); // slow near the middle
});

test("a pull points from the middle to the pointer, alike in all directions", () => {
  assert.deepEqual(pull([400, 300], [400, 300], 300), [0, 0]);
  assert.deepEqual(pull([700, 300], [400, 300], 300), [1, 0]);
  const [x, y] = pull([400 + 90, 300 - 120], [400, 300], 300);
  assert.ok(Math.abs(Math.hypot(x, y) - pulled(0.5)) < 1e-12);
  assert.ok(Math.abs(y / x + 120 / 90) < 1e-12);
});

test("a machine that draws in time draws all pixels", () => {
  const { shares, late } = run(() => 12, 600);
  assert.equal(late, 0);
  assert.deepEqual(new Set(shares), new Set([1]));
});

test("pixels give way until frames are in time, and hardly more", () => {
  const best = Math.sqrt((FRAME - 4) / 40); // of 4 ms and 40 ms for all pixels
  const { shares, late } = run((share) => 4 + 40 * share ** 2, 1200);
  assert.ok(shares.slice(20).every((share) => share <= best * 1.13 && share > best * 0.7));
  assert.ok(late < 30); // of 20 s
});

test("after what was slow, all pixels come back", () => {
  const grain = new Grain();
  assert.ok(run(() => 30, 60, grain).shares.at(-1) < 0.5);
  assert.equal(run(() => 8, 1200, grain).shares.at(-1), 1);
});

test("single late frames change nothing, and what never is in time keeps the least", () => {
  assert.deepEqual(new Set(run((_, k) => (k % 20 ? 8 : 60), 600).shares), new Set([1]));
  const { shares } = run(() => 40, 600);
  assert.deepEqual(new Set(shares.slice(60)), new Set([0.3]));
});

test("a held pointer zooms about itself, as fast as it lies from the middle", () => {
  const explorer = new View(),
    hold = holdTool(explorer, new EventTarget(), { page: new EventTarget() });
  hold.begin([700, 300], 7);
  for (let k = 0; k < 60; k++) explorer.tick();
  const total = () => explorer.moves.reduce((sum, { scale }) => sum + scale, 0);
  assert.ok(Math.abs(total() - 3 * 64) <= 1); // three octaves in a second, at the edge
  assert.deepEqual(explorer.moves[0].at, [16 * 700, 16 * 300]);
  assert.equal(new Set(explorer.moves.map(({ step }) => step)).size, 1); // of undo
  const before = total();
  hold.steer([410, 300], 7); // in the middle
  for (let k = 0; k < 60; k++) explorer.tick();
  assert.equal(total(), before);
  hold.steer([700, 300], 8); // another pointer
  explorer.tick();
  assert.equal(total(), before);
  hold.steer([400, 0], 7);
  hold.reverse(true);
  for (let k = 0; k < 60; k++) explorer.tick();
  assert.ok(Math.abs(total() - before + 3 * 64) <= 1);
  hold.end();
});

test("a camera flies ahead, and turns to where it is pointed at", () => {
  const explorer = new View(),
    hold = holdTool(explorer, new EventTarget(), { page: new EventTarget() });
  explorer.placed = { camera: {} };
  hold.begin([400, 300], 1);
  for (let k = 0; k < 60; k++) explorer.tick();
  const sum = () =>
    [0, 1, 2, 3, 4].map((k) => explorer.moves.reduce((all, { fly }) => all + fly[k], 0));
  assert.deepEqual(sum().slice(3), [0, 0]);
  assert.ok(Math.abs(sum()[2] - 700) <= 1);
  hold.steer([700, 300], 1);
  for (let k = 0; k < 60; k++) explorer.tick();
  assert.ok(sum()[3] > 4400 && sum()[4] === 0);
  hold.end();
});

const key = (type, name) => Object.assign(new Event(type, { cancelable: true }), { key: name });
const pointer = (type, pointerId) => Object.assign(new Event(type), { pointerId });
/** What ends a flight: a name, and where it comes from. @type {[string, (all: Table) => boolean][]} */
test("frames that are late for a picture that comes take no pixels", () => {
  const explorer = new View(),
    hold = holdTool(explorer, new EventTarget(), { page: new EventTarget() });
  hold.begin([700, 300], 7);
  for (let k = 0; k < 60; k++) {
    if (k % 3 === 0) explorer.stage.added += 1; // it is drawn in the frame after
    explorer.tick(k % 3 < 2 ? 0.05 : 1 / 60);
  }
  assert.equal(explorer.stage.share, 1);
  for (let k = 0; k < 30; k++) explorer.tick(0.05);
  assert.ok(explorer.stage.share < 1);
  hold.end();
});

const ENDINGS = [
  ["a key", ({ page }) => page.dispatchEvent(key("keydown", "c"))],
  ["Escape", ({ page }) => page.dispatchEvent(key("keydown", "Escape"))],
  ["blur", ({ page }) => page.dispatchEvent(new Event("blur"))],
  ["a hidden page", ({ page }) => page.dispatchEvent(new Event("visibilitychange"))],
  ["a lost pointer", ({ canvas }) => canvas.dispatchEvent(pointer("lostpointercapture", 7))],
  ["a cancelled pointer", ({ canvas }) => canvas.dispatchEvent(pointer("pointercancel", 7))],
  ["the button", ({ canvas }) => canvas.dispatchEvent(pointer("pointerup", 7))],
  ["another gesture", ({ explorer }) => explorer.dispatchEvent(new Event("gesture"))],
  ["a lost connection", ({ explorer }) => explorer.dispatchEvent(new Event("disconnected"))],
  ["another scene", ({ explorer }) => explorer.dispatchEvent(new Event("opening"))],
];
for (const [name, happen] of ENDINGS) {
  test(`a flight ends with ${name}, and all pixels come back`, () => {
    const explorer = new View(),
      [page, canvas] = [new EventTarget(), new EventTarget()],
      hold = holdTool(explorer, canvas, { page });
    hold.begin([700, 300], 7);
    for (let k = 0; k < 30; k++) explorer.tick(0.05); // late frames
    assert.ok(explorer.stage.share < 1);
    page.dispatchEvent(key("keydown", "Shift")); // flies out, and goes on
    page.dispatchEvent(key("keyup", "z"));
    canvas.dispatchEvent(pointer("pointerup", 8)); // another one's
    assert.ok(hold.on);
    const count = explorer.moves.length;
    happen({ explorer, page, canvas });
    assert.ok(!hold.on);
    assert.equal(explorer.drawn.at(-1), 1);
    for (let k = 0; k < 30; k++) explorer.tick();
    assert.equal(explorer.moves.length, count);
    assert.equal(explorer.each.size, 0);
    hold.begin([700, 300], 7); // and another one begins
    assert.ok(hold.on);
    hold.end();
  });
}

/** A pad by its sticks and triggers. */
function pad(axes, triggers = {}) {
  const buttons = Array.from({ length: 17 }, (_, k) => ({ value: triggers[k] ?? 0 }));
  return { axes, buttons, mapping: "standard" };
}

test("sticks that are worn out wish nothing, and others more the farther they are pushed", () => {
  assert.equal(wishOf(pad([0.05, -0.1, 0.08, 0])), null);
  assert.equal(wishOf(pad([])), null);
  const { move, zoom } = wishOf(pad([0.6, 0, 0, 0], { 7: 1 }));
  assert.ok(move[0] > 0.3 && move[0] < 0.6);
  assert.equal(zoom, 1);
  assert.deepEqual(wishOf(pad([0, 0, 0, 0], { 6: 1 })).zoom, -1);
});

test("of a pad whose layout is not known only the first stick and the buttons count", () => {
  const wheel = { ...pad([0, 0, -1, -1], {}), mapping: "" }; // its triggers are axes, which rest at -1
  assert.equal(wishOf(wheel), null);
  assert.ok(wishOf({ ...wheel, axes: [0, 1, -1, -1] }).move[1] > 0.9);
  assert.deepEqual(wishOf({ ...wheel, mapping: "standard" }).look.map(Math.sign), [-1, -1]);
});

test("a pad moves, turns and zooms the picture until it rests; after a key it has to rest first", () => {
  const explorer = new View(),
    frames = /** @type {(() => void)[]} */ ([]),
    page = Object.assign(new EventTarget(), { requestAnimationFrame: (each) => frames.push(each) });
  let now = /** @type {any} */ (null);
  const wheel = { ...pad([1, 1]), mapping: "" },
    gone = { ...pad([0, 1]), mapping: "standard", connected: false };
  attachPad(explorer, { page, pads: () => [null, now && wheel, now && gone, now] });
  const screen = (count) => {
    for (let k = 0; k < count; k++) {
      frames.shift()?.();
      explorer.tick();
    }
  };
  screen(5);
  assert.equal(frames.length, 0); // no pad, no work
  now = pad([0, 0, 0, 0]);
  page.dispatchEvent(new Event("gamepadconnected"));
  screen(5);
  assert.equal(explorer.moves.length, 0);
  now = pad([1, 0, 0, 0], { 7: 1 });
  screen(60);
  const total = (name) => explorer.moves.reduce((sum, move) => sum + move[name], 0);
  assert.ok(Math.abs(total("scale") - 3 * 64) < 8);
  const across = explorer.moves.reduce((sum, { by }) => sum + by[0], 0) / 16;
  assert.ok(Math.abs(across + 0.9 * 600) < 20); // the picture goes to the left
  page.dispatchEvent(key("keydown", "c"));
  const count = explorer.moves.length;
  screen(10);
  assert.equal(explorer.moves.length, count);
  now = pad([0, 0, 0, 0]);
  screen(2);
  now = pad([0, 0, -1, 0]);
  screen(10);
  assert.ok(explorer.moves.at(-1).turn > 0);
  now = null; // pulled out
  screen(3);
  assert.equal(explorer.each.size, 0);
  assert.equal(frames.length, 0);
  now = pad([0, 0, 0, 0], { 7: 1 }); // a browser tells of a pad when its first button is pressed
  page.dispatchEvent(new Event("gamepadconnected"));
  screen(3);
  assert.ok(explorer.moves.at(-1).scale > 0);
});
