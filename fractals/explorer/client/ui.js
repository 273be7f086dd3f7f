/** Icons and form fields. Each field shows what it is given; only what is being typed or dragged is its own. */
import { html, useLayoutEffect, useRef, useSignal } from "./html.js";
import { kept, observe } from "./state.js";
import { say, words } from "./words.js";

export { words };

/** Outlines on a grid of 24 x 24. */
/** @type {Record<string, string>} */
const ICONS = {
  gallery: "M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z",
  color:
    "M12 3.5c3.2 3.7 6 7 6 10.300a6 6 0 0 1-12 0C6 10.500 8.800 7.200 12 3.500zM9 14a3 3 0 0 0 3 3",
  formula:
    "M15.500 5.200c-2.300-1-3.600.2-4 2.600L9.700 17c-.4 2.200-1.700 3.100-3.700 2.400M8 10.500h6M14.500 14l4.500 5M19 14l-4.500 5",
  find: "M10.500 10.500m-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0M15 15l5 5",
  inspect: "M12 12m-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0M12 3v5M12 16v5M3 12h5M16 12h5",
  surprise:
    "M12 3l1.900 5.600L19.500 10.500l-5.600 1.900L12 18l-1.900-5.600L4.500 10.500l5.600-1.900zM18.500 16v4M16.500 18h4M5.500 16.500v3M4 18h3",
  bookmark: "M7 4h10v16l-5-4-5 4z",
  share:
    "M10 14a4 4 0 0 0 5.700 0l3-3a4 4 0 0 0-5.700-5.700l-1.200 1.200M14 10a4 4 0 0 0-5.700 0l-3 3a4 4 0 0 0 5.700 5.700l1.200-1.200",
  film: "M4 5h16v14H4zM8.500 5v14M15.500 5v14M4 9.700h4.500M4 14.300h4.500M15.500 9.700H20M15.500 14.300H20",
  export: "M12 4v11M7.500 10.500L12 15l4.500-4.500M5 19.500h14",
  help: "M9.200 9a2.900 2.900 0 1 1 4.500 2.500c-1.100.7-1.700 1.200-1.700 2.500M12 17.500v.1",
  undo: "M8 6L4 10l4 4M4 10h10a5 5 0 0 1 0 10h-3",
  redo: "M16 6l4 4-4 4M20 10H10a5 5 0 0 0 0 10h3",
  home: "M4 11.500L12 5l8 6.500M6.500 10v9h11v-9M10.500 19v-5h3v5",
  more: "M5.500 12h.1M12 12h.1M18.500 12h.1",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  up: "M12 19V6M6.500 11L12 5.500l5.500 5.500",
  down: "M12 5v13M6.500 13l5.500 5.500 5.500-5.500",
  trash: "M5 7h14M10 7V4.500h4V7M7 7l.8 12.500h8.400L17 7M10.500 10.500v6M13.500 10.500v6",
  star: "M12 4l2.500 5.200 5.700.8-4.100 4 1 5.700-5.100-2.700-5.100 2.700 1-5.700-4.100-4 5.700-.8z",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  edit: "M5 19l1-4L16 5l3 3L9 18zM14 7l3 3",
  check: "M5 12.500l5 5 9-11",
  compass: "M12 3l4 9h-8zM8 12h8l-4 9z",
  full: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  beside: "M4 5h16v14H4zM12 3v18M15 9h2M15 12h2M15 15h2",
  compare:
    "M2.500 12c2.500-4 5.500-6 9.500-6s7 2 9.500 6c-2.500 4-5.500 6-9.500 6s-7-2-9.500-6zM12 12m-2.800 0a2.800 2.800 0 1 0 5.600 0a2.800 2.800 0 1 0-5.600 0",
  grip: "M9 6.500h.1M15 6.500h.1M9 12h.1M15 12h.1M9 17.500h.1M15 17.500h.1",
  hide: "M4 12c2.500-4 5-6 8-6s5.500 2 8 6c-2.500 4-5 6-8 6s-5.500-2-8-6zM4 20L20 4",
  past: "M12 12m-8 0a8 8 0 1 0 16 0a8 8 0 1 0-16 0M12 7.500v5l3.500 2",
  swap: "M4 9h14l-3.500-3.500M20 15H6l3.500 3.500",
  branch:
    "M7 8v8M7 5.500m-2.200 0a2.200 2.200 0 1 0 4.400 0a2.200 2.200 0 1 0-4.400 0M7 18.500m-2.200 0a2.200 2.200 0 1 0 4.400 0a2.200 2.200 0 1 0-4.400 0M17 8.500m-2.200 0a2.200 2.200 0 1 0 4.400 0a2.200 2.200 0 1 0-4.400 0M17 10.700c0 3-3 3.300-6 3.600-2 .2-4 .7-4 1.700",
  back: "M11 6l-6 6 6 6M5 12h14",
  lock: "M5.500 11h13v9h-13zM8 11V8a4 4 0 0 1 8 0v3",
  dice: "M5 5h14v14H5zM9 9h.1M15 9h.1M12 12h.1M9 15h.1M15 15h.1",
  next: "M13 6l6 6-6 6M19 12H5",
};

/** An icon, hidden from screen readers: its button has a name. */
export const Icon = (/** @type {{name: string}} */ { name }) =>
  html`<svg viewBox="0 0 24 24" aria-hidden="true" class="icon"><path d=${ICONS[name]} /></svg>`;

/** A button with text, an icon, or both; if `bare`, an icon alone, whose name is `label`. */
export function Button(
  /** @type {{label: string, symbol?: string, bare?: boolean, kind?: string} & Attributes} */ {
    label,
    symbol = "",
    bare = false,
    kind = "",
    ...rest
  },
) {
  return html`<button type="button" class=${`${kind}${bare ? " bare" : ""}`} aria-label=${bare ? label : undefined} title=${bare ? label : undefined} ...${rest}>
    ${symbol && html`<${Icon} name=${symbol} />`}${!bare && html`<span>${label}</span>`}
  </button>`;
}

/** A button that opens a file: dropping one needs a mouse. */
export function FileButton(
  /** @type {{label: string, take: (file: File) => void, kind?: string, accept?: string} & Attributes} */ {
    label,
    take,
    kind = "",
    accept = "",
    ...rest
  },
) {
  let input = /** @type {HTMLInputElement|null} */ (null);
  const chosen = (/** @type {FieldEvent} */ { target }) => {
    if (target.files?.[0]) take(target.files[0]);
    target.value = "";
  };
  return html`<span class="file-button"><${Button} label=${label} kind=${kind} onClick=${() => input?.click()} ...${rest} />
    <input type="file" class="file" accept=${accept || undefined} tabindex="-1" aria-hidden="true" ref=${(
      /** @type {HTMLInputElement} */ made,
    ) => {
      input = made;
    }} onChange=${chosen} /></span>`;
}

export const idOf = (/** @type {string} */ label) => `field-${label.replaceAll(" ", "-")}`; // one panel is open, and its labels differ

/** A labelled row. @param {{label: string, hint?: string, control: (id: string) => unknown}} options */
export const Row = ({
  label,
  hint = "",
  control,
}) => html`<div class="row"><div class="row-head"><label for=${idOf(label)}>${label}</label></div>
  ${control(idOf(label))}${hint && html`<p class="hint">${hint}</p>`}</div>`;

export const asText = (/** @type {string} */ text) => /** @type {Read} */ ({ value: text });

/** A field of text that is put when the user is done; until then it keeps what is typed, and it keeps what is wrong.
 * `read` says what is put, or what is wrong; `told` hears whether something is wrong. */
export function TextField(
  /** @type {{value: string|number, put: (value: any) => void, read?: (text: string) => Read, told?: (wrong: boolean) => void} & Attributes} */ {
    value,
    put,
    read = asText,
    told = () => {},
    ...rest
  },
) {
  const draft = useSignal(/** @type {string|null} */ (null)),
    wrong = useSignal(""),
    field = useRef(/** @type {HTMLInputElement|null} */ (null)),
    { current: own } = field,
    marked = own?.value && own.selectionEnd === own.value.length && !own.selectionStart;
  // What is typed takes the place of all that was selected, also where another value has come since.
  useLayoutEffect(() => {
    if (marked && own === document.activeElement) own?.select();
  }, [value]);
  const judge = (/** @type {string} */ words) => {
    wrong.value = words;
    told(words !== "");
  };
  const done = (/** @type {FieldEvent} */ { target }) => {
    const typed = target.value,
      found = read(typed);
    draft.value = found.wrong ? typed : null;
    judge(found.wrong ?? "");
    if (!found.wrong) put(found.value);
  };
  const leave = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || draft.value === null) return;
    event.preventDefault(); // it ends the typing, and no more
    draft.value = null;
    judge("");
  };
  return html`<input type="text" ref=${field} spellcheck=${false} autocomplete="off" value=${draft.value ?? value} data-idle=${draft.value === null ? "true" : undefined} onKeyDown=${leave}
    aria-invalid=${wrong.value ? "true" : undefined} onInput=${(
      /** @type {FieldEvent} */ { target },
    ) => {
      draft.value = target.value;
      if (wrong.value) judge(read(target.value).wrong ?? "");
    }} onChange=${done} onBlur=${() => {
      if (!wrong.value) draft.value = null;
    }} ...${rest} />${wrong.value && html`<p class="hint wrong" role="alert">${wrong.value}</p>`}`;
}

/** A drop-down list; choices are texts or [value, text]. */
export const Select = (
  /** @type {{label: string, choices: Choices, value: any, hint?: string, put: (name: any) => void}} */ {
    label,
    choices,
    value,
    hint,
    put,
  },
) =>
  html`<${Row} label=${label} hint=${hint} control=${(
    /** @type {string} */ id,
  ) => html`<select id=${id} value=${value} onChange=${(/** @type {FieldEvent} */ { target }) => put(target.value)}>
  ${pairs(choices).map(([name, text]) => html`<option key=${name} value=${name}>${text}</option>`)}</select>`} />`;

/** A group of buttons of which one is pressed. */
export const Segments = (
  /** @type {{label: string, choices: Choices, value: any, put: (name: any) => void}} */ {
    label,
    choices,
    value,
    put,
  },
) => html`<div class="segments" role="group" aria-label=${label}>
  ${pairs(choices).map(([name, text]) => html`<${Button} key=${name} label=${text} aria-pressed=${String(name === value)} onClick=${() => put(name)} />`)}</div>`;

const pairs = (/** @type {Choices} */ choices) =>
  choices.map((choice) => (typeof choice === "string" ? [choice, words(choice)] : choice));

/** A switch with its label. `about`: what it does, for the help */
export const Toggle = (
  /** @type {{label: string, value: boolean, about?: string, put: (on: boolean) => void}} */ {
    label,
    value,
    about,
    put,
  },
) => html`<label class="toggle" data-about=${about}><span>${label}</span>
  <input type="checkbox" role="switch" class="switch" checked=${value} onChange=${(/** @type {FieldEvent} */ { target }) => put(target.checked)} /></label>`;

const NO_FOLDS = /** @type {Record<string, boolean>} */ ({}); // title of a part of a panel -> whether it is unfolded
const MOST_STILLS = 400; // addresses of small pictures: 200 steps of undo, and others

/** A foldable part of a panel; it stays as the user left it, in this browser. `name`: where another panel has a part of this title */
export const Section = (
  /** @type {{title: string, name?: string, open?: boolean, unfold?: () => void, children?: unknown}} */ {
    title,
    name = title,
    open = true,
    unfold = () => {},
    children,
  },
) => html`<details class="section" open=${kept.get("folds", NO_FOLDS)[name] ?? open}
  onToggle=${(/** @type {FieldEvent<HTMLDetailsElement>} */ { target }) => {
    const folds = kept.get("folds", NO_FOLDS);
    if ((folds[name] ?? open) !== target.open) kept.set("folds", { ...folds, [name]: target.open });
    if (target.open) unfold();
  }}><summary>${title}</summary><div class="stack">${children}</div></details>`;

/** A bar of progress and its text. @param {{told: {share: number|null, text: string}|null, cancel: () => void}} options
 * `share` null: of unknown length */
export const Progress = ({ told, cancel }) => html`<div class="progress" hidden=${!told}>
  <progress key=${told?.share === null} max="1" aria-label=${say("progress")} value=${told?.share === null ? undefined : told && Math.min(1, told.share)} />
  <div class="line"><span class="grow">${told?.text}</span><${Button} label=${say("cancel")} kind="quiet" onClick=${cancel} /></div></div>`;

/** A copy of a canvas. */
export const Drawn = (/** @type {{picture: HTMLCanvasElement|ImageBitmap}} */ { picture }) =>
  html`<canvas width=${picture.width} height=${picture.height} ref=${(/** @type {HTMLCanvasElement|null} */ made) => made?.getContext("2d")?.drawImage(picture, 0, 0)} />`;

const addresses = new Map();

/** A small picture that was kept as text, "data:image/jpeg;base64,...": the page may show its own blobs only. */
export function Still(/** @type {{src: string} & Attributes} */ { src, ...rest }) {
  if (!addresses.has(src)) {
    const bytes = Uint8Array.from(atob(src.slice(src.indexOf(",") + 1)), (letter) =>
      letter.charCodeAt(0),
    );
    addresses.set(src, URL.createObjectURL(new Blob([bytes], { type: "image/jpeg" })));
    const [oldest] = addresses.keys();
    if (addresses.size > MOST_STILLS) {
      URL.revokeObjectURL(addresses.get(oldest));
      addresses.delete(oldest);
    }
  }
  return html`<img alt="" src=${addresses.get(src)} ...${rest} />`;
}

/** Let the element of an event get all events of its pointer, until that is let go. */
export const captured = (/** @type {PointerEvent} */ { currentTarget, pointerId }) =>
  /** @type {Element} */ (currentTarget).setPointerCapture(pointerId);

/** Follow the pointer of an event while it is held. @param {Pick<PointerEvent, "currentTarget"|"pointerId">} event @param {(moved: PointerEvent) => void} move @param {() => void} [ended] */
export function whileHeld(event, move, ended = () => {}) {
  const target = /** @type {HTMLElement} */ (event.currentTarget),
    { pointerId } = event,
    held = new AbortController();
  target.setPointerCapture(pointerId);
  target.addEventListener("pointermove", move, held);
  // The document hears it of an element that is gone, too.
  document.addEventListener(
    "lostpointercapture",
    (lost) => {
      if (lost.pointerId !== pointerId) return;
      held.abort();
      ended();
    },
    held,
  );
}

const ARROWS = /** @type {Record<string, number[]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
});
const NUDGE = 4; // CSS pixels
let drags = 0;

/** A point over the picture. @param {{label: string, kind: string, at: number[], style?: Record<string, unknown>, put: (at: number[], step: string) => void}} options
 * `at`: CSS pixels; `put` gets where it was dragged or moved by an arrow key, and the name of this step of undo */
export function Knob({ label, kind, at, style = {}, put }) {
  const grab = (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    const step = `gesture point ${(drags += 1)}`,
      off = [event.clientX - at[0], event.clientY - at[1]];
    whileHeld(event, ({ clientX, clientY }) => put([clientX - off[0], clientY - off[1]], step));
  };
  const nudge = (/** @type {KeyboardEvent} */ event) => {
    const by = ARROWS[event.key];
    if (!by) return;
    event.preventDefault();
    put(
      at.map((part, k) => part + NUDGE * by[k]),
      "point",
    );
  };
  return html`<button type="button" class=${kind} aria-label=${say("drag_or_press_arrow_keys", { label })} style=${{ left: `${at[0]}px`, top: `${at[1]}px`, ...style }} onPointerDown=${grab} onKeyDown=${nudge}></button>`;
}

/** A button with a picture and a name. */
export const Card = (
  /** @type {{title: string, children?: unknown, below?: string, about?: string} & Attributes} */ {
    title,
    children,
    below = "",
    about,
    ...rest
  },
) => html`<button type="button" class="card" title=${about} ...${rest}>${children}
  <span class="caption">${title}</span>${below && html`<span class="faint mono">${below}</span>`}</button>`;

const RETRIES = 30; // of a thumbnail that the server has not drawn yet
const AT_ONCE = 3; // of the 6 connections that a browser opens: uploads and downloads need the others
const queue = /** @type {HTMLImageElement[]} */ ([]); // thumbnails that are in view
const loaded = new Set();
const pictures = observe({ wanted: 0, there: 0 }); // those that came into view, since all were there
let loading = 0;
const inView = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    inView.unobserve(target);
    pictures.wanted += 1;
    queue.push(/** @type {HTMLImageElement} */ (target));
  }
  loadNext();
});

function loadNext() {
  while (loading < AT_ONCE && queue.length) {
    const image = /** @type {HTMLImageElement} */ (queue.shift());
    if (!image.isConnected) {
      pictures.wanted -= 1; // its panel was closed
      continue;
    }
    loading += 1;
    image.counted = true;
    image.src = image.dataset.src ?? "";
  }
}

/** Stay the same function, or each rendering would watch the image again. */
const watch = (/** @type {HTMLImageElement} */ image) =>
  image && !image.src && inView.observe(image);

function ended(/** @type {FieldEvent<HTMLImageElement>} */ { target }, there = true) {
  if (target.counted) {
    loading -= 1;
    if (there) pictures.there += 1;
    else pictures.wanted -= 1; // it comes again
  }
  target.counted = false;
  loadNext();
  if (!loading && !queue.length) Object.assign(pictures, { wanted: 0, there: 0 });
}

/** How many small pictures have come, of those in view: a slow server draws some of them first. */
export const Coming = () =>
  html`<span class="faint late" role="status">${pictures.there < pictures.wanted && say("of_pictures", { there: pictures.there, wanted: pictures.wanted })}</span>`;

/** A picture. The server may have to draw it first; busy, it asks to come back. */
export function Thumbnail(/** @type {{src: string}} */ { src }) {
  const known = useSignal(loaded.has(src)).peek();
  const arrived = (/** @type {FieldEvent<HTMLImageElement>} */ event) => {
    event.target.classList.remove("waiting");
    loaded.add(src);
    ended(event);
  };
  const again = (/** @type {FieldEvent<HTMLImageElement>} */ event) => {
    const { target } = event;
    target.removeAttribute("src");
    target.left = (target.left ?? RETRIES) - 1;
    if (target.left) setTimeout(() => inView.observe(target), 1500 + 1500 * Math.random());
    ended(event, false);
  };
  return html`<img class="waiting" alt="" decoding="async" width="256" height="144" src=${known ? src : undefined} data-src=${src} ref=${watch} onLoad=${arrived} onError=${again} />`;
}

/** Copy a text, and say so. */
export async function copyText(
  /** @type {string} */ text,
  /** @type {(text: string, kind?: string) => void} */ notify,
) {
  const done = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if (done ?? copiedByCommand(text)) notify(say("copied"));
  else notify(say("the_browser_does_not_allow_copying"), "error");
}

/** Copy a text in a page that has no clipboard: one of another machine without HTTPS. @param {string} text */
function copiedByCommand(text) {
  const field = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  const before = /** @type {HTMLElement|null} */ (document.activeElement);
  Object.assign(field.style, { position: "fixed", opacity: "0" });
  document.body.append(field);
  field.focus({ preventScroll: true });
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  before?.focus({ preventScroll: true });
  return done;
}

/** Have the browser save a text as a file. */
export function download(/** @type {string} */ name, /** @type {string} */ text) {
  const link = Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(new Blob([text], { type: "application/toml" })),
    download: name,
  });
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Return text with "1.2 s", "3 min" or "2.5 h". */
export function duration(/** @type {number} */ seconds) {
  if (seconds < 100) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export function bytes(/** @type {number} */ count) {
  const [unit, size] = /** @type {[string, number][]} */ ([
    ["kB", 1e3],
    ["MB", 1e6],
    ["GB", 1e9],
  ])[Number(count >= 1e6) + Number(count >= 1e9)];
  return `${Number((count / size).toPrecision(2))} ${unit}`;
}

/** Return whether panels are sheets that cover the middle of the picture. */
export const narrow = () => matchMedia("(max-width: 700px) and (max-aspect-ratio: 3/2)").matches;

/** Return whether the page is touched: there is no pointer that rests on it. */
export const touched = () => matchMedia("(hover: none)").matches;

/** Return whether the user asked for less motion. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
