/**
 * The view under way: the next wish becomes a message when its time has come, and the answer says where its frame lies.
 * One message is unanswered at most.
 */
import { apply, compose, IDENTITY, inverse, mapOf, messageOf } from "./frames.js";
import { isElsewhere } from "./queue.js";
import { resized } from "./undo.js";

const MOST = 2 ** 20 - 1; // sixteenths of a pixel, as of the protocol
const BETWEEN = 30; // ms between views: the server accepts 40 messages a second
const FIRST = { moving: 500, settled: 150 }; // ms that the next move waits for the first picture of the one before: else a held key would let none be drawn
export const HASTY = 400; // ms for which the next change of an image of points waits until this one is drawn

/** @typedef {import("./queue.js").InFlight} InFlight */
/** @typedef {import("./undo.js").Shown & {placed: Received.Placed|null, drawn: Received.DrawnMessage|null}} Shown */

export class Flight {
  frame = 0; // the newest id
  /** @type {number[]|null} */ focus = null; // where the next view is drawn first
  #sent = 0; // time of the newest view
  #changed = 0; // time of the newest change of an image of points, until it is drawn

  /** @param {Shown} shown @param {import("./queue.js").Queue} queue @param {import("./frames.js").Chain} chain
   * @param {import("./undo.js").Undo} undo */
  constructor(shown, queue, chain, undo) {
    this.shown = shown;
    this.queue = queue;
    this.chain = chain;
    this.undo = undo;
  }

  /** The map from the newest frame's pixels to the canvas; what is done in a scene of another place that is not open yet, counts later. */
  get map() {
    const { asked } = this.queue,
      opened = asked.findIndex(isElsewhere);
    let map = IDENTITY;
    for (const wish of asked.slice(0, opened < 0 ? asked.length : opened))
      map = this.#moved(map, wish);
    return map;
  }

  /** Degrees that the picture is turned by, with all moves until now. */
  get rotation() {
    const [a, , c] = this.map,
      { placed, scene } = this.shown;
    const by = ((Math.atan2(-c, a) * 180) / Math.PI) * (scene?.view?.mirror ? -1 : 1);
    return (((placed?.rotation ?? 0) - by + 540) % 360) - 180;
  }

  /** @param {number[]} map @param {import("./queue.js").Wish} wish */
  #moved(map, { move, size, state, of = null }) {
    if (of !== null) return inverse(this.chain.of(of) ?? IDENTITY);
    if (state) {
      const there = inverse(this.chain.of(state.frame) ?? IDENTITY);
      return state.move ? compose(there, mapOf(state.move)) : there;
    }
    if (size) return compose(map, size.map);
    return move ? compose(map, mapOf(move)) : map;
  }

  /** Return a point of the canvas in the newest frame. @param {number[]} at in sixteenths of a pixel */
  here(at) {
    const pixel = at.map((part) => part / 16);
    return apply(inverse(this.map), pixel).map((part) =>
      Math.max(-MOST, Math.min(MOST, Math.round(16 * part))),
    );
  }

  /** Whether nothing was drawn since a change of an image of points: the next one would replace it unseen. */
  get isHasty() {
    return performance.now() - this.#changed < HASTY;
  }
  /** An image of points is changed: the next change waits. */
  change() {
    this.#changed = performance.now();
  }
  /** A picture of the newest frame has come. */
  seen() {
    this.#changed = 0;
  }

  /** Take the next wish, and return its message; null: not now. @param {number} time ms, as of frames of the screen
   * @param {boolean} empty whether nothing is drawn of the newest frame @returns {Sent.Open|Sent.ViewMessage|null} */
  next(time, empty) {
    const { queue, shown } = this,
      [next] = queue.entries;
    const least = next.move && empty ? FIRST[next.stage ?? "settled"] : BETWEEN;
    if (time - this.#sent < least || (next.edits && this.isHasty)) return null;
    queue.entries.shift();
    const message = this.#messageOf(next);
    if (!message) return null;
    const asked = { ...message, frame: ++this.frame };
    if (asked.t === "open") {
      asked.size = shown.size;
      if (shown.placed && !next.again) asked.base = this.chain.newest;
    } else if (this.focus && !next.size) asked.focus = this.focus.map(Math.round);
    queue.flight = {
      ...next,
      id: asked.frame,
      open: asked.t === "open" ? asked : undefined,
      asked,
      drawn: shown.drawn,
      // The scene of a state lies before the state.
      then: next.state && message.t === "open" ? resized(next.state, shown.size) : null,
    };
    this.#sent = time;
    if (next.edits) this.change();
    shown.drawn = null;
    return asked;
  }

  /** @param {import("./queue.js").Wish} wish @returns {import("./undo.js").Unnumbered|null} */
  #messageOf({ open, size, state, move, stage }) {
    if (open) return { t: "open", ...open };
    if (state) return this.undo.restoring(state, this.frame);
    const base = this.chain.newest;
    if (size) return { t: "view", base, size: this.shown.size };
    return move ? { t: "view", base, stage, ...messageOf(move) } : null;
  }

  /** Take the answer: the frame is the newest now. @param {Received.Placed} message
   * @returns {{flight: InFlight, map: number[]|null}|null} what was under way, and where the newest frame until now lies
   * in this one; null: this is no answer to it */
  landed({ frame, base, map }) {
    const { flight } = this.queue;
    if (!flight || frame !== flight.id) return null;
    this.queue.flight = null;
    if (!flight.again || !this.chain.newest)
      return { flight, map: this.chain.add(frame, base ?? 0, map) };
    this.chain.start(frame);
    return { flight, map: IDENTITY }; // the scene is shown again after a lost connection
  }

  /** Tell the states that the frame leads to, once its scene is shown. @param {InFlight} flight @param {WholeScene} [opened] */
  tell({ then, after = [] }, opened) {
    if (then) this.queue.entries.unshift({ move: then, stage: "settled", after });
    else for (const each of after) this.undo.fill(each, opened);
  }
}

/** Return the scene of a frame that is a move of the one before. @param {WholeScene} scene @param {Received.Placed} placed @returns {WholeScene} */
export function movedScene(scene, placed) {
  const { zoom: _zoom, ...view } = scene.view ?? {};
  const { center, width, rotation, title, author, rights, note, size, camera } = placed;
  const seen = camera ? { camera } : { view: { ...view, center, width, rotation } };
  return { ...scene, title, author, rights, note, ...seen, image: { ...scene.image, size } };
}
