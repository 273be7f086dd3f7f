import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { Following } from "../../../fractals/explorer/client/class/following.js";
import { Leading } from "../../../fractals/explorer/client/class/leading.js";
import { pictureOf, widthOf } from "../../../fractals/explorer/client/class/stills.js";

/** What stands for the model: it notes what is asked for, and tells of events. */
class Model extends EventTarget {
  size = [8, 4];
  connected = true;
  opening = false;
  drawn = /** @type {object|null} */ ({});
  placed = { frame: 7, size: [8, 4], center: ["0", "0"], width: "1", rotation: 0, camera: null };
  scene = { view: {}, title: "mine" };
  sent = /** @type {Record<string, unknown>[]} */ ([]);
  opened = /** @type {unknown[]} */ ([]);
  laid = 0;
  told = { t: "class", leads: true, guests: [] };
  connection = {
    send: (/** @type {Record<string, unknown>} */ message) => this.sent.push(message),
  };
  stage = { add: (/** @type {any} */ _) => (this.laid += 1), arrived: () => {} };
  resize = mock.fn();
  check = mock.fn();
  request = async () => this.told;
  still = (/** @type {number} */ width) => pictureCanvas(width, () => 9);
  open(/** @type {unknown} */ what) {
    this.opened.push(what);
    this.tell("opening");
    this.opening = true;
  }
  place() {
    this.opening = false;
    this.tell("placed", {});
  }
  tell(/** @type {string} */ type, /** @type {object|null} */ detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
  of(/** @type {string} */ kind, /** @type {string} */ key) {
    return this.sent.filter((each) => each.t === kind && key in each).map((each) => each[key]);
  }
}

/** Return a canvas whose JPEG has so many bytes at a quality. */
function pictureCanvas(
  /** @type {number} */ width,
  /** @type {(quality: number) => number} */ bytes,
) {
  const toBlob = (
    /** @type {(blob: Blob) => void} */ take,
    /** @type {string} */ _type,
    /** @type {number} */ quality,
  ) => take(new Blob([new Uint8Array(bytes(quality))]));
  return /** @type {HTMLCanvasElement} */ (/** @type {unknown} */ ({ width, toBlob }));
}

const waits = /** @type {(() => void)[]} */ ([]);
const rest = () => new Promise((resolve) => void waits.push(() => resolve(null)));
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
/** Let the time pass that something waits for. */
async function pass() {
  for (const each of waits.splice(0)) each();
  await settled();
}
const led = (/** @type {number} */ number, gather = false, place = number) => ({
  number,
  place,
  name: "",
  here: true,
  gather,
});

beforeEach(() => {
  const context = {
    fillRect: () => {},
    drawImage: () => {},
    getImageData: () => ({ data: new Uint8ClampedArray(4 * 8 * 4) }),
  };
  Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => context }) } });
});
afterEach(() => {
  Reflect.deleteProperty(globalThis, "document");
  waits.length = 0;
});

/** Return a guest's part, its model, and the pictures that are being loaded. */
function guest() {
  const model = new Model(),
    loads = /** @type {{number: number, come: (picture: object|null) => void}[]} */ ([]);
  const load = (/** @type {number} */ number) =>
    new Promise((resolve, reject) => {
      loads.push({
        number,
        come: (picture) => (picture ? resolve(picture) : reject(new Error("none"))),
      });
    });
  const following = new Following(/** @type {any} */ (model), /** @type {any} */ (load), rest);
  const come = async (/** @type {object|null} */ picture = { width: 16, height: 8 }) => {
    loads.at(-1)?.come(picture);
    await settled();
  };
  return { model, following, loads, come };
}

test("a page that a link has opened shows the link's scene, and follows only when asked to", async () => {
  const model = new Model(),
    load = async () => ({ width: 16, height: 8 });
  const following = new Following(
    /** @type {any} */ (model),
    /** @type {any} */ (load),
    rest,
    true,
  );
  model.tell("led", led(1));
  await settled();
  assert.deepEqual([following.following, model.opened.length], [false, 0]);
  following.follow();
  await settled();
  assert.deepEqual(model.opened, [{ person: 0 }]);
});

test("the leader's picture has the size of its frame where the window has another one meanwhile", async () => {
  const { model, come } = guest(),
    sizes = /** @type {number[][]} */ ([]);
  model.stage.add = (/** @type {any} */ { w, h }) => sizes.push([w, h]);
  model.tell("led", led(1));
  await come();
  model.size = [6, 9];
  model.place();
  await settled();
  assert.deepEqual(sizes, [[8, 4]]);
  model.tell("led", led(2, false, 1));
  await come();
  assert.equal(model.opened.length, 2); // in the new size
});

test("a guest who leaves and follows again while a picture is loaded opens its scene once", async () => {
  const { model, following, loads, come } = guest();
  model.tell("led", led(1));
  following.leave(false);
  following.follow();
  for (let k = 0; k < 3; k++) {
    await come();
    if (model.opening) model.place();
    await settled();
  }
  assert.deepEqual(model.opened, [{ person: 0 }]);
  assert.equal(model.laid, 1);
  assert.equal(loads.length, 2);
});

test("a guest sees the newest picture of the leader, each on its own scene", async () => {
  const { model, loads, come } = guest();
  for (const number of [1, 2, 3]) model.tell("led", led(number));
  await come();
  assert.deepEqual(model.opened, [{ person: 0 }]);
  assert.equal(model.laid, 0); // the scene is not placed
  model.place();
  await settled();
  assert.equal(model.laid, 1);
  assert.deepEqual(
    loads.map(({ number }) => number),
    [1, 3], // the second one was never asked for
  );
  await come();
  model.place();
  await settled();
  assert.equal(model.laid, 2);
  model.tell("led", led(3));
  assert.equal(loads.length, 2); // it is shown
  model.tell("led", led(4, false, 3)); // another picture of the same scene
  await come();
  assert.deepEqual([model.opened.length, model.laid], [2, 3]);
  model.size = [6, 4];
  model.tell("led", led(5, false, 3));
  await come();
  assert.equal(model.opened.length, 3); // on another canvas it is placed again
});

for (const touch of ["moved", "painted", "opening"])
  test(`a guest who has ${touch} explores alone until he follows again`, async () => {
    const { model, following, loads, come } = guest();
    model.tell("led", led(1));
    await come();
    model.place();
    await settled();
    assert.ok(following.following); // the leader's scene is no touch
    model.tell(touch);
    assert.ok(!following.following);
    assert.deepEqual(model.of("guest", "following"), [false]);
    assert.equal(model.resize.mock.callCount(), 0); // the touch itself is drawn
    model.tell("led", led(2));
    assert.equal(loads.length, 1);
    following.follow();
    assert.deepEqual(
      loads.map(({ number }) => number),
      [1, 2],
    );
    assert.deepEqual(model.of("guest", "following"), [false, true]);
  });

test("a picture that comes after a touch is not laid over the guest's own", async () => {
  const { model, come } = guest();
  model.tell("led", led(1));
  model.tell("moved");
  await come();
  assert.deepEqual([model.opened, model.laid], [[], 0]);
});

test("the leader's picture is not laid on a scene that a guest has opened before he follows again", async () => {
  const { model, following, come } = guest();
  model.tell("led", led(1));
  await come();
  assert.deepEqual(model.opened, [{ person: 0 }]);
  model.open({ gallery: "sea" }); // before the server has answered
  following.follow();
  model.place(); // the guest's scene
  await settled();
  assert.equal(model.laid, 0);
  await come();
  assert.deepEqual(model.opened.at(-1), { person: 0 });
  model.place();
  await settled();
  assert.equal(model.laid, 1);
});

test("the leader gathers all, and a panel has the view drawn", async () => {
  const { model, following, come } = guest();
  model.tell("led", led(1));
  await come();
  model.place();
  await settled();
  following.leave(true);
  assert.equal(model.resize.mock.callCount(), 1);
  model.tell("led", led(2, true));
  assert.ok(following.following);
});

test("a picture that did not come is asked for again, and after a lost connection", async () => {
  const { model, loads, come } = guest();
  model.tell("led", led(1));
  await come(null);
  await pass();
  assert.equal(loads.length, 2);
  await come();
  model.opening = false;
  model.tell("message"); // the scene can't be opened
  await settled();
  assert.equal(loads.length, 2); // it waits
  await pass();
  assert.equal(loads.length, 3);
  await come();
  model.connected = false;
  model.tell("disconnected"); // before the scene is placed
  await settled();
  await pass();
  assert.equal(model.laid, 0);
  model.connected = true;
  model.tell("welcome");
  model.tell("led", led(1)); // the server's answer
  assert.equal(loads.length, 4);
});

test("only who is alone sends pictures, and only new ones", async () => {
  const { model } = guest();
  model.tell("frame");
  await pass();
  assert.deepEqual(model.of("guest", "picture"), []);
  model.tell("moved");
  await pass();
  assert.equal(model.of("guest", "picture").length, 1);
  await pass();
  assert.equal(model.of("guest", "picture").length, 1);
  model.tell("frame");
  model.drawn = null;
  await pass();
  model.drawn = {};
  await pass();
  assert.equal(model.of("guest", "picture").length, 2);
});

test("a guest who follows asks whether the server is there when nothing was heard for long", async () => {
  let time = Date.now();
  const clock = mock.method(Date, "now", () => time);
  try {
    const { model } = guest();
    await pass();
    time += 20_000;
    model.tell("led", led(1));
    time += 20_000;
    await pass();
    assert.equal(model.check.mock.callCount(), 0);
    time += 20_000;
    await pass();
    await pass();
    assert.equal(model.check.mock.callCount(), 1);
    model.tell("moved"); // alone, it sends pictures, which are answered or not
    time += 60_000;
    await pass();
    assert.equal(model.check.mock.callCount(), 1);
  } finally {
    clock.mock.restore();
  }
});

/** Return a leader's part, and its model. */
async function leader() {
  const model = new Model(),
    leading = new Leading(/** @type {any} */ (model), rest);
  await settled();
  return { model, leading };
}
const MIA = { number: 4, name: "Mia", here: true, following: false, picture: 1 };
const pictures = (/** @type {Model} */ model) => model.sent.filter(({ t }) => t === "lead");

test("the leader's page sends what has changed, if it leads", async () => {
  const { model, leading } = await leader();
  await pass();
  assert.deepEqual(
    pictures(model).map(({ frame, person, gather }) => [frame, person, gather]),
    [[7, undefined, undefined]],
  );
  await pass();
  assert.equal(pictures(model).length, 1);
  model.tell("frame");
  model.told = { ...model.told, leads: false };
  await leading.ask();
  await pass();
  assert.equal(pictures(model).length, 1);
});

test("a picture that could not be made is made again, and all are gathered by that", async () => {
  const { model, leading } = await leader();
  await pass();
  const { still } = model;
  model.still = () => {
    throw new Error("no memory");
  };
  leading.gather();
  await pass();
  assert.equal(pictures(model).length, 1);
  model.still = still;
  await pass();
  assert.deepEqual(
    pictures(model).map(({ gather }) => gather),
    [undefined, true],
  );
  const { following, model: own } = guest();
  following.leave(false);
  own.still = model.still = () => {
    throw new Error("no memory");
  };
  await pass();
  own.still = still;
  await pass();
  assert.equal(own.of("guest", "picture").length, 1);
});

test("guests see a guest's picture only when it is shown to everyone", async () => {
  const { model, leading } = await leader();
  await pass();
  leading.look(MIA);
  model.place();
  model.tell("drawn");
  model.tell("frame");
  await pass();
  assert.deepEqual(model.opened, [{ person: 4 }]);
  assert.equal(pictures(model).length, 1);
  leading.show();
  await pass();
  assert.deepEqual(
    pictures(model).map(({ person, gather }) => [person, gather]),
    [
      [undefined, undefined],
      [4, true],
    ],
  );
  assert.equal(leading.shown, MIA);
  model.tell("moved"); // what follows is the leader's own
  assert.equal(leading.shown, null);
  model.tell("frame");
  await pass();
  assert.equal(pictures(model)[2].person, undefined);
  assert.equal(pictures(model)[2].gather, undefined);
});

test("a look ends with the view before, which is sent once it is drawn", async () => {
  const { model, leading } = await leader();
  await pass();
  leading.look(MIA);
  model.place();
  leading.back();
  assert.equal(leading.looked, null);
  const { scene } = /** @type {{scene: Scene}} */ (model.opened[1]);
  assert.equal(scene.view?.width, "1");
  model.tell("frame");
  model.place();
  await pass(); // the canvas shows the guest's picture still
  assert.equal(pictures(model).length, 1);
  model.tell("drawn");
  await pass();
  assert.equal(pictures(model).length, 2);
});

test("a picture that is shown to everyone is left for the leader's own view", async () => {
  const { model, leading } = await leader();
  leading.look(MIA);
  model.place();
  leading.show();
  model.placed = { ...model.placed, width: "9" };
  leading.look({ ...MIA, number: 5 }); // another one, meanwhile
  model.place();
  leading.back();
  assert.deepEqual([leading.looked, leading.shown], [null, null]);
  const { scene } = /** @type {{scene: Scene}} */ (model.opened.at(-1));
  assert.equal(scene.view?.width, "1"); // as before the first look
});

test("a picture is as good as fits", async () => {
  const seen = (/** @type {(quality: number) => number} */ bytes) => ({
    size: [100, 50],
    still: (/** @type {number} */ width) => pictureCanvas(width, (q) => bytes(q) * width),
  });
  assert.equal(
    (
      await pictureOf(
        seen(() => 3),
        50,
        1000,
      )
    ).length,
    200,
  );
  assert.equal(
    (
      await pictureOf(
        seen((q) => (q > 0.6 ? 30 : 3)),
        50,
        1000,
      )
    ).length,
    200,
  );
  assert.equal(
    (
      await pictureOf(
        seen(() => 30),
        50,
        1000,
      )
    ).length,
    4 * Math.ceil((24 * 30) / 3),
  );
  assert.equal(
    await pictureOf(
      seen(() => 3000),
      50,
      1000,
    ),
    "",
  );
  assert.deepEqual(
    [widthOf([100, 50], 50), widthOf([50, 100], 50), widthOf([9, 9], 50)],
    [50, 25, 9],
  );
});
