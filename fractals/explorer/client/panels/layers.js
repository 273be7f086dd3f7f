/** The stack of layers and groups: which one is edited, order, blend, opacity, mask. */
import { html } from "../html.js";
import { paintsOf } from "../paints.js";
import { Slider } from "../slider.js";
import { Button, Select, whileHeld, words } from "../ui.js";
import { say, within } from "../words.js";
import { gradient, shownPalette } from "./colors.js";
import {
  at,
  canGroup,
  dropped,
  grouped,
  layerNames,
  moved,
  MOST,
  ungrouped,
  withAt,
  without,
} from "./layering.js";
import { Previews } from "./previews.js";

const ADDED = /** @type {Paint} */ ({
  coloring: "slopes",
  palette: "auto",
  blend: "soft_light",
  opacity: 0.7,
});

/** @typedef {{mask: PictureMask|null|undefined, put: (mask: PictureMask|null) => void}} MaskOf */
/** @typedef {ReturnType<typeof paintsOf>[number]} Found */
/**
 * @param {{explorer: import("../explorer.js").Explorer, tried: Tried, color: Color, picked: number, level: number, catalog: Received.Catalog, pick: (index: number, level?: number) => void,
 *   change: (color: Color, live?: boolean, fit?: number) => void, Mask: (given: MaskOf) => unknown}} options `picked` 0 is the base, k the layer k
 * from the bottom, groups unfolded; `level`: 0, or the group around it is meant whose path has this length. `Mask` is shown for what may have one
 */
export function Layers({ explorer, tried, color, picked, level, catalog, pick, change, Mask }) {
  const layers = color.layers ?? [],
    paints = paintsOf(color),
    names = layerNames(paints),
    own = paints[picked].path;
  const path = level ? own.slice(0, level) : own,
    over = path.length ? at(layers, path) : undefined;
  const starts = (/** @type {number[]} */ whole, /** @type {number[]} */ start) =>
    start.every((part, k) => whole[k] === part);
  const indexOf = (/** @type {Paint[]} */ list, /** @type {number[]} */ where) =>
    paintsOf({ ...color, layers: list }).findIndex((each, k) => k > 0 && starts(each.path, where));
  const put = (
    /** @type {Paint[]} */ now,
    /** @type {number[]} */ where,
    group = false,
    live = false,
    fitted = false,
  ) => {
    const index = where.length ? Math.max(0, indexOf(now, where)) : 0;
    pick(index, group ? where.length : 0);
    change({ ...color, layers: now }, live, fitted ? index : undefined);
  };
  const edit = (/** @type {Paint} */ changes, live = false) =>
    put(withAt(layers, path, { ...over, ...changes }), path, Boolean(over?.layers), live);
  const move = (/** @type {number} */ step) => {
    const now = moved(layers, path, step);
    put(now.layers, now.path, Boolean(over?.layers));
    // The buttons are those of another row now.
    requestAnimationFrame(() => {
      const [up, down] = /** @type {NodeListOf<HTMLButtonElement>} */ (
          document.querySelectorAll(".layer.picked > span button")
        ),
        [own, other] = step > 0 ? [up, down] : [down, up];
      (own?.disabled ? other : own)?.focus();
    });
  };
  const blends = /** @type {NonNullable<Paint["blend"]>[]} */ (catalog.blends).map((blend) => ({
    id: blend,
    title: words(blend),
    change: over ? { color: { ...color, layers: withAt(layers, path, { ...over, blend }) } } : {},
  }));
  const remove = () => {
    const now = without(layers, path),
      below = Math.min(picked, paintsOf({ ...color, layers: now }).length - 1);
    pick(below);
    change({ ...color, layers: now });
  };
  const ungroup = () => {
    const now = ungrouped(layers, path);
    put(now, path, Boolean(at(now, path)?.layers));
  };
  const add = () =>
    paints.length <= MOST && put([...layers, ADDED], [layers.length], false, false, true);
  /** Drag a row by its grip: it is dropped above the row below the pointer, or into that group. */
  const grab = (/** @type {number[]} */ where) => (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    const rowAt = (/** @type {PointerEvent} */ { clientX, clientY }) =>
      document.elementFromPoint(clientX, clientY)?.closest("li.layer[data-path]");
    let over = /** @type {Element|null|undefined} */ (null);
    const move = (/** @type {PointerEvent} */ moved) => {
      over?.classList.remove("target");
      over = rowAt(moved);
      over?.classList.add("target");
    };
    const end = () => {
      over?.classList.remove("target");
      const to = over?.getAttribute("data-path"),
        now = to && dropped(layers, where, to.split(",").map(Number));
      if (now && now.layers !== layers)
        put(now.layers, now.path, Boolean(at(layers, where)?.layers));
    };
    whileHeld(event, move, end);
  };
  const grip = (/** @type {string} */ name, /** @type {number[]} */ where) =>
    where.length > 0 &&
    html`<${Button} label=${say("drag_name", { name })} symbol="grip" bare kind="quiet grip-button" tabindex="-1" onPointerDown=${grab(where)} />`;
  const last = (/** @type {number[]} */ where) =>
    where.length > 1 ? false : where[0] === layers.length - 1;
  const tools = (
    /** @type {string} */ name,
    /** @type {number[]} */ where,
  ) => html`<span class="line tight">
    <${Button} label=${say("move_name_up", { name })} symbol="up" bare kind="quiet" disabled=${last(where)} onClick=${() => move(1)} />
    <${Button} label=${say("move_name_down", { name })} symbol="down" bare kind="quiet" disabled=${where.length === 1 && where[0] === 0} onClick=${() => move(-1)} />
    <${Button} label=${say("remove_name", { name })} symbol="trash" bare kind="quiet" onClick=${remove} /></span>`;
  const told = (/** @type {Paint} */ { blend, opacity, picture_mask: mask }) =>
    `${words(blend ?? "auto")} · ${Math.round(100 * (opacity ?? 1))} %${mask ? ` · ${within(say("mask"))}` : ""}`;
  const item = (/** @type {Found} */ { paint, path: where }, /** @type {number} */ index) => {
    const name = names[index],
      chosen = index === picked && path.length === where.length;
    return html`<li key=${index} class=${`layer${chosen ? " picked" : ""}`} style=${{ "--depth": Math.max(0, where.length - 1) }} data-path=${where.length ? where.join() : undefined}>
      <div class="line tight">${grip(name, where)}<button type="button" class="layer-name" aria-pressed=${String(chosen)} onClick=${() => pick(index)}>
        <span class="chip" style=${{ background: gradient(shownPalette(paint, catalog), catalog) }}></span><span class="grow">${name}</span>
        <span class="faint">${index ? told(paint) : say("base")}</span></button></div>
      ${chosen && index > 0 && tools(name, where)}</li>`;
  };
  const head = (/** @type {number[]} */ where) => {
    const first = indexOf(layers, where),
      chosen = path.join() === where.join();
    return html`<li key=${`group ${where}`} class=${`layer group${chosen ? " picked" : ""}`} style=${{ "--depth": where.length - 1 }} data-path=${where.join()}>
      <div class="line tight">${grip(within(say("group")), where)}<button type="button" class="layer-name" aria-pressed=${String(chosen)} onClick=${() => pick(first, where.length)}><span class="grow strong">${say("group")}</span><span class="faint">${told(at(layers, where) ?? {})}</span></button></div>
      ${chosen && tools(within(say("group")), where)}</li>`;
  };
  /** Return the groups that end with a layer, the innermost first. */
  const ending = (/** @type {Found} */ { path: where }, /** @type {number} */ index) =>
    where
      .slice(1)
      .map((_, k) => where.slice(0, k + 1))
      .filter((group) => !starts(paints[index + 1]?.path ?? [], group))
      .reverse();
  const rows = paints.flatMap((each, index) => [
    item(each, index),
    ...ending(each, index).map(head),
  ]);
  return html`<div class="stack"><ol class="layers" aria-label=${say("layers_from_the_top")}>${rows.reverse()}</ol>
    ${
      over &&
      html`<div class="stack" key=${path.join()}>
      <${Select} label=${say("blend")} choices=${catalog.blends} value=${over.blend ?? "auto"} put=${(/** @type {Paint["blend"]} */ blend) => edit({ blend })} />
      <${Previews} explorer=${explorer} label=${say("blend_modes_of_this_layer")} items=${blends} chosen=${over.blend ?? "auto"} tried=${tried} choose=${({ id }) => edit({ blend: id })} />
      <${Slider} label=${say("opacity")} value=${over.opacity ?? 1} usual=${1} least=${0} most=${1} live=${(/** @type {number} */ opacity) => edit({ opacity }, true)} put=${(/** @type {number} */ opacity) => edit({ opacity })} />
      <${Mask} mask=${over.picture_mask} put=${(/** @type {PictureMask|null} */ mask) => edit({ picture_mask: mask })} />
      ${over.layers && html`<${Button} label=${say("ungroup")} kind="wide-button" onClick=${ungroup} />`}
      ${canGroup(layers, path) && html`<${Button} label=${say("make_a_group_of_it")} kind="wide-button" title=${say("drag_other_layers_into_it")} onClick=${() => put(grouped(layers, path), path, true)} />`}</div>`
    }
    <${Button} label=${say("add_a_layer")} title=${say("another_coloring_over_this_one")} symbol="plus" kind="wide-button" onClick=${add} /></div>`;
}
