/** The gallery of palettes and the editor of one: stops on a strip, each with a color. */

import { button, element, kept, segments, slider, toggle } from "../ui.js";
import { gradient, hex, oklch, stopsOf } from "./colors.js";

const MOST_STOPS = 64; // that the strip can show apart
const FAVOURITES = 9; // keys F1 to F10 without F5

/**
 * @param {object} catalog
 * @param {(name: string) => void} choose
 */
export function paletteGallery(catalog, choose) {
  const node = element("ul.palettes", { "aria-label": "Palettes" });
  let chosen = "";
  const show = (palette) => {
    chosen = typeof palette === "string" ? palette : "";
    for (const item of node.children) item.firstChild.setAttribute("aria-pressed", String(item.dataset.name === chosen));
  };
  const build = () => {
    const favourites = kept.get("favourites", []);
    const rank = ({ name }) => (favourites.indexOf(name) + 1 || 1000);
    const sorted = [...catalog.palettes].sort((a, b) => rank(a) - rank(b));
    node.replaceChildren(...sorted.map((palette) => {
      const place = favourites.indexOf(palette.name);
      const starred = place >= 0;
      const mark = () => {
        const others = favourites.filter((name) => name !== palette.name);
        kept.set("favourites", starred ? others : [...others, palette.name].slice(-FAVOURITES));
        build();
        node.querySelector(`[data-name="${palette.name}"] .star`).focus();
      };
      const key = starred ? ["F1", "F2", "F3", "F4", "F6", "F7", "F8", "F9", "F10"][place] : "";
      return element("li.palette", { dataset: { name: palette.name } },
        element("button.strip-button", { type: "button", onclick: () => choose(palette.name), title: palette.title },
          element("span.strip", { style: { background: gradient(palette.name, catalog) } }),
          element("span.caption", {}, palette.title)),
        button(starred ? `Remove ${palette.title} from the favorites` : `Mark ${palette.title} as a favorite`, mark,
          { symbol: "star", bare: true, kind: starred ? "star on" : "star", "aria-pressed": String(starred) }),
        key && element("kbd", {}, key));
    }));
    show(chosen);
  };
  build();
  return { node, show };
}

/**
 * An editor of a palette's stops.
 * @param {object} catalog
 * @param {(table: object, done: boolean) => void} change called at each step of a drag, and at its end
 */
export function paletteEditor(catalog, change) {
  let table = { stops: [[0, "#000000"], [0.5, "#ffffff"]], cyclic: true };
  let picked = 0;
  const track = element("div.strip.track", { title: "Double-click to add a stop" });
  const stops = element("div.stops", { role: "group", "aria-label": "Stops" });
  const color = element("input", { type: "color", "aria-label": "Color of the stop" });
  const text = element("input.hex", { type: "text", "aria-label": "Color as text", spellcheck: false, autocomplete: "off" });
  const changed = (done = true) => change(structuredClone(table), done);
  const at = (event) => {
    const box = track.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const sort = () => {
    const one = table.stops[picked];
    table.stops.sort((a, b) => a[0] - b[0]);
    picked = table.stops.indexOf(one);
  };
  const place = (value, done) => {
    table.stops[picked][0] = Math.round(1e4 * Math.min(1, Math.max(0, value))) / 1e4;
    sort();
    draw();
    changed(done);
  };
  const recolor = (value, done, except) => {
    table.stops[picked][1] = value;
    draw(except);
    changed(done);
  };
  const add = (where) => {
    if (table.stops.length >= MOST_STOPS) return;
    table.stops.push([where, mixed(table, where)]);
    picked = table.stops.length - 1;
    place(where, true);
  };
  const remove = () => {
    if (table.stops.length < 3) return;
    table.stops.splice(picked, 1);
    picked = Math.max(0, picked - 1);
    draw();
    changed();
    stops.children[picked].focus();
  };
  const part = (label, index, most) =>
    slider({ label, value: 0, least: 0, most, digits: 3, oninput: (value) => tune(index, value, false), onchange: (value) => tune(index, value, true) });
  const tune = (index, value, done) => {
    held[index] = value;
    recolor(hex(held), done, "sliders");
    tracks();
  };
  // The hue of a gray is lost in its hexadecimal text, so the sliders keep their own.
  const held = [0, 0, 0];
  const parts = [part("Lightness", 0, 1), part("Chroma", 1, 0.37), part("Hue", 2, 360)];
  const tracks = () => {
    const ramp = (index, most) => Array.from({ length: 13 }, (_, k) => {
      const value = [...held];
      value[index] = (most * k) / 12;
      return hex(value);
    }).join(", ");
    [1, 0.37, 360].forEach((most, index) =>
      parts[index].querySelector("input[type=range]").style.setProperty("--track", `linear-gradient(to right, ${ramp(index, most)})`));
  };
  color.addEventListener("input", () => recolor(color.value, false));
  color.addEventListener("change", () => recolor(color.value, true));
  text.addEventListener("change", () => (/^#[0-9a-f]{6}$/i.test(text.value) ? recolor(text.value.toLowerCase(), true) : draw()));
  track.addEventListener("dblclick", (event) => add(at(event)));

  function handle(stop, index) {
    const made = element("button.stop", {
      type: "button",
      role: "slider",
      "aria-label": `Stop ${index + 1} of ${table.stops.length}`,
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-valuenow": Math.round(100 * stop[0]),
      "aria-valuetext": `${(100 * stop[0]).toFixed(1)} %, ${stop[1]}`,
      style: { left: `${100 * stop[0]}%`, "--color": stop[1] },
    });
    made.addEventListener("focus", () => index !== picked && ((picked = index), draw("focus")));
    made.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1 }[event.key];
      if (step) place(table.stops[picked][0] + step, true);
      else if (event.key === "Delete" || event.key === "Backspace") remove();
      else return;
      event.preventDefault();
      event.stopPropagation();
      stops.children[picked].focus();
    });
    return made;
  }
  stops.addEventListener("pointerdown", (event) => {
    const index = [...stops.children].indexOf(event.target);
    if (index < 0) return;
    picked = index;
    draw();
    stops.setPointerCapture(event.pointerId);
    const drag = (move) => place(at(move), false);
    stops.addEventListener("pointermove", drag);
    stops.addEventListener("lostpointercapture", () => {
      stops.removeEventListener("pointermove", drag);
      changed();
      stops.children[picked].focus();
    }, { once: true });
  });

  function draw(except = "") {
    const stop = table.stops[picked];
    track.style.background = gradient(table, catalog, table.stops);
    if (except === "focus" || stops.children.length === table.stops.length) {
      // Elements are kept: a replaced one would lose the focus.
      [...stops.children].forEach((made, index) => {
        const [where, shade] = table.stops[index];
        made.style.left = `${100 * where}%`;
        made.style.setProperty("--color", shade);
        made.setAttribute("aria-valuenow", Math.round(100 * where));
        made.setAttribute("aria-valuetext", `${(100 * where).toFixed(1)} %, ${shade}`);
      });
    } else stops.replaceChildren(...table.stops.map(handle));
    [...stops.children].forEach((made, index) => made.classList.toggle("picked", index === picked));
    const shade = stop[1].startsWith("#") ? stop[1] : hex(oklch(stop[1]));
    color.value = shade;
    text.value = shade;
    if (except !== "sliders") {
      const now = oklch(shade);
      held.splice(0, 3, now[0], now[1], now[1] < 1e-4 ? held[2] : now[2]);
      held.forEach((value, index) => parts[index].show(value));
      tracks();
    }
    cyclic.show(table.cyclic);
    space.show(table.space ?? "oklab");
  }

  const cyclic = toggle("The last color leads back to the first", true, (value) => ((table.cyclic = value), draw(), changed()));
  const space = segments("Mix colors in", [["oklab", "OKLab"], ["oklch", "OKLCH"], ["srgb", "sRGB"]], "oklab", (value) => ((table.space = value), draw(), changed()));
  const reverse = () => {
    table.stops = table.stops.map(([where, shade]) => [table.cyclic ? (1 - where) % 1 : 1 - where, shade]);
    sort();
    draw();
    changed();
  };
  const node = element("div.stack.editor", {},
    element("div.rail", {}, track, stops),
    element("div.line", {}, color, text, element("span.grow"),
      button("Add a stop", () => add(between(table.stops, picked)), { symbol: "plus", bare: true, kind: "quiet" }),
      button("Remove the stop", remove, { symbol: "trash", bare: true, kind: "quiet" }),
      button("Reverse", reverse, { symbol: "swap", bare: true, kind: "quiet" })),
    parts, cyclic, space);
  const show = (palette) => {
    const known = typeof palette === "string" ? catalog.palettes.find(({ name }) => name === palette) : palette;
    table = { stops: stopsOf(palette, catalog).map((stop) => [...stop]), cyclic: known?.cyclic ?? true };
    for (const key of ["space", "blend"]) if (known?.[key]) table[key] = known[key];
    picked = Math.min(picked, table.stops.length - 1);
    draw();
  };
  return { node, show };
}

/** Return the place of a new stop: the middle between a stop and the next. */
function between(stops, index) {
  const next = stops[index + 1]?.[0] ?? 1;
  return (stops[index][0] + next) / 2;
}

/** Return the color of a table at a place, about as its palette has it. */
function mixed(table, where) {
  const after = table.stops.findIndex(([place]) => place > where);
  const high = table.stops[after < 0 ? (table.cyclic ? 0 : table.stops.length - 1) : after];
  const low = table.stops.at(after < 0 ? -1 : Math.max(0, after - 1));
  const gap = (high[0] - low[0] + 1) % 1 || 1;
  const share = Math.min(1, Math.max(0, (where - low[0]) / gap));
  const [a, b] = [oklch(low[1]), oklch(high[1])].map(([l, c, h]) => [l, c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)]);
  const [l, x, y] = a.map((value, k) => value + share * (b[k] - value));
  return hex([l, Math.hypot(x, y), ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360]);
}
