/** Exact decimal numbers: places of deep views, in as many digits as they need. */

/** `digits` / 10**`scale`. @typedef {{ digits: bigint, scale: number }} Exact */

/** @param {string} text digits with a point, or without @returns {Exact} */
function parsed(text) {
  const [whole, part = ""] = text.split(".");
  return { digits: BigInt(whole + part), scale: part.length };
}

/** Return a number times 2**`exponent`. @param {number} value @param {number} exponent @returns {Exact} */
function exactly(value, exponent) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, Math.abs(value));
  const word = bits.getBigUint64(0),
    raw = Number(word >> 52n);
  const mantissa = (word & 0xfffffffffffffn) | (raw ? 0x10000000000000n : 0n),
    sign = value < 0 ? -1n : 1n;
  const power = (raw || 1) - 1075 + exponent;
  return power >= 0
    ? { digits: sign * (mantissa << BigInt(power)), scale: 0 }
    : { digits: sign * mantissa * 5n ** BigInt(-power), scale: -power };
}

/** Return a number in so many decimals. @param {Exact} exact @param {number} decimals @returns {bigint} */
function scaled({ digits, scale }, decimals) {
  return decimals >= scale
    ? digits * 10n ** BigInt(decimals - scale)
    : digits / 10n ** BigInt(scale - decimals);
}

/** Return a decimal number moved by a number times 2**`exponent`, in so many decimals. @param {string} text
 * @param {number} by @param {number} exponent @param {number} decimals */
export function movedText(text, by, exponent, decimals) {
  const sum = scaled(parsed(text), decimals) + scaled(exactly(by, exponent), decimals);
  const digits = `${sum < 0n ? -sum : sum}`.padStart(decimals + 1, "0");
  return `${sum < 0n ? "-" : ""}${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}`;
}

/** Return a positive number times 2**`exponent` in 17 digits, and its order of magnitude. @param {number} value
 * @param {number} exponent @returns {[string, number]} */
export function scientific(value, exponent) {
  const { digits, scale } = exactly(value, exponent),
    text = `${digits}`,
    order = text.length - 1 - scale;
  return [`${text[0]}.${text.slice(1, 17) || "0"}e${order}`, order];
}
