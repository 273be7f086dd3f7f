/** The table [relief] of an escape-time scene: ground in the sun. */
import { html } from "../html.js";
import { observe } from "../state.js";
import { Slider } from "../slider.js";
import { Section, Select, words } from "../ui.js";
import { Daylight } from "./daylight.js";
import { say } from "../words.js";

/** Ranges of the sliders; the fields beside them take all that a scene takes. */
const RANGES = /** @type {["rise"|"tilt", number, number][]} */ ([
  ["rise", -0.5, 0.5],
  ["tilt", 0, 80],
]);
const NORTH = { position: [0, -1, 0], target: [0, 0, 0], up: [0, 0, 1] }; // what is ahead on the dome of the sun
const own = observe({ drags: 0 });

export function Relief(/** @type {{explorer: import("../explorer.js").Explorer}} */ { explorer }) {
  const known = explorer.catalog.schema.$defs.Relief.properties;
  const given = /** @type {Required<Scenes.Relief>} */ ({
    ...Object.fromEntries(Object.entries(known).map(([name, each]) => [name, each.default])),
    ...explorer.wished.relief,
  });
  const put = (/** @type {Scenes.Relief} */ values, step = "") =>
    explorer.changeIn("relief", values, step);
  return html`<${Section} title=${say("relief")} open=${given.heights !== "none"}>
    <${Select} label=${say("heights")} choices=${known.heights.enum ?? []} value=${given.heights} put=${(/** @type {Scenes.Relief["heights"]} */ heights) => put({ heights })} />
    ${RANGES.map(
      ([
        name,
        least,
        most,
      ]) => html`<${Slider} key=${name} label=${words(name)} value=${given[name]} usual=${known[name].default} least=${least} most=${most} hint=${known[name].description}
      live=${(/** @type {number} */ now) => put({ [name]: now }, `gesture ${name} ${own.drags}`)} put=${(/** @type {number} */ now) => put({ [name]: now }, `gesture ${name} ${own.drags++}`)} />`,
    )}<//>
    ${explorer.placed.sun && html`<${Daylight} explorer=${explorer} space=${{ ...NORTH, sun: explorer.placed.sun }} />`}`;
}
