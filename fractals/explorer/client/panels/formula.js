/** The formula panel: the catalog with thumbnails, options, and the user's own expression. */
import { html } from "../html.js";
import { observe } from "../state.js";
import { Button, Card, OptionField, Row, Section, Slider, Thumbnail, words } from "../ui.js";
import { transformsTool } from "./transforms.js";

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

export function formulaPanel({ explorer, ui, canvas, space }) {
  const transforms = transformsTool({ explorer, canvas });
  const { catalog } = explorer;
  const cards = catalog.formulas.filter(({ name }) => name !== "expression").sort(byFame).map(({ name, title, values }) => {
    const [first, ...rest] = /^[A-Z]/.test(title) ? title.split(", ") : [words(name), title];
    return { name, first, rest: rest.join(", "), values };
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

  /** The formula of an image of points: transforms, or parameters. */
  function Points({ now, known }) {
    const { scatter = {}, light = {}, image } = explorer.scene, solid = explorer.placed.space, put = (changes, step) => explorer.change({ formula: { ...now, ...changes } }, step);
    const options = known?.tables ? [] : optionsOf(known).filter(({ type }) => !solid || type === "text");
    const knob = ({ name, value, least, most, whole, meaning }) => html`<${transforms.Dragged} key=${name} label=${words(name)} value=${value} least=${least} most=${most}
      whole=${whole} hint=${meaning} change=${(given, step) => put({ [name]: given }, step)} />`;
    const field = (option) => {
      const { name, default: usual } = option, value = now[name] ?? usual, reach = Math.max(1, Math.abs(usual));
      if (typeof usual === "boolean") return html`<${OptionField} key=${name} option=${{ ...option, type: "bool" }} value=${value} put=${(given) => put({ [name]: given })} />`;
      if (typeof usual !== "number" || known.whole.includes(name)) return html`<${OptionField} key=${name} option=${option} value=${value} put=${(given) => put({ [name]: given })} />`;
      const [least, most] = name === "turn" || name === "tilt" ? [-180, 180] : [usual - 2 * reach, usual + 2 * reach];
      return html`<${transforms.Dragged} key=${name} label=${words(name)} value=${value} least=${Math.min(least, value)} most=${Math.max(most, value)} change=${(given, step) => put({ [name]: given }, step)} />`;
    };
    return html`${known?.tables ? html`<${transforms.Fields} />` : html`<${Section} title="Parameters">${options.map(field)}${solid?.knobs.map(knob)}<//>`}
      ${!solid && html`<${Section} title="Points"><${Slider} label="Quality" value=${scatter.quality ?? 50} least=${1} most=${2000} log hint="Points for each pixel."
        put=${(quality) => explorer.change({ scatter: { ...scatter, quality: Math.max(quality, 0.01) } })} /><//>`}
      ${solid && html`<${space.Camera} /><${Section} title="Samples"><${Slider} label="Samples" value=${light.samples > 0 ? light.samples : 16 * (image?.supersampling ?? 1) ** 2} least=${1} most=${4096} log
        hint="Paths of light for each pixel." put=${(samples) => explorer.change({ light: { ...light, samples: Math.max(1, Math.round(samples)) } })} /><//>`}`;
  }

  function View() {
    const now = tableOf(explorer.scene?.formula), known = catalog.formulas.find(({ name }) => name === now.name);
    const options = now.name === "expression" ? [] : optionsOf(known);
    const points = explorer.placed?.values === false && !explorer.scene?.relief; // an image of points
    return html`<div>
      ${points && html`<${Points} now=${now} known=${known} />`}
      ${!points && html`<${Section} title="Your own"><${Own} step=${now.step} /><//>`}
      ${!points && options.length > 0 && html`<${Section} title="Options">${options.map((option) => html`<${OptionField} key=${`${now.name} ${option.name}`} option=${option}
        value=${now[option.name] ?? option.default} put=${(value) => explorer.changeFormula({ ...now, [option.name]: value })} />`)}<//>`}
      <${Section} title="Formulas"><ul class="cards small" aria-label="Formulas">${cards.map(({ name, first, rest, values }) => html`<li key=${name}>
        <${Card} title=${first} below=${rest} aria-pressed=${String(name === now.name)} onClick=${() => (values === explorer.placed?.values ? explorer.changeFormula(name) : explorer.open({ formula: name }))}>
          <${Thumbnail} src=${`/thumbnail/formula/${name}`} /><//></li>`)}</ul><//></div>`;
  }
  return { View, Over: transforms.Handles };
}
