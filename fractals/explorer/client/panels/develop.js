/** How light becomes the picture: the table [develop] of the scene, for images of every family. */
import { html } from "../html.js";
import { nameOf } from "../points.js";
import { observe } from "../state.js";
import { Slider } from "../slider.js";
import { Section, Select, words } from "../ui.js";
import { say } from "../words.js";

/** Ranges of the sliders; the fields beside them take all that a scene takes. */
const RANGES = /** @type {const} */ ({
  exposure: [0.05, 20, true],
  bloom: [0, 3, false],
  bloom_threshold: [0, 4, false],
  bloom_radius: [0.005, 0.3, true],
  vignette: [0, 1, false],
  grain: [0, 0.3, false],
});
const NAMES = /** @type {(keyof typeof RANGES)[]} */ (Object.keys(RANGES));
const own = observe({ drags: 0 });

export function Develop(/** @type {{explorer: import("../explorer.js").Explorer}} */ { explorer }) {
  const { schema } = explorer.catalog,
    known = schema.$defs.Develop.properties,
    scene = explorer.wished;
  const given = /** @type {Required<Scenes.Develop>} */ ({
    ...Object.fromEntries(Object.entries(known).map(([name, each]) => [name, each.default])),
    ...scene.develop,
  });
  const put = (/** @type {Scenes.Develop} */ values, step = "") =>
    explorer.changeIn("develop", values, step);
  const formula = nameOf(scene.formula),
    usual = explorer.catalog.formulas.find(({ name }) => name === formula)?.exposure ?? 1;
  const field = (/** @type {keyof typeof RANGES} */ name) => {
    const [least, most, log] = RANGES[name],
      chosen = given[name],
      value = chosen === "auto" ? usual : chosen;
    return html`<${Slider} key=${name} label=${words(name)} value=${value} usual=${known[name].default} least=${least} most=${most} log=${log} hint=${known[name].description}
      live=${(/** @type {number} */ now) => put({ [name]: now }, `gesture ${name} ${own.drags}`)} put=${(/** @type {number} */ now) => put({ [name]: now }, `gesture ${name} ${own.drags++}`)} />`;
  };
  return html`<${Section} title=${say("develop")} open=${false}>
    <${Select} label=${say("curve")} choices=${explorer.catalog.curves} value=${given.curve} put=${(/** @type {Scenes.Develop["curve"]} */ curve) => put({ curve })} />
    ${NAMES.map(field)}<//>`;
}
