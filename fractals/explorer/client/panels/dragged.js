/** A slider whose drag is one step of undo. */
import { html } from "../html.js";
import { Slider } from "../slider.js";

let drags = 0;

/** @param {{label: string, value: number, usual?: unknown, least: number, most: number, change: (value: number, step: string) => void,
 *   whole?: boolean, hint?: string, tools?: unknown}} options `change` gets the name of the step, too */
export const Dragged = ({ label, change, whole = false, ...rest }) =>
  html`<${Slider} label=${label} step=${whole ? 1 : 0} ...${rest}
    live=${(/** @type {number} */ now) => change(now, `gesture ${label} ${drags}`)} put=${(/** @type {number} */ now) => change(now, `gesture ${label} ${drags++}`)} />`;
