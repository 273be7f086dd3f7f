/** The color panel: palette, values, coloring, layers, motion. Nothing here iterates again. */

import { button, element, row, section, segments, select, slider, still, toggle, words } from "../ui.js";
import { coloringOf, gradient, paletteTitle, shownPalette } from "./colors.js";
import { fileButton } from "./files.js";
import { histogramView } from "./histogram.js";
import { layerStack } from "./layers.js";
import { paletteEditor, paletteGallery } from "./palette.js";

const FASTEST = 0.5; // turns a second: with 3 colors a turn below the 3 flashes a second of WCAG 2.3.1
const HISTOGRAM_MS = 400; // after a change of the view, before the histogram is asked for

export function colorPanel({ explorer, notify, upload, opened }) {
  const { catalog } = explorer;
  let picked = 0; // 0 is the base, k the layer k - 1
  let form = ""; // the coloring whose options are shown

  const color = () => explorer.scene?.color ?? {};
  const paintOf = (index = picked) => (index ? (color().layers?.[index - 1] ?? color()) : color());
  const change = (now, live = false) => {
    explorer.paint(now, { live });
    sync();
  };
  const edit = (changes, live = false) => {
    const now = color();
    if (!picked) return change({ ...now, ...changes, ...equalised(now, changes) }, live);
    change({ ...now, layers: now.layers.map((layer, k) => (k === picked - 1 ? { ...layer, ...changes } : layer)) }, live);
  };

  // Palette
  const choose = (palette) => edit({ palette });
  const strip = element("div.strip.large");
  const name = element("span.grow.strong");
  const gallery = paletteGallery(catalog, choose);
  const editor = paletteEditor(catalog, (palette, done) => edit({ palette }, !done));
  editor.node.hidden = true;
  const editing = button("Edit", () => {
    editor.node.hidden = !editor.node.hidden;
    editing.setAttribute("aria-expanded", String(!editor.node.hidden));
    if (!editor.node.hidden) editor.show(shownPalette(paintOf(), catalog));
  }, { symbol: "edit", kind: "quiet", "aria-expanded": "false" });
  const palettes = section("Palette", true, strip,
    element("div.line", {}, name, editing, fileButton("Import", upload, "quiet")), editor.node, gallery.node);

  // Values
  const histogram = histogramView((offset, done) => edit({ offset: wrapped(offset) }, !done));
  const density = slider({ label: "Density", value: 1, least: 0.01, most: 100, log: true, oninput: (value) => edit({ density: value }, true), onchange: (value) => edit({ density: value }) });
  const offset = slider({ label: "Offset", value: 0, least: 0, most: 1, oninput: (value) => edit({ offset: value }, true), onchange: (value) => edit({ offset: value }) });
  const transfer = select("Transfer", catalog.transfers, "auto", (value) => edit({ transfer: value }));
  const equalise = slider({ label: "Equalize", value: 0, least: 0, most: 1, hint: "0 keeps the values; 1 gives each color the same area (rank).", oninput: (value) => balance(value, true), onchange: (value) => balance(value, false) });
  const fit = button("Fit to view", async () => {
    try {
      const told = await explorer.request({ t: "fit" });
      edit({ density: told.density, offset: told.offset });
    } catch (error) {
      notify(error.message, "error");
    }
  }, { kind: "wide-button" });
  const values = section("Values", true, histogram.node, fit, density, offset, transfer, equalise);

  // Coloring
  const coloring = select("Coloring", catalog.colorings.map(({ name: id, title }) => [id, `${words(id)}: ${title}`]), "smooth", (value) => edit({ coloring: value, transfer: "auto", mask: "auto" }));
  const options = element("div.stack", { role: "group", "aria-label": "Options of the coloring" });
  const mask = select("Draw where", [["auto", "As the coloring needs"], ["escaped", "Orbits escape"], ["inside", "Orbits stay"], ["all", "Everywhere"]], "auto", (value) => edit({ mask: value }));
  const inside = element("input", { type: "color", oninput: () => change({ ...color(), inside: inside.value }, true), onchange: () => change({ ...color(), inside: inside.value }) });
  const colorings = section("Coloring", false, coloring, options, mask, row("Inside color", inside));

  // Layers, motion
  const stack = layerStack(catalog, { pick: (index) => ((picked = index), sync()), change });
  const layers = section("Layers", false, stack.node);
  const speed = slider({ label: "Cycle the palette", value: 0, least: 0, most: FASTEST, hint: "Turns a second; 0 stops.", oninput: (value) => explorer.cycle(value) });
  const motion = section("Motion", false, still() ? element("p.hint", {}, "Palette cycling is off because your system asks for reduced motion.") : speed);

  /** Blend the base with the same palette over the rank: one layer whose opacity is the slider. */
  function balance(share, live) {
    const now = color();
    const others = (now.layers ?? []).filter((layer) => !isRank(layer));
    const layer = { coloring: "rank", palette: shownPalette(now, catalog), density: 1, offset: 0, blend: "normal", opacity: share };
    const old = (now.layers ?? []).find(isRank);
    picked = 0;
    change({ ...now, layers: share > 0 ? [{ ...layer, ...old, opacity: share }, ...others] : others }, live && Boolean(old) && share > 0);
  }
  /** A base's new palette goes to the rank over it as well. */
  function equalised(now, { palette }) {
    if (!palette || !now.layers?.some(isRank)) return {};
    return { layers: now.layers.map((layer) => (isRank(layer) ? { ...layer, palette } : layer)) };
  }

  function sync() {
    if (!explorer.scene) return;
    picked = Math.min(picked, color().layers?.length ?? 0);
    const paint = paintOf();
    const palette = shownPalette(paint, catalog);
    const background = gradient(palette, catalog);
    strip.style.background = background;
    name.textContent = paletteTitle(palette, catalog);
    gallery.show(palette);
    histogram.colors(background, paint);
    density.show(paint.density ?? 1);
    offset.show(wrapped(paint.offset ?? 0));
    transfer.show(paint.transfer ?? "auto");
    mask.show(paint.mask ?? "auto");
    inside.value = color().inside ?? "#000000";
    equalise.show(color().layers?.find(isRank)?.opacity ?? 0);
    coloring.show(paint.coloring?.name ?? paint.coloring ?? "smooth");
    stack.show(color(), picked);
    layering.hidden = picked === 0;
    layering.querySelector("span").textContent = `Editing layer ${picked}: ${words(paint.coloring?.name ?? paint.coloring ?? "")}`;
    drawForm(paint);
  }

  function drawForm(paint) {
    const known = coloringOf(paint, catalog);
    const key = `${picked} ${known?.name}`;
    const given = typeof paint.coloring === "object" ? paint.coloring : {};
    if (key === form) {
      for (const field of options.children) field.show?.(given[field.dataset.option] ?? known.options.find((one) => one.name === field.dataset.option).default);
      return;
    }
    form = key;
    options.replaceChildren(...(known?.options ?? []).map((option) => {
      const put = (value, live = false) => {
        const now = paintOf().coloring;
        edit({ coloring: { ...(typeof now === "object" ? now : { name: now ?? "smooth" }), [option.name]: value } }, live);
      };
      const made = field(option, given[option.name] ?? option.default, put);
      made.dataset.option = option.name;
      return made;
    }));
  }

  async function measure() {
    clearTimeout(waiting);
    if (!node.isConnected || !values.open) return;
    try {
      histogram.counts(await explorer.request({ t: "histogram", layer: picked, bins: histogram.bins }));
    } catch {
      // A view without values has no histogram; the old one stays until the next view.
    }
  }
  let waiting = 0;
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(measure, HISTOGRAM_MS);
  };
  const layering = element("div.line.layering", { hidden: true }, element("span.grow"), button("Base", () => ((picked = 0), sync(), later()), { symbol: "back", kind: "quiet" }));
  const node = element("div", {}, layering, palettes, values, colorings, layers, motion);
  values.addEventListener("toggle", later);
  for (const event of ["placed", "painted", "layers"]) explorer.addEventListener(event, () => node.isConnected && sync());
  explorer.addEventListener("drawn", ({ detail }) => detail.pass !== "coarse" && later());
  return { node, shown: () => (sync(), measure()) };
}

const isRank = (layer) => (layer.coloring?.name ?? layer.coloring) === "rank" && layer.blend === "normal";
const wrapped = (value) => Number((value - Math.floor(value)).toFixed(6));

/** Return the field of one option of a coloring or formula. */
export function field(option, value, put) {
  const label = words(option.name);
  if (option.type === "choice" || option.choices?.length) return select(label, option.choices, value, put);
  if (option.type === "bool") return toggle(label, value, put);
  if (option.type === "text" || option.least === undefined) {
    const text = element("input", { type: "text", value, spellcheck: false, onchange: () => put(option.type === "text" ? text.value : Number(text.value)) });
    return Object.assign(row(label, text, { hint: option.meaning }), { show: (now) => document.activeElement !== text && (text.value = now) });
  }
  // Bounds above zero that are decades apart are for equal factors.
  const log = option.least > 0 && option.most / option.least > 500;
  const whole = option.type === "int";
  return slider({ label, value, least: option.least, most: option.most, log, step: whole ? 1 : 0, hint: option.meaning ?? "",
    oninput: (now) => option.part === "color" && put(now, true), onchange: put });
}
