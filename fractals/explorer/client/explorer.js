/**
 * The model: the user's view, its frames, colors and history. It knows no panels.
 *
 * Its public fields are signals: what is rendered from them follows them. Events tell of what happens once: "welcome",
 * "placed", "painted", "drawn", "message" ({text, kind}), "disconnected", "selection" ({rect}; cancelable), "pointer"
 * ({x, y} in device pixels, or null), "catalog", "opening" (another scene is wanted), "gesture" (the user moves), "moved" (what `move` was given; null: by undo), "frame" (the canvas was drawn),
 * "menu" ({at, x, y}: for a point), "jump" and "turned" ({by}: jumps, by undo). The detail is the server's message, or as given.
 */
import { PIXELS, PREVIEW, TABLE, VALUES } from "./decode.js";
import { apply, Chain, compose, IDENTITY, inverse, mapOf, messageOf } from "./frames.js";
import { History } from "./history.js";
import { Connection } from "./net.js";
import { changed, Paints } from "./paints.js";
import { canvasOf, newCanvas } from "./picture.js";
import { Queue } from "./queue.js";
import { Requests } from "./requests.js";
import { Stage } from "./stage.js";
import { kept, observe } from "./state.js";

const BETWEEN = 30; // ms between views: the server accepts 40 messages a second
/** @type {Table} */ const FIRST = { moving: 500, settled: 150 }; // ms that the next move waits for the first picture of the one before: else a held key would let none be drawn
const HASTY = 400; // ms for which the next change of an image of points waits until this one is drawn
const KEPT = 250; // frames back that the server surely keeps
const STILL = 128; // pixels of the width of a picture in the list of undo
const ANSWERED = 60_000; // ms in which the server answers a view or colors: it does so before it draws
const ENDS = ["pointerup", "pointercancel", "keyup", "blur"]; // of a gesture that changes colors

export class Explorer extends EventTarget {
  /** @type {Arrived} */ welcome = null; // the message
  /** @type {Arrived} */ catalog = null; // `/catalog.json`
  /** @type {Arrived} */ placed = null; // the message `placed` of the newest frame
  /** @type {Arrived} */ scene = null; // the whole table of the scene, with the place and colors of now
  layers = /** @type {Table[]} */ ([]); // the newest `layers`
  /** @type {Arrived} */ drawn = null; // the newest `drawn` of the newest frame
  /** @type {Arrived} */ status = null; // the newest `status`, until something was drawn
  /** @type {Arrived} */ paused = null; // the message `paused`, until the view goes on
  flying = false; // whether a drag turns a solid's camera, and does not go around the solid
  connected = false;
  lost = ""; // why there is no connection
  /** @type {{x: number, y: number}|null} */ pointer = null; // {x, y} in device pixels of the canvas
  entry = 0; // of the browser's list of pages: the number of jumps to what is shown
  #frame = 0; // the newest id
  #chain = new Chain();
  #history = new History();
  #queue = new Queue(({ state, move }) => {
    const scene = { ...this.scene, color: state.color };
    this.#fill(state, this.#chain.newest, scene, move);
  });
  #sent = 0; // time of the newest view
  #changed = 0; // time of the newest change of an image of points, until it is drawn
  #origin = 0; // number of the scene that was opened
  #first; // keys of the first `open`
  #paints = new Paints(this, (message) => this.#sendPaint(message));
  #animations = new Set();
  #ticking = 0;
  #time = 0;
  /** @type {number[]|null} */ #focus = null;
  /** @type {{layer: number}|null} */ #fit = null; // {layer}: its values are coming, and its density and offset will be fitted to them
  /** @type {Table|null} */ #trial = null; // a formula at the place of another one: {formula, step, scene}
  #returned = false; // to the base of a view that can't be drawn
  #still = ""; // a small picture of what is settled, as an address
  /** @type {object|null} */ #peeked = null; // the newest wish of `peek`
  #ended = new AbortController();
  /** @type {number[]|null} */ free = null; // [left, top, right, bottom]: device pixels that no panel covers; null: all

  /** @param {HTMLCanvasElement} canvas
   * @param {{plain?: boolean, software?: boolean, remote?: boolean, first?: Table, entry?: number, past?: Table, second?: boolean}} [options] `plain`: no
   * WebGL2; `software`: WebGL2 without a graphics card too; `remote`: a slow line; `first`: keys of the first message `open`; `entry`, `past`: where a page before a reload was;
   * `second`: the second view of a page */
  constructor(
    canvas,
    {
      plain = false,
      software = false,
      remote = false,
      first = {},
      entry = 0,
      past = {},
      second = false,
    } = {},
  ) {
    super();
    observe(
      this,
      "welcome",
      "catalog",
      "placed",
      "scene",
      "layers",
      "drawn",
      "status",
      "paused",
      "flying",
      "connected",
      "lost",
    );
    this.remote = remote;
    this.entry = entry;
    Object.assign(this.#history, past);
    this.#first = first;
    this.stage = new Stage(canvas, () => this.#wake(), { plain, software });
    this.requests = new Requests(
      (message) => this.connection.send(message),
      () => this.#chain.newest,
    );
    const url = new URL(second ? "/ws?second" : "/ws", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    this.connection = new Connection(
      url.href,
      {
        hello: () => ({
          t: "hello",
          v: 1,
          size: this.size,
          values: this.stage.renderer.values,
          link: remote ? "remote" : "local",
        }),
        text: (message) => this.#text(message),
        wanted: (message) => this.#wanted(message),
        binary: (message) => this.#binary(message),
        lost: (line) => this.#lost(line),
      },
      this.#ended.signal,
    );
    document.addEventListener("visibilitychange", () => this.#wake(), this.#ended);
    // A control that is gone before its drag ends tells of no end.
    for (const end of ENDS)
      addEventListener(end, () => setTimeout(() => this.#paints.rest()), this.#ended);
  }

  /** End the connection, and draw no more. */
  end() {
    this.#ended.abort();
    cancelAnimationFrame(this.#ticking);
  }

  /** Load the catalog. */
  load() {
    fetch("/catalog.json")
      .then((answer) => answer.json())
      .then((catalog) => {
        this.catalog = catalog;
        this.#say("catalog", catalog);
      })
      .catch(() => this.#tell("The catalog was not loaded. Reload the page.", "error"));
  }

  get size() {
    return [this.stage.canvas.width, this.stage.canvas.height];
  }
  get canUndo() {
    return this.#history.canUndo;
  }
  get canRedo() {
    return this.#history.canRedo;
  }
  /** Turns a second that the palette is cycled by. */
  get speed() {
    return this.#paints.speed;
  }

  /** Whether the canvas shows the view's exact pixels, and nothing is under way. */
  get settled() {
    return (
      this.connected &&
      !this.#queue.asked.length &&
      this.#paints.settled &&
      !this.#fit &&
      this.drawn?.pass === "exact" &&
      this.drawn.paint === this.#paints.seq
    );
  }

  /** The map from the newest frame's pixels to the canvas; what is done in a scene that is not open yet, counts later. */
  get map() {
    const { asked } = this.#queue,
      opened = asked.findIndex(({ open }) => open);
    let map = IDENTITY;
    for (const entry of asked.slice(0, opened < 0 ? asked.length : opened))
      map = this.#moved(map, entry);
    return map;
  }

  /** What no panel covers: its middle, in sixteenths of a pixel, and its share of the canvas's sides. */
  get seen() {
    const [width, height] = this.size,
      [left, top, right, bottom] = this.free ?? [0, 0, width, height];
    return {
      middle: [8 * (left + right), 8 * (top + bottom)].map(Math.round),
      share: Math.min((right - left) / width, (bottom - top) / height),
    };
  }

  /** @param {number[]} map @param {Table} entry of the queue */
  #moved(map, { move, size, state }) {
    if (state) {
      const there = inverse(this.#chain.of(state.frame) ?? IDENTITY);
      return state.move ? compose(there, mapOf(state.move)) : there;
    }
    if (size) return compose(map, size.map);
    return move ? compose(map, mapOf(move)) : map;
  }

  /** Return a point of the canvas in the newest frame. @param {number[]} at in sixteenths of a pixel */
  #here(at) {
    const inside = apply(
      inverse(this.map),
      at.map((part) => part / 16),
    );
    return inside.map((part) =>
      Math.max(-(2 ** 20) + 1, Math.min(2 ** 20 - 1, Math.round(16 * part))),
    );
  }

  /** Move the picture, at once. Lengths are sixteenths of a device pixel, as in the protocol.
   * @param {{at?: number[], by?: number[], scale?: number, turn?: number, about?: number, fly?: number[],
   *   stage?: "moving"|"settled", focus?: number[], step?: string}} wish
   * `step`: moves of the same name, less than half a second apart, are undone as one. With `about`, the
   * server takes the fixed point from a search, and `at` is where it lies on the canvas, about. `fly`: of a solid's camera. */
  move({ at, by = [0, 0], scale = 0, turn = 0, about, fly, stage = "settled", focus, step = "" }) {
    if (!this.placed || this.opening) return;
    const wish = { at: at ?? this.seen.middle, by, scale, turn, about, fly };
    this.#remember(step);
    this.#focus = focus ?? (scale ? at : null) ?? null;
    this.#queue.move(wish, stage);
    this.#say("moved", wish);
    this.#wake();
  }

  /** Whether a scene is wanted that is not placed yet. */
  get opening() {
    return this.#queue.opening;
  }

  /** Degrees that the picture is turned by, with all moves until now. */
  get rotation() {
    const [a, , c] = this.map,
      turned =
        (this.placed?.rotation ?? 0) -
        ((Math.atan2(-c, a) * 180) / Math.PI) * (this.scene?.view?.mirror ? -1 : 1);
    return ((turned + 540) % 360) - 180;
  }

  /** Turn the picture until it stands upright. @param {string} [step] as of `move` */
  upright(step = "") {
    const turn = Math.round(100 * this.rotation) * (this.scene.view?.mirror ? -1 : 1);
    if (turn) this.move({ turn, step });
  }

  /** Return how a camera in flight turns where the picture is dragged; null: the picture moves. @param {number[]} by sixteenths of a pixel */
  looking(by) {
    if (!this.flying || !this.placed?.camera) return null;
    const degrees = (this.scene.camera?.field ?? 42) / this.size[1] / 16;
    return [0, 0, 0, Math.round(-100 * degrees * by[0]), Math.round(100 * degrees * by[1])];
  }

  /** Draw for another size of the canvas. @param {number[]} size device pixels */
  resize(size) {
    const before = this.size;
    Object.assign(this.stage.canvas, { width: size[0], height: size[1] });
    this.stage.draw(this.map);
    if (!this.placed) return;
    const k = size[0] / before[0];
    const map = [k, 0, 0, k, (size[0] - k * before[0]) / 2, (size[1] - k * before[1]) / 2];
    this.#queue.entries.push({ size: { map } });
    this.#wake();
  }

  /** Show another scene: the keys of the message `open`.
   * @param {Table} what @param {string} [step] as of `move`: a flight and its end are undone as one
   * @param {{jump?: boolean, aim?: boolean}} [how] `jump`: the browser's Back returns to what is shown now;
   * `aim`: into the part that no panel covers @returns {Table} what waits to be sent */
  open(what, step = "", { jump = Boolean(this.placed), aim = false } = {}) {
    const sent = what.julia
      ? { julia: { frame: this.#chain.newest, at: this.#here(what.julia.at) } }
      : what;
    const noted = this.placed ? this.#remember(step) : null;
    this.#say("opening");
    this.#fit = null;
    const entry = /** @type {Table} */ ({ open: sent, noted, jump });
    this.#queue.open(entry);
    const middle = this.size.map((side) => 8 * side),
      { middle: seen, share } = this.seen;
    if (aim && share < 1) {
      const move = {
        at: middle,
        by: seen.map((part, k) => part - middle[k]),
        scale: Math.floor(64 * Math.log2(share)),
        turn: 0,
      };
      this.#queue.move(move, "settled");
    }
    this.#wake();
    return entry;
  }

  /** Show the whole of the scene's formula. */
  home() {
    if (!this.scene) return;
    const { camera } = this.scene,
      { position: _position, target: _target, ...rest } = camera ?? {};
    this.open(
      {
        scene: {
          ...this.scene,
          view: kindOf(this.scene.view),
          ...(this.placed.camera && { camera: rest }),
        },
      },
      "",
      { aim: !this.placed.camera },
    );
  }

  /** Show another place: some of center, width or zoom, rotation; the others stay, also those that are asked for and
   * not shown yet. @param {Table|((asked: Table) => Table)} change */
  place(change) {
    const { center, width, rotation } = this.placed;
    const asked = this.#queue.asked.findLast((each) => each.view)?.view ?? {
      center,
      width,
      rotation,
    };
    const given = typeof change === "function" ? change(asked) : change;
    const { width: _width, zoom: _zoom, ...rest } = asked;
    const view = { ...(given.width || given.zoom ? rest : asked), ...given };
    this.open({ scene: { ...this.scene, view: { ...kindOf(this.scene.view), ...view } } }).view =
      view;
  }

  /** Show the scene with other keys at the same place, such as a formula of the same kind, or a display; keys that
   * are asked for and not shown yet stay. @param {Table} keys @param {string} [step] as of `move` */
  change(keys, step = "") {
    const { center, width, rotation } = this.placed;
    const asked = { ...this.#queue.asked.findLast((each) => each.keys)?.keys, ...keys };
    const view = this.placed.camera ? {} : { ...kindOf(this.scene.view), center, width, rotation };
    this.open(
      { scene: { ...this.scene, title: "", author: "", rights: "", note: "", ...asked, view } },
      step,
      {
        jump: false,
      },
    ).keys = asked;
  }

  /** Change values of a table of the scene; those that are asked for and not shown yet stay.
   * @param {string} table @param {Table} values @param {string} [step] as of `move` */
  changeIn(table, values, step = "") {
    const asked =
      this.#queue.asked.findLast((each) => each.keys?.[table])?.keys[table] ?? this.scene[table];
    this.change({ [table]: { ...asked, ...values } }, step);
  }

  /** Show another formula at the same place; where nothing of it is seen or can be drawn, its whole set.
   * @param {string|Table} formula */
  changeFormula(formula) {
    const { center, width, rotation, octaves, julia } = this.placed,
      step = `flight to formula ${this.#frame}`;
    if (julia || octaves < 1 || !this.placed.values)
      return void this.open({ formula }, step, { aim: true });
    const scene = {
      ...this.scene,
      title: "",
      note: "",
      formula,
      view: { ...kindOf(this.scene.view), center, width, rotation },
    };
    this.open({ scene }, step).trial = { formula, step, scene };
  }

  /** Show the whole set of a formula of which nothing is seen here. @param {Table} trial @param {boolean} jump */
  #leave({ formula, step, scene }, jump) {
    this.#trial = null;
    this.open({ formula }, step, { jump, aim: true });
    this.#tell("Nothing of this formula is seen at the place before: this is all of it.", "info", [
      "Stay here",
      () => void this.open({ scene }),
    ]);
  }

  #remember(/** @type {string} */ step) {
    const noted = this.#history.note(step, () => this.#now());
    this.#still = "";
    return noted;
  }

  /** Return the state of now; what is not placed yet fills it in later. */
  #now() {
    const last = this.#queue.asked.at(-1);
    if (!last)
      return {
        frame: this.#chain.newest,
        scene: this.scene,
        origin: this.#origin,
        entry: this.entry,
        still: this.#still,
      };
    if (last.state) return last.state;
    const state = { frame: 0, scene: null, origin: 0, color: this.scene.color, entry: this.entry };
    this.#queue.note(state);
    return state;
  }

  /** Fill in a state: a frame, moved. @param {Table} state @param {number} frame @param {Table} scene @param {Table|null} move */
  #fill(state, frame, scene, move) {
    const at = { frame, scene, origin: this.#origin, entry: this.entry };
    Object.assign(state, at, move && { move });
  }

  /** The states that undo and redo return to, the oldest first. @returns {{back: Table[], forth: Table[]}} */
  get steps() {
    return { back: this.#history.back, forth: [...this.#history.forth].reverse() };
  }
  /** Make the next change a step of its own, however soon it follows. */
  endStep() {
    this.#history.end();
  }
  /** Undo (below 0) or redo some steps at once. @param {number} count */
  step(count) {
    let state = /** @type {import("./history.js").State|undefined} */ (undefined);
    for (let k = Math.abs(count); k > 0; k--)
      state = this.#history[count < 0 ? "undo" : "redo"](() => state ?? this.#now()) ?? state;
    this.#turn(state);
  }
  undo() {
    this.#turn(this.#history.undo(() => this.#now()));
  }
  redo() {
    this.#turn(this.#history.redo(() => this.#now()));
  }
  /** Show what was shown at an entry of the browser's list. @param {number} entry @returns {boolean} whether it is known */
  turnTo(entry) {
    const state = this.#history.turnTo(entry, () => this.#now());
    this.entry = entry;
    this.#show(state);
    return Boolean(state);
  }
  /** What undo and redo return to, in a page that is loaded again. */
  get past() {
    return this.#history.toJSON();
  }

  /** Show a state of undo; the browser's list follows. */
  #turn(/** @type {import("./history.js").State|undefined} */ state) {
    if (!state) return;
    const by = state.entry - this.entry;
    this.entry = state.entry;
    this.#show(state);
    if (by) this.#say("turned", { by });
  }

  #show(/** @type {import("./history.js").State|undefined} */ state) {
    if (!state) return;
    this.#fit = null;
    this.#still = "";
    this.#queue.show(state);
    this.#say("moved");
    this.#wake();
  }

  /** Return the message for a state: a kept frame, or its scene. */
  #restoring(/** @type {Table} */ state) {
    if (!state.scene) return null;
    const kept = state.origin === this.#origin && state.frame > this.#frame - KEPT;
    if (!kept || state.scene.image?.size?.join() !== this.size.join())
      return { t: "open", scene: state.scene };
    if (JSON.stringify(state.scene.color) !== JSON.stringify(this.scene.color))
      this.#paints.set(state.scene.color, false);
    return { t: "view", base: state.frame, ...(state.move && messageOf(state.move)) };
  }

  /** Change colors. `live`: more changes follow at once; density, offset, blend and opacity are
   * then shown without the server, which gets the newest table at the end. `fit`: a layer (0: the base) whose
   * values change; density and offset are fitted to the new ones, as a part of the same step of undo.
   * @param {Table} color the whole table `color` @param {{live?: boolean, fit?: number}} [options] */
  paint(color, { live = false, fit } = {}) {
    if (!this.scene) return;
    if (!this.#paints.live) this.#remember("paint");
    this.#fit = fit === undefined ? null : { layer: fit };
    this.#paints.set(color, live);
  }

  /** Fit what waits for its values. Without an answer it waits for the next ones, if any will come. */
  async #fitted() {
    const fit = this.#fit;
    if (!fit) return;
    const { layer } = fit,
      told = await this.request({ t: "fit", layer, chosen: true }).catch(() => null);
    if (fit !== this.#fit || (!told && this.drawn?.pass !== "exact")) return; // else it is asked again once more is drawn
    this.#fit = null;
    if (!told) return;
    const { density, offset } = told;
    this.#paints.set(changed(this.scene.color, layer, { density, offset }), false);
  }

  /** Show a layer (0: the base) in another palette as long as it is pointed at; the scene stays as it is.
   * @param {number} layer @param {string|Table|null} palette null: no more @param {boolean} [cyclic]
   * @returns {Promise<boolean>} whether it is shown: the page must have values */
  async peek(layer, palette, cyclic = true) {
    const wish = (this.#peeked = {});
    if (!palette || !this.connected) return this.stage.peek(null);
    if (!this.stage.renderer.values) return false;
    const table = await this.request({
      t: "lookup",
      palette,
      inside: this.scene.color?.inside ?? "#000000",
    }).catch(() => null);
    return (
      table !== null &&
      wish === this.#peeked &&
      this.stage.peek({ layer, cyclic, entries: table.entries, rows: table.rows })
    );
  }

  /** Return a canvas of what is seen. @param {number} [width] */
  still(width = this.size[0]) {
    const [across, down] = this.size,
      height = Math.max(1, Math.round((width * down) / across));
    const [made, context] = newCanvas(width, height);
    this.stage.draw(this.map, 1); // a browser keeps the pixels of WebGL until its next frame only
    context.imageSmoothingQuality = "high";
    context.drawImage(this.stage.canvas, 0, 0, width, height);
    return made;
  }

  /** Cycle the palette. @param {number} speed turns a second; 0 stops, in the colors then shown */
  cycle(speed) {
    if (!this.placed?.values) return;
    if (speed && !this.stage.renderer.values) {
      this.#tell(
        "Cycling needs a graphics card. Open the page with ?webgl at the end of its address to cycle without one, slowly.",
      );
      return;
    }
    if (speed && matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.#tell("Palette cycling is off, because the system asks for reduced motion.");
      return;
    }
    this.#paints.cycle(speed);
    this.#wake();
  }

  /** Whether nothing was drawn since a change of an image of points: the next one would replace it unseen. */
  get #isHasty() {
    return performance.now() - this.#changed < HASTY;
  }

  #sendPaint(/** @type {Sent.PaintMessage} */ message) {
    if (!this.connected || this.opening || !this.placed) return false;
    if (!this.placed.values) {
      if (this.#isHasty) return !setTimeout(() => this.#paints.next(), HASTY);
      this.#changed = performance.now();
    }
    this.connection.send(message);
    this.#expect(() => this.#paints.waitsFor(message.seq));
    return true;
  }

  /** Connect again if something is still unanswered after a long time: the line is dead. @param {() => boolean} waits */
  #expect(waits) {
    setTimeout(() => waits() && this.connection.renew(), ANSWERED);
  }

  /** Send a question: `pick`, `fit`, `histogram`, `link`, `bookmarks`, `bookmark`, `lookup`, or `export`
   * or `film` with `forecast`. Frame, job and sequence number are added; `at` is a point of the canvas.
   * @template {Asked} Question @param {Question} message
   * @returns {Promise<Question extends {t: "pick"} ? Table|null : Table>} rejects with an Error; null: replaced */
  request(message) {
    if (!this.connected) return Promise.reject(new Error("the connection is lost"));
    return this.requests.ask(
      signed(
        "at" in message && message.t !== "moments" && message.at
          ? { ...message, at: this.#here(message.at) }
          : message,
      ),
    );
  }

  /** Start a `find`, `surprise`, `export` or `film`, or `follow` a film. @param {Asked} message
   * @param {(message: Table) => void} [onProgress] gets `progress`, and `surprised` with its `preview`
   * @returns {{id: number, done: Promise<Table>, cancel: () => void}} rejects with `error.cancelled` */
  job(message, onProgress) {
    if (this.connected) return this.requests.job(signed(message), onProgress);
    return { id: 0, done: Promise.reject(new Error("the connection is lost")), cancel() {} };
  }

  /** Ask for a preview of the Julia set of a point of the canvas; the newest wins. */
  julia(
    /** @type {{at: number[], size?: number}} */ { at, size = 256 },
    /** @type {(message: import("./decode.js").Message) => void} */ onPreview,
  ) {
    if (this.connected && this.placed)
      this.requests.julia({ t: "julia", at: this.#here(at), size }, onPreview);
  }

  /** Return a canvas of a preview. @param {import("./decode.js").Message} preview */
  pixelsOf(preview) {
    return canvasOf(preview);
  }
  /** Return the canvas as it is now: RGB, rows from the top. @returns {Uint8Array|Uint8ClampedArray} */
  readPixels() {
    return this.stage.read(this.map);
  }
  /** Let a paused view go on. */
  goOn() {
    this.paused = null;
    this.connection.send({ t: "go_on", frame: this.#chain.newest });
  }

  /** Call a function before each frame of the screen, with the seconds since the last.
   * @param {(seconds: number) => void} each @returns {() => void} ends it */
  animate(each) {
    this.#animations.add(each);
    this.#wake();
    return () => this.#animations.delete(each);
  }

  #wake() {
    if (this.#ticking || document.hidden || this.#ended.signal.aborted) return;
    this.#ticking = requestAnimationFrame((time) => this.#tick(time));
  }

  #tick(/** @type {number} */ time) {
    this.#ticking = 0;
    if (document.hidden) return; // it goes on once the page is seen
    const seconds = Math.min(0.1, (time - this.#time) / 1000);
    this.#time = time;
    for (const each of this.#animations) each(seconds);
    if (this.#paints.cycling) this.#paints.tick(seconds);
    this.#send(time);
    this.stage.draw(this.map);
    this.#say("frame");
    if (this.#animations.size || this.#paints.cycling) this.#wake();
  }

  /** Send the next move, unless one is unanswered. */
  #send(/** @type {number} */ time) {
    const { entries, flight } = this.#queue,
      [next] = entries;
    if (!next || flight || !this.connected) return;
    const first = next.move && this.stage.picture?.empty ? FIRST[next.stage] : BETWEEN;
    if (time - this.#sent < first || (next.keys && this.#isHasty)) return this.#wake();
    const entry = /** @type {Table} */ (entries.shift());
    const message = entry.open
      ? { t: "open", ...entry.open }
      : entry.size
        ? { t: "view", base: this.#chain.newest, size: this.size }
        : entry.state
          ? this.#restoring(entry.state)
          : { t: "view", base: this.#chain.newest, stage: entry.stage, ...messageOf(entry.move) };
    if (!message) return this.#wake();
    if (message.t === "open")
      Object.assign(
        message,
        { size: this.size },
        this.placed && !entry.again && { base: this.#chain.newest },
      );
    else if (this.#focus && !entry.size) message.focus = this.#focus.map(Math.round);
    const id = ++this.#frame;
    this.#queue.flight = {
      ...entry,
      id,
      open: message.t === "open",
      asked: message,
      drawn: this.drawn,
      // The scene of a state lies before the state.
      then: entry.state?.move && message.t === "open" && resized(entry.state, this.size),
    };
    this.#sent = time;
    if (entry.keys) this.#changed = performance.now();
    this.drawn = null;
    this.connection.send({ ...message, frame: id });
    this.#expect(() => this.#queue.flight?.id === id);
  }

  #text(/** @type {Table} */ message) {
    if (this.requests.text(message)) return;
    if (message.t === "welcome") this.#welcomed(message);
    else if (message.t === "placed") this.#place(message);
    else if (message.t === "painted") this.#painted(message);
    else if (message.t === "error") this.#failed(message);
    else if (message.frame !== this.#chain.newest) return;
    else if (message.t === "layers") this.#described(message);
    else if (message.t === "drawn") this.#finished(message);
    else if (message.t === "status") this.status = message;
    else if (message.t === "paused") this.paused = message;
  }

  #welcomed(/** @type {Table} */ message) {
    this.connected = true;
    this.lost = "";
    this.welcome = message;
    this.#say("welcome", message);
    // After a lost connection, the server gets the scene that is shown.
    this.#queue.entries.unshift({
      open: this.scene ? { scene: this.scene } : this.#first,
      again: Boolean(this.scene),
    });
    this.#wake();
  }

  #place(/** @type {Table} */ message) {
    const { flight } = this.#queue;
    if (!flight || message.frame !== flight.id) return;
    this.#queue.flight = null;
    let map = /** @type {number[]|null} */ (IDENTITY); // the scene is shown again after a lost connection
    if (flight.again) this.#chain.start(message.frame);
    else map = this.#chain.add(message.frame, message.base, message.map);
    this.stage.place(message.frame, message.size, map, Boolean(message.camera));
    if (message.scene) {
      this.#origin++;
      this.#paints.start(message.scene.color);
      this.scene = message.scene;
    } else {
      const { zoom, ...view } = this.scene.view ?? {};
      const {
        center,
        width: across,
        rotation,
        title,
        author,
        rights,
        note,
        size,
        camera,
      } = message;
      const seen = camera ? { camera } : { view: { ...view, center, width: across, rotation } };
      this.scene = {
        ...this.scene,
        title,
        author,
        rights,
        note,
        ...seen,
        image: { ...this.scene.image, size },
      };
    }
    this.placed = message;
    this.#returned = flight.returned;
    this.drawn = this.status = this.paused = null;
    this.#trial = flight.trial;
    if (flight.jump) this.entry += 1;
    if (flight.then)
      this.#queue.entries.unshift({
        move: flight.then,
        stage: "settled",
        after: flight.after,
      });
    else
      for (const { state, move } of flight.after ?? []) {
        const scene = message.scene ?? { ...this.scene, color: state.color };
        this.#fill(state, message.frame, scene, move);
      }
    if (flight.jump) this.#say("jump");
    if (message.unused) this.#tell(message.unused, "info");
    this.#say("placed", message);
    this.#paints.next();
    this.#wake();
  }

  #painted(/** @type {Table} */ message) {
    this.#paints.accepted(message);
    this.#say("painted", message);
    this.#paints.next();
  }

  #described(/** @type {Table} */ message) {
    const fresh =
      this.#paints.takeFresh(this.layers, message.layers) && this.stage.picture?.empty === false;
    this.layers = message.layers;
    this.stage.colors(message, fresh);
  }

  #finished(/** @type {Table} */ message) {
    if (message.paint !== this.#paints.seq) return;
    this.drawn = message;
    if (message.pass === "exact" || !this.status?.share) this.status = null; // which share is done, goes on
    this.#changed = 0;
    this.#history.seen();
    this.#paints.next();
    this.stage.arrived(message.pass);
    this.#say("drawn", message);
    if (this.settled) this.#still = this.still(STILL).toDataURL("image/jpeg", 0.7);
    if (this.#fit && this.#paints.settled) this.#fitted();
    const trial = this.#trial;
    this.#trial = null;
    if (trial && message.pass === "coarse" && this.placed.values && message.least === message.most)
      this.#leave(trial, false);
  }

  #failed(/** @type {Table} */ message) {
    const { flight } = this.#queue;
    if (flight?.trial && message.frame === flight.id && !message.message.startsWith("formula:")) {
      // whose text is right
      this.#queue.flight = null;
      return this.#leave(flight.trial, true);
    }
    if (this.#trial && message.frame === this.#chain.newest && message.re === "open")
      return this.#leave(this.#trial, false);
    if (flight && message.frame === flight.id) {
      const never = this.#queue.fail(); // moves of a frame that does not exist
      this.#history.clean((state) => never.includes(state) || state === flight.noted);
      this.drawn ??= flight.drawn; // what was shown stays, and is not drawn again
      const own = flight.asked.scene || flight.asked.link;
      if (own && (flight.again || !this.placed)) {
        // the server shows nothing to this page yet: what it was started with
        this.#first = {};
        this.#queue.entries.push({ open: {}, again: flight.again });
      }
      this.#wake();
    } else if (
      message.re === "view" &&
      message.frame === this.#chain.newest &&
      this.placed.base &&
      !this.#returned
    ) {
      this.#queue.entries = [
        {
          state: { frame: this.placed.base, scene: this.scene, origin: this.#origin },
          returned: true,
        },
      ];
      this.#wake();
    } else if (message.re === "paint" && this.#paints.refused(message.seq)) {
      this.#fit = null;
      this.#say("painted", { ...message, color: this.scene.color });
    }
    this.#paints.next();
    this.#tell(message.message, "error");
  }

  /** Tell whether a binary message belongs to what is shown now. */
  #wanted(/** @type {Table} */ { kind, frame, paint }) {
    if (kind === PREVIEW || kind === TABLE) return true;
    return frame === this.#chain.newest && paint === this.#paints.seq;
  }

  #binary(/** @type {import("./decode.js").Message} */ message) {
    if (message.kind === PREVIEW) this.requests.preview(message);
    else if (message.kind === TABLE && this.requests.table(message)) return;
    else if (message.frame !== this.#chain.newest || message.paint !== this.#paints.seq) return;
    else if (message.kind === TABLE) this.stage.table(message);
    else if (message.kind === VALUES) this.stage.add(message);
    else if (
      message.kind === PIXELS &&
      (this.#paints.settled || this.#paints.cycling || !this.placed.values)
    )
      this.stage.add(message);
  }

  #lost(/** @type {string} */ line) {
    this.requests.lost();
    const { entries, flight } = this.#queue,
      all = flight && !flight.open ? [flight, ...entries] : entries;
    this.#queue.entries = all.filter(({ open, again }) => !open || !again);
    this.#queue.flight = null;
    this.#paints.lost();
    this.connected = false;
    this.drawn = this.status = null;
    this.lost = line || "The server does not answer. Trying again.";
    this.#say("disconnected", { text: line });
  }

  /** @param {string} name @param {any} [detail] */
  #say(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** @param {string} text @param {string} [kind] @param {[string, () => void]|null} [action] */
  #tell(
    /** @type {string} */ text,
    kind = "info",
    action = /** @type {[string, () => void]|null} */ (null),
  ) {
    this.#say("message", { text, kind, action });
  }
}

/** Return a message with the user's name, if what it makes is kept. @param {Asked} message @returns {Asked} */
function signed(message) {
  const author = kept.get("author", "");
  if (!author) return message;
  if (message.t === "export" || message.t === "film" || message.t === "link")
    return { ...message, author };
  const keeps = message.t === "bookmark" && !message.remove && !message.rename && !message.link;
  return keeps ? { ...message, author } : message;
}

/** Return the move from a state's scene to the state, on a canvas of another size. @param {Table} state @param {number[]} size */
function resized({ move, scene }, size) {
  const before = scene.image?.size ?? size,
    k = size[0] / before[0];
  const at = move.at.map((/** @type {number} */ part, /** @type {number} */ axis) =>
    Math.round(8 * size[axis] + k * (part - 8 * before[axis])),
  );
  const by = move.by.map((/** @type {number} */ part) => Math.round(k * part));
  return { ...move, at, by, about: undefined }; // a search may be forgotten
}

/** Return the keys of a view that a formula's plane has, and not its place. */
function kindOf({ mirror, stretch, stretch_angle } = /** @type {Table} */ ({})) {
  return Object.fromEntries(
    Object.entries({ mirror, stretch, stretch_angle }).filter(([, value]) => value !== undefined),
  );
}
