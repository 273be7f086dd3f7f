/**
 * The model: the user's view, its frames, colors and history, of parts that are tested alone. It knows no panels.
 *
 * Its public fields are signals: what is rendered from them follows them. Events tell of what happens once: "welcome",
 * "placed", "painted", "drawn", "message" ({text, kind}), "disconnected", "selection" ({rect}; cancelable), "pointer"
 * ({x, y} in device pixels, or null), "catalog", "opening" (another scene is wanted), "gesture" (the user moves), "moved" (what `move` was given; null: by undo), "frame" (the canvas was drawn),
 * "menu" ({at, x, y}: for a point), "jump" and "turned" ({by}: jumps, by undo), "led" and "guest" of a class. The detail is the server's message, or as given.
 */
import { Answers } from "./answers.js";
import { Changes } from "./changes.js";
import { Fit } from "./fit.js";
import { Flight, HASTY } from "./flight.js";
import { Chain } from "./frames.js";
import { Connection, transport } from "./net.js";
import { Paints } from "./paints.js";
import { Queue } from "./queue.js";
import { Reconnect, watchSleep } from "./reconnect.js";
import { Requests } from "./requests.js";
import { Stage } from "./stage.js";
import { observe } from "./state.js";
import { Ticker } from "./ticker.js";
import { Undo } from "./undo.js";
import { say } from "./words.js";

const AGAIN = 4000; // ms until the catalog is asked for again
const ENDS = ["pointerup", "pointercancel", "keyup", "blur"]; // of a gesture that changes colors

/** @typedef {{queue: Queue, chain: Chain, undo: Undo, flight: Flight, paints: Paints, fit: Fit}} Parts */
const UNTOLD = /** @type {unknown} */ (null); // fields that the server tells: who reads them is shown or called after that

export class Explorer extends EventTarget {
  welcome = /** @type {Received.Welcome} */ (UNTOLD); // the message
  catalog = /** @type {Received.Catalog} */ (UNTOLD); // `/catalog.json`
  placed = /** @type {Received.Placed} */ (UNTOLD); // the message `placed` of the newest frame
  scene = /** @type {WholeScene} */ (UNTOLD); // the whole table of the scene, with the place and colors of now
  layers = /** @type {Received.ShownLayer[]} */ ([]); // the newest `layers`
  drawn = /** @type {Received.DrawnMessage|null} */ (null); // the newest `drawn` of the newest frame
  status = /** @type {Omit<Partial<Received.Status>, "t"> & {t: "status"|"failed"}|null} */ (null); // the newest `status`, until something was drawn; `failed`: nothing can be
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
  #reconnect;
  #changes;
  #paints = new Paints(this, (message) => this.#sendPaint(message));
  #fit = new Fit(this, (color) => this.#paints.set(color, false));
  #ended = new AbortController();
  #late = false; // whether it was told that there is no catalog
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
    this.#reconnect = new Reconnect(
      this.#queue,
      first,
      () => this.connection.renew(),
      (ms) => this.connection.isSilent(ms),
    );
    const parts = {
      queue: this.#queue,
      chain: this.#chain,
      undo: this.#undo,
      flight: this.#flight,
      paints: this.#paints,
      fit: this.#fit,
    };
    this.#changes = new Changes(this, parts);
    const answers = new Answers(this, parts, this.#changes, this.#reconnect);
    this.stage = new Stage(canvas, () => this.wake(), { plain, software });
    this.requests = new Requests(
      this,
      (message) => this.connection.send(message),
      () => this.#chain.newest,
      (at) => this.#flight.here(at),
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
        text: (message) => this.requests.text(message) || answers.text(message),
        wanted: (message) => answers.wants(message),
        binary: (message) => answers.binary(message),
        image: (message) => this.stage.takesImage(message),
        lost: (line) => answers.lost(line),
      },
      this.#ended.signal,
    );
    watchSleep(() => this.check(), this.#ended.signal);
    if (transport.far)
      this.#reconnect.watch(
        {
          waits: () => this.#waits,
          ask: () => this.connection.send({ t: "cancel", job: 1 }), // of no job: the cheapest question
          tell: (unheard) => {
            this.lost = unheard ? say("the_server_does_not_answer") : "";
          },
        },
        this.#ended.signal,
      );
    // A control that is gone before its drag ends tells of no end.
    for (const end of ENDS)
      addEventListener(end, () => setTimeout(() => this.#paints.rest()), this.#ended);
  }

  /** End the connection, and draw no more. */
  end() {
    this.#ended.abort();
    this.stage.end();
  }

  /** Connect again if the server does not answer any more. */
  check() {
    if (this.connected && this.placed)
      void this.#reconnect.check(() => this.request({ t: "link" }));
  }

  /** Whether the server owes this page something that is seen. */
  get #waits() {
    const { connected, paused, status, drawn } = this;
    if (!connected || paused || document.hidden) return false;
    if (this.#queue.asked.length || !this.#paints.settled || this.requests.waits) return true;
    return status ? status.t !== "failed" : drawn !== null && drawn.pass !== "exact";
  }

  /** Load the catalog; where it does not come, it is asked for again. */
  async load() {
    const catalog = await fetch("/catalog.json")
      .then((answer) => answer.json())
      .catch(() => null);
    if (this.#ended.signal.aborted) return;
    if (catalog) {
      this.catalog = catalog;
      this.announce("catalog", catalog);
      return;
    }
    if (!this.#late) this.tell(say("the_catalog_was_not_loaded"), "error");
    this.#late = true;
    setTimeout(() => this.load(), AGAIN);
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
      !this.#fit.waits &&
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
    this.announce("moved", wish);
    this.wake();
  }

  /** Whether a scene is wanted that is not placed yet. */
  get opening() {
    return this.#queue.opening;
  }

  /** The scene that is wished for: panels show its values, and start their changes from them. */
  get wished() {
    const asks = this.asks >= 0 && this.#queue.asked.some(({ open, state }) => open ?? state);
    return asks && this.placed ? this.#changes.wished.scene : this.scene;
  }

  /** Degrees that the picture is turned by, with all moves until now. */
  get rotation() {
    return this.#flight.rotation;
  }

  /** Turn the picture until it stands upright. @param {string} [step] as of `move` */
  upright(step = "") {
    const turn = Math.round(100 * this.rotation) * (this.scene.view?.mirror ? -1 : 1);
    if (turn) this.move({ turn, step });
  }

  /** Draw for another size of the canvas. @param {number[]} size device pixels */
  resize(size) {
    const before = this.size;
    Object.assign(this.stage.canvas, { width: size[0], height: size[1] });
    this.stage.draw(this.map);
    if (!this.placed && !this.#queue.flight) return; // the first scene will be opened with this size
    const k = size[0] / before[0];
    const map = [k, 0, 0, k, (size[0] - k * before[0]) / 2, (size[1] - k * before[1]) / 2];
    this.#queue.size(map);
    this.wake();
  }

  /** Show another scene: the keys of the message `open`.
   * @param {Opened} what @param {string} [step] as of `move`: a flight and its end are undone as one
   * @param {{jump?: boolean, aim?: boolean, from?: number}} [how] `jump`: the browser's Back returns to what is shown now;
   * `aim`: into the part that no panel covers; `from`: the entry of the browser's list that was left @returns {import("./queue.js").Wish} what waits to be sent */
  open(what, step, how) {
    return this.#changes.open(what, step, how);
  }

  /** Show the whole of the formula that is wished for. */
  home() {
    if (this.placed) this.#changes.home();
  }

  /** Show another place: some of center, width or zoom, rotation; the others stay, also those that are asked for and
   * not shown yet. @param {Place|((asked: Place) => Place)} change */
  place(change) {
    if (this.placed) this.#changes.place(change);
  }

  /** Show the scene with other keys at the same place, such as a formula of the same kind, or a display; keys that
   * are asked for and not shown yet stay. @param {Scene} keys @param {string} [step] as of `move` */
  change(keys, step = "") {
    if (this.placed) this.#changes.keys(keys, step);
  }

  /** Change values of a table of the scene; those that are asked for and not shown yet stay.
   * @param {keyof Scene} table @param {object} values @param {string} [step] as of `move` */
  changeIn(table, values, step) {
    this.change({ [table]: Object.assign({}, this.wished[table], values) }, step);
  }

  /** Show another formula at the same place; where nothing of it is seen or can be drawn, its whole set.
   * @param {Formula} formula */
  changeFormula(formula) {
    if (this.placed) this.#changes.formula(formula);
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
  /** Show what was shown at an entry of the browser's list, or else the scene of its link. @param {number} entry @param {string} link */
  turnTo(entry, link) {
    const from = this.entry,
      state = this.#undo.turnTo(entry);
    this.entry = entry;
    if (!state && link) this.open({ link }, "", { jump: false, from });
    else this.#show(state);
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
    if (by) this.announce("turned", { by });
  }

  #show(/** @type {import("./history.js").State|undefined} */ state) {
    if (!state) return;
    this.#fit.end();
    this.#undo.still = "";
    this.#queue.show(state);
    this.asks++;
    this.announce("moved");
    this.wake();
  }

  /** Change colors. `live`: more changes follow at once; density, offset, blend and opacity are
   * then shown without the server, which gets the newest table at the end. `fit`: a layer (0: the base) whose
   * values change; density and offset are fitted to the new ones, as a part of the same step of undo.
   * @param {Color} color the whole table `color` @param {{live?: boolean, fit?: number}} [options] */
  paint(color, { live = false, fit } = {}) {
    if (!this.scene) return;
    if (!this.#paints.live) this.#undo.remember("paint");
    this.#fit.want(fit);
    const asked = this.#queue.asked.findLast(({ open, state }) => open ?? state);
    if (asked?.state || asked?.open?.scene) asked.color = color; // they are those of the scene that comes
    this.asks++;
    this.#paints.set(color, live);
  }

  /** Return a canvas of what is seen. @param {number} [width] */
  still(width = this.size[0]) {
    return this.stage.still(this.map, width);
  }

  /** Cycle the palette. @param {number} speed turns a second; 0 stops, in the colors then shown */
  cycle(speed) {
    this.#paints.cycle(speed);
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
   * @template {Asked} Question @param {Question} message @param {boolean} [passing] of a point: a newer one may take its place
   * @returns {Promise<AnswerTo<Question>>} rejects with an Error */
  request(message, passing) {
    return this.requests.ask(message, passing);
  }

  /** Start a `find`, `surprise`, `export` or `film`, or `follow` a film. @template {Asked & {t: keyof Ends}} Question
   * @param {Question} message @param {(message: OfJob) => void} [onProgress] gets `progress`, and `surprised` with its `preview`
   * @returns {Job<Question["t"]>} rejects with `error.cancelled` */
  job(message, onProgress) {
    return this.requests.job(message, onProgress);
  }

  /** Ask for a preview of the Julia set of a point of the canvas; the newest wins.
   * @param {{at: number[], size?: number}} of @param {(preview: Preview) => void} onPreview */
  julia(of, onPreview) {
    this.requests.julia(of, onPreview);
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
    this.announce("frame");
    return this.#paints.cycling;
  }

  /** Send the next move, unless one is unanswered. */
  #send(/** @type {number} */ time) {
    if (!this.#queue.entries.length || this.#queue.flight || !this.connected) return;
    const message = this.#flight.next(time, this.stage.picture?.empty ?? false);
    if (!message) return this.wake();
    this.connection.send(message);
    this.#reconnect.expect(() => this.#queue.flight?.id === message.frame);
  }

  /** Draw a frame of the screen soon. */
  wake() {
    this.#ticker.wake();
  }

  /** Tell those who listen. @param {string} name @param {unknown} [detail] */
  announce(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** Tell the user. @param {string} text @param {string} [kind] @param {[string, () => void]|null} [action] */
  tell(text, kind = "info", action = null, column = /** @type {number|null|undefined} */ (null)) {
    this.announce("message", { text, kind, action, column });
  }
}
