/** State that the page is a function of: fields that are signals, and values kept in the browser. */
import { signal } from "./lib/signals-core.js";

/**
 * Make fields signals: a component that reads one is rendered again when it changes.
 * @template {object} T @param {T} object @param {...(keyof T & string)} names default: all @returns {T}
 */
export function observe(object, ...names) {
  for (const name of names.length ? names : /** @type {(keyof T)[]} */ (Object.keys(object))) {
    const cell = signal(object[name]);
    Object.defineProperty(object, name, {
      enumerable: true,
      get: () => cell.value,
      set: (value) => {
        cell.value = value;
      },
    });
  }
  return object;
}

/** How often something could not be kept that the user wanted to keep: the page tells so. */
export const unkept = observe({ count: 0 });

export const SECOND = "fractals.second"; // in sessionStorage: the second view, for a page that is loaded again
const cells = new Map();

/** Values kept in the browser; a browser without storage keeps them until the page closes. */
export const kept = {
  /** @template T @param {string} key @param {T} missing @returns {T} */
  get(key, missing) {
    return cellOf(key).value ?? missing;
  },
  /** Return what another tab may have kept since, of which the browser may tell later. @template T @param {string} key @param {T} missing @returns {T} */
  newest(key, missing) {
    cellOf(key);
    heard({ key: `fractals.${key}` });
    return kept.get(key, missing);
  },
  /** Return whether the value will be there when the page is opened again; otherwise it stays in memory.
   * @param {string} key @param {unknown} value */
  set(key, value) {
    cellOf(key).value = value;
    try {
      localStorage.setItem(`fractals.${key}`, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
  /** Keep what the user wants to find again: it is told where the browser does not keep it. @param {string} key @param {unknown} value */
  keep(key, value) {
    if (!kept.set(key, value)) unkept.count += 1;
  },
};

/** Take what another tab has kept: else the next value kept here would be made of what was there before.
 * @param {{key: string|null}} event null: all was removed */
export function heard({ key }) {
  for (const [name, cell] of cells)
    if (key === null || key === `fractals.${name}`) cell.value = stored(name, cell.peek());
}
globalThis.addEventListener?.("storage", heard);

function cellOf(/** @type {string} */ key) {
  if (!cells.has(key)) cells.set(key, signal(stored(key)));
  return cells.get(key);
}

/** Return what the browser keeps. @param {string} key @param {unknown} [closed] where it keeps nothing */
function stored(key, closed = null) {
  try {
    return JSON.parse(localStorage.getItem(`fractals.${key}`) ?? "null");
  } catch {
    return closed;
  }
}
