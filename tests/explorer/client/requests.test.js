import assert from "node:assert/strict";
import { test } from "node:test";

import { Requests } from "../../../fractals/explorer/client/requests.js";

test("a job that ends while its end is asked for brings no message", async () => {
  const sent = /** @type {Sent[]} */ ([]);
  const requests = new Requests(
    (message) => sent.push(message),
    () => 3,
  );
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
