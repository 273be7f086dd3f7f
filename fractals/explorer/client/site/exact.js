/** Exact numbers: quotients of whole numbers, and their decimal text as the server writes it. */

/** @typedef {{n: bigint, d: bigint}} Ratio a quotient in lowest terms; d is above 0 */

const size = (/** @type {bigint} */ n) => (n < 0n ? -n : n);

/** @param {bigint} a @param {bigint} b */
function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

/** @param {bigint|number} n @param {bigint|number} d @returns {Ratio} */
export function ratio(n, d = 1n) {
  let [top, below] = [BigInt(n), BigInt(d)];
  if (below < 0n) [top, below] = [-top, -below];
  const common = gcd(size(top), below);
  return common > 1n ? { n: top / common, d: below / common } : { n: top, d: below };
}

export const ZERO = ratio(0n),
  ONE = ratio(1n),
  HALF = ratio(1n, 2n);

/** @param {Ratio} a @param {Ratio} b */
export const add = (a, b) => ratio(a.n * b.d + b.n * a.d, a.d * b.d);
/** @param {Ratio} a @param {Ratio} b */
export const sub = (a, b) => ratio(a.n * b.d - b.n * a.d, a.d * b.d);
/** @param {Ratio} a @param {Ratio} b */
export const mul = (a, b) => ratio(a.n * b.n, a.d * b.d);
/** @param {Ratio} a @param {Ratio} b */
export const div = (a, b) => ratio(a.n * b.d, a.d * b.n);
/** @param {Ratio} a @param {Ratio} b */
export const less = (a, b) => a.n * b.d < b.n * a.d;
/** @param {Ratio} a @returns {Ratio} */
export const abs = (a) => ({ n: size(a.n), d: a.d });
/** @param {Ratio} a @returns {Ratio} */
export const neg = (a) => ({ n: -a.n, d: a.d });
/** @param {Ratio} a @param {Ratio} b */
export const same = (a, b) => a.n === b.n && a.d === b.d;

/** Return a power of two. @param {number} k */
export const power = (k) => (k >= 0 ? ratio(1n << BigInt(k)) : ratio(1n, 1n << BigInt(-k)));

/** Return what a double holds. @param {number} value */
export function ofDouble(value) {
  let scale = 0;
  while (!Number.isInteger(value)) {
    value *= 2;
    scale++;
  }
  return mul(ratio(BigInt(value)), power(-scale));
}

const DECIMAL = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

/** Read decimal text. @param {string|number} text */
export function decimal(text) {
  const found = DECIMAL.exec(String(text).trim());
  if (!found || !(found[2] || found[3]) || Math.abs(Number(found[4] ?? 0)) > 20_000)
    throw new Error(`'${String(text).slice(0, 40)}' is not a decimal number`);
  const [, sign, whole, part, exponent] = found,
    scale = Number(exponent ?? 0) - part.length;
  const digits = BigInt(`${whole}${part}`) * (sign === "-" ? -1n : 1n),
    tens = 10n ** BigInt(Math.abs(scale));
  return scale < 0 ? ratio(digits, tens) : ratio(digits * tens);
}

/** @param {bigint} n above 0 */
export function bitLength(n) {
  const text = n.toString(16);
  return 4 * text.length - Math.clz32(parseInt(text[0], 16)) + 28;
}

/** Return the nearest double, rounded once. @param {Ratio} value */
export function toDouble({ n, d }) {
  if (!n) return 0;
  const top = size(n),
    shift = 64 - bitLength(top) + bitLength(d);
  const [up, down] = shift >= 0 ? [top << BigInt(shift), d] : [top, d << BigInt(-shift)];
  let whole = up / down;
  if (whole * down !== up) whole |= 1n; // what is left decides between two doubles
  const found = scaled(Number(whole), -shift);
  return n < 0n ? -found : found;
}

/** Return value * 2**k, in two steps where one would leave the doubles. @param {number} value @param {number} k */
function scaled(value, k) {
  const half = Math.trunc(k / 2);
  return value * 2 ** half * 2 ** (k - half);
}

const BITS = 128n, // behind the point
  PI = 0x3243f6a8885a308d313198a2e03707344n; // in units of 2^-128

/** Return the cosine and the sine of an angle in degrees, rounded once, as `fractals.kernels.angles` does:
 * those of browsers differ in last bits. @param {number} degrees */
export function direction(degrees) {
  const { n, d } = ofDouble(degrees),
    [below, turn] = [90n * d, 360n * d];
  const whole = ((n % turn) + turn) % turn,
    [quarters, rest] = [whole / below, whole % below];
  const angle = (rest * PI) / d / 180n;
  let [cos, sin] = [0n, 0n];
  for (let [term, k] = [1n << BITS, 0n]; term; term = (term * angle) / (++k << BITS)) {
    const signed = k & 2n ? -term : term;
    if (k & 1n) sin += signed;
    else cos += signed;
  }
  for (let k = 0n; k < quarters; k++) [cos, sin] = [-sin, cos];
  return [cos, sin].map((part) => toDouble({ n: part, d: 1n << BITS }));
}

/** Return the binary logarithm. @param {Ratio} value above 0 */
export function log2({ n, d }) {
  const shift = bitLength(n) - bitLength(d);
  const [up, down] = shift >= 0 ? [n, d << BigInt(shift)] : [n << BigInt(-shift), d];
  return shift + Math.log2(toDouble(ratio(up, down)));
}

/** Round to the nearest whole number, halves to the even one. @param {Ratio} value */
export function rounded({ n, d }) {
  const floor = n >= 0n ? n / d : -((-n + d - 1n) / d),
    rest = 2n * (n - floor * d);
  return rest > d || (rest === d && floor & 1n) ? floor + 1n : floor;
}

/** Return a number rounded to decimal places, as text. @param {Ratio} value @param {number} places */
export function decimalPlaces(value, places) {
  const whole = rounded(mul(value, ratio(10n ** BigInt(places))));
  const digits = size(whole)
    .toString()
    .padStart(places + 1, "0");
  const head = digits.slice(0, digits.length - places),
    part = digits.slice(digits.length - places).replace(/0+$/, "");
  const sign = value.n < 0n && (part || head !== "0") ? "-" : "";
  return `${sign}${head}${part && `.${part}`}`;
}

/** @param {number} exponent */
const ten = (exponent) =>
  exponent >= 0 ? ratio(10n ** BigInt(exponent)) : ratio(1n, 10n ** BigInt(-exponent));

/** Return a number above 0 with significant digits; below 10**least it has an exponent.
 * @param {Ratio} value @param {number} digits @param {number} least */
export function significant(value, digits = 6, least = -4) {
  let exponent = Math.floor(log2(value) * Math.log10(2));
  exponent += Number(!less(value, ten(exponent + 1))) - Number(less(value, ten(exponent)));
  let mantissa = rounded(div(value, ten(exponent - digits + 1)));
  if (mantissa === 10n ** BigInt(digits)) {
    mantissa /= 10n;
    exponent++;
  }
  if (exponent >= least && exponent < digits) {
    const places = digits - 1 - exponent;
    return decimalPlaces(ratio(mantissa, 10n ** BigInt(places)), places);
  }
  const text = mantissa.toString().replace(/0+$/, "");
  return `${text[0]}${text.length > 1 ? `.${text.slice(1)}` : ""}e${exponent}`;
}

/** Return the decimals that tell points this far apart from each other. @param {Ratio} size */
export const decimals = (size) => Math.max(0, Math.ceil(-log2(size) * Math.log10(2)));
