/**
 * The model: the user's view, its frames, colors and history. It knows no panels, and no WebGL.
 *
 * Events: "welcome", "placed", "painted", "layers", "drawn", "status", "message" ({text, kind}),
 * "connected", "disconnected", "selection" ({rect}; cancelable), "pointer" ({x, y} or null),
 * "history", "bookmarks", "paused". The detail of an event is the server's message, or as given.
 */
export class Explorer extends EventTarget {
  constructor() {
    super();
    /** @type {object|null} the message `welcome` */
    this.welcome = null;
    /** @type {object|null} `/catalog.json` */
    this.catalog = null;
    /** @type {object|null} the message `placed` of the newest frame */
    this.placed = null;
    /** @type {object|null} the whole table of the scene: place and colors are those of now */
    this.scene = null;
    /** @type {object[]} the newest `layers` */
    this.layers = [];
    /** @type {object|null} the newest `drawn` of the newest frame; null once it moved */
    this.drawn = null;
    /** @type {object|null} the newest `status`; null once something was drawn */
    this.status = null;
    this.connected = false;
    this.canUndo = false;
    this.canRedo = false;
  }

  /** Move the picture, at once. Lengths are sixteenths of a device pixel, as in the protocol.
   * @param {{at?: number[], by?: number[], scale?: number, turn?: number, about?: number,
   *   stage?: "moving"|"settled", focus?: number[], step?: string}} move
   * `step`: moves of the same name, less than half a second apart, are undone as one. */
  move(move) {}

  /** Show another scene: the keys of the message `open`. @param {object} what */
  open(what) {}
  home() {}
  undo() {}
  redo() {}

  /** Change colors. `live`: more changes follow at once; density, offset, blend and opacity are
   * then shown without the server, which gets the newest table at the end.
   * @param {object} color the whole table `color` @param {{live?: boolean}} [options] */
  paint(color, { live = false } = {}) {}

  /** Cycle the palette. @param {number} speed turns a second; 0 stops */
  cycle(speed) {}

  /** Send a request; the answer that belongs to it. Rejects with an Error on `error`.
   * @param {object} message without `frame`, `seq` and `job`: the model adds those
   * @returns {Promise<object>} the answer; for `lookup` {entries, rows: Uint16Array} */
  async request(message) { throw new Error("not connected"); }

  /** Start a `find`, `surprise` or `export`.
   * @param {object} message without `job` and `frame`
   * @param {(message: object) => void} [onProgress] gets `progress`, and `surprised` with its `preview`
   * @returns {{id: number, done: Promise<object>, cancel: () => void}} `done` is found, exported or
   * done; it rejects on `failed`, with `error.cancelled`. */
  job(message, onProgress) { return { id: 0, done: new Promise(() => {}), cancel() {} }; }

  /** Ask for a preview of the Julia set of a point; the newest wins.
   * @param {{at: number[], size?: number}} where @param {(preview: object) => void} onPreview */
  julia({ at, size = 256 }, onPreview) {}

  /** Return a canvas of a preview (binary kind 5). @returns {HTMLCanvasElement} */
  pixelsOf(preview) { return document.createElement("canvas"); }
}
