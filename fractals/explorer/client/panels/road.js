/** The road from a picture of the gallery to a poster: four panels, in their order. */
import { html } from "../html.js";
import { Segments } from "../ui.js";

const STATIONS = [
  ["gallery", "Choose"],
  ["surprise", "Vary"],
  ["color", "Color"],
  ["export", "Print"],
];

/** @param {{at: string, open: (id: string) => void}} options */
export const Road = ({ at, open }) =>
  html`<div class="road" data-about="The road from a picture to a poster: choose a scene, vary it, color it, print it"><${Segments} label="From a picture to a poster" choices=${STATIONS} value=${at} put=${(/** @type {string} */ id) => id !== at && open(id)} /></div>`;
