/** Elements, icons and form fields. Text enters the page as text nodes only. */

/**
 * Return an element with properties and children.
 * @param {string} tag a tag name, with classes after dots: "button.primary"
 * @param {Object<string, any>} [properties] `on...` listeners, `style` and `dataset` objects,
 *   `aria-...` and other attributes, or properties of the element; null and false are left out
 * @param {...(Node|string|number|null|false|Array)} children
 */
export function element(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "style") for (const rule in value) made.style.setProperty(rule, value[rule]);
    else if (key === "dataset") Object.assign(made.dataset, value);
    else if (key in made && !key.startsWith("aria")) made[key] = value;
    else made.setAttribute(key, value === true ? "true" : value);
  }
  made.append(...children.flat(3).filter((child) => child || child === 0 || child === ""));
  return made;
}

/** Outlines on a grid of 24 x 24. */
const ICONS = {
  gallery: "M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z",
  color: "M12 3.5c3.2 3.7 6 7 6 10.300a6 6 0 0 1-12 0C6 10.500 8.800 7.200 12 3.500zM9 14a3 3 0 0 0 3 3",
  formula: "M15.500 5.200c-2.300-1-3.600.2-4 2.600L9.700 17c-.4 2.200-1.700 3.100-3.700 2.400M8 10.500h6M14.500 14l4.500 5M19 14l-4.500 5",
  find: "M10.500 10.500m-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0M15 15l5 5",
  inspect: "M12 12m-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0M12 3v5M12 16v5M3 12h5M16 12h5",
  surprise: "M12 3l1.900 5.600L19.500 10.500l-5.600 1.900L12 18l-1.900-5.600L4.500 10.500l5.600-1.900zM18.500 16v4M16.500 18h4M5.500 16.500v3M4 18h3",
  bookmark: "M7 4h10v16l-5-4-5 4z",
  share: "M10 14a4 4 0 0 0 5.700 0l3-3a4 4 0 0 0-5.700-5.700l-1.200 1.200M14 10a4 4 0 0 0-5.700 0l-3 3a4 4 0 0 0 5.700 5.700l1.200-1.200",
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
  swap: "M4 9h14l-3.500-3.500M20 15H6l3.500 3.500",
  back: "M11 6l-6 6 6 6M5 12h14",
};

/** Return an icon, hidden from screen readers: its button has a name. */
export function icon(name) {
  const SVG = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of [["viewBox", "0 0 24 24"], ["aria-hidden", "true"], ["class", "icon"]])
    svg.setAttribute(key, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Return a button with text, an icon, or both; an icon alone has `label` as its name. */
export function button(label, onclick, { kind = "", symbol = "", bare = false, ...rest } = {}) {
  return element(
    `button${kind && "." + kind.replaceAll(" ", ".")}${bare ? ".bare" : ""}`,
    { type: "button", onclick, ...(bare && { "aria-label": label }), title: bare ? label : null, ...rest },
    symbol && icon(symbol),
    bare ? null : element("span", {}, label),
  );
}

let fields = 0;

/** Return a labelled row for a control, which gets an id. */
export function row(label, control, { value = null, hint = "" } = {}) {
  const focusable = control.matches("input, select, textarea") ? control : control.querySelector("input, select, textarea");
  if (focusable) focusable.id ||= `field-${(fields += 1)}`;
  return element(
    "div.row",
    {},
    element("div.row-head", {}, element("label", { htmlFor: focusable?.id ?? "" }, label), value),
    control,
    hint && element("p.hint", {}, hint),
  );
}

/**
 * A slider with its value as a number field beside the label.
 * @param {{label: string, value: number, least: number, most: number, step?: number, log?: boolean,
 *   hint?: string, digits?: number, oninput: (value: number) => void,
 *   onchange?: (value: number) => void}} options `log`: equal steps are equal factors; values up to
 *   0 then lie at the left end
 */
export function slider({ label, value, least, most, step = 0, log = false, hint = "", digits = 3, oninput, onchange = oninput }) {
  const place = (number) => (log ? Math.log(Math.max(number, least) / least) / Math.log(most / least) : number);
  const number = (at) => (log ? least * (most / least) ** at : at);
  const text = (given) => String(Number(given.toPrecision(digits)));
  const bar = element("input", {
    type: "range",
    min: log ? 0 : least,
    max: log ? 1 : most,
    step: log ? 0.001 : step || (most - least) / 500,
    "aria-label": label,
  });
  const field = element("input.number", { type: "text", inputMode: "decimal", spellcheck: false, autocomplete: "off" });
  const whole = step && step % 1 === 0;
  const rounded = (given) => (whole ? Math.round(given) : Number(given.toPrecision(digits + 2)));
  const show = (given) => {
    const at = place(given);
    bar.value = String(at);
    bar.setAttribute("aria-valuetext", text(given));
    const [low, high] = log ? [0, 1] : [least, most];
    bar.style.setProperty("--at", `${Math.min(100, Math.max(0, ((at - low) / (high - low)) * 100))}%`);
    if (document.activeElement !== field) field.value = text(given);
  };
  bar.addEventListener("input", () => {
    const now = rounded(number(Number(bar.value)));
    show(now);
    field.value = text(now);
    oninput(now);
  });
  bar.addEventListener("change", () => onchange(rounded(number(Number(bar.value)))));
  const typed = () => {
    const given = Number(field.value.replace(",", "."));
    if (field.value.trim() === "" || !Number.isFinite(given)) return;
    show(given);
    onchange(given);
  };
  field.addEventListener("change", typed);
  const short = label.length + hint.length < 38;
  const made = row(label, field, { hint: short ? "" : hint, value: short && hint && element("span.faint", {}, hint) });
  made.classList.add("slider-row");
  made.querySelector(".row-head").append(field);
  made.querySelector(".row-head").after(bar);
  show(value);
  return Object.assign(made, { show });
}

/** A drop-down list; choices are texts or [value, text]. */
export function select(label, choices, value, onchange) {
  const list = element(
    "select",
    { onchange: () => onchange(list.value) },
    choices.map((choice) => {
      const [name, text] = Array.isArray(choice) ? choice : [choice, words(choice)];
      return element("option", { value: name, selected: name === value }, text);
    }),
  );
  return Object.assign(row(label, list), { show: (now) => (list.value = now) });
}

/** A group of buttons of which one is pressed. */
export function segments(label, choices, value, onchange) {
  const group = element("div.segments", { role: "group", "aria-label": label });
  const show = (now) => [...group.children].forEach((part) => part.setAttribute("aria-pressed", String(part.dataset.value === now)));
  for (const choice of choices) {
    const [name, text] = Array.isArray(choice) ? choice : [choice, words(choice)];
    group.append(button(text, () => (show(name), onchange(name)), { dataset: { value: name } }));
  }
  show(value);
  return Object.assign(group, { show });
}

/** A switch with its label. */
export function toggle(label, value, onchange) {
  const box = element("input.switch", { type: "checkbox", role: "switch", checked: value, onchange: () => onchange(box.checked) });
  return Object.assign(element("label.toggle", {}, element("span", {}, label), box), { show: (now) => (box.checked = now) });
}

/** A foldable part of a panel. */
export function section(title, open, ...children) {
  return element("details.section", { open }, element("summary", {}, title), element("div.stack", {}, children));
}

/** A bar of progress with its text; `show(share, text)`, share null: of unknown length. */
export function progress(oncancel) {
  const bar = element("progress", { max: 1, "aria-label": "Progress" });
  const text = element("span.grow", {});
  const made = element("div.progress", { hidden: true }, bar, element("div.line", {}, text, button("Cancel", oncancel, { kind: "quiet" })));
  const show = (share, told) => {
    made.hidden = false;
    if (share === null || !Number.isFinite(share)) bar.removeAttribute("value");
    else bar.value = Math.min(1, share);
    text.textContent = told;
  };
  return Object.assign(made, { show, hide: () => (made.hidden = true) });
}

const RETRIES = 30; // of a thumbnail that the server has not drawn yet
const AT_ONCE = 3; // of the 6 connections that a browser opens: uploads and downloads need the others
const queue = []; // thumbnails that are in view
let loading = 0;
const inView = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    inView.unobserve(target);
    queue.push(target);
  }
  loadNext();
});

function loadNext() {
  while (loading < AT_ONCE && queue.length) {
    const image = queue.shift();
    if (image.isConnected) {
      loading += 1;
      image.src = image.dataset.src;
    } else inView.observe(image); // its panel was closed
  }
}

/** Return a picture. The server may have to draw it first; busy, it asks to come back. */
export function thumbnail(src) {
  const image = element("img.waiting", { alt: "", decoding: "async", width: 256, height: 144, dataset: { src } });
  let left = RETRIES;
  const ended = () => {
    loading -= 1;
    loadNext();
  };
  image.addEventListener("load", () => (image.classList.remove("waiting"), ended()));
  image.addEventListener("error", () => {
    image.removeAttribute("src");
    if (left--) setTimeout(() => inView.observe(image), 1500 + 1500 * Math.random());
    ended();
  });
  inView.observe(image);
  return image;
}

/** "soft_light" -> "Soft light". */
export function words(name) {
  const text = String(name).replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Return text with "1.2 s", "3 min" or "2.5 h". */
export function duration(seconds) {
  if (seconds < 1) return "less than a second";
  if (seconds < 100) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export function bytes(count) {
  const unit = count < 1e6 ? ["kB", 1e3] : count < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return `${Number((count / unit[1]).toPrecision(2))} ${unit[0]}`;
}

/** Return whether panels are sheets that cover the middle of the picture. */
export const narrow = () => matchMedia("(max-width: 700px)").matches;

/** Return whether the user asked for less motion. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Values kept in the browser; a browser without storage keeps them until the page closes. */
export const kept = {
  values: {},
  get(key, missing) {
    try {
      return JSON.parse(localStorage.getItem(`fractals.${key}`)) ?? this.values[key] ?? missing;
    } catch {
      return this.values[key] ?? missing;
    }
  },
  set(key, value) {
    this.values[key] = value;
    try {
      localStorage.setItem(`fractals.${key}`, JSON.stringify(value));
    } catch {
      // The value stays in memory.
    }
  },
};
