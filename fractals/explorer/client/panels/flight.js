/** The path of a flight between two views, after van Wijk and Nuij, *Smooth and efficient zooming and panning* (2003). */

const RHO = Math.SQRT2; // how much zooming is preferred to panning; the paper's measured optimum is 1.42
const PER_SECOND = 2.2; // of the path's length: about 4.5 octaves a second
const LONGEST = 20; // seconds

/** Return the digits of decimal text, and a power of ten. @returns {[bigint, number]} */
function parts(text) {
  const [, sign, whole, fraction = "", power = "0"] = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text.trim()) ?? [];
  return [BigInt(sign + (whole || "") + fraction || "0"), Number(power) - fraction.length];
}

/** Return (a − b) / width as a number: exact digits first, because the difference may be 1e-1000. */
export function difference(a, b, width) {
  const [[x, xp], [y, yp]] = [parts(a), parts(b)];
  const power = Math.min(xp, yp);
  const gap = x * 10n ** BigInt(xp - power) - y * 10n ** BigInt(yp - power);
  const [size, sp] = parts(width);
  const [gapDigits, sizeDigits] = [String(gap), String(size)];
  const head = Number(`${gapDigits.slice(0, 17)}`) / Number(sizeDigits.slice(0, 17));
  return head * 10 ** (power + Math.max(0, gapDigits.length - 17) - sp - Math.max(0, sizeDigits.length - 17));
}

/**
 * Return a function from seconds to {octaves, share}: how far in, and the share of the way panned.
 * @param {number} distance of the target from the middle, in widths of the first view
 * @param {number} octaves from the first view to the target's
 */
export function path(distance, octaves) {
  const [w0, w1] = [1, 2 ** -octaves];
  const u1 = Math.max(Math.abs(distance), 1e-9);
  const near = u1 < 1e-6;
  const bend = (w, sign) => {
    const b = (w1 * w1 - w0 * w0 + sign * RHO ** 4 * u1 * u1) / (2 * w * RHO * RHO * u1);
    return -Math.asinh(b);
  };
  const r0 = near ? 0 : bend(w0, 1);
  const r1 = near ? 0 : bend(w1, -1);
  const length = near ? (Math.abs(octaves) * Math.LN2) / RHO : (r1 - r0) / RHO;
  const seconds = Math.min(LONGEST, Math.max(0.8, length / PER_SECOND));
  const at = (time) => {
    const s = length * Math.min(1, time / seconds);
    if (near) return { octaves: (octaves * s) / (length || 1), share: s / (length || 1) };
    const width = (w0 * Math.cosh(r0)) / Math.cosh(RHO * s + r0);
    const way = (w0 / (RHO * RHO)) * (Math.cosh(r0) * Math.tanh(RHO * s + r0) - Math.sinh(r0));
    return { octaves: -Math.log2(width), share: way / u1 };
  };
  return { at, seconds };
}
