/** As much of a page as a panel needs that is rendered without a browser. */

/** @type {any} */
const page = globalThis;

class FakeNode {
  childNodes = /** @type {any[]} */ ([]);
  parentNode = /** @type {any} */ (null);
  get firstChild() {
    return this.childNodes[0] ?? null;
  }
  get nextSibling() {
    const all = this.parentNode?.childNodes ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }
  insertBefore(/** @type {any} */ node, /** @type {any} */ before) {
    node.remove();
    const at = before ? this.childNodes.indexOf(before) : this.childNodes.length;
    this.childNodes.splice(at, 0, node);
    node.parentNode = this;
    return node;
  }
  appendChild(/** @type {any} */ node) {
    return this.insertBefore(node, null);
  }
  removeChild(/** @type {any} */ node) {
    this.childNodes = this.childNodes.filter((each) => each !== node);
    node.parentNode = null;
    if (page.document.activeElement && !page.document.body.contains(page.document.activeElement))
      page.document.activeElement = page.document.body; // as browsers do
  }
  remove() {
    this.parentNode?.removeChild(this);
  }
  contains(/** @type {any} */ node) {
    for (let each = node; each; each = each.parentNode) if (each === this) return true;
    return false;
  }
}

class FakeText extends FakeNode {
  nodeType = 3;
  constructor(/** @type {string} */ data) {
    super();
    this.data = data;
  }
  get text() {
    return this.data;
  }
}

class FakeElement extends FakeNode {
  nodeType = 1;
  namespaceURI = "http://www.w3.org/1999/xhtml";
  style = { setProperty() {} };
  id = "";
  value = "";
  disabled = false;
  attributes = /** @type {Record<string, string>} */ ({});
  heard = /** @type {Record<string, (event: any) => void>} */ ({});
  constructor(/** @type {string} */ name) {
    super();
    this.localName = name;
  }
  get text() {
    return this.childNodes.map((each) => each.text).join("");
  }
  setAttribute(/** @type {string} */ name, /** @type {unknown} */ value) {
    this.attributes[name] = String(value);
  }
  removeAttribute(/** @type {string} */ name) {
    delete this.attributes[name];
  }
  addEventListener(/** @type {string} */ name, /** @type {any} */ heard) {
    this.heard[name] = heard;
  }
  removeEventListener(/** @type {string} */ name) {
    delete this.heard[name];
  }
  querySelector() {
    return null;
  }
  closest() {
    return null;
  }
  focus() {
    page.document.activeElement = this;
  }
  scrollIntoView() {}
  getContext() {
    return null;
  }
  /** All elements in this one. @returns {any[]} */
  get all() {
    return this.childNodes.flatMap((each) => (each.nodeType === 1 ? [each, ...each.all] : []));
  }
  /** The element that has this name, as people see it. @param {string} name @returns {any} */
  named(name) {
    const found = this.all.find(
      (each) =>
        each.attributes["aria-label"] === name ||
        (each.localName === "button" && each.text.trim() === name),
    );
    if (!found) throw new Error(`nothing is called ${name}`);
    return found;
  }
  /** Do what a listener of the element does. @param {string} name @param {object} [event] */
  hear(name, event = {}) {
    const given = {
      type: name,
      target: this,
      currentTarget: this,
      preventDefault() {},
      stopPropagation() {},
    };
    this.heard[name].call(this, { ...given, ...event });
  }
}

/** Have the page's objects there. The page is imported before this, or else has no language: words are English then. */
export function makePage() {
  const body = new FakeElement("body");
  page.document = Object.assign(new EventTarget(), {
    querySelector: () => null, // panels are drawn into nothing
    body,
    documentElement: new FakeElement("html"),
    activeElement: body,
    hidden: false,
    createElement: (/** @type {string} */ name) => new FakeElement(name),
    createElementNS: (/** @type {string} */ _, /** @type {string} */ name) => new FakeElement(name),
    createTextNode: (/** @type {string} */ text) => new FakeText(text),
  });
  page.matchMedia ??= () => ({ matches: false });
  return page.document;
}

/** What panels are loaded with: before they are imported. */
export function beforePanels() {
  page.IntersectionObserver = class {
    observe() {}
    unobserve() {}
  };
  page.ResizeObserver = class {
    observe() {}
    disconnect() {}
  };
  page.addEventListener ??= () => {};
  // Node 20 has none
  page.Map.groupBy ??= (/** @type {any[]} */ all, /** @type {(each: any) => any} */ of) =>
    all.reduce(
      (found, each) => found.set(of(each), [...(found.get(of(each)) ?? []), each]),
      new Map(),
    );
  page.removeEventListener ??= () => {};
  page.cancelAnimationFrame = clearTimeout;
  page.requestAnimationFrame = (/** @type {() => void} */ draw) => setTimeout(draw);
}

/** Wait until something is so. @param {() => unknown} so */
export async function until(so) {
  for (let k = 0; k < 1000 && !so(); k++) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Wait until what was put is rendered, and what is asked for is answered. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 20));
