/**
 * The model: the user's view, its frames, colors and history, of parts that are tested alone. It knows no panels.
 *
 * Its public fields are signals: what is rendered from them follows them. Events tell of what happens once: "welcome",
 * "placed", "painted", "drawn", "message" ({text, kind}), "disconnected", "selection" ({rect}; cancelable), "pointer"
 * ({x, y} in device pixels, or null), "catalog", "opening" (another scene is wanted), "gesture" (the user moves), "moved" (what `move` was given; null: by undo), "frame" (the canvas was drawn),
 * "menu" ({at, x, y}: for a point), "jump" and "turned" ({by}: jumps, by undo), "led" and "guest" of a class. The detail is the server's message, or as given.
 */
import { PIXELS, PREVIEW, TABLE, VALUES } from "./decode.js";
import { Flight, HASTY, movedScene } from "./flight.js";
import { Chain } from "./frames.js";
import { Connection } from "./net.js";
import { changed, Paints } from "./paints.js";
import { canvasOf, newCanvas } from "./picture.js";
import { Queue } from "./queue.js";
import { Reconnect, watchSleep } from "./reconnect.js";
import { Requests } from "./requests.js";
import { Stage } from "./stage.js";
import { kept, observe } from "./state.js";
import { Ticker } from "./ticker.js";
import { Trial } from "./trial.js";
import { Undo } from "./undo.js";
import { changedScene, movedTo, wholeOf, wishedOf } from "./wishes.js";
import { say } from "./words.js";

const STILL = 128; // pixels of the width of a picture in the list of undo
const ENDS = ["pointerup", "pointercancel", "keyup", "blur"]; // of a gesture that changes colors

/** @typedef {import("./decode.js").Rows} Rows */
const UNTOLD = /** @type {unknown} */ (null); // fields that the server tells: who reads them is shown or called after that

export class Explorer extends EventTarget {
  welcome = /** @type {Received.Welcome} */ (UNTOLD); // the message
  catalog = /** @type {Received.Catalog} */ (UNTOLD); // `/catalog.json`
  placed = /** @type {Received.Placed} */ (UNTOLD); // the message `placed` of the newest frame
  scene = /** @type {WholeScene} */ (UNTOLD); // the whole table of the scene, with the place and colors of now
  layers = /** @type {Received.ShownLayer[]} */ ([]); // the newest `layers`
  drawn = /** @type {Received.DrawnMessage|null} */ (null); // the newest `drawn` of the newest frame
  status = /** @type {Received.Status|null} */ (null); // the newest `status`, until something was drawn
  paused = /** @type {Received.Paused|null} */ (null); // the message `paused`, until the view goes on
  flying = false; // whether a drag turns a solid's camera, and does not go around the solid
  connected = false;
  lost = ""; // why there is no connection
  /** @type {{x: number, y: number}|null} */ pointer = null; // {x, y} in device pixels of the canvas
  entry = 0; // of the browser's list of pages: the number of jumps to what is shown
  asks = 0; // counts what changes the scene that is wished for
  #chain = new Chain();
  #queue = new Queue((after) => this.#undo.fill(after));
  #undo = new Undo(this, this.#queue, this.#chain, (color) => this.#paints.set(color, false));
  #flight = new Flight(this, this.#queue, this.#chain, this.#undo);
  #trial = new Trial();
  #reconnect;
  #paints = new Paints(this, (message) => this.#sendPaint(message));
  /** @type {{layer: number}|null} */ #fit = null; // {layer}: its values are coming, and its density and offset will be fitted to them
  #returned = false; // to the base of a view that can't be drawn
  /** @type {object|null} */ #peeked = null; // the newest wish of `peek`
  #ended = new AbortController();
  #ticker = new Ticker((time, seconds) => this.#draw(time, seconds), this.#ended.signal);
  /** @type {number[]|null} */ free = null; // [left, top, right, bottom]: device pixels that no panel covers; null: all

  /** @param {HTMLCanvasElement} canvas
   * @param {{plain?: boolean, software?: boolean, remote?: boolean, first?: Partial<Sent.Open>, entry?: number, past?: object, second?: boolean}} [options] `plain`: no
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
      "asks",
    );
    this.remote = remote;
    this.entry = entry;
    Object.assign(this.#undo.history, past);
    this.#reconnect = new Reconnect(this.#queue, first, () => this.connection.renew());
    this.stage = new Stage(canvas, () => this.#ticker.wake(), { plain, software });
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
        image: (message) => this.stage.takesImage(message),
        lost: (line) => this.#lost(line),
      },
      this.#ended.signal,
    );
    watchSleep(() => this.check(), this.#ended.signal);
    // A control that is gone before its drag ends tells of no end.
    for (const end of ENDS)
      addEventListener(end, () => setTimeout(() => this.#paints.rest()), this.#ended);
  }

  /** End the connection, and draw no more. */
  end() {
    this.#ended.abort();
  }

  /** Connect again if the server does not answer any more. */
  check() {
    if (this.connected && this.placed)
      void this.#reconnect.check(() => this.request({ t: "link" }));
  }

  /** Load the catalog. */
  load() {
    fetch("/catalog.json")
      .then((answer) => answer.json())
      .then((catalog) => {
        this.catalog = catalog;
        this.#say("catalog", catalog);
      })
      .catch(() => this.#tell(say("the_catalog_was_not_loaded"), "error"));
  }

  get size() {
    return [this.stage.canvas.width, this.stage.canvas.height];
  }
  get canUndo() {
    return this.#undo.history.canUndo;
  }
  get canRedo() {
    return this.#undo.history.canRedo;
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
    return this.#flight.map;
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

  /** Move the picture, at once. Lengths are sixteenths of a device pixel, as in the protocol.
   * @param {{at?: number[], by?: number[], scale?: number, turn?: number, about?: number, fly?: number[],
   *   stage?: "moving"|"settled", focus?: number[], step?: string}} wish
   * `step`: moves of the same name, less than half a second apart, are undone as one. With `about`, the
   * server takes the fixed point from a search, and `at` is where it lies on the canvas, about. `fly`: of a solid's camera. */
  move({ at, by = [0, 0], scale = 0, turn = 0, about, fly, stage = "settled", focus, step = "" }) {
    if (!this.placed || this.#queue.leaving) return;
    const wish = { at: at ?? this.seen.middle, by, scale, turn, about, fly };
    this.#undo.remember(step);
    this.#flight.focus = focus ?? (scale ? at : null) ?? null;
    this.#queue.move(wish, stage);
    this.#say("moved", wish);
    this.#ticker.wake();
  }

  /** Whether a scene is wanted that is not placed yet. */
  get opening() {
    return this.#queue.opening;
  }

  /** What is wished for, of which `scene` may not be placed yet. */
  get #wished() {
    const { scene, placed } = this;
    return wishedOf(this.#queue.asked, { scene, placed, frame: this.#chain.newest });
  }

  /** The scene that is wished for: panels show its values, and start their changes from them. */
  get wished() {
    const asks = this.asks >= 0 && this.#queue.asked.some(({ open, state }) => open ?? state);
    return asks && this.placed ? this.#wished.scene : this.scene;
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
    this.#ticker.wake();
  }

  /** Show another scene: the keys of the message `open`.
   * @param {Opened} what @param {string} [step] as of `move`: a flight and its end are undone as one
   * @param {{jump?: boolean, aim?: boolean}} [how] `jump`: the browser's Back returns to what is shown now;
   * `aim`: into the part that no panel covers @returns {import("./queue.js").Wish} what waits to be sent */
  open(what, step = "", { jump = Boolean(this.placed), aim = false } = {}) {
    const sent = what.julia
      ? { julia: { frame: this.#chain.newest, at: this.#flight.here(what.julia.at) } }
      : what;
    const noted = this.placed ? this.#undo.remember(step) : null;
    this.#say("opening");
    this.#fit = null;
    const entry = /** @type {import("./queue.js").Wish} */ ({ open: sent, noted, jump });
    this.#queue.open(entry);
    this.asks++;
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
    this.#ticker.wake();
    return entry;
  }

  /** Show the whole of the formula that is wished for. */
  home() {
    if (this.placed)
      this.open({ scene: wholeOf(this.#wished.scene) }, "", { aim: !this.placed.camera });
  }

  /** Show another place: some of center, width or zoom, rotation; the others stay, also those that are asked for and
   * not shown yet. @param {Place|((asked: Place) => Place)} change */
  place(change) {
    if (this.placed) this.open({ scene: movedTo(this.#wished.scene, change) });
  }

  /** Show another scene at the place that is wished for. @param {(wished: WholeScene) => WholeScene} change
   * @param {string} step as of `move` @param {{jump?: boolean}} [how] as of `open` */
  #here(change, step, how) {
    const { scene, moves, frame } = this.#wished,
      made = change(scene),
      entry = Object.assign(this.open({ scene: made }, step, how), { of: frame });
    for (const move of moves) this.#queue.move(move, "settled");
    return { entry, made };
  }

  /** Show the scene with other keys at the same place, such as a formula of the same kind, or a display; keys that
   * are asked for and not shown yet stay. @param {Scene} keys @param {string} [step] as of `move` */
  change(keys, step = "") {
    if (!this.placed) return;
    const { entry } = this.#here((scene) => changedScene(scene, keys), step, { jump: false });
    entry.edits = true;
  }

  /** Change values of a table of the scene; those that are asked for and not shown yet stay.
   * @param {keyof Scene} table @param {object} values @param {string} [step] as of `move` */
  changeIn(table, values, step = "") {
    this.change({ [table]: Object.assign({}, this.wished[table], values) }, step);
  }

  /** Show another formula at the same place; where nothing of it is seen or can be drawn, its whole set.
   * @param {Formula} formula */
  changeFormula(formula) {
    const step = `flight to formula ${this.#flight.frame}`;
    if (!Trial.fits(this.placed)) return void this.open({ formula }, step, { aim: true });
    const { entry, made } = this.#here(
      (scene) => ({ ...scene, title: "", note: "", formula }),
      step,
    );
    entry.trial = { formula, step, scene: made };
  }

  /** Show the whole set of a formula of which nothing is seen here.
   * @param {import("./trial.js").Tried} tried @param {boolean} jump */
  #leave({ formula, step, scene }, jump) {
    this.open({ formula }, step, { jump, aim: true });
    this.#tell(say("nothing_of_this_formula_is"), "info", [
      say("stay_here"),
      () => void this.open({ scene }),
    ]);
  }

  /** The states that undo and redo return to, the oldest first. */
  get steps() {
    return this.#undo.steps;
  }
  /** Make the next change a step of its own, however soon it follows. */
  endStep() {
    this.#undo.history.end();
  }
  /** Undo (below 0) or redo some steps at once. @param {number} count */
  step(count) {
    this.#turn(this.#undo.step(count));
  }
  undo() {
    this.step(-1);
  }
  redo() {
    this.step(1);
  }
  /** Show what was shown at an entry of the browser's list. @param {number} entry @returns {boolean} whether it is known */
  turnTo(entry) {
    const state = this.#undo.turnTo(entry);
    this.entry = entry;
    this.#show(state);
    return Boolean(state);
  }
  /** What undo and redo return to, in a page that is loaded again. */
  get past() {
    return this.#undo.history.toJSON();
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
    this.#undo.still = "";
    this.#queue.show(state);
    this.asks++;
    this.#say("moved");
    this.#ticker.wake();
  }

  /** Change colors. `live`: more changes follow at once; density, offset, blend and opacity are
   * then shown without the server, which gets the newest table at the end. `fit`: a layer (0: the base) whose
   * values change; density and offset are fitted to the new ones, as a part of the same step of undo.
   * @param {Color} color the whole table `color` @param {{live?: boolean, fit?: number}} [options] */
  paint(color, { live = false, fit } = {}) {
    if (!this.scene) return;
    if (!this.#paints.live) this.#undo.remember("paint");
    this.#fit = fit === undefined ? null : { layer: fit };
    const asked = this.#queue.asked.findLast(({ open, state }) => open ?? state);
    if (asked?.state || asked?.open?.scene) asked.color = color; // they are those of the scene that comes
    this.asks++;
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
   * @param {number} layer @param {Palette|null} palette null: no more @param {boolean} [cyclic]
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
      this.#tell(say("cycling_needs_a_graphics_card"));
      return;
    }
    if (speed && matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.#tell(say("palette_cycling_is_off_because"));
      return;
    }
    this.#paints.cycle(speed);
    this.#ticker.wake();
  }

  #sendPaint(/** @type {Sent.PaintMessage} */ message) {
    if (!this.connected || this.opening || !this.placed) return false;
    if (!this.placed.values) {
      if (this.#flight.isHasty) return !setTimeout(() => this.#paints.next(), HASTY);
      this.#flight.change();
    }
    this.connection.send(message);
    this.#reconnect.expect(() => this.#paints.waitsFor(message.seq));
    return true;
  }

  /** Send a question: `pick`, `fit`, `histogram`, `link`, `bookmarks`, `bookmark`, `lookup`, or `export`
   * or `film` with `forecast`. Frame, job and sequence number are added; `at` is a point of the canvas.
   * @template {Asked} Question @param {Question} message
   * @returns {Promise<AnswerTo<Question>>} rejects with an Error */
  request(message) {
    if (!this.connected) return Promise.reject(new Error(say("the_connection_is_lost")));
    return this.requests.ask(
      signed(
        "at" in message && message.t !== "moments" && message.at
          ? { ...message, at: this.#flight.here(message.at) }
          : message,
      ),
    );
  }

  /** Start a `find`, `surprise`, `export` or `film`, or `follow` a film. @template {Asked & {t: keyof Ends}} Question
   * @param {Question} message @param {(message: OfJob) => void} [onProgress] gets `progress`, and `surprised` with its `preview`
   * @returns {Job<Question["t"]>} rejects with `error.cancelled` */
  job(message, onProgress) {
    if (this.connected) return this.requests.job(signed(message), onProgress);
    return { id: 0, done: Promise.reject(new Error(say("the_connection_is_lost"))), cancel() {} };
  }

  /** Ask for a preview of the Julia set of a point of the canvas; the newest wins. */
  julia(
    /** @type {{at: number[], size?: number}} */ { at, size = 256 },
    /** @type {(preview: Preview) => void} */ onPreview,
  ) {
    if (this.connected && this.placed)
      this.requests.julia({ t: "julia", at: this.#flight.here(at), size }, onPreview);
  }

  /** Return a canvas of a preview. @param {Preview} preview */
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
    return this.#ticker.animate(each);
  }

  /** Draw a frame of the screen. @param {number} time @param {number} seconds @returns {boolean} whether another one is wanted */
  #draw(time, seconds) {
    if (this.#paints.cycling) this.#paints.tick(seconds);
    this.#send(time);
    this.stage.draw(this.map);
    this.#say("frame");
    return this.#paints.cycling;
  }

  /** Send the next move, unless one is unanswered. */
  #send(/** @type {number} */ time) {
    if (!this.#queue.entries.length || this.#queue.flight || !this.connected) return;
    const message = this.#flight.next(time, this.stage.picture?.empty ?? false);
    if (!message) return this.#ticker.wake();
    this.connection.send(message);
    this.#reconnect.expect(() => this.#queue.flight?.id === message.frame);
  }

  #text(/** @type {Received} */ message) {
    if (this.requests.text(message)) return;
    if (message.t === "welcome") this.#welcomed(message);
    else if (message.t === "device") this.#drawnWith(message);
    else if (message.t === "placed") this.#place(message);
    else if (message.t === "painted") this.#painted(message);
    else if (message.t === "error") this.#failed(message);
    else if (message.t === "led" || message.t === "guest") this.#say(message.t, message);
    else if (!("frame" in message) || message.frame !== this.#chain.newest) return;
    else if (message.t === "layers") this.#described(message);
    else if (message.t === "drawn") this.#finished(message);
    else if (message.t === "status") this.status = message;
    else if (message.t === "paused") this.paused = message;
  }

  #welcomed(/** @type {Received.Welcome} */ message) {
    this.connected = true;
    this.lost = "";
    this.welcome = message;
    this.#say("welcome", message);
    this.#reconnect.welcomed(this.scene);
    this.#ticker.wake();
  }

  /** Another device draws from now on. The guests of a class hear no reason: only who leads can do something about it. */
  #drawnWith(/** @type {Received.DeviceMessage} */ { device, why }) {
    this.welcome = { ...this.welcome, device, why };
    if (this.welcome.role !== "guest") this.#tell(why);
  }

  #place(/** @type {Received.Placed} */ message) {
    const landed = this.#flight.landed(message);
    if (!landed) return;
    const { flight, map } = landed;
    this.stage.place(message.frame, message.size, map, Boolean(message.camera));
    const { live } = this.#paints;
    if (message.scene) {
      this.#undo.origin++;
      this.#paints.start(message.scene.color);
    }
    this.scene = message.scene ?? movedScene(this.scene, message);
    this.asks++;
    this.placed = message;
    this.#returned = flight.returned ?? false;
    this.drawn = this.status = this.paused = null;
    this.#trial.placed(flight);
    if (flight.jump) this.entry += 1;
    this.#flight.tell(flight, message.scene ?? undefined);
    if (flight.jump) this.#say("jump");
    if (message.unused) this.#tell(message.unused, "info");
    if (flight.color) this.#paints.set(flight.color, live);
    this.#say("placed", message);
    this.#paints.next();
    this.#ticker.wake();
  }

  #painted(/** @type {Received.Painted} */ message) {
    this.#paints.accepted(message);
    this.#say("painted", message);
    this.#paints.next();
  }

  #described(/** @type {Received.LayersMessage} */ message) {
    const fresh =
      this.#paints.takeFresh(this.layers, message.layers) && this.stage.picture?.empty === false;
    this.layers = message.layers;
    this.stage.colors(message, fresh);
  }

  #finished(/** @type {Received.DrawnMessage} */ message) {
    if (message.paint !== this.#paints.seq) return;
    this.drawn = message;
    if (message.pass === "exact" || !this.status?.share) this.status = null; // which share is done, goes on
    this.#flight.seen();
    this.#undo.history.seen();
    this.#paints.next();
    this.stage.arrived(message.pass);
    this.#say("drawn", message);
    if (this.settled) this.#undo.still = this.still(STILL).toDataURL("image/jpeg", 0.7);
    if (this.#fit && this.#paints.settled) this.#fitted();
    const tried = this.#trial.drawn(message, this.placed.values);
    if (tried) this.#leave(tried, false);
  }

  #failed(/** @type {Received.ErrorMessage} */ message) {
    const { flight } = this.#queue,
      left = this.#trial.failed(message, flight, this.#chain.newest);
    if (left) {
      if (left.flew) this.#queue.flight = null;
      return this.#leave(left.tried, left.flew);
    }
    if (flight && message.frame === flight.id) {
      const never = this.#queue.fail(); // moves of a frame that does not exist
      this.asks++;
      this.#undo.history.clean((state) => never.includes(state) || state === flight.noted);
      this.drawn ??= flight.drawn; // what was shown stays, and is not drawn again
      this.#reconnect.failed(flight, Boolean(this.placed));
      this.#ticker.wake();
    } else if (
      message.re === "view" &&
      message.frame === this.#chain.newest &&
      this.placed.base &&
      !this.#returned
    ) {
      this.#queue.entries = [
        {
          state: {
            frame: this.placed.base,
            scene: this.scene,
            origin: this.#undo.origin,
            entry: this.entry,
          },
          returned: true,
        },
      ];
      this.#ticker.wake();
    } else if (message.re === "paint" && this.#paints.refused(message.seq ?? 0)) {
      this.#fit = null;
      this.#say("painted", { ...message, color: this.scene.color });
    }
    this.#paints.next();
    this.#tell(message.message, "error");
  }

  /** Tell whether a binary message belongs to what is shown now. */
  #wanted(/** @type {import("./decode.js").Message} */ { kind, frame, paint }) {
    if (kind === PREVIEW || kind === TABLE) return true;
    return frame === this.#chain.newest && paint === this.#paints.seq;
  }

  #binary(/** @type {import("./decode.js").Message} */ message) {
    if (message.kind === PREVIEW) this.requests.preview(/** @type {Preview} */ (message));
    else if (message.kind === TABLE && this.requests.table(/** @type {Rows} */ (message))) return;
    else if (message.frame !== this.#chain.newest || message.paint !== this.#paints.seq) return;
    else if (message.kind === TABLE) this.stage.table(/** @type {Rows} */ (message));
    else if (message.kind === VALUES) this.stage.add(message);
    else if (
      message.kind === PIXELS &&
      (this.#paints.settled || this.#paints.cycling || !this.placed.values)
    )
      this.stage.add(message);
  }

  #lost(/** @type {string} */ line) {
    this.requests.lost();
    const never = this.#reconnect.lost();
    this.#undo.history.clean((state) => never.includes(state));
    this.asks++;
    this.#paints.lost();
    this.connected = false;
    this.drawn = this.status = null;
    this.lost = line || say("the_server_does_not_answer");
    this.#say("disconnected", { text: line });
  }

  /** @param {string} name @param {unknown} [detail] */
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

/** Return a message with the user's name, if what it makes is kept.
 * @template {Asked} Question @param {Question} message @returns {Question} */
function signed(message) {
  const author = kept.get("author", "");
  if (!author) return message;
  if (message.t === "export" || message.t === "film" || message.t === "link")
    return { ...message, author };
  const keeps = message.t === "bookmark" && !message.remove && !message.rename && !message.link;
  return keeps ? { ...message, author } : message;
}
