/** The stack of layers: which one is edited, order, blend, opacity. */

import { button, element, select, slider, words } from "../ui.js";
import { gradient, shownPalette } from "./colors.js";

const MOST = 16; // of a scene

/**
 * @param {object} catalog
 * @param {{pick: (index: number) => void, change: (color: object, live?: boolean) => void}} actions
 *   index 0 is the base, k the layer k − 1
 */
export function layerStack(catalog, { pick, change }) {
  const list = element("ol.layers", { "aria-label": "Layers, from the top" });
  // The fields stay while layers change, or what is being typed into one would be lost.
  const blend = select("Blend", catalog.blends, "auto", (value) => edit("blend", value, true));
  const opacity = slider({ label: "Opacity", value: 1, least: 0, most: 1, oninput: (value) => edit("opacity", value, true), onchange: (value) => edit("opacity", value) });
  const tune = element("div.stack", { hidden: true }, blend, opacity);
  let color = {};
  let picked = 0;

  const layers = () => color.layers ?? [];
  const put = (now, live = false) => change({ ...color, layers: now }, live);
  const edit = (key, value, live) => put(layers().map((layer, k) => (k === picked - 1 ? { ...layer, [key]: value } : layer)), live);
  const move = (index, step) => {
    const now = [...layers()];
    const [one] = now.splice(index - 1, 1);
    now.splice(index - 1 + step, 0, one);
    put(now);
    pick(index + step);
  };
  const add = () => {
    const now = [...layers(), { coloring: "slopes", palette: "auto", blend: "soft_light", opacity: 0.7 }];
    put(now);
    pick(now.length);
  };
  const remove = (index) => {
    pick(Math.max(0, Math.min(picked, layers().length - 1)));
    put(layers().filter((_, k) => k !== index - 1));
  };

  function item(paint, index) {
    const name = words(paint.coloring?.name ?? paint.coloring ?? "smooth");
    const chosen = index === picked;
    return element(`li.layer${chosen ? ".picked" : ""}`, {},
      element("button.layer-name", { type: "button", "aria-pressed": String(chosen), onclick: () => pick(index) },
        element("span.chip", { style: { background: gradient(shownPalette(paint, catalog), catalog) } }),
        element("span.grow", {}, name),
        element("span.faint", {}, index ? `${words(paint.blend ?? "auto")} · ${Math.round(100 * (paint.opacity ?? 1))} %` : "Base")),
      chosen && index > 0 && element("span.line.tight", {},
        button(`Move ${name} up`, () => move(index, 1), { symbol: "up", bare: true, kind: "quiet", disabled: index === layers().length }),
        button(`Move ${name} down`, () => move(index, -1), { symbol: "down", bare: true, kind: "quiet", disabled: index === 1 }),
        button(`Remove ${name}`, () => remove(index), { symbol: "trash", bare: true, kind: "quiet" })));
  }

  function show(now, index) {
    color = now;
    picked = index;
    const all = [color, ...layers()].map(item).reverse();
    list.replaceChildren(...all);
    const layer = layers()[picked - 1];
    tune.hidden = !layer;
    blend.show(layer?.blend ?? "auto");
    opacity.show(layer?.opacity ?? 1);
  }
  const more = button("Add a layer", () => (layers().length < MOST ? add() : null), { symbol: "plus", kind: "wide-button" });
  return { node: element("div.stack", {}, list, tune, more), show };
}
