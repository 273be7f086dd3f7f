/**
 * Hold to fly: as long as a button or a finger is held, the picture is zoomed about what it points at.
 *
 * The farther from the middle, the faster; in the middle the flight rests, and the picture becomes exact. A solid's camera
 * flies ahead, and turns to where it is pointed at. Where a frame would be late, pictures have fewer pixels until the end.
 */
const FASTEST = 3; // octaves a second, at the nearer edge and beyond
const CALM = 0.08; // of the way from the middle to the nearer edge, within which nothing moves
const BEND = 1.25; // power of the rest of this way: slow near the middle
const STEPS = 64; // of an octave
const AHEAD = 700; // thousandths of the distance to a solid's nearest surface, a second
const TURN = 4500; // hundredths of a degree that a camera turns by in a second, at the edge

/** Return how far from the middle something points: 0 in the calm, 1 at the edge and beyond.
 * @param {number} distance of the way from the middle to the nearer edge */
export function pulled(distance) {
  return Math.min(1, Math.max(0, (distance - CALM) / (1 - CALM))) ** BEND;
}

/** Return the pull of a point as a vector: its length is `pulled` of its distance.
 * @param {number[]} point @param {number[]} middle @param {number} reach from the middle to the nearer edge */
export function pull(point, middle, reach) {
  const off = point.map((part, k) => (part - middle[k]) / reach),
    far = Math.hypot(...off);
  return off.map((part) => (far ? (part / far) * pulled(far) : 0));
}

const FRAME = 1000 / 60; // ms
const LATE = 1.4 * FRAME; // of a frame: the screen has shown the one before twice
const FORGIVEN = 0.2; // of a late frame, by a frame in time: a single one tells nothing
const COARSER = 0.8,
  FINER = 1.12; // factors of the pixels of an axis
const LEAST = 0.3; // of the pixels of an axis
const PATIENCE = 30,
  LONGEST = 480; // frames in time before more pixels are tried, at first and after many failures

/** How many pixels can be drawn 60 times a second: fewer after late frames, and more after many in time. */
export class Grain {
  share = 1; // of the pixels of each axis
  #late = 0;
  #calm = 0; // frames in time since the last change
  #patience = PATIENCE;
  #tried = false; // whether the last change was to more

  /** Take the time since the frame before, and return the share for the next one. @param {number} ms */
  frame(ms) {
    this.#late = ms > LATE ? this.#late + 1 : Math.max(0, this.#late - FORGIVEN);
    this.#calm = ms > LATE ? 0 : this.#calm + 1;
    if (this.#late >= 2) {
      // What was tried and failed is tried less often.
      if (this.#tried) this.#patience = Math.min(LONGEST, 2 * this.#patience);
      this.#change(COARSER, false);
    } else if (this.#calm >= this.#patience && this.share < 1) {
      if (this.#tried) this.#patience = PATIENCE; // the last try has held
      this.#change(FINER, true);
    }
    return this.share;
  }

  #change(/** @type {number} */ factor, /** @type {boolean} */ tried) {
    this.share = Math.min(1, Math.max(LEAST, this.share * factor));
    this.#late = this.#calm = 0;
    this.#tried = tried;
  }
}

/** Return a function that adds parts up, and gives the whole numbers of it. */
export function wholes() {
  let rest = 0;
  return (/** @type {number} */ part) => {
    rest += part;
    const whole = Math.trunc(rest);
    rest -= whole;
    return whole;
  };
}

/** Call `move(seconds)` before each frame, which has as many pixels as can be drawn in time.
 * @param {import("./explorer.js").Explorer} explorer @param {(seconds: number) => void} move @returns {() => void} ends it */
export function fly(explorer, move) {
  const grain = new Grain(),
    { stage } = explorer;
  let begun = false,
    seen = [stage.added, stage.added]; // what had come two frames before, and one
  const stop = explorer.animate((seconds) => {
    // A frame in which a picture comes, or is first drawn, is late for that: fewer pixels would not help (measured).
    if (begun && seen[0] === stage.added) stage.share = grain.frame(1000 * seconds);
    begun = true; // the time before the first frame is no frame's
    seen = [seen[1], stage.added];
    move(seconds);
  });
  return () => {
    stop();
    stage.share = 1;
    stage.draw(explorer.map);
    stage.changed();
  };
}

/** Zoom as long as something is held. @param {import("./explorer.js").Explorer} explorer
 * @param {{at: () => number[]|undefined, speed: () => number, step: string}} how `at`: in sixteenths of a pixel; `speed`: octaves a second
 * @returns {() => void} ends it */
export function zoomWhile(explorer, { at, speed, step }) {
  const steps = wholes();
  return fly(explorer, (seconds) => {
    const scale = steps(STEPS * speed() * seconds);
    if (scale) explorer.move({ at: at(), scale, stage: "moving", step });
  });
}

/** Fly a solid's camera as long as something is held. @param {import("./explorer.js").Explorer} explorer
 * @param {{way: () => number[], step: string}} how `way`: to the right, up and ahead, turns to the right and up, each from -1 to 1
 * @returns {() => void} ends it */
export function soarWhile(explorer, { way, step }) {
  const parts = [AHEAD, AHEAD, AHEAD, TURN, TURN].map((most) => ({ most, whole: wholes() }));
  return fly(explorer, (seconds) => {
    const now = way(),
      flown = parts.map(({ most, whole }, k) => whole(most * now[k] * seconds));
    if (flown.some(Boolean)) explorer.move({ fly: flown, stage: "moving", step });
  });
}

const ENDS = ["blur", "visibilitychange", "pagehide"]; // of the page
const BREAKS = ["gesture", "disconnected", "opening"]; // of the explorer
let count = 0;

/** End a flight with another gesture, a key, the connection, or when the page is left. @param {import("./explorer.js").Explorer} explorer @param {EventTarget} page
 * @param {AbortController} flight @param {{key?: (event: KeyboardEvent) => boolean}} [given] `key`: whether a key is the flight's own */
export function breaking(explorer, page, flight, { key = () => false } = {}) {
  const { signal } = flight,
    end = () => flight.abort();
  for (const name of ENDS) page.addEventListener(name, end, { signal });
  for (const name of BREAKS) explorer.addEventListener(name, end, { signal });
  const pressed = (/** @type {Event} */ given) => {
    const event = /** @type {KeyboardEvent} */ (given);
    if (key(event) || event.type === "keyup") return;
    if (event.key === "Escape") event.preventDefault(); // it ends the flight, and no more
    end();
  };
  for (const name of ["keydown", "keyup"])
    page.addEventListener(name, pressed, { signal, capture: true });
}

/** The flight of a pointer that is held: it ends with the pointer, with another gesture, a key, or when the page is left.
 * @param {import("./explorer.js").Explorer} explorer @param {EventTarget} canvas
 * @param {{page?: EventTarget, mark?: Mark}} [given] @typedef {{show: (middle: number[], reach: number, point: number[], strength: number) => void, hide: () => void}} Mark */
export function holdTool(explorer, canvas, { page = globalThis, mark } = {}) {
  let flight = /** @type {AbortController|null} */ (null),
    point = [0, 0],
    pointer = 0,
    out = false;

  const end = () => flight?.abort();
  /** Where the flight rests, and how far away the edge is. */
  const calm = () => {
    const { middle, share } = explorer.seen;
    return {
      middle: middle.map((part) => part / 16),
      reach: (share * Math.min(...explorer.size)) / 2,
    };
  };
  const force = () => {
    const { middle, reach } = calm();
    return pull(point, middle, reach);
  };
  const sign = () => (out ? -1 : 1);
  const show = () => {
    const { middle, reach } = calm();
    mark?.show(middle, CALM * reach, point, Math.hypot(...force()));
  };

  /** Begin to fly. @param {number[]} from device pixels @param {number} id of the pointer */
  function begin(from, id) {
    end();
    if (!explorer.placed) return;
    explorer.dispatchEvent(new Event("hold"));
    point = from;
    pointer = id;
    out = false;
    const step = `gesture hold ${(count += 1)}`,
      mine = (flight = new AbortController()),
      { signal } = mine;
    const stop = explorer.placed.camera
      ? soarWhile(explorer, {
          way: () => [0, 0, sign(), force()[0], -force()[1]],
          step,
        })
      : zoomWhile(explorer, {
          at: () => point.map((part) => Math.round(16 * part)),
          speed: () => sign() * FASTEST * Math.hypot(...force()),
          step,
        });
    show();
    signal.addEventListener("abort", () => {
      flight = null;
      mark?.hide();
      stop();
    });
    breaking(explorer, page, mine, { key: turned });
    const lost = (/** @type {Event} */ event) =>
      /** @type {PointerEvent} */ (event).pointerId === pointer && end();
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
      canvas.addEventListener(name, lost, { signal });
  }

  /** Shift flies out. @param {KeyboardEvent} event */
  function turned(event) {
    if (event.key !== "Shift") return false;
    reverse(event.type === "keydown");
    return true;
  }
  /** Fly out, or in again. @param {boolean} wanted */
  function reverse(wanted) {
    out = wanted;
  }
  return {
    begin,
    end,
    reverse,
    get on() {
      return flight !== null;
    },
    /** Point elsewhere. @param {number[]} to device pixels @param {number} id of the pointer */
    steer(to, id) {
      if (!flight || id !== pointer) return;
      point = to;
      show();
    },
  };
}

/** The ring in which a flight rests, and one about the pointer, the stronger the faster. @param {HTMLCanvasElement} canvas @returns {Mark} */
export function markOver(canvas) {
  const made = document.createElement("div");
  made.className = "hold-mark";
  made.append(document.createElement("i"), document.createElement("i"));
  const [rest, aim] = /** @type {HTMLElement[]} */ ([...made.children]);
  return {
    show(middle, reach, point, strength) {
      const ratio = canvas.clientWidth / canvas.width;
      const put = (/** @type {HTMLElement} */ ring, /** @type {number[]} */ [x, y]) =>
        Object.assign(ring.style, {
          left: `${canvas.offsetLeft + x * ratio}px`,
          top: `${canvas.offsetTop + y * ratio}px`,
        });
      made.style.translate = canvas.style.translate;
      put(rest, middle);
      put(aim, point);
      rest.style.width = `${2 * reach * ratio}px`;
      aim.style.setProperty("--strength", String(strength));
      if (!made.isConnected) canvas.after(made);
    },
    hide: () => made.remove(),
  };
}
