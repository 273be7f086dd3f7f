/** Flights between two views, after van Wijk and Nuij, *Smooth and efficient zooming and panning* (2003). */

const RHO = Math.SQRT2; // how much zooming is preferred to panning; the paper's measured optimum is 1.42
const PER_SECOND = 2.2; // of the path's length: about 4.5 octaves a second
const LONGEST = 20; // seconds

/** Return the digits of decimal text, and a power of ten. @returns {[bigint, number]} */
function parts(/** @type {string} */ text) {
  const [, sign, whole, fraction = "", power = "0"] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text.trim()) ?? [];
  return [BigInt(sign + (whole || "") + fraction || "0"), Number(power) - fraction.length];
}

/** Return (a − b) / width as a number: exact digits first, because the difference may be 1e-1000. */
export function difference(
  /** @type {string} */ a,
  /** @type {string} */ b,
  /** @type {string} */ width,
) {
  const [[x, xp], [y, yp]] = [parts(a), parts(b)];
  const power = Math.min(xp, yp);
  const gap = x * 10n ** BigInt(xp - power) - y * 10n ** BigInt(yp - power);
  const [size, sp] = parts(width);
  const [gapDigits, sizeDigits] = [String(gap), String(size)];
  const head = Number(`${gapDigits.slice(0, 17)}`) / Number(sizeDigits.slice(0, 17));
  return (
    head *
    10 ** (power + Math.max(0, gapDigits.length - 17) - sp - Math.max(0, sizeDigits.length - 17))
  );
}

/**
 * Return a function from seconds to {octaves, left}: how far in, and where the target lies then, as a part of how far
 * from the middle it lies at first, both in pixels. The part is of a formula of its own, because the way that is left is
 * 1e-30 of the whole way after 100 octaves.
 * @param {number} distance of the target from the middle, in widths of the first view
 * @param {number} octaves from the first view to the target's @param {number} [speed] of the path's length a second
 */
export function path(distance, octaves, speed = PER_SECOND) {
  const width = 2 ** -octaves;
  const far = Math.max(Math.abs(distance), 1e-9);
  const near = far * Math.max(1, 2 ** octaves) < 1e-6; // it never moves visibly
  const [sum, factor] = [width * width - 1, RHO ** 4 * far * far],
    over = 2 * RHO * RHO * far;
  const r0 = near ? 0 : -Math.asinh((sum + factor) / over);
  const r1 = near
    ? 0
    : width < 1e-150 // whose inverse squared is no number
      ? Math.log((2 * (factor - sum)) / over) + octaves * Math.LN2
      : Math.asinh((factor - sum) / over / width);
  const length = near ? (Math.abs(octaves) * Math.LN2) / RHO : (r1 - r0) / RHO;
  const seconds = Math.min(LONGEST, Math.max(0.8, length / speed));
  const logCosh = (/** @type {number} */ r) =>
    Math.abs(r) + Math.log1p(Math.exp(-2 * Math.abs(r))) - Math.LN2;
  const at = (/** @type {number} */ time) => {
    const share = Math.min(1, time / seconds);
    if (near) return { octaves: octaves * share, left: (1 - share) * 2 ** (octaves * share) };
    const r = share < 1 ? r0 + RHO * length * share : r1;
    // sinh(r1 - r) / cosh(r1)
    const left = (Math.exp(-r) - Math.exp(r - 2 * r1)) / (1 + Math.exp(-2 * r1));
    return {
      octaves: (logCosh(r) - logCosh(r0)) / Math.LN2,
      left: left / (RHO * RHO * far),
    };
  };
  return { at, seconds };
}

/**
 * Fly: call `frame` with the seconds since the start, until it tells that it arrived; a gesture of the user ends the flight.
 * @param {import("../explorer.js").Explorer} explorer @param {(time: number) => boolean} frame
 * @returns {{done: Promise<boolean>, stop: () => void}} whether it arrived
 */
function flown(explorer, frame) {
  let end = (/** @type {boolean} */ _arrived) => {};
  const done = new Promise((resolve) => {
    let time = 0;
    const stop = explorer.animate((seconds) => {
      time += seconds;
      if (frame(time)) end(true);
    });
    end = (arrived) => {
      stop();
      explorer.removeEventListener("gesture", interrupt);
      resolve(arrived);
    };
  });
  const interrupt = () => end(false);
  explorer.addEventListener("gesture", interrupt);
  return { done, stop: interrupt };
}

const SIXTEENTHS = 16;
const STEPS = 64; // of an octave
const AHEAD = 20; // octaves from the newest frame: farther away numbers have too few digits for pixels, and the server accepts 64
const NEAR = 4,
  FAR = 9; // octaves from the nearest picture: there a flight begins to slow down, and here it waits: at 12 nothing of it is drawn

/** Return the part of its speed that a flight gives up, so that it does not outrun the pictures.
 * @param {number} newest octaves from the newest frame @param {number} picture from the nearest picture */
const braked = (newest, picture) =>
  newest > AHEAD ? 1 : Math.min(1, Math.max(0, (picture - NEAR) / (FAR - NEAR)));

/** Tell whether pixels of the view lie on the plane as a flight needs it. */
export const canFly = (/** @type {import("../explorer.js").Explorer} */ { scene, placed }) =>
  (scene.view?.stretch ?? 1) === 1 && !placed.julia;

/**
 * Move the picture along a path into the part that no panel covers; a gesture of the user ends the flight.
 * @param {import("../explorer.js").Explorer} explorer
 * @param {{center: string[], octaves: number, step: string, speed?: number, told?: (share: number) => void}} target
 * @returns {{done: Promise<boolean>, stop: () => void}} whether it arrived
 */
export function flyTo(explorer, { center, octaves, step, speed, told }) {
  const mirror = explorer.scene.view?.mirror,
    first = explorer.placed,
    start = offset(center, explorer, mirror);
  const way = path(
    Math.hypot(...start) / first.size[0],
    octaves + Math.log2(explorer.seen.share) - first.octaves,
    speed,
  );
  let before = 0,
    waited = 0; // seconds for the server
  return flown(explorer, (now) => {
    // Each move is relative to the newest frame, whose text is exact, so errors do not add up.
    const [a, b, c, d, e, f] = explorer.map;
    const lag = Math.abs(Math.log2(Math.hypot(a, c)));
    waited += (now - before) * braked(lag, explorer.stage.away(explorer.map));
    before = now;
    const time = now - waited,
      { octaves: deeper, left } = way.at(time);
    told?.(time / way.seconds);
    const { size, octaves: placed } = explorer.placed;
    const [x, y] = offset(center, explorer, mirror).map((value, k) => value + size[k] / 2);
    const here = [a * x + b * y + e, c * x + d * y + f];
    const scale = Math.round(
      STEPS * (first.octaves + deeper - placed - Math.log2(Math.hypot(a, c))),
    );
    // From where the target is seen at first to the middle of what is seen.
    const aim = explorer.seen.middle.map((part) => part / SIXTEENTHS);
    const by = start.map(
      (value, k) => aim[k] + (value + explorer.size[k] / 2 - aim[k]) * left - here[k],
    );
    if (scale)
      explorer.move({
        at: sixteenths(here),
        by: sixteenths(by),
        scale,
        stage: "moving",
        focus: sixteenths(here),
        step,
      });
    return time >= way.seconds;
  });
}

const ALONG = 6; // seconds of a flight along a way

/**
 * Fly a solid's camera along a way that the server has found; a gesture of the user ends the flight.
 * @param {import("../explorer.js").Explorer} explorer
 * @param {{camera: Camera, way: number[][], step: string, told?: (share: number) => void}} target `way`: of positions and targets
 * @returns {{done: Promise<boolean>, stop: () => void}} whether it arrived
 */
export function flyAlong(explorer, { camera, way, step, told }) {
  return flown(explorer, (time) => {
    const share = way.length > 1 ? time / ALONG : 1,
      at = Math.min(share, 1) * (way.length - 1),
      k = Math.min(Math.floor(at), way.length - 2);
    told?.(share);
    const place = share < 1 && way[k].map((part, m) => part + (at - k) * (way[k + 1][m] - part));
    explorer.change(
      {
        camera: place ? { ...camera, position: place.slice(0, 3), target: place.slice(3) } : camera,
      },
      step,
    );
    return share >= 1;
  });
}

const sixteenths = (/** @type {number[]} */ point) =>
  point.map((value) => Math.round(SIXTEENTHS * value));

/** Return where a point of the plane lies, in pixels from the middle of the placed frame, y down. */
export function offset(
  /** @type {string[]} */ center,
  /** @type {{placed: Pick<Received.Placed, "center"|"width"|"size"|"rotation">}} */ { placed },
  mirror = false,
) {
  const [x, y] = [0, 1].map(
    (k) => difference(center[k], placed.center[k], placed.width) * placed.size[0],
  );
  const turn = (-placed.rotation * Math.PI) / 180;
  const up = x * Math.sin(turn) + y * Math.cos(turn);
  return [x * Math.cos(turn) - y * Math.sin(turn), mirror ? up : -up];
}
