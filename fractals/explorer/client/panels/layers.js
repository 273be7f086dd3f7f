/** The stack of layers: which one is edited, order, blend, opacity. */
import { html } from "../html.js";
import { Button, Select, Slider, words } from "../ui.js";
import { coloringName, gradient, shownPalette } from "./colors.js";

const MOST = 16; // of a scene

/**
 * @param {{color: Table, picked: number, catalog: Table, pick: (index: number) => void,
 *   change: (color: Table, live?: boolean, fit?: number) => void}} options `picked` 0 is the base, k the layer k − 1
 */
export function Layers({ color, picked, catalog, pick, change }) {
  const layers = color.layers ?? [], layer = layers[picked - 1];
  const put = (now, index = picked, live = false, fit = undefined) => {
    pick(index);
    change({ ...color, layers: now }, live, fit);
  };
  const edit = (changes, live = false) => put(layers.with(picked - 1, { ...layer, ...changes }), picked, live);
  const move = (step) => {
    const others = layers.toSpliced(picked - 1, 1);
    put(others.toSpliced(picked - 1 + step, 0, layer), picked + step);
  };
  const remove = () => put(layers.toSpliced(picked - 1, 1), Math.min(picked, layers.length - 1));
  const add = () => layers.length < MOST && put([...layers, { coloring: "slopes", palette: "auto", blend: "soft_light", opacity: 0.7 }], layers.length + 1, false, layers.length + 1);

  const item = (paint, index) => {
    const name = words(coloringName(paint)), chosen = index === picked;
    return html`<li key=${index} class=${`layer${chosen ? " picked" : ""}`}>
      <button type="button" class="layer-name" aria-pressed=${String(chosen)} onClick=${() => pick(index)}>
        <span class="chip" style=${{ background: gradient(shownPalette(paint, catalog), catalog) }}></span><span class="grow">${name}</span>
        <span class="faint">${index ? `${words(paint.blend ?? "auto")} · ${Math.round(100 * (paint.opacity ?? 1))} %` : "Base"}</span></button>
      ${chosen && index > 0 && html`<span class="line tight">
        <${Button} label=${`Move ${name} up`} symbol="up" bare kind="quiet" disabled=${index === layers.length} onClick=${() => move(1)} />
        <${Button} label=${`Move ${name} down`} symbol="down" bare kind="quiet" disabled=${index === 1} onClick=${() => move(-1)} />
        <${Button} label=${`Remove ${name}`} symbol="trash" bare kind="quiet" onClick=${remove} /></span>`}</li>`;
  };
  return html`<div class="stack"><ol class="layers" aria-label="Layers, from the top">${[color, ...layers].map(item).reverse()}</ol>
    ${layer && html`<div class="stack" key=${picked}>
      <${Select} label="Blend" choices=${catalog.blends} value=${layer.blend ?? "auto"} put=${(blend) => edit({ blend })} />
      <${Slider} label="Opacity" value=${layer.opacity ?? 1} least=${0} most=${1} live=${(opacity) => edit({ opacity }, true)} put=${(opacity) => edit({ opacity })} /></div>`}
    <${Button} label="Add a layer" symbol="plus" kind="wide-button" onClick=${add} /></div>`;
}
