import assert from "node:assert/strict";
import { test } from "node:test";

import { Engine } from "../../../fractals/explorer/client/site/engine.js";
import { Trial } from "../../../fractals/explorer/client/trial.js";

const TRIED = /** @type {any} */ ({ formula: "tricorn", step: "flight to formula 3", scene: {} });
const drawn = (pass = "coarse", least = 1, most = 1) => /** @type {any} */ ({ pass, least, most });
const error = (/** @type {number} */ frame, re = "open", key = "view.width") =>
  /** @type {any} */ ({ t: "error", frame, re, message: "a line", key });

/** A trial whose formula is placed. */
function placed() {
  const trial = new Trial();
  trial.placed({ trial: TRIED });
  return trial;
}

test("a formula is tried at a place of the plane, deeper than the whole of it", () => {
  const fits = (/** @type {object} */ other) =>
    Trial.fits({ julia: null, octaves: 5, values: true, ...other });
  assert.ok(fits({}));
  assert.ok(!fits({ octaves: 0.5 }));
  assert.ok(!fits({ values: false }));
  assert.ok(!fits({ julia: ["0", "1"] }));
});

test("it is left where the first picture has one color, and only there", () => {
  assert.equal(placed().drawn(drawn(), true), TRIED);
  assert.equal(placed().drawn(drawn("coarse", 1, 9), true), null);
  assert.equal(placed().drawn(drawn(), false), null);
  const later = placed();
  assert.equal(later.drawn(drawn("values"), true), null);
  assert.equal(later.drawn(drawn(), true), null); // of a picture after the first
});

test("a view that follows ends the trial", () => {
  const trial = placed();
  trial.placed({});
  assert.equal(trial.drawn(drawn(), true), null);
});

test("a formula that a page without a server lacks is no matter of the place", async () => {
  const said = /** @type {any[]} */ ([]),
    known = { name: "multibrot", parameters: { power: 3 } },
    defaults = {
      ...{ view: {}, image: { supersampling: 1 } },
      iteration: { max_iterations: "auto", escape_radius: 2 },
    },
    facts = { defaults, formulas: { a: known } };
  const engine = new Engine(/** @type {any} */ ({ facts }), (data) =>
    said.push(JSON.parse(/** @type {string} */ (data))),
  );
  const flight = { id: 4, trial: TRIED };
  for (const formula of ["own", { name: "multibrot", power: 9 }])
    await engine.receive(/** @type {any} */ ({ t: "open", frame: 4, scene: { formula } }));
  assert.equal(said.length, 2);
  for (const told of said) {
    assert.match(told.message, /^This page has no server/);
    assert.equal(new Trial().failed(told, flight, 3), null);
  }
});

test("it is left where it can't be placed or drawn, but not because of its text", () => {
  const flight = { id: 4, trial: TRIED };
  assert.deepEqual(new Trial().failed(error(4), flight, 3), { tried: TRIED, flew: true });
  for (const key of ["formula", "formula.name"])
    assert.equal(new Trial().failed(error(4, "open", key), flight, 3), null);
  assert.equal(new Trial().failed(error(5), flight, 3), null);
  assert.deepEqual(placed().failed(error(3), null, 3), { tried: TRIED, flew: false });
  assert.equal(placed().failed(error(3, "paint"), null, 3), null);
  const once = placed();
  once.failed(error(3), null, 3);
  assert.equal(once.failed(error(3), null, 3), null);
});
