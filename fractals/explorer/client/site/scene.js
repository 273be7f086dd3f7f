/** Scenes as tables: whole ones, and their text. */
import { decimal } from "./exact.js";
import { elsewhere, told } from "./said.js";

const TABLES = ["view", "image", "iteration", "color"]; // whose keys may stand at the top, too
const REFUSED = [
  "transforms",
  "samples",
  "camera",
  "light",
  "material",
  "relief",
  "develop",
  "display",
  "symmetry",
];

/** @typedef {Record<string, unknown>} Given */
/** @returns {value is Given} */
const isTable = (/** @type {unknown} */ value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Return the whole table of a scene. @param {SiteFacts} facts @param {unknown} given
 * @returns {SiteScene} with every key that this page reads */
export function whole(facts, given) {
  if (!isTable(given)) throw new Error("a scene is a table");
  const made = /** @type {Record<string, object>} */ (
      /** @type {object} */ (structuredClone(facts.defaults))
    ),
    own = /** @type {Given} */ ({});
  for (const [key, value] of Object.entries(given)) {
    if (TABLES.includes(key)) {
      if (!isTable(value)) throw new Error(`${key} is a table`);
      made[key] = { ...made[key], ...structuredClone(value) };
    } else own[key] = structuredClone(value);
  }
  const lost = REFUSED.find((key) => own[key] !== undefined && !isEmpty(own[key]));
  if (lost) throw new Error(elsewhere("draws", { name: lost }));
  const whole = /** @type {SiteScene} */ (/** @type {object} */ ({ ...made, ...own }));
  checkNumbers(whole);
  return whole;
}

const isEmpty = (/** @type {unknown} */ value) =>
  value === "" || value === null || (isTable(value) && !Object.keys(value).length);

/** The least and the greatest numbers of a view, as in `fractals.scene.picture`. */
const RANGES = { rotation: [-360, 360], stretch: [1e-3, 1e3], stretch_angle: [-360, 360] };

/** Throw a line about a number that is none. @param {SiteScene} scene */
function checkNumbers({ view, image, iteration, julia }) {
  for (const key of /** @type {const} */ (["width", "zoom"])) {
    if (view[key] == null) {
      delete view[key];
      continue;
    }
    const text = (view[key] = String(view[key]));
    if (decimal(text).n <= 0n) throw new Error(`the ${key} '${text.slice(0, 40)}' is not above 0`);
  }
  for (const [name, point] of Object.entries({ center: view.center, julia })) {
    if (point == null) continue;
    if (!Array.isArray(point) || point.length !== 2)
      throw new Error(`${name} is two numbers such as -0.75 and 0.1`);
    point.forEach((part, k) => {
      decimal(part);
      point[k] = String(part);
    });
  }
  if (view.center == null) delete view.center;
  for (const [key, [least, most]] of Object.entries(RANGES)) {
    const name = /** @type {keyof typeof RANGES} */ (key),
      given = /** @type {unknown} */ (view[name]);
    if (given == null) continue;
    const number = typeof given === "object" ? NaN : Number(given); // many digits have come as text
    if (!(number >= least && number <= most))
      throw new Error(`${key} is a number from ${least} to ${most}`);
    view[name] = number;
  }
  if (view.projection && view.projection !== "plane") throw new Error(elsewhere("exponential"));
  const limit = iteration.max_iterations;
  if (limit !== "auto" && !(Number.isInteger(limit) && limit > 0 && limit <= 2e9))
    throw new Error("the limit of iterations is auto, or a whole number from 1 to 2000000000");
  if (!(iteration.escape_radius >= 2 && iteration.escape_radius <= 1e100))
    throw new Error("the escape radius is from 2 to 1e100");
  if (!(
    Number.isInteger(image.supersampling) &&
    image.supersampling >= 1 &&
    image.supersampling <= 16
  ))
    throw new Error("supersampling is from 1 to 16");
}

// --- TOML, as far as scenes have it

const BARE = /^[A-Za-z0-9_-]+$/;

/** @param {unknown} value @returns {string} */
function valueText(value) {
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (isTable(value))
    return `{ ${Object.entries(value)
      .filter(([, each]) => each != null)
      .map(([key, each]) => `${keyText(key)} = ${valueText(each)}`)
      .join(", ")} }`;
  return String(value);
}
const keyText = (/** @type {string} */ key) => (BARE.test(key) ? key : JSON.stringify(key));

/** Return a scene as TOML. @param {Scene} scene */
export function tomlOf(scene) {
  const lines = [],
    tables = [];
  for (const [key, value] of Object.entries(scene)) {
    if (value == null || value === "") continue;
    if (isTable(value)) {
      const own = Object.entries(value).filter(([, each]) => each != null);
      if (own.length)
        tables.push(
          `\n[${keyText(key)}]`,
          ...own.map(([k, each]) => `${keyText(k)} = ${valueText(each)}`),
        );
    } else lines.push(`${keyText(key)} = ${valueText(value)}`);
  }
  return [...lines, ...tables, ""].join("\n");
}

/** Read TOML: tables, lists of tables, texts, numbers, lists and tables in a line. */
class Reader {
  at = 0;

  constructor(/** @type {string} */ text) {
    this.text = text.replaceAll("\r\n", "\n");
  }

  /** @param {string} what @returns {never} */
  fail(what) {
    const line = this.text.slice(0, this.at).split("\n").length;
    throw new Error(`not TOML: ${what} in line ${line}`);
  }
  /** The next character. */
  now() {
    return this.text[this.at] ?? "";
  }
  /** Pass over blanks and comments. @param {boolean} lines whether over ends of lines, too */
  skip(lines) {
    for (;;) {
      if (this.now() === "#") while (this.now() && this.now() !== "\n") this.at++;
      else if (this.now() && (lines ? " \t\n" : " \t").includes(this.now())) this.at++;
      else return;
    }
  }
  /** @param {string} what */
  take(what) {
    if (!this.text.startsWith(what, this.at)) this.fail(`'${what}' is missing`);
    this.at += what.length;
  }

  key() {
    const path = [];
    for (;;) {
      this.skip(false);
      if (this.now() === '"' || this.now() === "'") path.push(this.string());
      else {
        const begin = this.at;
        while (this.now() && /[A-Za-z0-9_-]/.test(this.now())) this.at++;
        if (begin === this.at) this.fail("a key is missing");
        path.push(this.text.slice(begin, this.at));
      }
      if (path[path.length - 1] in Object.prototype)
        // all tables would have it
        this.fail("a key is not one of a scene");
      this.skip(false);
      if (this.now() !== ".") return path;
      this.at++;
    }
  }

  string() {
    const quote = this.now(),
      long = this.text.startsWith(quote.repeat(3), this.at),
      end = long ? quote.repeat(3) : quote;
    this.at += end.length;
    if (long && this.now() === "\n") this.at++;
    let found = "";
    while (!this.text.startsWith(end, this.at)) {
      if (!this.now() || (!long && this.now() === "\n")) this.fail("a text has no end");
      if (this.now() !== "\\" || quote === "'") {
        found += this.text[this.at++];
        continue;
      }
      const next = this.text[this.at + 1] ?? "",
        size = next === "u" ? 4 : next === "U" ? 8 : 0,
        code = this.text.slice(this.at + 2, this.at + 2 + size);
      const plain = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", '"': '"', "\\": "\\" };
      if (
        size &&
        /^[0-9a-fA-F]+$/.test(code) &&
        code.length === size &&
        parseInt(code, 16) < 0x110000
      )
        found += String.fromCodePoint(parseInt(code, 16));
      else if (next in plain) found += /** @type {Record<string, string>} */ (plain)[next];
      else this.fail("an escape is unknown");
      this.at += 2 + size;
    }
    this.at += end.length;
    return found;
  }

  /** @param {number} depth @returns {unknown} */
  value(depth = 0) {
    if (depth > 50) this.fail("lists lie too deep");
    if (this.now() === '"' || this.now() === "'") return this.string();
    if (this.now() === "[") {
      const list = [];
      this.at++;
      for (;;) {
        this.skip(true);
        if (this.now() === "]") break;
        list.push(this.value(depth + 1));
        this.skip(true);
        if (this.now() !== ",") break;
        this.at++;
      }
      this.take("]");
      return list;
    }
    if (this.now() === "{") {
      const table = {};
      this.at++;
      for (;;) {
        this.skip(true);
        if (this.now() === "}") break;
        this.pair(table, depth + 1);
        this.skip(true);
        if (this.now() !== ",") break;
        this.at++;
      }
      this.take("}");
      return table;
    }
    const [word] = /^[^\s,\]}#]*/.exec(this.text.slice(this.at, this.at + 200_000)) ?? [""];
    this.at += word.length;
    if (word === "true" || word === "false") return word === "true";
    const number = Number(word.replaceAll("_", ""));
    if (!word || Number.isNaN(number)) this.fail(`'${word.slice(0, 40)}' is no value`);
    // A number with more digits than a double keeps its text: places need all of them.
    return /^[+-]?[\d.]{16,}/.test(word) ? word.replaceAll("_", "") : number;
  }

  /** @param {Given} table @param {number} depth */
  pair(table, depth = 0) {
    const path = this.key();
    this.take("=");
    this.skip(false);
    const own = path
      .slice(0, -1)
      .reduce((inner, key) => /** @type {Given} */ (inner[key] ??= {}), table);
    own[path[path.length - 1]] = this.value(depth);
  }

  read() {
    const root = /** @type {Given} */ ({});
    let table = root;
    for (;;) {
      this.skip(true);
      if (!this.now()) return root;
      if (this.now() === "[") {
        const list = this.text[this.at + 1] === "[";
        this.at += list ? 2 : 1;
        const path = this.key(),
          last = path.pop() ?? "";
        this.take(list ? "]]" : "]");
        const inner = (/** @type {Given} */ of, /** @type {string} */ key) => {
          const found = (of[key] ??= {});
          return Array.isArray(found) ? found[found.length - 1] : found;
        };
        const own = path.reduce(inner, root);
        if (list) {
          own[last] ??= [];
          if (!Array.isArray(own[last])) this.fail("a key is given twice");
          own[last].push((table = {}));
        } else table = inner(own, last);
      } else this.pair(table);
      this.skip(false);
      if (this.now() && this.now() !== "\n") this.fail("a line does not end");
    }
  }
}

const MOST_TEXT = 262_144; // characters of a scene

/** Return the table of a text. @param {string} text @returns {Scene} */
export function tableOf(text) {
  if (text.length > MOST_TEXT) throw new Error("the text is too long for a scene");
  if (!text.trim().startsWith("{")) return new Reader(text).read();
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("not JSON");
  }
}

/** Return the bytes of a stream, or its first ones where there are more than the most: a short link may hold gigabytes of zeros.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream @param {number} most */
async function gathered(stream, most) {
  const parts = [],
    reader = stream.getReader();
  for (let size = 0; size <= most;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
  }
  void reader.cancel().catch(() => {});
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Return a scene as the text of a link: base64url of the deflated TOML. @param {Scene} scene */
export async function linkOf(scene) {
  const bytes = await gathered(
    new Blob([tomlOf(scene)]).stream().pipeThrough(new CompressionStream("deflate")),
    Infinity,
  );
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Return the table of a link. @param {string} link @returns {Promise<Scene>} */
export async function ofLink(link) {
  let text;
  try {
    const packed = atob(link.replaceAll("-", "+").replaceAll("_", "/")),
      bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    text = new TextDecoder("utf-8", { fatal: true }).decode(
      await gathered(
        new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")),
        4 * MOST_TEXT,
      ),
    );
  } catch {
    throw new Error(told("damaged"));
  }
  return tableOf(text);
}
