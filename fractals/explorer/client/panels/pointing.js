/** What is shown while it is pointed at. */

let under = /** @type {unknown} */ (null); // what the mouse points at

/** Return the listeners of what is tried on: while the mouse points at it, or it has the focus of a keyboard. What appears under
 * a mouse at rest is not meant. @param {unknown} key @param {() => void} show @param {() => void} hide */
export const pointed = (key, show, hide) => ({
  onPointerEnter: () => {
    under = null;
  },
  onPointerMove: (/** @type {PointerEvent} */ { pointerType }) => {
    if (pointerType !== "mouse" || under === key) return;
    under = key;
    show();
  },
  onPointerLeave: hide,
  onFocus: (/** @type {FocusEvent} */ { currentTarget }) =>
    /** @type {HTMLElement} */ (currentTarget).matches(":focus-visible") && show(),
  onBlur: hide,
});
