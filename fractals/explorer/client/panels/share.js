/** Share and export: a link, texts, and a picture file of any size. */

import { bytes, button, duration, element, progress, row, segments, select, toggle } from "../ui.js";
import { copyText } from "./inspect.js";

const FORECAST_MS = 300; // after the last change of a size

export function sharePanel({ explorer, notify }) {
  const parts = [
    ["Link", "link", "Holds the whole scene with all digits. Opens in a browser that reaches this explorer."],
    ["TOML", "toml", "A file for fractals render."],
    ["Command line", "command", "Draws this picture without the explorer."],
  ].map(([name, key, hint]) => {
    const text = element("textarea.mono", { readOnly: true, rows: key === "toml" ? 9 : 3, spellcheck: false });
    const copy = button(`Copy ${name === "TOML" ? name : name.toLowerCase()}`, () => copyText(text.value, notify), { symbol: "copy", kind: "quiet" });
    return { key, text, node: element("div.stack", {}, row(name, text, { hint }), element("div.line", {}, copy)) };
  });
  async function sync() {
    if (!node.isConnected) return;
    try {
      const told = await explorer.request({ t: "link" });
      for (const { key, text } of parts) text.value = key === "link" ? `${location.origin}${location.pathname}#${told.link}` : told[key];
    } catch (error) {
      notify(error.message, "error");
    }
  }
  let waiting = 0;
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(sync, FORECAST_MS);
  };
  const node = element("div.stack.spaced", {}, parts.map((part) => part.node));
  for (const event of ["placed", "painted"]) explorer.addEventListener(event, later);
  return { node, shown: sync };
}

export function exportPanel({ explorer, notify }) {
  let job = null;
  let waiting = 0;
  let asked = 0;
  const number = (name, value) => element("input", { type: "number", min: 1, max: 100000, value, "aria-label": name, oninput: () => later() });
  const [width, height] = [number("Width in pixels", 3840), number("Height in pixels", 2160)];
  const presets = () => {
    const [w, h] = explorer.placed?.size ?? [1920, 1080];
    return [["screen", "As seen", w, h], ["hd", "Full HD", 1920, 1080], ["4k", "4K", 3840, 2160], ["8k", "8K", 7680, 4320], ["a3", "A3 print", 4961, 3508], ["square", "Square", 2048, 2048], ["phone", "Phone", 1440, 3120]];
  };
  const sizes = element("div.chips", { role: "group", "aria-label": "Sizes" });
  const samples = select("Samples a pixel", [["1", "1"], ["2", "2 × 2"], ["3", "3 × 3"], ["4", "4 × 4"], ["8", "8 × 8"]], "2", () => later());
  const format = segments("Format", [["png", "PNG"], ["jpg", "JPEG"], ["webp", "WebP"], ["tiff", "TIFF"]], "png", () => {});
  const keep = toggle("Go on when this page closes", false, () => {});
  const forecast = element("p.forecast", { role: "status" });
  const result = element("div.stack", { "aria-live": "polite" });
  const bar = progress(() => job?.cancel());
  const message = () => ({ t: "export", size: [Number(width.value), Number(height.value)], supersampling: Number(samples.querySelector("select").value) });
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(estimate, FORECAST_MS);
    for (const chip of sizes.children) chip.setAttribute("aria-pressed", String(chip.dataset.size === `${width.value}x${height.value}`));
  };
  async function estimate() {
    if (!node.isConnected || job) return;
    asked += 1;
    const mine = asked;
    try {
      const told = await explorer.request({ ...message(), forecast: true });
      if (mine === asked) forecast.textContent = `About ${duration(told.seconds)} and ${bytes(told.memory)} of memory for ${(told.samples / 1e6).toLocaleString("en", { maximumSignificantDigits: 3 })} million samples.`;
    } catch (error) {
      if (mine === asked) forecast.textContent = error.message;
    }
  }
  async function draw() {
    if (job) return;
    result.replaceChildren();
    start.classList.add("primary");
    bar.show(null, "Starting");
    const kind = format.querySelector('[aria-pressed="true"]').dataset.value;
    job = explorer.job({ ...message(), format: kind, keep: keep.querySelector("input").checked }, (told) => {
      if (told.t === "progress") bar.show(told.of ? told.done / told.of : null, told.what);
    });
    start.disabled = true;
    bar.scrollIntoView({ block: "nearest" });
    try {
      const told = await job.done;
      const link = element("a.button.primary.wide-button", { href: told.url, download: "" }, `Download (${bytes(told.bytes)})`);
      result.append(link, element("p.hint", {}, `Drawn in ${duration(told.seconds)}. The server keeps the file for 10 minutes.`));
      start.classList.remove("primary");
      link.focus();
    } catch (error) {
      notify(error.cancelled ? "The export was cancelled." : error.message, error.cancelled ? "info" : "error");
    } finally {
      job = null;
      start.disabled = false;
      bar.hide();
    }
  }
  const start = button("Export", draw, { kind: "primary wide-button", symbol: "export" });
  const node = explorer.welcome?.export === false
    ? element("p.hint", {}, "This server exports no files. The command under Share draws the picture on your machine.")
    : element("div.stack", {}, sizes, element("div.line", {}, width, element("span.faint", {}, "×"), height, element("span.faint", {}, "pixels")),
      samples, row("Format", format), keep, forecast, start, bar, result);
  const shown = () => {
    sizes.replaceChildren(...presets().map(([, title, w, h]) => button(title, () => {
      [width.value, height.value] = [w, h];
      later();
    }, { kind: "chip-button", dataset: { size: `${w}x${h}` } })));
    if (!asked) [width.value, height.value] = presets()[0].slice(2);
    later();
  };
  return { node, shown };
}

