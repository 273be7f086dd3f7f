/** The inspect panel: the point under the pointer with all digits, count, value, distance, period. */

import { button, element, section, toggle } from "../ui.js";

const REST_MS = 80; // of the pointer, before its point is asked for

export function inspectPanel({ explorer, canvas, notify }) {
  let full = false;
  let pinned = null;
  let waiting = 0;
  let busy = false;
  const values = {};
  const facts = element("dl.facts", { "aria-live": "polite" }, ["Count", "Value", "Distance", "Period"].flatMap((name) => {
    values[name] = element("dd", {}, "–");
    return [element("dt", {}, name), values[name]];
  }));
  const texts = ["Real part", "Imaginary part", "Width"].map((name) => {
    const digits = element("output.digits.mono", { tabIndex: 0, "aria-label": name });
    const copy = button(`Copy ${name.toLowerCase()}`, () => copyText(digits.textContent, notify), { symbol: "copy", bare: true, kind: "quiet" });
    return { digits, node: element("div.coordinate", {}, element("div.line", {}, element("span.grow.strong", {}, name), element("span.faint", {}), copy), digits) };
  });
  const put = (index, text) => {
    texts[index].digits.textContent = text;
    const count = text.replace(/e.*$/i, "").replace(/\D/g, "").replace(/^0+/, "").length;
    texts[index].node.querySelector(".faint").textContent = count > 20 ? `${count} digits` : "";
  };

  async function pick(at) {
    if (busy || !node.isConnected || !explorer.placed) return;
    busy = true;
    try {
      const told = await explorer.request({ t: "pick", at: at.map((value) => Math.round(value * 16)), ...(full ? { full } : {}) });
      if (!told) return; // a newer point was asked for
      put(0, told.center[0]);
      put(1, told.center[1]);
      values.Count.textContent = told.inside ? "does not escape" : told.count.toLocaleString("en");
      values.Value.textContent = told.value === null ? "–" : Number(told.value).toPrecision(8);
      values.Distance.textContent = told.distance ?? "–";
      values.Period.textContent = told.period?.toLocaleString("en") ?? "–";
    } catch (error) {
      notify(error.message, "error");
    } finally {
      busy = false;
    }
  }
  const middle = () => [explorer.placed.size[0] / 2, explorer.placed.size[1] / 2];
  const again = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => pick(pinned ?? middle()), REST_MS);
  };
  explorer.addEventListener("pointer", ({ detail }) => {
    if (!node.isConnected || !detail) return;
    pinned = [detail.x, detail.y];
    again();
  });
  explorer.addEventListener("placed", () => {
    if (!node.isConnected) return;
    put(2, explorer.placed.width);
    again();
  });
  canvas.addEventListener("blur", () => (pinned = null));
  const more = toggle("Distance and period, which take longer", false, (value) => ((full = value), again()));
  const node = element("div", {}, section("Point under the pointer", true, facts, more), section("Coordinates", true, texts.map((text) => text.node)));
  const shown = () => {
    if (explorer.pointer) pinned = [explorer.pointer.x, explorer.pointer.y];
    if (explorer.placed) put(2, explorer.placed.width);
    again();
  };
  return { node, shown };
}

export async function copyText(text, notify) {
  try {
    await navigator.clipboard.writeText(text);
    notify("Copied.");
  } catch {
    notify("The browser does not allow copying. Select the text and press Ctrl+C.", "error");
  }
}
