/** The focus after its element was removed, such as the button of a bookmark: what lies there now gets it, else the head of the panel. */

const FOCUSABLE =
  ":is(button, input, select, textarea, summary, a[href], [tabindex]):not([disabled], [hidden])";

/** Follow the focus in an element. @param {HTMLElement} root */
export function keepFocus(root) {
  let last = /** @type {HTMLElement|null} */ (null), // what has the focus
    way = /** @type {{outer: Element, at: number}[]} */ ([]); // from it to the root: `at`: which child of `outer`
  const buttons = (/** @type {Element|undefined} */ node) =>
    /** @type {HTMLElement[]} */ (
      node ? [...(node.matches(FOCUSABLE) ? [node] : []), ...node.querySelectorAll(FOCUSABLE)] : []
    );
  root.addEventListener("focusin", ({ target }) => {
    last = /** @type {HTMLElement} */ (target);
    way = [];
    for (let node = /** @type {Element} */ (last); node !== root && node.parentElement;) {
      const outer = node.parentElement;
      way.push({ outer, at: [...outer.children].indexOf(node) });
      node = outer;
    }
  });
  root.addEventListener("focusout", ({ target }) =>
    queueMicrotask(() => {
      if (target === last && last?.isConnected) last = null; // the user has left it
    }),
  );
  const look = () => {
    if (!last || last.isConnected || document.activeElement !== document.body) return;
    const { className } = last,
      there = way.find(({ outer }) => outer.isConnected);
    last = null;
    if (!there) return;
    const { outer, at } = there,
      all = buttons(outer.children[Math.min(at, outer.children.length - 1)]),
      head = /** @type {HTMLElement|null|undefined} */ (
        outer.closest("section")?.querySelector("h2")
      );
    (
      all.find((each) => each.className === className) ??
      all[0] ??
      buttons(outer)[0] ??
      head
    )?.focus({ preventScroll: true });
  };
  new MutationObserver(look).observe(root, { childList: true, subtree: true });
}
