/** The formula panel: the catalog with thumbnails, options, and the user's own expression. */

import { button, element, row, section, thumbnail, words } from "../ui.js";
import { field } from "./color.js";

/** Return a formula's options as those of a coloring; the catalog has their defaults only. */
const optionsOf = (known) => Object.entries(known?.options ?? {}).map(([name, value]) =>
  ({ name, default: value, type: typeof value === "number" ? "float" : "text" }));

/** The formula that everybody knows comes first. */
const byFame = (a, b) => (b.name === "mandelbrot") - (a.name === "mandelbrot");

export function formulaPanel({ explorer }) {
  const { catalog } = explorer;
  const named = () => {
    const formula = explorer.scene?.formula ?? "mandelbrot";
    if (typeof formula === "object") return formula;
    return /^\w+$/.test(formula) ? { name: formula } : { name: "expression", step: formula };
  };
  const text = element("input.code", { type: "text", spellcheck: false, autocomplete: "off", autocapitalize: "off", value: "z**2 + c" });
  const told = element("p.hint", { role: "status" });
  const form = element("form.stack", { onsubmit: (event) => {
    event.preventDefault();
    if (!text.value.trim()) return;
    told.textContent = "Compiling. The picture stays until the new formula is ready.";
    form.classList.add("busy");
    explorer.open({ formula: { name: "expression", step: text.value.trim() } });
  } },
    row("z becomes", text, { hint: "z and c, numbers, + − * / **, conj, abs, exp, sin, cos, log. Enter compiles." }),
    element("div.line", {}, button("Draw it", null, { kind: "primary", type: "submit" }), told));

  const options = element("div.stack");
  const list = element("ul.cards.small", { "aria-label": "Formulas" },
    [...catalog.formulas].filter(({ name }) => name !== "expression").sort(byFame).map(({ name, title }) => {
      const [first, ...rest] = /^[A-Z]/.test(title) ? title.split(", ") : [words(name), title];
      return element("li", {}, element("button.card", { type: "button", dataset: { name }, onclick: () => explorer.open({ formula: name }) },
        thumbnail(`/thumbnail/formula/${name}`),
        element("span.caption", {}, first), rest.length > 0 && element("span.faint.mono", {}, rest.join(", "))));
    }));
  const own = section("Your own", true, form);
  let shown = ""; // the formula whose options are in the form
  const chosen = section("Options", true, options);

  function sync() {
    const now = named();
    for (const card of list.querySelectorAll(".card")) card.setAttribute("aria-pressed", String(card.dataset.name === now.name));
    if (now.name === "expression" && document.activeElement !== text) text.value = now.step ?? text.value;
    const known = catalog.formulas.find(({ name }) => name === now.name);
    const wanted = now.name === "expression" ? [] : optionsOf(known);
    chosen.hidden = wanted.length === 0;
    if (now.name !== shown) {
      shown = now.name;
      options.replaceChildren(...wanted.map((option) => field(option, option.default, (value) =>
        explorer.open({ formula: { ...named(), [option.name]: value } }))));
    }
    // The fields stay while the formula does, or what is being typed into one would be lost.
    wanted.forEach((option, k) => options.children[k].show(now[option.name] ?? option.default));
  }
  const settle = (line) => {
    form.classList.remove("busy");
    told.textContent = line;
  };
  const node = element("div", {}, own, chosen, section("Formulas", true, list));
  explorer.addEventListener("placed", () => (settle(""), node.isConnected && sync()));
  explorer.addEventListener("message", ({ detail }) => detail.kind === "error" && settle(form.classList.contains("busy") ? detail.text : ""));
  return { node, shown: sync };
}
