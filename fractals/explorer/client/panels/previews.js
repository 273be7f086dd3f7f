/** Small pictures of this very view in other colors: they are drawn while they are seen. */
import { html, useEffect, useSignal } from "../html.js";
import { Card, Drawn } from "../ui.js";
import { say } from "../words.js";

const REST_MS = 700; // after the view was drawn, before its small pictures are
const WIDTH = 160; // pixels
let last = Promise.resolve(); // sheets are drawn one after the other

/** Draw a sheet: `drawn(index, {scene, picture})` is called for each scene that can be drawn.
 * @param {import("../explorer.js").Explorer} explorer
 * @param {{scenes: Scene[], fit?: boolean, width?: number}} wanted `scenes`: keys that replace those of the scene that is shown
 * @param {(index: number, made: Pictured) => void} drawn
 * @returns {{done: Promise<void>, cancel: () => void}} */
export function drawSheet(explorer, wanted, drawn) {
  let ended = false,
    job = /** @type {Job|null} */ (null);
  const done = last.then(async () => {
    if (ended || !explorer.placed) return;
    const mine = (job = explorer.job({ t: "sheet", width: WIDTH, ...wanted }, (told) => {
      if (told.t === "surprised" && !ended)
        drawn(told.index, { scene: told.scene, picture: explorer.pixelsOf(told.preview) });
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

/**
 * Cards of this view in other colors.
 * @template {{id: string, title: string, about?: string, change: Scene}} Item
 * @param {{explorer: import("../explorer.js").Explorer, label: string, items: Item[], chosen?: string,
 *   fit?: boolean, named?: boolean, choose: (item: Item, made: Pictured) => void}} options `change`: keys of the scene; `made`: {scene, picture};
 * `named`: cards are there before their pictures
 */
export function Previews({ explorer, label, items, chosen, fit = false, named = false, choose }) {
  const made = useSignal(/** @type {Record<string, Pictured>} */ ({})),
    seen = useSignal(false),
    whole = useSignal(false); // `whole`: all that can be drawn is there
  const known = useSignal(""); // what all of `made` were drawn of
  const text = JSON.stringify(items.map(({ change }) => change)),
    place = explorer.drawn?.pass === "exact" ? explorer.placed?.frame : 0;
  const watch = (/** @type {HTMLElement|null} */ node) => {
    if (!node || node.watched) return;
    node.watched = new IntersectionObserver(([{ isIntersecting }]) => {
      seen.value = isIntersecting;
    });
    node.watched.observe(node);
  };
  useEffect(() => {
    const wanted = `${place} ${text}`;
    if (!seen.value || !place || known.value === wanted) return;
    let sheet = /** @type {ReturnType<typeof drawSheet>|null} */ (null),
      ended = false;
    const waiting = setTimeout(
      () => {
        const found = new Set();
        whole.value = false;
        const drawn = (sheet = drawSheet(
          explorer,
          { scenes: items.map(({ change }) => change), fit },
          (index, small) => {
            found.add(items[index].id);
            made.value = { ...made.value, [items[index].id]: small };
          },
        ));
        // A card stays away whose colors have no meaning here.
        drawn.done.then(
          () => {
            if (ended) return; // those that are there stay
            known.value = wanted;
            whole.value = true;
            made.value = Object.fromEntries(
              Object.entries(made.value).filter(([id]) => found.has(id)),
            );
          },
          () => {},
        );
      },
      Object.keys(made.value).length ? REST_MS : 0,
    );
    return () => {
      ended = true;
      clearTimeout(waiting);
      sheet?.cancel();
    };
  }, [seen.value, place, text]);
  const drawn = items.filter(({ id }) => made.value[id]),
    shown = named ? items : drawn;
  const told = seen.value && place && !whole.value && items.length > 0;
  return html`<p class="hint" role="status" hidden=${!told}>${told && say("small_pictures_of", { count: drawn.length, count2: items.length })}</p><ul class="filters" aria-label=${label} ref=${watch}>${shown.map(
    (item) => html`<li key=${item.id}>
    <${Card} title=${item.title} about=${item.about} aria-pressed=${String(item.id === chosen)} onClick=${() => choose(item, made.value[item.id])}>${made.value[item.id] ? html`<${Drawn} picture=${made.value[item.id].picture} />` : html`<span class="empty"></span>`}<//></li>`,
  )}
    ${!whole.value && items.slice(shown.length, 6).map(({ id }) => html`<li key=${id} class="empty" aria-hidden="true"></li>`)}</ul>`;
}
