/** The color panel: palette, values, coloring, layers, motion. Nothing here iterates again. */
import { html, signal, useSignalEffect } from "../html.js";
import { changed, paintsOf } from "../paints.js";
import { observe } from "../state.js";
import { OptionField, Slider } from "../slider.js";
import { Button, FileButton, Row, Section, Select, still, words } from "../ui.js";
import { say } from "../words.js";
import {
  coloringName,
  coloringOf,
  gradient,
  paletteTitle,
  shownPalette,
  tableOf,
} from "./colors.js";
import { Develop } from "./develop.js";
import { Relief } from "./relief.js";
import { Shown } from "./display.js";
import { BINS, Histogram } from "./histogram.js";
import { Layers } from "./layers.js";
import { Brush, makeBrush, Mask } from "./mask.js";
import { OwnPalettes, Palettes } from "./palettes.js";
import { drawSheet, Previews } from "./previews.js";
import { Road } from "./road.js";
import { Lit } from "./daylight.js";

const FASTEST = 0.5; // turns a second: with 3 colors a turn below the 3 flashes a second of WCAG 2.3.1
const HISTOGRAM_MS = 400; // after a change of the view, before the histogram is asked for
const MASKS = [
  ["auto", say("as_the_coloring_needs")],
  ["escaped", say("orbits_escape")],
  ["inside", say("orbits_stay")],
  ["all", say("everywhere")],
];

export function colorPanel(/** @type {Context} */ { explorer, notify, upload, open, ui, tried }) {
  const { catalog } = explorer;
  const colorings = catalog.colorings.map(({ name: id, title }) => [id, `${words(id)}: ${title}`]);
  const plainFirst = [...catalog.colorings].sort(
    (one, other) => Number(one.statistic) - Number(other.statistic),
  ); // no sums along orbits
  const own = observe({
    picked: 0,
    level: 0,
    counts: /** @type {Received.HistogramMessage|null} */ (null),
  }); // of `Layers`
  const brush = makeBrush();
  const Editor = signal(/** @type {typeof import("./editor.js").Editor|null} */ (null)); // it brings a library, so it is loaded when it is opened
  const color = () => explorer.wished.color ?? {};
  const index = () => Math.min(own.picked, paintsOf(color()).length - 1);
  const paintOf = () => paintsOf(color())[index()].paint;

  /** @param {Color} now @param {boolean} [live] @param {number} [fit] as of `paint` */
  const change = (now, live = false, fit) => explorer.paint(now, { live, fit });
  const edit = (/** @type {Paint} */ changes, live = false) =>
    change(
      changed(color(), index(), { ...changes, ...(index() === 0 && equalized(color(), changes)) }),
      live,
    );
  const choose = (/** @type {Paint} */ changes) =>
    change(changed(color(), index(), changes), false, index()); // what has other values

  async function fit() {
    const layer = index();
    try {
      const { density, offset } = await explorer.request({ t: "fit", layer });
      if (layer === index()) edit({ density, offset }); // else another layer was picked meanwhile
    } catch (error) {
      notify(error.message, "error");
    }
  }

  /** Blend the base with the same palette over the rank: one layer whose opacity is the slider. */
  function balance(/** @type {number} */ share, live = false) {
    const now = color(),
      old = now.layers?.find(isRank),
      others = (now.layers ?? []).filter((layer) => !isRank(layer));
    const layer = /** @type {Paint} */ ({
      coloring: "rank",
      palette: shownPalette(now, catalog),
      density: 1,
      offset: 0,
      blend: "normal",
      ...old,
      opacity: share,
    });
    own.picked = 0;
    change(
      { ...now, layers: share > 0 ? [layer, ...others] : others },
      live && Boolean(old) && share > 0,
    );
  }

  let wish = {}; // the newest
  /** Show the layer in another palette by the shader. @param {Palette|null} palette null: no more @param {boolean} [cyclic]
   * @returns {Promise<boolean>} whether it is shown: the page must have values */
  async function shade(palette, cyclic = true) {
    const mine = (wish = {}),
      layer = index(),
      { stage, scene } = explorer;
    if (!palette || !explorer.connected) return stage.peek(null);
    if (!stage.renderer.values) return false;
    const inside = scene.color?.inside ?? "#000000",
      told = await explorer.request({ t: "lookup", palette, inside }).catch(() => null);
    if (!told || mine !== wish) return false;
    return stage.peek({ layer, cyclic, entries: told.entries, rows: told.rows });
  }

  /** Show a palette on the picture as long as it is pointed at: by the shader, or as a small picture laid over it. */
  let over = /** @type {ReturnType<typeof drawSheet>|null} */ (null);
  async function peek(/** @type {Palette|null} */ palette) {
    over?.cancel();
    over = null;
    if (ui.over?.tried) ui.over = null; // a snapshot stays
    const cyclic = tableOf(palette ?? "", catalog).cyclic,
      coming = shade(palette, cyclic),
      mine = wish;
    if (
      (await coming) ||
      mine !== wish || // it is pointed at no more
      !palette ||
      ui.over ||
      (explorer.stage.renderer.values && explorer.placed?.values)
    )
      return;
    const drawn = (over = drawSheet(
      explorer,
      { scenes: [{ color: changed(color(), index(), { palette }) }], width: 256 },
      (_, { picture }) => {
        ui.over = { picture, title: "", tried: true };
      },
    ));
    drawn.done.catch(() => {});
  }
  const choosePalette = (/** @type {Palette} */ palette) => {
    peek(null);
    edit({ palette });
  };
  const Looks = signal(/** @type {typeof import("./looks.js").looksOf|null} */ (null));
  const unloaded = () => notify(say("the_server_does_not_answer_this"), "error");
  const loadLooks = () =>
    import("./looks.js").then(({ looksOf }) => (Looks.value = looksOf)).catch(unloaded);
  const toggleEditor = () => {
    if (Editor.value) Editor.value = null;
    else import("./editor.js").then((file) => (Editor.value = file.Editor)).catch(unloaded);
  };

  function measure() {
    explorer.request({ t: "histogram", layer: index(), bins: BINS }).then(
      (told) => {
        own.counts = told;
      },
      () => {
        // A view without values has no histogram; the old one stays until the next view.
      },
    );
  }

  function Options(/** @type {{paint: Paint}} */ { paint }) {
    const known = coloringOf(paint, catalog),
      given = /** @type {ColoringTable} */ (
        typeof paint.coloring === "object" ? paint.coloring : { name: coloringName(paint) }
      );
    return html`<div class="stack" role="group" aria-label=${say("options_of_the_coloring")}>${known?.options.map(
      (option) => html`<${OptionField} key=${`${known.name} ${option.name}`}
      option=${option} value=${given[option.name] ?? option.default} put=${(value, live = false) => edit({ coloring: { ...given, [option.name]: value } }, live)} />`,
    )}</div>`;
  }

  const MaskOf = (/** @type {import("./layers.js").MaskOf} */ given) =>
    html`<${Mask} explorer=${explorer} brush=${brush} notify=${notify} ...${given} />`;

  function View() {
    useSignalEffect(() => {
      if (
        !explorer.drawn ||
        explorer.drawn.pass === "coarse" ||
        own.picked < 0 ||
        !explorer.placed?.values
      )
        return;
      const waiting = setTimeout(measure, HISTOGRAM_MS);
      return () => clearTimeout(waiting);
    });
    if (!explorer.scene) return null;
    const picked = index(),
      paint = paintOf(),
      palette =
        ((paint.palette ?? "auto") === "auto" && explorer.placed?.space?.palette) ||
        shownPalette(paint, catalog),
      background = gradient(palette, catalog);
    const previews = plainFirst.map(({ name: id, meaning: about }) => ({
      id,
      title: words(id),
      about,
      change: { color: changed(color(), picked, { coloring: id, transfer: "auto", mask: "auto" }) },
    }));
    const looks = Looks.value?.(color(), catalog) ?? [];
    const relief = explorer.placed?.values === false && explorer.wished.relief; // pixels have no values of their own
    const points = explorer.placed?.values === false && !relief; // an image of points: no values, layers or inside
    const inside =
      (/** @type {boolean} */ live) =>
      (/** @type {FieldEvent} */ { target }) =>
        change({ ...color(), inside: target.value }, live);
    return html`<div><${Road} at="color" open=${open} />
      ${
        picked > 0 &&
        html`<div class="line layering"><span class="grow">${say("editing_layer", { picked, name: words(coloringName(paint)) })}</span>
        <${Button} label=${say("base")} symbol="back" kind="quiet" onClick=${() => {
          own.picked = 0;
        }} /></div>`
      }
      ${explorer.placed?.values && html`<div class="pinned"><${Histogram} counts=${own.counts} background=${background} paint=${paint} shift=${(/** @type {number} */ offset, /** @type {boolean} */ live) => edit({ offset: wrapped(offset) }, live)} /></div>`}
      ${explorer.placed?.camera && html`<${Lit} paint=${paint} edit=${edit} explorer=${explorer} />`}
      <${Section} title=${say("palette")}>
        ${!Editor.value && !explorer.placed?.values && html`<div class="strip large" style=${{ background }}></div>`}
        <div class="line"><span class="grow strong">${paletteTitle(palette, catalog)}</span>
          <${Button} label=${say("edit")} title=${say("the_colors_of_the_palette")} symbol="edit" kind="quiet" aria-expanded=${String(Boolean(Editor.value))} onClick=${toggleEditor} />
          <${FileButton} label=${say("import")} kind="quiet" title=${say("a_palette_of_a_file")} take=${upload} /></div>
        ${Editor.value && html`<${Editor.value} palette=${palette} catalog=${catalog} put=${(table, /** @type {boolean} */ live) => edit({ palette: table }, live)} />`}
        <${OwnPalettes} catalog=${catalog} chosen=${palette} choose=${choosePalette} peek=${peek} />
        <${Palettes} catalog=${catalog} chosen=${palette} choose=${choosePalette} peek=${peek} />
      <//>
      ${
        explorer.placed?.camera
          ? null
          : points
            ? html`<${Shown} paint=${paint} edit=${edit} explorer=${explorer} />`
            : html`<${Section} title=${say("looks")} open=${false} unfold=${loadLooks}>
        <${Previews} explorer=${explorer} label=${say("looks")} items=${looks} tried=${tried} choose=${({ change: { color: look } }) => change(look, false, look.layers.length ? 1 : undefined)} />
      <//>
      <${Section} title=${say("values")}>
        ${!relief && html`<${Button} label=${say("fit_to_view")} title=${say("the_density_and_the_offset")} kind="wide-button" onClick=${fit} />`}
        <${Slider} label=${say("density")} value=${paint.density ?? 1} usual=${1} least=${0.01} most=${100} log live=${(/** @type {number} */ density) => edit({ density }, true)} put=${(/** @type {number} */ density) => edit({ density })} />
        <${Slider} label=${say("offset")} value=${wrapped(paint.offset ?? 0)} usual=${0} least=${0} most=${1} live=${(/** @type {number} */ offset) => edit({ offset }, true)} put=${(/** @type {number} */ offset) => edit({ offset })} />
        <${Select} label=${say("transfer")} choices=${catalog.transfers} value=${paint.transfer ?? "auto"} put=${(/** @type {Paint["transfer"]} */ transfer) => choose({ transfer })} />
        <${Slider} label=${say("equalize")} usual=${0} value=${color().layers?.find(isRank)?.opacity ?? 0} least=${0} most=${1}
          hint=${say("n0_keeps_the_values_1")} live=${(/** @type {number} */ share) => balance(share, true)} put=${(/** @type {number} */ share) => balance(share)} />
      <//>
      <${Section} title=${say("coloring")} open=${false}>
        <${Select} label=${say("coloring")} choices=${colorings} value=${coloringName(paint)} hint=${coloringOf(paint, catalog)?.meaning} put=${(/** @type {string} */ coloring) => choose({ coloring, transfer: "auto", mask: "auto" })} />
        <${Previews} explorer=${explorer} label=${say("colorings_of_this_view")} items=${previews} chosen=${coloringName(paint)} fit=${picked === 0} tried=${tried} choose=${({ id }) => choose({ coloring: id, transfer: "auto", mask: "auto" })} />
        <${Options} paint=${paint} />
        <${Select} label=${say("draw_where")} choices=${MASKS} value=${paint.mask ?? "auto"} put=${(/** @type {Paint["mask"]} */ mask) => edit({ mask })} />
        <${Row} label=${say("inside_color")} control=${(/** @type {string} */ id) => html`<input type="color" id=${id} value=${color().inside ?? "#000000"} onInput=${inside(true)} onChange=${inside(false)} />`} />
      <//>
      <${Section} title=${say("layers")} open=${false}>
        <${Layers} explorer=${explorer} tried=${tried} color=${color()} picked=${picked} level=${own.level} catalog=${catalog} change=${change} Mask=${MaskOf} pick=${(/** @type {number} */ layer, level = 0) => Object.assign(own, { picked: layer, level })} />
      <//>
      <${Section} title=${say("motion")} open=${false}>
        ${
          still()
            ? html`<p class="hint">${say("palette_cycling_is_off_because_your")}</p>`
            : html`<${Slider} label=${say("cycle_the_palette")} usual=${0} value=${explorer.speed} least=${0} most=${FASTEST} hint=${say("turns_a_second_0_stops")} live=${(/** @type {number} */ speed) => explorer.cycle(speed)} put=${(/** @type {number} */ speed) => explorer.cycle(speed)} />`
        }
      <//>`
      }
      ${(explorer.placed?.values || relief) && html`<${Relief} explorer=${explorer} />`}
      <${Develop} explorer=${explorer} /></div>`;
  }
  const Over = () => html`<${Brush} explorer=${explorer} brush=${brush} notify=${notify} />`;
  const endPainting = () => brush.on && !(brush.on = false);
  return {
    View,
    Over,
    cancel: endPainting,
    hidden: () => (endPainting(), peek(null), tried.end()),
  };
}

const isRank = (/** @type {Paint} */ layer) =>
  coloringName(layer) === "rank" && layer.blend === "normal";
const wrapped = (/** @type {number} */ value) => Number((value - Math.floor(value)).toFixed(6));

/** A base's new palette goes to the rank over it as well. */
function equalized(/** @type {Color} */ { layers }, /** @type {Paint} */ { palette }) {
  return palette && layers?.some(isRank)
    ? {
        layers: layers.map((layer) => (isRank(layer) ? { ...layer, palette } : layer)),
      }
    : {};
}
