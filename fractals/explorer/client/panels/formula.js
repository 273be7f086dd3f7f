/** The formula panel: the catalog with thumbnails, options, and the user's own expression. */
import { html, signal, useEffect } from "../html.js";
import { qualityOf } from "../points.js";
import { observe } from "../state.js";
import { OptionField, Slider } from "../slider.js";
import { Button, Card, Coming, Row, Section, Thumbnail, words } from "../ui.js";
import { say } from "../words.js";
import { Camera } from "./daylight.js";
import { sent } from "./files.js";
import { expressionOf, parametersOf } from "./parameters.js";
import { Dragged } from "./dragged.js";
import { another, isLocked, nineOf, toggleLock } from "./numbers.js";
import { pointed } from "./pointing.js";

const HINT = say("z_and_c_numbers_conj");

const PROGRAM = {
  start: say("first_values_from_c_statements"),
  step: say("statements_of_each_step"),
  test: say("an_orbit_goes_on_as"),
};

const UNLOADED = say("the_server_does_not_answer_the_transforms");
const COMPILED_MS = 600; // that a formula is pointed at before it is tried on: it may have to be compiled

/** Return a formula's options as those of a coloring; the catalog has their defaults and meanings only. */
/** @param {Received.FormulaFacts} [known] @returns {OptionOf[]} */
const optionsOf = (known) =>
  Object.entries(known?.options ?? {}).map(([name, value]) => ({
    name,
    default: value,
    type: typeof value === "number" ? "float" : "text",
    meaning: known?.meanings[name],
  }));

/** The formula that everybody knows comes first. */
const byFame = (/** @type {{name: string}} */ a, /** @type {{name: string}} */ b) =>
  Number(b.name === "mandelbrot") - Number(a.name === "mandelbrot");

/** Return a scene's formula as a table. @returns {FormulaTable} */
function tableOf(/** @type {Formula} */ formula = "mandelbrot") {
  if (typeof formula === "object") return formula;
  return /^\w+$/.test(formula) ? { name: formula } : { name: "expression", step: formula };
}

/** What is wrong with an own formula: the text, with its wrong place marked, and why.
 * @param {{text: string, told: string, column?: number|null}} options `told`: by the server */
function Wrong({ text, told, column }) {
  if (!column) return html`<p class="hint wrong" role="alert">${told}</p>`;
  const at = column - 1;
  return html`<div class="hint wrong" role="alert"><code aria-hidden="true">${text.slice(0, at)}<mark>${text[at] ?? "\u00a0"}</mark>${text.slice(at + 1)}</code>
    <p>${told}</p></div>`;
}

export function formulaPanel(
  /** @type {Context} */ { explorer, ui, canvas, space, tried, notify },
) {
  const transforms = signal(
    /** @type {ReturnType<typeof import("./transforms.js").transformsTool>|null} */ (null),
  ); // of a flame: loaded when one is shown
  const load = async () => {
    transforms.value ??= (await import("./transforms.js")).transformsTool({
      explorer,
      canvas,
      tried,
    });
  };
  const { catalog } = explorer;
  const cards = catalog.formulas
    .filter(({ name }) => name !== "expression")
    .sort(byFame)
    .map(({ name, title, meaning, values, group }) => {
      const [first, ...rest] = /^\p{Lu}/u.test(title) ? title.split(", ") : [words(name), title];
      return {
        name,
        first,
        rest: rest.join(", "),
        about: meaning,
        values,
        group,
        found: `${words(name)} ${title} ${group}`.toLowerCase(),
      };
    });
  /** @typedef {(typeof cards)[number]} Listed */
  /** A number of the formula, as a slider, with its tools: nine values of it on this view, another one by chance, a lock. */
  function Tried(
    /** @type {{now: FormulaTable, name: string, label?: string, value: number, usual?: unknown, least: number, most: number, whole?: boolean, hint?: string,
    keys: (value: number) => object}} */ { now, name, label = words(name), keys, ...range },
  ) {
    const put = (/** @type {number} */ value, step = "") =>
      explorer.change({ formula: { ...now, ...keys(value) } }, step);
    const wall = () =>
      tried.open({
        title: label,
        items: nineOf(range).map((value) => ({
          id: String(value),
          title: String(value),
          change: { formula: { ...now, ...keys(value) } },
        })),
        chosen: String(range.value),
        choose: ({ id }) => put(Number(id)),
      });
    const locked = isLocked(now.name, name);
    const tools = html`<${Button} label=${say("nine_values_of", { label })} symbol="gallery" bare kind="quiet" onClick=${wall} />
      <${Button} label=${say("another_value_of", { label })} symbol="dice" bare kind="quiet" disabled=${locked} onClick=${() => put(another(range))} />
      <${Button} label=${say("lock", { label })} symbol="lock" bare kind="quiet" title=${say("lock_dice_and_surprises_leave")} aria-pressed=${String(locked)} onClick=${() => toggleLock(now.name, name)} />`;
    return html`<${Dragged} label=${label} ...${range} tools=${tools} change=${put} />`;
  }
  /** Other values of all numbers that are not locked. @param {FormulaTable} now @param {{name: string, value: number, least: number, most: number, whole?: boolean}[]} numbers */
  const Dice = (now, numbers) =>
    numbers.length > 1 &&
    html`<${Button} label=${say("others_by_chance")} symbol="dice" kind="wide-button" title=${say("other_values_near_these_but")} onClick=${() =>
      explorer.change({
        formula: {
          ...now,
          ...Object.fromEntries(
            numbers
              .filter(({ name }) => !isLocked(now.name, name))
              .map((each) => [each.name, another(each)]),
          ),
        },
      })} />`;

  const groups = Map.groupBy(cards, ({ group }) => group);
  // draft: what is typed, until it is drawn; read: the newest text in Fractint's words, its program, and what Fractint would ask for; wanted: words that a formula is searched by
  const own = observe({
    draft: /** @type {string|null} */ (null),
    waiting: false,
    failed: "",
    column: /** @type {number|null|undefined} */ (null), // of an expression, where it is wrong
    read: /** @type {{text?: string, usual?: string, step?: unknown}} */ ({}),
    wanted: "",
  });
  explorer.addEventListener("placed", () =>
    Object.assign(own, { waiting: false, failed: "", ...(own.waiting && { draft: null }) }),
  );
  explorer.addEventListener("message", ({ detail }) => {
    if (detail.kind !== "error" || !own.waiting) return;
    const { text: failed, column } = detail;
    Object.assign(own, { waiting: false, failed, column });
    detail.told = ui.open === "formula";
  });

  /** Return the program of a formula in Fractint's words; of many the first. @param {string} text @returns {Promise<FormulaTable|null>} */
  async function fractint(text) {
    const file = new File([text], "formula.frm");
    try {
      const found = await sent(file),
        { scene, asked = [] } = /** @type {Received.Uploaded} */ (
          found.scene ? found : await sent(file, found.entries?.[0][0])
        );
      const usual = asked
          .map(([name, value]) => say("name_is", { name, value: String(value) }))
          .join(", "),
        formula = tableOf(scene?.formula);
      own.read = { text, usual, step: formula.step };
      return formula;
    } catch (error) {
      Object.assign(own, { waiting: false, failed: error.message, column: null });
      return null;
    }
  }

  function Own(/** @type {{now: FormulaTable}} */ { now }) {
    const program = now.name === "program",
      read = program && own.read.step === now.step ? own.read : {};
    const text = String(own.draft ?? (program ? read.text : now.step) ?? "z**2 + c");
    const draw = async (/** @type {Event} */ event) => {
      event.preventDefault();
      if (!text.trim()) return;
      Object.assign(own, { draft: text, waiting: true, failed: "" });
      const formula = text.includes("{") ? await fractint(text) : expressionOf(text, now);
      if (formula) explorer.changeFormula(formula);
    };
    const typed = (/** @type {KeyboardEvent} */ event) =>
      event.key === "Enter" && !event.shiftKey && !text.includes("{") && draw(event);
    return html`<form class="stack" onSubmit=${draw}>
      <${Row} label=${say("z_becomes")} hint=${HINT} control=${(
        /** @type {string} */ id,
      ) => html`<textarea class="code" rows=${text.includes("\n") ? 8 : 3} id=${id} spellcheck=${false} autocomplete="off" autocapitalize="off"
        aria-invalid=${String(Boolean(own.failed))} value=${text} onInput=${(
          /** @type {FieldEvent} */ { target },
        ) => {
          own.draft = target.value;
        }} onKeyDown=${typed}></textarea>`} />
      ${read.usual && html`<p class="hint">${say("fractint_asks_for_values_which", { usual: read.usual })}</p>`}
      ${own.failed && html`<${Wrong} text=${text.trim()} told=${own.failed} column=${own.column} />`}
      <div class="line"><${Button} label=${say("draw_it")} kind="primary fixed" type="submit" />
        <p class="hint" role="status">${own.waiting && say("compiling_the_picture_stays_until")}</p></div></form>`;
  }

  /** The formula of an image of points: transforms, or parameters. */
  function Points(
    /** @type {{now: FormulaTable, known?: Received.FormulaFacts}} */ { now, known },
  ) {
    const { scatter = {}, light = {} } = explorer.wished,
      solid = explorer.placed.space,
      put = (/** @type {object} */ changes, step = "") =>
        explorer.change({ formula: { ...now, ...changes } }, step);
    const options = known?.tables
      ? []
      : optionsOf(known).filter(({ type }) => !solid || type === "text");
    /** Return a number with its range; null: it has no slider. @param {OptionOf} option */
    const numberOf = ({ name, default: usual, meaning: hint }) => {
      const value = now[name] ?? usual;
      if (typeof usual !== "number" || typeof value !== "number" || known?.whole.includes(name))
        return null;
      const reach = 2 * Math.max(1, Math.abs(usual)),
        [least, most] =
          name === "turn" || name === "tilt" ? [-180, 180] : [usual - reach, usual + reach];
      return {
        name,
        value,
        usual,
        least: Math.min(least, value),
        most: Math.max(most, value),
        hint,
      };
    };
    const numbers = [
      ...options.map(numberOf).filter((each) => each !== null),
      ...(solid?.knobs ?? []).map(({ meaning: hint, ...knob }) => ({
        ...knob,
        ...(typeof known?.options?.[knob.name] === "number" && { usual: known.options[knob.name] }),
        hint,
      })),
    ];
    const knob = (/** @type {(typeof numbers)[number]} */ each) =>
      html`<${Tried} key=${each.name} now=${now} ...${each} keys=${(/** @type {number} */ given) => ({ [each.name]: given })} />`;
    const field = (/** @type {OptionOf} */ option) => {
      const { name, default: usual } = option,
        type = typeof usual === "boolean" ? "bool" : option.type;
      return (
        !numberOf(option) &&
        html`<${OptionField} key=${name} option=${{ ...option, type }} value=${now[name] ?? usual} put=${(/** @type {unknown} */ given) => put({ [name]: given })} />`
      );
    };
    return html`${known?.tables ? html`<${Flame} />` : html`<${Section} title=${say("parameters")}><p class="hint">${known?.meaning}</p>${options.map(field)}${numbers.map(knob)}${Dice(now, numbers)}<//>`}
      ${
        !solid &&
        html`<${Section} title=${say("points")}><${Slider} label=${say("quality")} value=${qualityOf(scatter, now.name)} least=${1} most=${2000} log hint=${say("points_for_each_pixel")}
        put=${(/** @type {number} */ quality) => explorer.change({ scatter: { ...scatter, quality: Math.max(quality, 0.01) } })} /><//>`
      }
      ${
        solid &&
        html`${explorer.placed.camera && html`<${Camera} explorer=${explorer} space=${space} />`}<${Section} title=${say("samples")}><${Slider} label=${say("samples")} usual="auto" value=${light.samples ?? "auto"} auto=${solid.samples} least=${1} most=${4096} log
        hint=${say("paths_of_light_for_each")} put=${(/** @type {number|"auto"} */ samples) => explorer.change({ light: { ...light, samples: samples === "auto" ? samples : Math.max(1, Math.round(samples)) } })} /><//>`
      }`;
  }

  /** A slider for each parameter of a formula that the user wrote: another value compiles nothing. */
  function Parameters(/** @type {{now: FormulaTable}} */ { now }) {
    const slider = (
      /** @type {ReturnType<typeof parametersOf>[number]} */ { name, text, part, value },
    ) => {
      const reach = Math.max(2, 2 ** Math.ceil(Math.log2(Math.abs(value)))),
        power = new RegExp(`(\\*\\*|\\^)\\s*-?\\s*${name}\\b`).test(String(now.step)),
        keys = (/** @type {number} */ given) => ({
          [name]: part === null ? given : /** @type {number[]} */ (now[name]).with(part, given),
        });
      return html`<${Tried} key=${text} now=${now} name=${name} label=${text} value=${value} least=${-reach} most=${reach}
        whole=${power && Number.isInteger(value)} keys=${keys} />`;
    };
    const found = parametersOf(now);
    return (
      found.length > 0 && html`<${Section} title=${say("parameters")}>${found.map(slider)}<//>`
    );
  }

  /** All formulas by their groups, or those whose name, title or group has each of the words that are searched. */
  function Formulas(/** @type {{now: FormulaTable}} */ { now }) {
    const wanted = own.wanted.toLowerCase().split(/\s+/),
      fits = (/** @type {{found: string}} */ { found }) =>
        wanted.every((word) => found.includes(word));
    const choose = (/** @type {{name: string, values: boolean}} */ { name, values }) =>
      values === explorer.placed?.values
        ? explorer.changeFormula(name)
        : explorer.open({ formula: name });
    // Of the same kind as this picture: what can be tried on this view.
    const isAlike = (/** @type {Listed} */ { name, values }) =>
      values && explorer.placed?.values && name !== now.name;
    const itemOf = (/** @type {Listed} */ { name, first, about }) => ({
      id: name,
      title: first,
      about,
      change: { formula: name, title: "" },
    });
    const found = cards.filter((card) => fits(card) && isAlike(card));
    const points = (/** @type {Listed} */ card) =>
      isAlike(card) &&
      pointed(
        card.name,
        () => tried.show(itemOf(card), undefined, { fit: true, rest: COMPILED_MS }),
        tried.hide,
      );
    const wall = () =>
      tried.open({
        title: say("formulas"),
        items: found.map(itemOf),
        fit: true,
        choose: ({ id }, made) =>
          made
            ? explorer.open({ scene: { ...made.scene, image: explorer.scene.image } })
            : explorer.changeFormula(id),
      });
    return html`<input type="search" placeholder=${say("search")} aria-label=${say("search_the_formulas")} value=${own.wanted} onInput=${(
      /** @type {FieldEvent} */ { target },
    ) => {
      own.wanted = target.value;
    }} />
      <p class="hint" role="status">${cards.some(fits) ? html`<${Coming} />` : say("no_formula_has_these_words")}</p>
      ${found.length > 1 && html`<${Button} label=${say("wall_of_nine")} symbol="gallery" kind="wide-button" title=${say("large_pictures_of_this_view")} onClick=${wall} />`}
      ${[...groups]
        .filter(([, members]) => members.some(fits))
        .map(
          ([group, members]) => html`<h3 key=${group} class="group">${group}</h3>
        <ul key=${`${group} cards`} class="cards small" aria-label=${group}>${members
          .filter(fits)
          .map(
            (card) => html`<li key=${card.name}>
          <${Card} title=${card.first} below=${card.rest} about=${card.about} aria-pressed=${String(card.name === now.name)} onClick=${() => (tried.hide(), choose(card))} ...${points(card)}>
            <${Thumbnail} src=${`/thumbnail/formula/${card.name}`} /><//></li>`,
          )}</ul>`,
        )}`;
  }

  function View() {
    const now = tableOf(explorer.wished?.formula),
      known = catalog.formulas.find(({ name }) => name === now.name);
    const options = now.name === "expression" ? [] : optionsOf(known);
    const points = explorer.placed?.values === false && !explorer.wished?.relief; // an image of points
    return html`<div>
      ${points && html`<${Points} now=${now} known=${known} />`}
      ${!points && html`<${Section} title=${say("your_own")}><${Own} now=${now} /><//><${Parameters} now=${now} />`}
      ${
        now.name === "program" &&
        html`<${Section} title=${say("program")}>${Object.entries(PROGRAM).map(
          ([name, meaning]) => html`<${OptionField} key=${name}
        option=${{ name, type: "text", default: "", meaning }} value=${now[name] ?? ""} put=${(/** @type {string} */ text) => explorer.changeFormula({ ...now, [name]: text })} />`,
        )}<//>`
      }
      ${
        !points &&
        options.length > 0 &&
        html`<${Section} title=${say("options")}><p class="hint">${known?.meaning}</p>${options.map(
          (option) => html`<${OptionField} key=${`${now.name} ${option.name}`} option=${option}
        value=${now[option.name] ?? option.default} put=${(/** @type {unknown} */ value) => explorer.changeFormula({ ...now, [option.name]: value })} />`,
        )}<//>`
      }
      <${Section} title=${say("formulas")}><${Formulas} now=${now} /><//></div>`;
  }
  /** The transforms of a flame, once their code is there. */
  function Flame() {
    useEffect(() => void load().catch(() => notify(UNLOADED, "error")), []);
    return transforms.value && html`<${transforms.value.Fields} />`;
  }
  const Over = () => transforms.value && html`<${transforms.value.Handles} />`;
  return { View, Over, hidden: () => tried.end() };
}
