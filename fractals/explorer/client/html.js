/** Components, and the state that they are functions of: what panels use of the libraries in `lib/`. */
import htm from "./lib/htm.js";
import { h } from "./lib/preact.js";

export { useEffect, useLayoutEffect, useRef } from "./lib/hooks.js";
export { render } from "./lib/preact.js";
export { effect, signal, untracked, useSignal, useSignalEffect } from "./lib/signals.js";

/** Return the nodes of a template. Text enters the page as text nodes only. */
export const html = htm.bind(h);
