/** Lookup tables of palettes, with the numbers of `fractals.color.palette`. */
import { parse } from "../lib/culori.js";

const GRAY = 1e-4; // chroma below which a color has no hue
const OKLCH = /^oklch\(\s*([\d.]+)(%?)\s+([\d.]+)\s+(-?[\d.]+)(?:deg)?\s*\)$/;

/** @param {number} v of sRGB, from 0 to 1 */
const linearOf = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
/** @param {number} v linear light, from 0 to 1 */
const srgbOf = (v) => (v <= 0.0031308 ? v * 12.92 : 1.055 * Math.max(v, 0) ** (1 / 2.4) - 0.055);
/** @param {number} value @param {number} low @param {number} high */
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
/** @param {number[]} v @param {number[][]} rows */
const times = (v, rows) => rows.map((row) => v[0] * row[0] + v[1] * row[1] + v[2] * row[2]);

/** Makes tables of palettes. */
export class Palettes {
  #kept = new Map();

  /** @param {SiteFacts["spaces"]} spaces @param {Record<string, PaletteTable>} named */
  constructor(spaces, named) {
    this.spaces = spaces;
    this.named = named;
    const { levels, entries } = spaces;
    this.encoding = Uint8Array.from({ length: levels }, (_, k) =>
      Math.round(255 * srgbOf(k / (levels - 1))),
    );
    this.decoding = Float32Array.from({ length: entries + 1 }, (_, k) => linearOf(k / entries));
  }

  /** Return a palette's table. @param {Palette} palette */
  of(palette) {
    const found =
      typeof palette === "string"
        ? this.named[palette]
        : Array.isArray(palette)
          ? { stops: palette }
          : palette;
    if (!found) throw new Error(`there is no palette '${palette}'`);
    if (!Array.isArray(found.stops) || !found.stops.length)
      throw new Error("a palette has 1 to 4096 stops");
    return found;
  }

  /** @param {Palette} palette */
  cyclic(palette) {
    return this.of(palette).cyclic ?? true;
  }

  /** Return the rows that the programs of colors read: a turn, its end, and the inside color.
   * @param {Palette} palette @param {string} inside @param {boolean} encoded in sRGB, in which layers are mixed */
  lookup(palette, inside, encoded) {
    const key = JSON.stringify([palette, inside, encoded]);
    let rows = this.#kept.get(key);
    if (!rows) {
      const { entries } = this.spaces,
        colors = this.#linear(this.of(palette), entries);
      colors.push(this.#color(inside).map(linearOf));
      rows = new Float32Array(3 * colors.length);
      colors.forEach((color, k) => {
        for (let c = 0; c < 3; c++) {
          const light = Math.fround(clamp(color[c], 0, 1));
          rows[3 * k + c] = encoded ? srgbOf(light) : light;
        }
      });
      if (this.#kept.size > 100) this.#kept.clear();
      this.#kept.set(key, rows);
    }
    return rows;
  }

  /** Return sRGB from 0 to 1. @param {string} text @returns {number[]} */
  #color(text) {
    const lch = OKLCH.exec(text);
    if (lch) {
      const light = this.#fromOklch([
        Number(lch[1]) / (lch[2] ? 100 : 1),
        Number(lch[3]),
        Number(lch[4]),
      ]);
      return light.map((v) => clamp(srgbOf(v), 0, 1));
    }
    const found = parse(text);
    if (!found || found.mode !== "rgb") throw new Error(`'${text}' is not a color`);
    return [found.r ?? 0, found.g ?? 0, found.b ?? 0];
  }

  /** @param {number[]} linear */
  #oklab(linear) {
    return times(times(linear, this.spaces.lms).map(Math.cbrt), this.spaces.lab);
  }

  /** @param {number[]} lab */
  #fromOklab(lab) {
    return times(
      times(lab, this.spaces.roots).map((v) => v ** 3),
      this.spaces.linear,
    );
  }

  /** Return linear light of OKLCH, with less chroma where sRGB ends. @param {number[]} lch */
  #fromOklch([lightness, chroma, hue]) {
    const turn = (hue * Math.PI) / 180,
      [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    const light = (/** @type {number} */ share) =>
      this.#fromOklab([lightness, share * chroma * cos, share * chroma * sin]);
    const fits = (/** @type {number[]} */ linear) => linear.every((v) => v > -1e-4 && v < 1 + 1e-4);
    if (fits(light(1))) return light(1);
    let [low, high] = [0, 1];
    for (let k = 0; k < 20; k++) {
      const middle = (low + high) / 2;
      if (fits(light(middle))) low = middle;
      else high = middle;
    }
    return light(low);
  }

  /** Return the colors of a turn in linear light. @param {PaletteTable} palette @param {number} entries @returns {number[][]} */
  #linear(palette, entries) {
    const { cyclic = true, space = "oklab", blend = "linear" } = palette;
    const last = cyclic ? palette.stops.length : Math.max(palette.stops.length - 1, 1);
    /** @type {[number, string][]} */
    const stops = palette.stops.map((stop, k) => (Array.isArray(stop) ? stop : [k / last, stop]));
    let places = stops.map(([place]) => place),
      colors = stops.map(([, text]) => this.#color(text));
    if (space !== "srgb") colors = colors.map((color) => this.#oklab(color.map(linearOf)));
    if (space === "oklch")
      colors = colors.map(([l, a, b]) => [l, Math.hypot(a, b), (Math.atan2(b, a) * 180) / Math.PI]);
    if (cyclic) {
      places = [-1, 0, 1].flatMap((turn) => places.map((place) => place + turn));
      colors = [...colors, ...colors, ...colors];
    }
    const channels = [0, 1, 2].map((c) => colors.map((color) => color[c]));
    const mix = blend === "smooth" ? smooth(places, channels) : straight(places, channels);
    const found = [];
    for (let row = 0; row <= entries; row++) {
      let at = row / entries;
      if (blend === "cosine") {
        const [k, gap, share] = between(at, places);
        at = places[k] + (gap * (1 - Math.cos(Math.PI * share))) / 2;
      }
      const mixed = mix(at);
      if (space === "srgb") found.push(mixed.map(linearOf));
      else if (space === "oklch") {
        mixed[2] = hue(at, places, colors);
        found.push(this.#fromOklch(mixed));
      } else found.push(this.#fromOklab(mixed));
    }
    return found;
  }
}

/** Return the stop before a place, how far the next one is, and the share of that way.
 * @param {number} at @param {number[]} places */
function between(at, places) {
  let k = -1;
  while (k + 1 < places.length && places[k + 1] <= at) k++;
  k = clamp(k, 0, Math.max(places.length - 2, 0));
  const gap = places[Math.min(k + 1, places.length - 1)] - places[k];
  return [k, gap, clamp((at - places[k]) / Math.max(gap, 1e-12), 0, 1)];
}

/** @param {number[]} places @param {number[][]} channels @returns {(at: number) => number[]} */
function straight(places, channels) {
  return (at) => {
    const end = places.length - 1;
    if (at <= places[0]) return channels.map((values) => values[0]);
    if (at >= places[end]) return channels.map((values) => values[end]);
    const [k] = between(at, places);
    return channels.map(
      (values) =>
        ((values[k + 1] - values[k]) / (places[k + 1] - places[k])) * (at - places[k]) + values[k],
    );
  };
}

/** Cubics that rise only where the values do (Fritsch and Butland, 1984).
 * @param {number[]} places @param {number[][]} channels @returns {(at: number) => number[]} */
function smooth(places, channels) {
  if (places.length === 1) return () => channels.map((values) => values[0]);
  const gaps = places.slice(1).map((place, k) => Math.max(place - places[k], 1e-12));
  const slopes = channels.map((values) => {
    const rises = gaps.map((gap, k) => (values[k + 1] - values[k]) / gap);
    const inner = rises.slice(1).map((after, k) => {
      const before = rises[k],
        near = 2 * gaps[k + 1] + gaps[k],
        far = gaps[k + 1] + 2 * gaps[k];
      return before * after > 0 ? (near + far) / (near / before + far / after) : 0;
    });
    return [rises[0], ...inner, rises[rises.length - 1]];
  });
  return (at) => {
    const [k, gap, t] = between(at, places);
    return channels.map((values, c) => {
      const start = values[k],
        end = values[k + 1],
        own = slopes[c];
      const bend = t * (1 - t) * ((1 - t) * (own[k] * gap) - t * (own[k + 1] * gap));
      return start + t * t * (3 - 2 * t) * (end - start) + bend;
    });
  };
}

/** Return the hue of a place, the shorter way round; a gray stop takes its neighbour's.
 * @param {number} at @param {number[]} places @param {number[][]} colors */
function hue(at, places, colors) {
  const [k, , share] = between(at, places),
    [, c, h] = colors[k],
    [, nextC, nextH] = colors[Math.min(k + 1, colors.length - 1)];
  const from = c < GRAY ? nextH : h,
    to = nextC < GRAY ? from : nextH;
  return from + share * (((((to - from + 180) % 360) + 360) % 360) - 180);
}
