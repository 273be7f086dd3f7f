/** What a new connection asks for: the scene that is shown, then what the lost one did not answer; and when one is lost unnoticed. */

const ANSWERED = 20_000; // ms in which the server answers a view or colors: it does so before it draws, and a loaded one took 4 s
const ALIVE = 8000; // ms in which it answers a page that only asks whether it is there
const LOOK = 1000, // ms between two looks of a page that waits for something
  QUIET = 2000, // ms in which nothing came, after which it asks whether the server is there
  UNHEARD = 8, // looks from then on until it says so
  GIVEN_UP = 20; // and until it connects again: a single message may take that long on a slow line, or on a busy machine
const EVERY = 5000; // ms between two looks at the clock; a browser stretches them to a minute in a page that is not seen
const SLEPT = 100_000; // ms without a look: the machine has slept, or the browser has stopped the page

export class Reconnect {
  #first;

  /** @param {import("./queue.js").Queue} queue @param {Partial<Sent.Open>} first keys of the first `open`
   * @param {() => void} renew closes a connection from which nothing comes, and makes another one
   * @param {(ms: number) => boolean} silent whether nothing has come for some time */
  constructor(queue, first, renew, silent) {
    this.queue = queue;
    this.#first = first;
    this.renew = renew;
    this.silent = silent;
  }

  /** The server greets: it gets the scene that is shown. @param {Scene|null} scene */
  welcomed(scene) {
    this.queue.entries.unshift({ open: scene ? { scene } : this.#first, again: true });
  }

  /** The connection is lost: what is unanswered will be asked again.
   * @returns {import("./history.js").State[]} states that nothing leads to any more */
  lost() {
    const never = [],
      kept = [];
    for (const each of this.queue.asked) {
      const { after = [], again, open } = each;
      if (again)
        for (const told of after) this.queue.fill(told); // it is what is shown now
      // A Julia set is that of a point of a frame, which the next connection does not know.
      else if (open?.julia) never.push(...after.map(({ state }) => state));
      else kept.push(each);
    }
    this.queue.entries = kept;
    this.queue.flight = null;
    return never;
  }

  /** A view has failed: where the server shows nothing to this page yet, it shows what it was started with.
   * @param {import("./queue.js").InFlight} flight @param {boolean} placed whether anything was shown */
  failed({ asked, again }, placed) {
    const own = asked.t === "open" && (asked.scene || asked.link);
    if (!own || (placed && !again)) return;
    this.#first = {};
    this.queue.entries.push({ open: {}, again });
  }

  /** Connect again if something is unanswered after a long time. @param {() => boolean} waits */
  expect(waits) {
    setTimeout(() => waits() && this.renew(), ANSWERED);
  }

  /** Notice that nothing comes, though the page waits for something: ask, tell that no answer comes, and connect again. Looks are
   * counted, and no seconds: a page that was stopped first hears what came meanwhile.
   * @param {{waits: () => boolean, ask: () => void, tell: (unheard: boolean) => void}} how `ask`: whether the server is
   * there @param {AbortSignal} ended */
  watch({ waits, ask, tell }, ended) {
    let unheard = 0;
    const look = () => {
      if (!waits() || !this.silent(QUIET)) {
        if (unheard >= UNHEARD) tell(false);
        unheard = 0;
        return;
      }
      if (!unheard) ask();
      unheard += 1;
      if (unheard === UNHEARD) tell(true);
      if (unheard < GIVEN_UP) return;
      unheard = 0; // who loses the connection tells why
      this.renew();
    };
    const looks = setInterval(look, LOOK);
    ended.addEventListener("abort", () => clearInterval(looks));
  }

  /** Connect again if the line is dead: a machine has slept, or nothing was heard for long. @param {() => Promise<unknown>} ask a question */
  async check(ask) {
    let waits = true;
    setTimeout(() => waits && this.renew(), ALIVE);
    await ask().catch(() => {}); // an error is an answer
    waits = false;
  }
}

/** Notice that the page has slept: the connection may have ended meanwhile, and nobody tells it. @param {() => void} woken @param {AbortSignal} ended */
export function watchSleep(woken, ended) {
  let last = Date.now();
  const look = () => {
    const now = Date.now();
    if (now - last > SLEPT) woken();
    last = now;
  };
  const looks = setInterval(look, EVERY);
  ended.addEventListener("abort", () => clearInterval(looks));
}
