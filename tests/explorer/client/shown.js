/** What the explorer shows, with the parts that it is made of, without a page and without a server. */
import { Answers } from "../../../fractals/explorer/client/answers.js";
import { Changes } from "../../../fractals/explorer/client/changes.js";
import { Fit } from "../../../fractals/explorer/client/fit.js";
import { Flight } from "../../../fractals/explorer/client/flight.js";
import { Chain } from "../../../fractals/explorer/client/frames.js";
import { Paints } from "../../../fractals/explorer/client/paints.js";
import { Queue } from "../../../fractals/explorer/client/queue.js";
import { Reconnect } from "../../../fractals/explorer/client/reconnect.js";
import { Undo } from "../../../fractals/explorer/client/undo.js";

const SIZE = [100, 75];
export const SCENE = /** @type {any} */ ({
  formula: "mandelbrot",
  title: "Sea",
  color: { palette: "ember" },
  view: { center: ["-0.7", "0.1"], width: "0.01" },
  image: { size: SIZE },
});

/** Return the parts, with nothing placed. `said`: events and messages; `sent`: colors and views that went to the server. */
export function fresh() {
  const said = /** @type {any[]} */ ([]),
    sent = /** @type {any[]} */ ([]),
    drawn = /** @type {any[]} */ ([]); // by the stage
  const note =
    (/** @type {string} */ name) =>
    (/** @type {any[]} */ ...given) =>
      drawn.push([name, ...given]);
  const explorer = /** @type {any} */ ({
    connected: true,
    scene: null,
    placed: null,
    layers: [],
    entry: 0,
    asks: 0,
    size: SIZE,
    seen: { middle: [800, 600], share: 1 },
    welcome: { role: "" },
    stage: {
      place: note("place"),
      colors: note("colors"),
      table: note("table"),
      add: note("add"),
      arrived: note("arrived"),
      picture: { empty: false },
      renderer: { values: false },
    },
    requests: { table: () => false, preview: note("preview"), lost: note("lost") },
    request: () => Promise.reject(new Error("not asked here")),
    still: () => ({ toDataURL: () => "data:image/jpeg," }),
    wake: () => {},
    undo: () => queue.show(/** @type {any} */ (undo.step(-1))),
    announce: (/** @type {string} */ name) => said.push(name),
    tell: (/** @type {any[]} */ ...given) => said.push(given),
    get settled() {
      return !queue.asked.length && paints.settled && this.drawn?.pass === "exact";
    },
  });
  const queue = new Queue((after) => undo.fill(after)),
    chain = new Chain(),
    paints = new Paints(explorer, (message) => sent.push(message) > 0),
    fit = new Fit(explorer, (color) => paints.set(color, false)),
    undo = new Undo(explorer, queue, chain, (color) => paints.set(color, false)),
    flight = new Flight(explorer, queue, chain, undo),
    reconnect = new Reconnect(
      queue,
      {},
      () => {},
      () => false,
    ),
    parts = { queue, chain, undo, flight, paints, fit },
    changes = new Changes(explorer, parts),
    answers = new Answers(explorer, parts, changes, reconnect);
  let time = 0;

  /** Send the next wish. @returns {any} its message */
  const send = () => {
    const message = flight.next((time += 1000), false);
    if (message) sent.push(message);
    return message;
  };
  /** Answer what is under way. @param {object} [keys] of the message */
  const place = (keys = {}) => {
    const { id, asked } = /** @type {any} */ (queue.flight),
      scene = asked.t === "open" ? { ...SCENE, ...asked.scene } : undefined;
    const { title, color, view } = { ...SCENE, ...explorer.scene, ...scene };
    const placed = { t: "placed", frame: id, size: SIZE, octaves: 8, values: true, title, color };
    const where = { center: view.center, width: view.width, rotation: 0, map: [1, 0, 0, 1, 0, 0] };
    const whole = { ...placed, ...where, base: asked.base ?? 0, scene, ...keys };
    answers.text(/** @type {any} */ (whole));
  };
  return { ...parts, explorer, changes, answers, reconnect, said, sent, drawn, send, place };
}

/** Return the parts of `fresh`, with the frame 1 placed. */
export function made() {
  const parts = fresh(),
    { queue, send, place, said, sent, drawn } = parts;
  queue.entries.push({ open: {} });
  send();
  place();
  said.length = sent.length = drawn.length = 0;
  return parts;
}
