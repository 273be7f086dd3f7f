/** The leader of a class: what is seen goes to the guests, and the wall has their pictures. */
import { observe } from "../state.js";
import { changedScene, pinned } from "../wishes.js";
import { pictureOf } from "./stills.js";

const SIDE = 1280,
  MOST = 239_000; // pixels of a side of the picture that guests see; characters: the server takes 240,000
const EVERY = 500; // ms between pictures while the view changes
const LOOK = 2000; // ms between looks at the class

/** @typedef {Pick<import("../explorer.js").Explorer, "size"|"still"|"open"|"opening"|"connected"|"placed"|"scene"|"connection"|"request"|
 *   "addEventListener">} Led */

export class Leading {
  /** @type {Received.ClassOf|null} */ told = null; // how the class is
  /** @type {Received.GuestFacts|null} */ looked = null; // the guest whose picture the leader looks at; guests do not see that
  /** @type {Received.GuestFacts|null} */ shown = null; // the guest whose picture is shown to all; null: it is the leader's own
  #before = /** @type {Scene|null} */ (null); // what was seen before
  #gathers = false; // whether the next picture has everyone follow
  #changed = true; // whether guests see an older picture
  #opening = false; // whether the scene that is opened is a guest's
  #fresh = false; // whether nothing is drawn yet of the scene that was opened last

  /** @param {Led} explorer @param {(ms: number) => Promise<unknown>} rest */
  constructor(explorer, rest) {
    this.explorer = explorer;
    this.rest = rest;
    observe(this, "told", "looked", "shown");
    explorer.addEventListener("frame", () => (this.#changed = true));
    explorer.addEventListener("welcome", () => {
      this.#changed = true;
      void this.ask();
    });
    for (const own of ["moved", "painted"])
      explorer.addEventListener(own, () => (this.shown = null));
    explorer.addEventListener("drawn", () => (this.#fresh = false));
    explorer.addEventListener("opening", () => {
      this.#fresh = true;
      if (this.#opening) return;
      this.shown = this.looked = null; // the leader goes on with a view of his own
    });
    void this.#sending();
    void this.#looking();
  }

  /** The guests who are here. */
  get present() {
    return this.told?.guests.filter(({ here }) => here) ?? [];
  }

  /** Tell the server what the leader decides, and hear how the class is.
   * @param {Omit<Sent.ClassMessage, "t">} [decided] */
  async ask(decided = {}) {
    const told = await this.explorer.request({ t: "class", ...decided }).catch(() => null);
    if (told) this.told = told;
  }

  /** Look at the picture of a guest, alone. @param {Received.GuestFacts} guest */
  look(guest) {
    const { explorer } = this;
    if (!explorer.placed) return;
    if (!this.looked && !this.shown)
      this.#before = changedScene(pinned(explorer.scene, explorer.placed), {});
    this.looked = guest;
    this.#opening = true;
    explorer.open({ person: guest.number }, `class ${guest.number}`, { jump: false });
    this.#opening = false;
  }

  /** Show the picture that is looked at to all guests. */
  show() {
    if (this.looked) this.shown = this.looked;
    this.looked = null;
    this.gather();
  }

  /** Have all guests follow. */
  gather() {
    this.#gathers = this.#changed = true;
  }

  /** Return to the view before, and show that to all. */
  back() {
    const before = this.#before;
    this.#before = this.looked = this.shown = null;
    if (before) this.explorer.open({ scene: before }, "", { jump: false });
  }

  async #sending() {
    for (;;) {
      await this.rest(EVERY);
      const { explorer } = this,
        leads = this.told?.leads && !this.looked && !this.#fresh;
      const shows = explorer.connected && explorer.placed && !explorer.opening;
      if (!leads || !this.#changed || !shows) continue;
      this.#changed = false;
      const { frame } = explorer.placed,
        picture = await pictureOf(explorer, SIDE, MOST).catch(() => "");
      if (!picture || this.looked || this.#fresh || !explorer.connected) {
        this.#changed = true; // guests still see the older one
        continue;
      }
      const gather = this.#gathers;
      this.#gathers = false;
      explorer.connection.send({
        t: "lead",
        frame,
        picture,
        ...(this.shown && { person: this.shown.number }),
        ...(gather && { gather }),
      });
    }
  }

  async #looking() {
    for (;;) {
      if (this.explorer.connected) await this.ask();
      await this.rest(LOOK);
    }
  }
}
