import assert from "node:assert/strict";
import { test } from "node:test";

import { Requests } from "../../../fractals/explorer/client/requests.js";
import { kept } from "../../../fractals/explorer/client/state.js";

/** Questions of a page that shows frame 3, which lies 16 sixteenths of a pixel to the left. */
function made(/** @type {any} */ shown = { connected: true, placed: { frame: 3 } }) {
  const sent = /** @type {any[]} */ ([]);
  const requests = new Requests(
    shown,
    (message) => sent.push(message),
    () => 3,
    ([x, y]) => [x - 16, y],
  );
  return { requests, sent, shown };
}

test("a job that ends while its end is asked for brings no message", async () => {
  const { requests, sent } = made();
  const job = requests.job({ t: "sheet", scenes: [] });
  job.cancel();
  assert.deepEqual(
    sent.map(({ t }) => t),
    ["sheet", "cancel"],
  );
  assert.ok(requests.text({ t: "done", job: job.id }));
  await job.done;
  const line = `the job ${job.id} does not run`;
  assert.ok(requests.text({ t: "error", re: "cancel", job: job.id, message: line }));
  assert.equal(job.cancel(), false);
  assert.equal(sent.length, 2);
  assert.ok(!requests.text({ t: "error", re: "view", frame: 3, message: "wrong" })); // which the page shows
});

test("a job that is cancelled while its pictures are decoded is no mistake", async () => {
  const { requests } = made();
  const job = requests.job({ t: "surprise", seed: 1 });
  job.cancel();
  const line = `the job ${job.id} does not run`; // comes before "done", which waits for the pictures
  requests.text({ t: "error", re: "cancel", job: job.id, message: line });
  await assert.rejects(job.done, { cancelled: true });
  requests.text({ t: "done", job: job.id });
  assert.equal(job.cancel(), false);
});

test("an error says what it means, if the server tells that", async () => {
  const { requests } = made();
  const job = requests.job({ t: "find", what: "nucleus" });
  const line = "no nucleus of a period up to 9 was found in the view: give a higher max_period=";
  requests.text({ t: "failed", job: job.id, message: line, code: "no_minibrot_was_found" });
  await assert.rejects(job.done, /^Error: No minibrot was found in this view/);
  const asked = requests.ask({ t: "link" });
  requests.text({
    ...{ t: "error", re: "link", frame: 3, message: "a line" },
    ...{ code: "takes_at_most", key: "view.width", limit: 4 },
  });
  await assert.rejects(asked, /^Error: Picture width: 4 or less$/);
  const wrong = requests.ask({ t: "link" });
  requests.text({
    ...{ t: "error", re: "link", frame: 3, message: "formula: step 'z+(', column 4: a line" },
    ...{ code: "sign_expected", key: "formula", column: 4, name: ")" },
  });
  await assert.rejects(wrong, /^Error: Formula, column 4: '\)' is missing$/);
});

test("without a connection nothing is asked", async () => {
  const { requests, sent, shown } = made({ connected: false, placed: { frame: 3 } });
  await assert.rejects(requests.ask({ t: "link" }), /connection/);
  const job = requests.job({ t: "sheet", scenes: [] });
  await assert.rejects(job.done, /connection/);
  assert.equal(job.cancel(), false);
  requests.julia({ at: [0, 0] }, () => {});
  shown.connected = true;
  shown.placed = null;
  requests.julia({ at: [0, 0] }, () => {});
  assert.deepEqual(sent, []);
});

test("points of the canvas are asked for where the newest frame has them", () => {
  const { requests, sent } = made();
  requests.ask({ t: "pick", at: [160, 32] });
  requests.julia({ at: [160, 32] }, () => {});
  requests.julia({ at: [0, 0] }, () => assert.fail()); // a newer one takes its place
  const newest = /** @type {object[]} */ ([]);
  requests.julia({ at: [320, 0], size: 64 }, (preview) => newest.push(preview));
  const { seq } = sent[1];
  assert.deepEqual(sent, [
    { t: "pick", at: [144, 32], frame: 3 },
    { t: "julia", at: [144, 32], size: 256, seq, frame: 3 },
  ]);
  requests.preview(/** @type {any} */ ({ frame: seq }));
  assert.deepEqual(sent.at(-1), { t: "julia", at: [304, 0], size: 64, seq: seq + 1, frame: 3 });
  requests.preview(/** @type {any} */ ({ frame: seq + 1 }));
  assert.equal(newest.length, 1);
});

test("what is kept has the user's name, and questions have none", () => {
  const { requests, sent } = made();
  kept.set("author", "Ada");
  requests.ask({ t: "link" });
  requests.ask({ t: "bookmark", name: "here" });
  requests.ask({ t: "bookmark", name: "here", remove: true });
  requests.ask({ t: "bookmarks" });
  requests.job({ t: "film" });
  requests.job({ t: "sheet", scenes: [] });
  kept.set("author", null);
  requests.ask({ t: "link" });
  assert.deepEqual(
    sent.map(({ t, author }) => [t, author]),
    [
      ["link", "Ada"],
      ["bookmark", "Ada"],
      ["bookmark", undefined],
      ["bookmarks", undefined],
      ["film", "Ada"],
      ["sheet", undefined],
      ["link", undefined],
    ],
  );
});

test("the answer about an older point is not that about a newer one", async () => {
  const { requests, sent } = made();
  const older = requests.ask({ t: "pick", at: [160, 32] }, true),
    newer = requests.ask({ t: "pick", at: [320, 32] }, true);
  assert.equal(await older, null);
  const answers = sent.map(({ at, frame }) => ({ t: "picked", at, frame, center: [`${at}`, "0"] }));
  for (const each of answers) assert.ok(requests.text(/** @type {any} */ (each)));
  assert.equal(await newer, answers[1]);
  const last = requests.ask({ t: "pick", at: [0, 0] });
  requests.text({ t: "error", re: "pick", frame: 3, message: "the frame 3 is not kept" });
  await assert.rejects(last, /not kept/);
});

test("each question about a point that is not passing is answered, whatever is asked beside it", async () => {
  const { requests, sent } = made(),
    xs = () => sent.map(({ at }) => at[0]);
  const picked = (/** @type {any} */ { at, frame }) =>
    requests.text(/** @type {any} */ ({ t: "picked", at, frame, center: [`${at[0]}`, "0"] }));
  const ask = (/** @type {number} */ x, passing = false) =>
    requests.ask({ t: "pick", at: [x + 16, 0] }, passing);
  const pointer = ask(1, true),
    first = ask(2), // which the server answers in place of the one before
    second = ask(3),
    left = ask(4, true),
    last = ask(5, true);
  assert.deepEqual(xs(), [1, 2]);
  assert.equal(await pointer, null);
  assert.equal(await left, null);
  picked(sent[1]);
  assert.deepEqual((await first).center, ["2", "0"]);
  assert.deepEqual(xs(), [1, 2, 3]);
  requests.text({ t: "error", re: "pick", frame: 3, message: "the frame 3 is not kept" });
  await assert.rejects(second, /not kept/);
  assert.deepEqual(xs(), [1, 2, 3, 5]);
  picked(sent[3]);
  assert.deepEqual((await last).center, ["5", "0"]);
  const lost = [ask(6), ask(7)];
  requests.lost();
  for (const each of lost) await assert.rejects(each, /connection/);
  void ask(8);
  assert.deepEqual(xs(), [1, 2, 3, 5, 6, 8]);
});

test("what the pointer rests on is asked for again after a point that was asked for meanwhile", async () => {
  const { requests, sent } = made(),
    rests = requests.ask({ t: "pick", at: [160, 32] }, true),
    copied = requests.ask({ t: "pick", at: [320, 32] });
  const answers = sent.map(({ at, frame }) => ({ t: "picked", at, frame, center: [`${at}`, "0"] }));
  requests.text(/** @type {any} */ (answers[1]));
  assert.equal(await copied, answers[1]);
  assert.deepEqual(sent[2], sent[0]);
  requests.text(/** @type {any} */ (answers[0]));
  assert.equal(await rests, answers[0]);
});

test("a table of a view's colors answers no question about a palette", async () => {
  const { requests, sent } = made(),
    told = requests.ask({ t: "lookup", palette: "ember" });
  const table = (/** @type {number} */ frame) =>
    requests.table(/** @type {any} */ ({ frame, layer: 0, data: new Uint16Array(9) }));
  for (let frame = 1; frame < 1000; frame++) assert.equal(table(frame), false);
  assert.ok(sent[0].seq < 2 ** 32);
  assert.ok(table(sent[0].seq));
  assert.equal(/** @type {any} */ (await told).entries, 1);
});
