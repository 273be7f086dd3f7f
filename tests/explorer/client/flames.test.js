import assert from "node:assert/strict";
import { test } from "node:test";

import {
  copied,
  isMuted,
  isSolo,
  muted,
  reordered,
  soloed,
  symmetryOf,
  without,
  withSymmetry,
} from "../../../fractals/explorer/client/flames.js";

const LIST = [
  { color: 0, weight: 3, xaos: [1, 2, 3] },
  { color: 0.5, opacity: 0.4 },
  { color: 1, weight: 0.5, xaos: [7] },
];
const opacities = (list) => list.map(({ opacity = 1 }) => opacity);

test("a muted transform is drawn again with its opacity of before", () => {
  const first = muted(LIST, 1, []);
  assert.deepEqual(opacities(first.list), [1, 0, 1]);
  assert.ok(isMuted(first.list[1]));
  const second = muted(first.list, 0, first.before);
  assert.deepEqual(opacities(second.list), [0, 0, 1]);
  const back = muted(muted(second.list, 1, second.before).list, 0, second.before);
  assert.deepEqual(back.list, LIST);
  assert.deepEqual(opacities(muted([{ opacity: 0 }], 0, []).list), [1]); // a file's
});

test("one transform is drawn alone, then another one, then all of before", () => {
  const first = soloed(LIST, 0, []);
  assert.deepEqual(opacities(first.list), [1, 0, 0]);
  assert.ok(isSolo(first.list, 0) && !isSolo(first.list, 1));
  const second = soloed(first.list, 1, first.before);
  assert.deepEqual(opacities(second.list), [0, 0.4, 0]);
  assert.deepEqual(soloed(second.list, 1, second.before).list, LIST);
  const silent = muted(LIST, 2, []);
  const alone = soloed(silent.list, 0, silent.before);
  assert.deepEqual(opacities(soloed(alone.list, 0, alone.before).list), [1, 0.4, 0]); // it stays mute
});

test("factors of the transforms that follow go along with another order", () => {
  const moved = reordered(LIST, 0, 2);
  assert.deepEqual(
    moved.map(({ color }) => color),
    [0.5, 1, 0],
  );
  assert.deepEqual(moved[2].xaos, [2, 3, 1]);
  assert.deepEqual(moved[1].xaos, [1, 1, 7]); // those that a list lacks are 1
  assert.equal(moved[0].xaos, undefined);
  assert.deepEqual(
    reordered(moved, 2, 0).map(({ color }) => color),
    [0, 0.5, 1],
  );
  assert.deepEqual(reordered(moved, 2, 0)[0].xaos, [1, 2, 3]);
  assert.deepEqual(without(LIST, 1)[0].xaos, [1, 3]);
  assert.deepEqual(copied(LIST, 1, 3, { weight: 0.5 })[0].xaos, [1, 2, 3, 2]);
  assert.deepEqual(copied(LIST, 1, 3, { weight: 0.5 })[3], {
    color: 0.5,
    opacity: 0.4,
    weight: 0.5,
  });
});

test("a symmetry is known again, changed and taken away", () => {
  assert.deepEqual(symmetryOf(LIST), { fold: 1, mirrored: false, count: 0 });
  for (const fold of [1, 2, 3, 5, 12]) {
    for (const mirrored of [false, true]) {
      const list = withSymmetry(LIST, { fold, mirrored });
      const count = fold - 1 + Number(mirrored);
      assert.deepEqual(symmetryOf(list), { fold, mirrored, count });
      assert.equal(list.length, LIST.length + count);
      for (const { affine, weight, color_speed: speed } of list.slice(LIST.length)) {
        const [a, b, c, d, e, f] = affine;
        assert.ok(Math.abs(Math.abs(a * e - b * d) - 1) < 1e-5 && c === 0 && f === 0);
        assert.equal(weight, 4.5); // of all others
        assert.equal(speed, 0);
      }
      assert.deepEqual(symmetryOf(withSymmetry(list, { fold: 4, mirrored: false })), {
        fold: 4,
        mirrored: false,
        count: 3,
      });
      assert.deepEqual(withSymmetry(list, { fold: 1, mirrored: false }), LIST);
    }
  }
});

test("turns that are no whole symmetry are transforms like others", () => {
  const five = withSymmetry(LIST, { fold: 5, mirrored: false });
  assert.equal(symmetryOf(five.slice(0, -1)).count, 0);
  assert.equal(symmetryOf([...five.slice(0, -1), { ...five.at(-1), opacity: 0 }]).count, 0);
  const turns = five.slice(LIST.length);
  assert.ok(symmetryOf(turns).count < turns.length); // one transform is the flame's own
});

test("a transform that is drawn alone keeps the symmetry, whose turns are muted with the others", () => {
  const five = withSymmetry(LIST, { fold: 5, mirrored: false }),
    alone = soloed(five, 1, []);
  assert.deepEqual(symmetryOf(alone.list), { fold: 5, mirrored: false, count: 4 });
  assert.deepEqual(soloed(alone.list, 1, alone.before).list, five);
  const three = withSymmetry(alone.list, { fold: 3, mirrored: true });
  assert.deepEqual(symmetryOf(three), { fold: 3, mirrored: true, count: 3 });
  assert.ok(isSolo(three, 1)); // other turns draw no points either
  const none = withSymmetry(soloed(LIST, 1, []).list, { fold: 2, mirrored: false });
  assert.ok(isSolo(none, 1));
});
