/** Entry of the page: makes the model, the canvas and the panels. */
import { Explorer } from "./explorer.js";
import { mountPanels } from "./panels/index.js";

const explorer = new Explorer();
Object.assign(window, { explorer });
mountPanels(explorer);
