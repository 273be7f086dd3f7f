/**
 * What the server tells of the view: each message changes what is shown. What it tells of older frames and of older colors is
 * left out.
 */
import { PIXELS, PREVIEW, TABLE, VALUES } from "./decode.js";
import { movedScene } from "./flight.js";
import { inWords, meaningOf } from "./heard.js";
import { say } from "./words.js";

const STILL = 128; // pixels of the width of a picture in the list of undo

/** @typedef {import("./decode.js").Message} Message */
/** @typedef {import("./decode.js").Rows} Rows */

export class Answers {
  #returned = false; // to the base of a view that can't be drawn
  /** @type {import("./queue.js").InFlight|null} */ #landed = null; // of the newest frame
  #first = true; // whether that is the first one

  /** @param {import("./explorer.js").Explorer} explorer @param {import("./explorer.js").Parts} parts
   * @param {import("./changes.js").Changes} changes @param {import("./reconnect.js").Reconnect} reconnect */
  constructor(explorer, { queue, chain, undo, flight, paints, fit }, changes, reconnect) {
    this.explorer = explorer;
    this.queue = queue;
    this.chain = chain;
    this.undo = undo;
    this.flight = flight;
    this.paints = paints;
    this.fit = fit;
    this.changes = changes;
    this.reconnect = reconnect;
  }

  /** Take a message that answers no question. */
  text(/** @type {Received} */ message) {
    const { explorer } = this;
    if (message.t === "welcome") this.#welcomed(message);
    else if (message.t === "device") this.#drawnWith(message);
    else if (message.t === "placed") this.#placed(message);
    else if (message.t === "painted") this.#painted(message);
    else if (message.t === "error") this.#failed(message);
    else if (message.t === "led" || message.t === "guest") explorer.announce(message.t, message);
    else if (!("frame" in message) || message.frame !== this.chain.newest) return;
    else if (message.t === "layers") this.#described(message);
    else if (message.t === "drawn") this.#drawn(message);
    else if (message.t === "status") explorer.status = message;
    else if (message.t === "paused") explorer.paused = message;
  }

  #welcomed(/** @type {Received.Welcome} */ message) {
    const { explorer } = this;
    explorer.connected = true;
    explorer.lost = "";
    explorer.welcome = message;
    explorer.announce("welcome", message);
    this.reconnect.welcomed(explorer.scene);
    explorer.wake();
  }

  /** Another device draws from now on. The guests of a class hear no reason: only who leads can do something about it. */
  #drawnWith(/** @type {Received.DeviceMessage} */ { device, why }) {
    const { explorer } = this;
    explorer.welcome = { ...explorer.welcome, device, why };
    if (explorer.welcome.role !== "guest") explorer.tell(why);
  }

  #placed(/** @type {Received.Placed} */ message) {
    const landed = this.flight.landed(message);
    if (!landed) return;
    const { explorer, paints } = this,
      { flight, map } = landed;
    explorer.stage.place(message.frame, message.size, map, Boolean(message.camera));
    const { live } = paints;
    if (message.scene) {
      this.undo.origin++;
      paints.start(message.scene.color, message.values);
    }
    explorer.scene = message.scene ?? movedScene(explorer.scene, message);
    explorer.asks++;
    explorer.placed = message;
    this.#returned = flight.returned ?? false;
    this.#first = this.#landed === null;
    this.#landed = flight;
    explorer.drawn = explorer.status = explorer.paused = null;
    this.changes.trial.placed(flight);
    if (flight.jump) explorer.entry += 1;
    this.flight.tell(flight, message.scene ?? undefined);
    if (flight.jump) explorer.announce("jump");
    if (message.unused) explorer.tell(say("about_the_scene", { line: inWords(message.unused) }));
    if (flight.color) paints.set(flight.color, live);
    explorer.announce("placed", message);
    paints.next();
    explorer.wake();
  }

  #painted(/** @type {Received.Painted} */ message) {
    this.paints.accepted(message);
    this.explorer.announce("painted", message);
    this.paints.next();
  }

  #described(/** @type {Received.LayersMessage} */ message) {
    const { explorer } = this,
      fresh = this.paints.takeFresh(explorer.layers, message.layers);
    explorer.layers = message.layers;
    explorer.stage.colors(message, fresh && explorer.stage.picture?.empty === false);
  }

  #drawn(/** @type {Received.DrawnMessage} */ message) {
    const { explorer, paints, undo } = this;
    if (message.paint !== paints.seq) return;
    explorer.drawn = message;
    if (message.pass === "exact" || !explorer.status?.share) explorer.status = null; // which share is done, goes on
    this.flight.seen();
    undo.history.seen();
    paints.next();
    explorer.stage.arrived(message.pass);
    explorer.announce("drawn", message);
    if (explorer.settled) undo.still = explorer.still(STILL).toDataURL("image/jpeg", 0.7);
    if (paints.settled) void this.fit.arrived();
    const tried = this.changes.trial.drawn(message, explorer.placed.values);
    if (tried) this.changes.leave(tried, false);
  }

  #failed(/** @type {Received.ErrorMessage} */ message) {
    const { explorer, queue, paints } = this,
      { flight } = queue,
      left = this.changes.trial.failed(message, flight, this.chain.newest);
    if (left) {
      if (left.flew) queue.flight = null;
      return this.changes.leave(left.tried, left.flew);
    }
    if (flight && message.frame === flight.id) this.#notPlaced(flight);
    else if (
      (message.re === "view" || message.re === "open") &&
      message.frame === this.chain.newest
    ) {
      explorer.status = { t: "failed" };
      this.#landed?.asked.t === "open" ? this.#leave() : this.#return();
    } else if (message.re === "paint" && paints.refused(message.seq ?? 0)) {
      this.fit.end();
      explorer.announce("painted", { ...message, color: explorer.scene.color });
    }
    paints.next();
    explorer.tell(meaningOf(message), "error", null, message.column);
  }

  /** What was under way is no frame: what was shown stays, and moves of the one that does not exist are forgotten.
   * @param {import("./queue.js").InFlight} flight */
  #notPlaced(flight) {
    const { explorer } = this,
      never = this.queue.fail();
    explorer.asks++;
    this.undo.history.clean((state) => never.includes(state) || state === flight.noted);
    const by = (flight.noted?.entry ?? explorer.entry) - explorer.entry;
    explorer.entry += by; // of what is still shown
    if (by) explorer.announce("turned", { by });
    explorer.drawn ??= flight.drawn; // it is not drawn again
    this.reconnect.failed(flight, Boolean(explorer.placed));
    explorer.wake();
  }

  /** The newest view can't be drawn: the one before it is shown again, if that is not the one. */
  #return() {
    const { explorer } = this,
      { placed, scene, entry } = explorer;
    if (!placed.base || this.#returned) return;
    const state = { frame: placed.base, scene, origin: this.undo.origin, entry };
    this.queue.entries = [{ state, returned: true }];
    explorer.wake();
  }

  /** The scene that was opened can't be drawn: the one before it is shown again, or what the server was started with. */
  #leave() {
    const { explorer } = this,
      { history } = this.undo,
      flight = this.#landed;
    if (flight?.noted && history.back.at(-1) === flight.noted) {
      explorer.undo();
      history.forth = history.forth.slice(0, -1);
    } else if (flight && this.#first) {
      this.reconnect.failed(flight, false);
      explorer.wake();
    }
  }

  /** Tell whether a binary message belongs to what is shown now. */
  #isNow(/** @type {Message} */ { frame, paint }) {
    return frame === this.chain.newest && paint === this.paints.seq;
  }

  /** Tell whether a binary message is worth decoding: for a question, or for what is shown now. */
  wants(/** @type {Message} */ message) {
    return message.kind === PREVIEW || message.kind === TABLE || this.#isNow(message);
  }

  /** Take a binary message. */
  binary(/** @type {Message} */ message) {
    const { paints } = this,
      { stage, requests, placed } = this.explorer;
    if (message.kind === PREVIEW) requests.preview(/** @type {Preview} */ (message));
    else if (message.kind === TABLE && requests.table(/** @type {Rows} */ (message))) return;
    else if (!this.#isNow(message)) return;
    else if (message.kind === TABLE) stage.table(/** @type {Rows} */ (message));
    else if (message.kind === VALUES) stage.add(message);
    else if (message.kind === PIXELS && (paints.settled || paints.cycling || !placed.values))
      stage.add(message);
  }

  /** The connection is lost. @param {string} line the server's reason */
  lost(line) {
    const { explorer } = this;
    explorer.requests.lost();
    const never = this.reconnect.lost();
    this.undo.history.clean((state) => never.includes(state));
    explorer.asks++;
    this.paints.lost();
    explorer.connected = false;
    explorer.drawn = explorer.status = null;
    explorer.lost = line;
    explorer.announce("disconnected", { text: line });
  }
}
