/** The formula panel: the catalog with thumbnails, options, and the user's own expression. */
import { html } from "../html.js";
import { observe } from "../state.js";
import { Button, Card, OptionField, Row, Section, Thumbnail, words } from "../ui.js";

const HINT = "z and c, numbers, + − * / **, conj, abs, exp, sin, cos, log. Enter compiles.";

/** Return a formula's options as those of a coloring; the catalog has their defaults only. */
const optionsOf = (known) => Object.entries(known?.options ?? {}).map(([name, value]) =>
  ({ name, default: value, type: typeof value === "number" ? "float" : "text" }));

/** The formula that everybody knows comes first. */
const byFame = (a, b) => Number(b.name === "mandelbrot") - Number(a.name === "mandelbrot");

/** Return a scene's formula as a table. */
function tableOf(formula = "mandelbrot") {
  if (typeof formula === "object") return formula;
  return /^\w+$/.test(formula) ? { name: formula } : { name: "expression", step: formula };
}

export function formulaPanel({ explorer, ui }) {
  const { catalog } = explorer;
  const cards = catalog.formulas.filter(({ name }) => name !== "expression").sort(byFame).map(({ name, title }) => {
    const [first, ...rest] = /^[A-Z]/.test(title) ? title.split(", ") : [words(name), title];
    return { name, first, rest: rest.join(", ") };
  });
  const own = observe({ draft: null, waiting: false, failed: "" }); // draft: what is typed, until it is drawn
  explorer.addEventListener("placed", () => Object.assign(own, { waiting: false, failed: "", ...(own.waiting && { draft: null }) }));
  explorer.addEventListener("message", ({ detail }) => {
    if (detail.kind !== "error" || !own.waiting) return;
    Object.assign(own, { waiting: false, failed: detail.text });
    detail.told = ui.open === "formula";
  });

  function Own({ step }) {
    const text = own.draft ?? step ?? "z**2 + c";
    const draw = (event) => {
      event.preventDefault();
      if (!text.trim()) return;
      Object.assign(own, { draft: text, waiting: true, failed: "" });
      explorer.changeFormula({ name: "expression", step: text.trim() });
    };
    return html`<form class="stack" onSubmit=${draw}>
      <${Row} label="z becomes" hint=${HINT} control=${(id) => html`<input type="text" class="code" id=${id} spellcheck=${false} autocomplete="off" autocapitalize="off"
        aria-invalid=${String(Boolean(own.failed))} value=${text} onInput=${({ target }) => { own.draft = target.value; }} />`} />
      <div class="line"><${Button} label="Draw it" kind="primary" type="submit" />
        <p class="hint" role="status">${own.waiting ? "Compiling. The picture stays until the new formula is ready." : own.failed}</p></div></form>`;
  }

  function View() {
    const now = tableOf(explorer.scene?.formula), known = catalog.formulas.find(({ name }) => name === now.name);
    const options = now.name === "expression" ? [] : optionsOf(known);
    return html`<div>
      <${Section} title="Your own"><${Own} step=${now.step} /><//>
      ${options.length > 0 && html`<${Section} title="Options">${options.map((option) => html`<${OptionField} key=${`${now.name} ${option.name}`} option=${option}
        value=${now[option.name] ?? option.default} put=${(value) => explorer.changeFormula({ ...now, [option.name]: value })} />`)}<//>`}
      <${Section} title="Formulas"><ul class="cards small" aria-label="Formulas">${cards.map(({ name, first, rest }) => html`<li key=${name}>
        <${Card} title=${first} below=${rest} aria-pressed=${String(name === now.name)} onClick=${() => explorer.changeFormula(name)}>
          <${Thumbnail} src=${`/thumbnail/formula/${name}`} /><//></li>`)}</ul><//></div>`;
  }
  return { View };
}
