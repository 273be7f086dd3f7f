/** Small pictures of this very view with other keys: they are drawn while they are seen. */
import { html, signal, useEffect, useSignal } from "../html.js";
import { canvasOf } from "../picture.js";
import { Button, Card, Drawn } from "../ui.js";
import { say } from "../words.js";
import { pointed } from "./pointing.js";

const REST_MS = 700; // after the view was drawn, before its small pictures are
const WIDTH = 160; // pixels
let last = Promise.resolve(); // sheets are drawn one after the other
const urgent = signal(0); // sheets that others give way to

/** @typedef {{id: string, title: string, about?: string, change: Scene}} Item `change`: keys of the scene */
/** @typedef {Pictured & {of?: string}} Small `of`: what it was drawn of */

/** Draw a sheet: `drawn(index, {scene, picture})` is called for each scene that can be drawn.
 * @param {import("../explorer.js").Explorer} explorer
 * @param {{scenes: Scene[], fit?: boolean, width?: number}} wanted `scenes`: keys that replace those of the scene that is shown
 * @param {(index: number, made: Small) => void} drawn
 * @returns {{done: Promise<void>, cancel: () => void}} */
export function drawSheet(explorer, wanted, drawn) {
  let ended = false,
    job = /** @type {Job|null} */ (null);
  const done = last.then(async () => {
    if (ended || !explorer.placed) return;
    const mine = (job = explorer.job({ t: "sheet", width: WIDTH, ...wanted }, (told) => {
      if (told.t === "surprised" && !ended)
        drawn(told.index, { scene: told.scene, picture: canvasOf(told.preview) });
    }));
    await mine.done;
  });
  last = done.catch(() => {});
  return {
    done,
    cancel: () => {
      ended = true;
      job?.cancel();
    },
  };
}

/** Draw a sheet before those of `useSmall`, which go on after it.
 * @param {Parameters<typeof drawSheet>} given @returns {ReturnType<typeof drawSheet>} */
export function drawFirst(...given) {
  urgent.value += 1;
  const sheet = drawSheet(...given);
  const end = () => {
    urgent.value -= 1;
  };
  sheet.done.then(end, end);
  return sheet;
}

/** Have small pictures drawn, of this view as it is now; those of before stay until others are there.
 * @param {import("../explorer.js").Explorer} explorer @param {Item[]} items
 * @param {{wanted: boolean, fit?: boolean, width?: number, first?: boolean}} how `first`: before others, and before the view is exact
 * @returns {{made: Record<string, Small>, whole: boolean}} `whole`: all that can be drawn is there */
export function useSmall(explorer, items, { wanted, fit = false, width = WIDTH, first = false }) {
  const made = useSignal(/** @type {Record<string, Small>} */ ({})),
    known = useSignal(""); // what all of `made` were drawn of
  const text = JSON.stringify(items.map(({ change }) => change)),
    ready = first ? explorer.drawn : explorer.drawn?.pass === "exact",
    place = ready ? explorer.placed?.frame : 0,
    now = `${place} ${text}`,
    waits = !first && urgent.value > 0;
  useEffect(() => {
    if (!wanted || !place || waits || known.value === now) return;
    let sheet = /** @type {ReturnType<typeof drawSheet>|null} */ (null),
      ended = false;
    const draw = () => {
      const of = (/** @type {Item} */ { change }) => `${place} ${JSON.stringify(change)}`,
        missing = items.filter((item) => made.value[item.id]?.of !== of(item)),
        absent = new Set(missing.map(({ id }) => id));
      if (!missing.length) {
        known.value = now;
        return;
      }
      const drawn = (sheet = (first ? drawFirst : drawSheet)(
        explorer,
        { scenes: missing.map(({ change }) => change), fit, width },
        (index, small) => {
          const { id } = missing[index];
          absent.delete(id);
          made.value = { ...made.value, [id]: { ...small, of: of(missing[index]) } };
        },
      ));
      // A card stays away whose keys have no meaning here.
      drawn.done.then(
        () => {
          if (ended) return; // those that are there stay
          known.value = now;
          made.value = Object.fromEntries(
            Object.entries(made.value).filter(([id]) => !absent.has(id)),
          );
        },
        () => {},
      );
    };
    const waiting = setTimeout(draw, Object.keys(made.value).length && !first ? REST_MS : 0);
    return () => {
      ended = true;
      clearTimeout(waiting);
      sheet?.cancel();
    };
  }, [wanted, waits, place, text]);
  return { made: made.value, whole: known.value === now };
}

/**
 * Cards of this view with other keys. One that is pointed at, or has the focus of a keyboard, is laid over the picture.
 * @template {Item} Each
 * @param {{explorer: import("../explorer.js").Explorer, label: string, items: Each[], chosen?: string, fit?: boolean, named?: boolean,
 *   tried?: Tried, wall?: Each[], choose: (item: Each, made?: Small) => void}} options `made`: {scene, picture}; `named`: cards are there before their
 * pictures; `tried`: what lays them over, as of `tryTool`; `wall`: what the wall of nine shows
 */
export function Previews({
  explorer,
  label,
  items,
  chosen,
  fit = false,
  named = false,
  tried,
  wall = items,
  choose,
}) {
  const seen = useSignal(false);
  const watch = (/** @type {HTMLElement|null} */ node) => {
    if (!node || node.watched) return;
    node.watched = new IntersectionObserver(([{ isIntersecting }]) => {
      seen.value = isIntersecting;
    });
    node.watched.observe(node);
  };
  const { made, whole } = useSmall(explorer, items, { wanted: seen.value, fit });
  const drawn = items.filter(({ id }) => made[id]),
    shown = named ? items : drawn;
  const told = seen.value && explorer.drawn?.pass === "exact" && !whole && items.length > 0;
  const take = (/** @type {Each} */ item) => {
    tried?.hide();
    choose(item, made[item.id]);
  };
  const points = (/** @type {Item} */ item) =>
    tried && pointed(item.id, () => tried.show(item, made[item.id]?.picture), tried.hide);
  return html`<p class="hint" role="status" hidden=${!told}>${told && say("small_pictures_of", { count: drawn.length, count2: items.length })}</p><ul class="filters" aria-label=${label} ref=${watch}>${shown.map(
    (item) => html`<li key=${item.id}>
    <${Card} title=${item.title} about=${item.about} aria-pressed=${String(item.id === chosen)} onClick=${() => take(item)} ...${points(item)}>${made[item.id] ? html`<${Drawn} picture=${made[item.id].picture} />` : html`<span class="empty"></span>`}<//></li>`,
  )}
    ${!whole && items.slice(shown.length, 6).map(({ id }) => html`<li key=${id} class="empty" aria-hidden="true"></li>`)}</ul>
    ${tried && wall.length > 1 && html`<${Button} label=${say("wall_of_nine")} symbol="gallery" kind="wide-button" title=${say("large_pictures_of_this_view_with")} onClick=${() => tried.open({ title: label, items: wall, chosen, fit, choose: (/** @type {Item} */ item, small = made[item.id]) => choose(/** @type {Each} */ (item), small) })} />`}`;
}
