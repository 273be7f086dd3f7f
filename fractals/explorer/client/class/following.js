/**
 * A guest of a class: the page shows what the leader shows, until the guest moves the picture.
 *
 * While the guest follows, the server draws nothing: the page opens the leader's scene, which the server places, and lays the
 * leader's picture on it. So a move goes on from there at once, and only then the server draws.
 */
import { PIXELS } from "../decode.js";
import { newCanvas, pixelsIn } from "../picture.js";
import { observe } from "../state.js";
import { pictureOf } from "./stills.js";

const SIDE = 320,
  MOST = 47_000; // pixels of a side of the picture on the leader's wall; characters: the server takes 48,000
const EVERY = 4000,
  SPREAD = 1000; // ms between pictures: thirty guests do not send theirs at once
const QUIET = 30_000; // ms without a word of the leader, after which a guest who follows asks whether the server is there
const AGAIN = 2000; // ms until a picture or a scene that did not come is asked for again
const ALONE = "fractals.alone"; // in sessionStorage: whether the guest explores alone, for a page that is loaded again

/** @typedef {Pick<import("../explorer.js").Explorer, "size"|"still"|"open"|"resize"|"stage"|"connected"|"opening"|"placed"|"drawn"|"connection"|"check"|
 *   "addEventListener"|"removeEventListener">} Followed */

export class Following {
  following = true;
  name = ""; // of the guest, as the server has it
  /** @type {Received.LedMessage|null} */ led = null; // the newest message
  #shown = 0; // the number of the leader's picture that is shown
  #place = ""; // which scene of the leader is open, on a canvas of which size
  #count = 0; // of times that the guest began to follow
  #running = false;
  #opening = false; // whether the scene that is opened is the leader's
  #changed = false; // whether the canvas differs from the newest picture of the wall
  #heard = Date.now(); // ms, when the leader or the server was heard last

  /** @param {Followed} explorer @param {(number: number) => Promise<ImageBitmap>} load returns the leader's picture
   * @param {(ms: number) => Promise<unknown>} rest @param {boolean} [linked] whether the page was opened by a link to a scene */
  constructor(explorer, load, rest, linked = false) {
    this.explorer = explorer;
    this.load = load;
    this.rest = rest;
    observe(this, "following", "name", "led");
    this.following = (recalled() ?? (linked ? "1" : "")) !== "1";
    recall(this.following ? "" : "1"); // loaded again, the page has a link, too
    explorer.addEventListener("led", ({ detail }) => this.#hear(detail));
    explorer.addEventListener("guest", ({ detail }) => (this.name = detail.name));
    explorer.addEventListener("welcome", () => this.tell());
    explorer.addEventListener("disconnected", () => this.#forget());
    for (const touch of ["moved", "painted"])
      explorer.addEventListener(touch, () => this.leave(false));
    explorer.addEventListener("opening", () => this.#opening || this.leave(false));
    explorer.addEventListener("frame", () => (this.#changed = true));
    void this.#sending();
  }

  /** Tell the server whether the guest follows; it answers with the name and with what the leader shows. */
  tell() {
    this.explorer.connection.send({ t: "guest", following: this.following });
  }

  /** Give the guest another name. @param {string} name */
  call(name) {
    this.explorer.connection.send({ t: "guest", name });
  }

  /** Follow from now on. */
  follow() {
    if (this.following) return;
    this.#count += 1;
    this.#become(true);
    void this.#go();
  }

  /** Explore alone from now on. @param {boolean} draws whether what is seen has to be drawn: nothing else is asked for */
  leave(draws) {
    if (!this.following) return;
    this.#become(false);
    if (draws && this.#shown) this.explorer.resize(this.explorer.size);
  }

  #become(/** @type {boolean} */ following) {
    this.following = following;
    this.#changed = true;
    if (following) this.#forget();
    recall(following ? "" : "1");
    this.tell();
  }

  /** Forget what is shown: it is not the leader's any more. */
  #forget() {
    this.#shown = 0;
    this.#place = "";
  }

  #hear(/** @type {Received.LedMessage} */ message) {
    this.led = message;
    this.#heard = Date.now();
    if (message.gather) this.follow();
    void this.#go();
  }

  /** Show pictures of the leader, the newest each time, until the newest one is shown. */
  async #go() {
    if (this.#running) return;
    this.#running = true;
    while (this.following && this.explorer.connected && this.led && this.led.number > this.#shown) {
      const { number, place } = this.led,
        count = this.#count,
        picture = await this.load(number).catch(() => null);
      if (!this.following) break;
      if (count !== this.#count) continue; // the guest has left meanwhile, and follows again
      const placed = picture && (await this.#placed(place));
      if (count !== this.#count)
        this.#forget(); // as above, for another scene
      else if (!placed) await this.rest(AGAIN);
      else if (this.following) {
        this.#lay(picture);
        this.#shown = number;
      }
    }
    this.#running = false;
  }

  /** Open a scene of the leader, unless it is open. @param {number} place its number @returns {Promise<boolean>} whether it is placed */
  #placed(place) {
    const { explorer } = this,
      wanted = `${place} ${explorer.size}`;
    if (wanted === this.#place) return Promise.resolve(true);
    this.#opening = true;
    explorer.open({ person: 0 }, `flight class ${this.#count}`, { jump: false });
    this.#opening = false;
    return new Promise((resolve) => {
      const end = (/** @type {boolean} */ there) => {
        explorer.removeEventListener("placed", placed);
        explorer.removeEventListener("disconnected", lost);
        explorer.removeEventListener("message", failed);
        if (there) this.#place = wanted;
        resolve(there);
      };
      const placed = () => explorer.opening || end(true); // until then another one was under way
      const lost = () => end(false);
      const failed = () => explorer.opening || end(false);
      explorer.addEventListener("placed", placed);
      explorer.addEventListener("disconnected", lost);
      explorer.addEventListener("message", failed);
    });
  }

  /** Lay the leader's picture on the frame, whole: a canvas of another shape has black edges. The window, and so the canvas, may
   * have another size than the frame meanwhile. */
  #lay(/** @type {ImageBitmap} */ picture) {
    const { stage, placed } = this.explorer,
      [w, h] = placed.size,
      [, context] = newCanvas(w, h, { willReadFrequently: true });
    const share = Math.min(w / picture.width, h / picture.height),
      [across, down] = [share * picture.width, share * picture.height];
    context.fillRect(0, 0, w, h);
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, (w - across) / 2, (h - down) / 2, across, down);
    const data = pixelsIn(context, w, h);
    stage.add({ ...NO_TILE, w, h, data });
    stage.arrived("finer");
  }

  /** Send a picture for the leader's wall from time to time, as long as the guest explores alone. */
  async #sending() {
    for (;;) {
      await this.rest(EVERY + SPREAD * Math.random());
      const { explorer } = this;
      if (this.following && Date.now() - this.#heard > QUIET) {
        this.#heard = Date.now();
        explorer.check(); // a guest who follows says nothing else, so a dead line would be noticed by nobody
      }
      if (this.following || !this.#changed || !explorer.connected || !explorer.drawn) continue;
      this.#changed = false;
      const picture = await pictureOf(explorer, SIDE, MOST).catch(() => "");
      if (picture) explorer.connection.send({ t: "guest", picture });
      else this.#changed = true;
    }
  }
}

const NO_TILE = /** @type {Omit<import("../decode.js").Pixels, "w"|"h"|"data">} */ ({
  kind: PIXELS,
  format: 0,
  layer: 0,
  frame: 0,
  x: 0,
  y: 0,
  step: 1,
  paint: 0,
  low: 0,
  high: 0,
});

function recalled() {
  try {
    return sessionStorage.getItem(ALONE);
  } catch {
    return null; // no storage
  }
}
function recall(/** @type {string} */ alone) {
  try {
    sessionStorage.setItem(ALONE, alone);
  } catch {
    // a page that is loaded again follows
  }
}
