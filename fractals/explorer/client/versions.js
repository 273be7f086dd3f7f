/**
 * A tree of versions: what a picture was, and what was made of each. Who goes back and changes something else begins another
 * branch; nothing is lost. The file of a tree holds its scenes and their small pictures.
 *
 * @typedef {{id: string, parent: string|null, scene: WholeScene, still: string, title: string, star: boolean}} Version
 * `parent`: what it was made of, null at the beginning; `still`: the address of a small picture, or ""
 * @typedef {{from: Version|null, depth: number, items: Version[]}} Branch versions in a row, each made of the one before;
 * `from`: what the first one was made of; `depth`: of how many other branches it is a part
 */
import { SAID } from "./credits.js";
import { paintsOf } from "./paints.js";
import { layerNames } from "./panels/layering.js";
import { nameOf } from "./points.js";
import { number, say, words } from "./words.js";

export const MOST = 400; // versions; beyond, the oldest without a star and a name are forgotten
export const KIND = "fractals.versions"; // of a file
const MOST_NAME = 200; // characters, as of a scene's title
const SHORT = 24; // characters of a value that is told
const STILL = /^data:image\/jpeg;base64,[A-Za-z0-9+/]+=*$/;

/** Return a text that is the same for equal scenes, whatever the order of their keys and the size of the picture.
 * @param {Partial<WholeScene>} scene */
export function textOf({ image: _, ...scene }) {
  const sorted = (/** @type {unknown} */ value) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([, each]) => each !== undefined)
            .sort(([one], [other]) => (one < other ? -1 : 1)),
        )
      : value;
  return JSON.stringify(scene, (_key, value) => sorted(value));
}

const newId = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`;

/** Add a version of a scene, made of the one of now; or find the one of this scene. @param {Version[]} all the oldest first
 * @param {string|null} now the id of the one of now @param {WholeScene} scene @param {string} still
 * @returns {{all: Version[], now: string}} */
export function reached(all, now, scene, still) {
  const text = textOf(scene),
    at = all.findIndex((each) => textOf(each.scene) === text),
    known = all[at];
  if (known)
    return {
      all: known.still || !still ? all : all.with(at, { ...known, still }),
      now: known.id,
    };
  const parent = all.some(({ id }) => id === now) ? now : null,
    made = { id: newId(), parent, scene, still, title: "", star: false };
  return { all: thinned([...all, made], made.id), now: made.id };
}

/** Forget the oldest versions beyond the most that nobody has named or marked. @param {Version[]} all @param {string} now */
const thinned = (all, now) =>
  all
    .filter(({ id, title, star }) => id !== now && !title && !star)
    .slice(0, Math.max(0, all.length - MOST))
    .reduce((left, { id }) => withoutVersion(left, id), all);

/** Return the tree without a version; what was made of it was made of its parent then. @param {Version[]} all @param {string} id */
export function withoutVersion(all, id) {
  const parent = all.find((each) => each.id === id)?.parent ?? null;
  return all
    .filter((each) => each.id !== id)
    .map((each) => (each.parent === id ? { ...each, parent } : each));
}

/** Return the tree as rows: the first thing that was made of a version goes on with its row, and others begin one of their own.
 * @param {Version[]} all @returns {Branch[]} the rows of the newest beginning first */
export function branchesOf(all) {
  const known = new Map(all.map((each) => [each.id, each])),
    children = /** @type {Map<string|null, Version[]>} */ (new Map());
  /** Tell whether a version is made of itself, as a file may say. @param {Version} each */
  const isCircular = ({ id }) => {
    const seen = new Set();
    let at = known.get(id);
    for (; at && !seen.has(at.id); at = known.get(at.parent ?? "")) seen.add(at.id);
    return at?.id === id;
  };
  for (const each of known.values()) {
    const parent = known.has(each.parent ?? "") && !isCircular(each) ? each.parent : null;
    children.set(parent, [...(children.get(parent) ?? []), each]);
  }
  const rows = /** @type {Branch[]} */ ([]);
  /** @type {(Branch & {items: [Version]})[]} */
  const waiting = (children.get(null) ?? []).map((first) => ({
    from: null,
    depth: 0,
    items: [first],
  }));
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    const items = [...row.items],
      forks = [];
    for (let last = items[0]; last;) {
      const [next, ...others] = children.get(last.id) ?? [];
      for (const other of others)
        forks.push({ from: last, depth: row.depth + 1, items: /** @type {[Version]} */ ([other]) });
      if (next) items.push(next);
      last = next;
    }
    rows.push({ ...row, items });
    waiting.push(...forks);
  }
  return rows;
}

/** Return the text of a file. @param {Version[]} all */
export const fileOf = (all) => JSON.stringify({ kind: KIND, version: 1, versions: all });

/** Return the versions in a file. @param {string} text @returns {Version[]} throws an Error of one line */
export function versionsIn(text) {
  let given = /** @type {{kind?: unknown, versions?: unknown}} */ ({});
  try {
    given = JSON.parse(text);
  } catch {
    // It is none of these files.
  }
  if (given?.kind !== KIND || !Array.isArray(given.versions))
    throw new Error(say("this_file_holds_no_versions"));
  const isText = (/** @type {unknown} */ each) => typeof each === "string";
  const whole = given.versions.filter(
    (each) =>
      isText(each?.id) &&
      each.scene &&
      typeof each.scene === "object" &&
      nameOf(each.scene.formula),
  );
  if (!whole.length) throw new Error(say("this_file_holds_no_versions"));
  return whole.slice(-MOST).map(({ id, parent, scene, still, title, star }) => ({
    id,
    parent: isText(parent) ? parent : null,
    scene,
    still: isText(still) && STILL.test(still) ? still : "",
    title: isText(title) ? title.slice(0, MOST_NAME) : "",
    star: star === true,
  }));
}

/** Return the versions of now and those of a file; a version that both have keeps what it has here, and a star and a name of either.
 * @param {Version[]} all @param {Version[]} given @returns {Version[]} */
export function together(all, given) {
  const known = new Map(all.map((each) => [each.id, each]));
  const found = new Map(given.map((each) => [each.id, each]));
  const both = all.map((each) => {
    const other = found.get(each.id);
    return other
      ? { ...each, title: each.title || other.title, star: each.star || other.star }
      : each;
  });
  return [...given.filter(({ id }) => !known.has(id)), ...both];
}

/** Return the tree after another tab has written some versions and removed others. @param {Version[]} all @param {Version[]} records
 * @param {string[]} gone ids @returns {Version[]} */
export function elsewhere(all, records, gone) {
  const written = new Map(records.map((each) => [each.id, each])),
    left = gone.reduce(withoutVersion, all).map((each) => written.get(each.id) ?? each),
    known = new Set(left.map(({ id }) => id));
  return [...left, ...records.filter(({ id }) => !known.has(id))];
}

/** Return the tree with versions that were removed; what has changed since stays. @param {Version[]} all @param {Version[]} before
 * @param {string[]} gone ids @returns {Version[]} */
export function restored(all, before, gone) {
  const lost = new Set(gone),
    parents = new Map(before.map(({ id, parent }) => [id, parent])),
    now = new Map(
      all.map((each) => {
        const parent = parents.get(each.id);
        return [each.id, parent && lost.has(parent) ? { ...each, parent } : each];
      }),
    );
  const back = before.flatMap((each) => now.get(each.id) ?? (lost.has(each.id) ? [each] : []));
  return [...back, ...[...now.values()].filter(({ id }) => !parents.has(id))];
}

/** @typedef {{path: string[], one: unknown, other: unknown}} Difference */

/** Return where two scenes differ, but in the size of the picture. @param {unknown} one @param {unknown} other
 * @param {string[]} [path] @returns {Difference[]} */
export function differencesOf(one, other, path = []) {
  const isTable = (/** @type {unknown} */ value) =>
    value && typeof value === "object" && !Array.isArray(value);
  if (isTable(one) && isTable(other)) {
    const [first, second] = /** @type {Record<string, unknown>[]} */ ([one, other]);
    return [...new Set([...Object.keys(first), ...Object.keys(second)])]
      .filter((key) => path.length || key !== "image")
      .flatMap((key) => differencesOf(first[key], second[key], [...path, key]));
  }
  return JSON.stringify(one) === JSON.stringify(other) ? [] : [{ path, one, other }];
}

/** Return the decimal logarithm of a width as a scene has it, of any size. @param {unknown} text */
export function exponentOf(text) {
  const [, whole = "", part = "", power = "0"] =
    /^\s*(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?\s*$/i.exec(String(text)) ?? [];
  const digits = `${whole}${part}`,
    first = digits.search(/[1-9]/);
  if (first < 0) return NaN;
  const lead = Number(`0.${digits.slice(first, first + 16)}`);
  return Math.log10(lead) + whole.length - first + Number(power);
}

/** Return what a version with another palette is called: an own one may have a title. @param {unknown} palette */
function paletteOf(palette) {
  const { title } =
    typeof palette === "string"
      ? { title: words(palette) }
      : /** @type {{title?: string}} */ (palette ?? {});
  return title ? `${say("palette")}: ${title}` : say("palette");
}

/** Return the name of a scene's key, and its value now, if that is short. @param {Difference} difference */
function valueOf({ path, other: value }) {
  if (path.includes("palette")) return paletteOf(path.at(-1) === "palette" ? value : null);
  const name = words(path.findLast((part) => !/^\d+$/.test(part)) ?? path[0]);
  if (typeof value === "number")
    return `${name}: ${number(value, { maximumSignificantDigits: 4 })}`;
  return typeof value === "string" && value.length < SHORT ? `${name}: ${words(value)}` : name;
}

/** Return what is different in the layers of two colors, in few words. @param {Color} before @param {Color} now */
function changeOfLayers(before, now) {
  const [old, own] = [before, now].map(paintsOf),
    differs = (/** @type {unknown} */ one, /** @type {unknown} */ other) =>
      differencesOf(one, other, ["layers"]).length > 0;
  if (own.length !== old.length) {
    const added = own.length > old.length,
      [few, many] = added ? [old, own] : [own, old];
    const at = many.findIndex(({ paint }, k) => k > 0 && differs(paint, few[k]?.paint));
    return say(added ? "layer_added" : "layer_removed", { name: layerNames(many)[at] });
  }
  const at = old.flatMap(({ paint }, k) => (k > 0 && differs(paint, own[k].paint) ? [k] : []));
  if (!at.length) return say("group"); // its blend, its mask, or what lies in it
  const moved = at.every((k) => at.some((j) => !differs(old[j].paint, own[k].paint)));
  if (moved) return say("layers_moved");
  const [first] = at,
    [difference] = differencesOf(old[first].paint, own[first].paint);
  return `${layerNames(old)[first]} · ${valueOf(difference)}`;
}

/** Return what is different in a version, in few words. @param {Version} version @param {Version|null} before */
export function changeOf({ scene }, before) {
  const formula = words(nameOf(scene.formula) ?? "");
  if (scene.title || !before) return scene.title || formula;
  const found = differencesOf(before.scene, scene).filter(
    ({ path: [table] }) => !SAID.includes(table),
  );
  const paths = found.map(({ path }) => path),
    other = found.find(({ path: [table] }) => table !== "view");
  if (other) {
    const { path } = other;
    if (path[0] === "formula" && (path.length < 2 || path[1] === "name")) return formula;
    if (path.join() === "color,layers")
      return changeOfLayers(before.scene.color ?? {}, scene.color ?? {});
    return valueOf(other);
  }
  const octaves =
    exponentOf(before.scene.view?.width) / Math.LOG10E / Math.LN2 -
    exponentOf(scene.view?.width) / Math.LOG10E / Math.LN2;
  if (paths.some(([, key]) => key === "width") && Math.abs(octaves) > 0.05)
    return say(octaves > 0 ? "nearer_by" : "farther_by", {
      factor: factorOf(Math.abs(octaves)),
    });
  if (paths.some(([, key]) => key === "center")) return say("moved");
  return paths.some(([, key]) => key === "rotation") ? say("turned") : say("version");
}

/** Return a power of two as people write it. @param {number} octaves */
const factorOf = (octaves) =>
  octaves < 20
    ? number(2 ** octaves, { maximumSignificantDigits: 2 })
    : `10^${Math.round(octaves * Math.LOG10E * Math.LN2)}`;
