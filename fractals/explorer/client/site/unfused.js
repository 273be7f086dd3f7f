/**
 * Modules for browsers without relaxed SIMD, made from those with it: a multiply-add becomes a product and a sum, and the
 * others become what all browsers have. Loaded by workers that need it.
 */

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */

const TYPES = 1,
  FUNCTIONS = 3,
  CODE = 10; // numbers of sections
const V128 = 0x7b,
  VECTOR = 0xfd,
  SET = 0x21,
  GET = 0x20;
const TRUNC = 0x101; // the first relaxed operation that programs have
/** Whole numbers behind operations without a vector. @type {Record<number, number>} */
const NUMBERS = {
  ...{ 0x02: 1, 0x03: 1, 0x04: 1, 0x0c: 1, 0x0d: 1, 0x10: 1, 0x11: 2, 0x20: 1, 0x21: 1, 0x22: 1 },
  ...{ 0x23: 1, 0x24: 1, 0x25: 1, 0x26: 1, 0x3f: 1, 0x40: 1, 0x41: 1, 0x42: 1, 0xd0: 1, 0xd2: 1 },
  ...Object.fromEntries(Array.from({ length: 0x3f - 0x28 }, (_, k) => [0x28 + k, 2])),
};
/** Whole numbers behind operations on blocks of memory. @type {Record<number, number>} */
const OF_MEMORY = { 8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1 };
/** What takes the place of a relaxed operation, with a local that is free: of float32 (0) or float64 (1).
 * @type {Record<number, (local: number[]) => number[]>} */
const PLAIN = { 0x101: () => [VECTOR, 0xf8, 1] };
for (const [k, [times, plus, minus]] of [
  [0xe6, 0xe4, 0xe1],
  [0xf2, 0xf0, 0xed],
].entries()) {
  const vector = (/** @type {number} */ operation) => [VECTOR, operation, 1];
  const fused = (/** @type {number[]} */ turned) => (/** @type {number[]} */ local) => [
    ...[SET, ...local, ...vector(times), ...turned],
    ...[GET, ...local, ...vector(plus)],
  ];
  PLAIN[0x105 + 2 * k] = fused([]);
  PLAIN[0x106 + 2 * k] = fused(vector(minus));
}
// The lesser and the greater of two numbers, neither of which is NaN
for (const [k, operation] of [0xea, 0xeb, 0xf6, 0xf7].entries())
  PLAIN[0x10d + k] = () => [VECTOR, operation, 1];
for (let k = 0x109; k <= 0x10c; k++) PLAIN[k] = () => [VECTOR, 0x52]; // choices by bits

/** Return a whole number as WebAssembly writes it (LEB128). @param {number} value */
function written(value) {
  const found = [];
  for (; value > 127; value >>>= 7) found.push((value & 127) | 128);
  return [...found, value];
}

/** Reads a module, and keeps what is to be written. */
class Walk {
  at = 0;

  /** @param {Bytes} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }
  number() {
    let [value, shift] = [0, 0];
    for (;;) {
      if (this.at >= this.bytes.length) throw new Error("a module is cut short");
      const byte = this.bytes[this.at++];
      value |= (byte & 127) << shift;
      shift += 7;
      if (byte < 128) return value >>> 0;
    }
  }
  /** Pass over whole numbers, of any size. @param {number} count */
  skip(count) {
    for (; count > 0; count--) while (this.bytes[this.at++] > 127);
  }
  /** Pass over an operation, and return the number of a relaxed one; 0 of another. */
  operation() {
    const first = this.bytes[this.at++];
    if (first === 0x0e || first === 0x1c) {
      const count = this.number();
      this.skip(count + Number(first === 0x0e));
    } else if (first === 0x43) this.at += 4;
    else if (first === 0x44) this.at += 8;
    else if (first === 0xfc) this.skip(OF_MEMORY[this.number()] ?? 0);
    else if (first === VECTOR) {
      const own = this.number();
      if (own >= TRUNC) return own;
      if (own <= 11 || own === 92 || own === 93) this.skip(2);
      else if (own <= 13) this.at += 16;
      else if (own >= 21 && own <= 34) this.at++;
      else if (own >= 84 && own <= 91) {
        this.skip(2);
        this.at++;
      }
    } else this.skip(NUMBERS[first] ?? 0);
    return 0;
  }
}

/** Return the numbers of parameters of a module's functions. @param {Bytes} types @param {Bytes} functions */
function parametersOf(types, functions) {
  const walk = new Walk(types),
    counts = Array.from({ length: walk.number() }, () => {
      walk.at++;
      const found = walk.number();
      walk.at += found;
      const results = walk.number(); // read before `at` is
      walk.at += results;
      return found;
    });
  const own = new Walk(functions);
  return Array.from({ length: own.number() }, () => counts[own.number()]);
}

/** Return the body of a function without relaxed operations. @param {Bytes} body @param {number} parameters */
function plainBody(body, parameters) {
  const walk = new Walk(body),
    kinds = walk.number(),
    begin = walk.at;
  let local = parameters;
  for (let k = 0; k < kinds; k++) {
    local += walk.number();
    walk.at++;
  }
  const made = [...written(kinds + 1), ...body.subarray(begin, walk.at), 1, V128],
    free = written(local);
  const pieces = [Uint8Array.from(made)];
  let from = walk.at;
  while (walk.at < body.length) {
    const start = walk.at,
      relaxed = walk.operation();
    if (!relaxed) continue;
    if (!PLAIN[relaxed]) throw new Error(`an operation of relaxed SIMD is unknown: ${relaxed}`);
    pieces.push(body.subarray(from, start), Uint8Array.from(PLAIN[relaxed](free)));
    from = walk.at;
  }
  return [...pieces, body.subarray(from)];
}

/** Return a module without relaxed operations. @param {Bytes} bytes @returns {Bytes} */
export function unfused(bytes) {
  const walk = new Walk(bytes),
    pieces = [bytes.subarray(0, 8)],
    known = /** @type {Record<number, Bytes>} */ ({});
  walk.at = 8;
  const put = (/** @type {Bytes[]} */ parts) => {
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    return [Uint8Array.from(written(size)), ...parts];
  };
  while (walk.at < bytes.length) {
    const kind = bytes[walk.at++],
      size = walk.number(),
      body = bytes.subarray(walk.at, walk.at + size);
    walk.at += size;
    known[kind] = body;
    let parts = [body];
    if (kind === CODE) {
      const own = new Walk(body),
        parameters = parametersOf(known[TYPES], known[FUNCTIONS]);
      parts = [Uint8Array.from(written(own.number()))];
      for (const count of parameters) {
        const length = own.number();
        parts.push(...put(plainBody(body.subarray(own.at, own.at + length), count)));
        own.at += length;
      }
    }
    pieces.push(Uint8Array.of(kind), ...put(parts));
  }
  const made = new Uint8Array(pieces.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of pieces) {
    made.set(part, at);
    at += part.length;
  }
  return made;
}
