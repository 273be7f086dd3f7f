/** A picture that is black because the graphics card was taken away, as after a sleep or by a program that has crashed it. */
import { say } from "../words.js";

const PATIENCE = 2000; // ms in which a browser gives the card back by itself
const BLIND = "blind"; // id of the message, which stays until there is a picture

/** Tell of it where the card does not come back, and offer the page without one.
 * @param {HTMLElement} canvas @param {Context["notify"]} notify @param {(id: string) => void} dismiss */
export function watchCard(canvas, notify, dismiss) {
  let waiting = 0;
  const plainly = () => {
    const { pathname, search, hash } = location,
      query = new URLSearchParams(search);
    query.delete("webgl");
    query.set("plain", "");
    location.assign(`${pathname}?${query}${hash}`);
  };
  canvas.addEventListener("webglcontextlost", () => {
    waiting = setTimeout(
      () =>
        notify(say("the_graphics_card_has_left"), "error", {
          id: BLIND,
          stays: true,
          action: [say("draw_without_it"), plainly],
        }),
      PATIENCE,
    );
  });
  canvas.addEventListener("webglcontextrestored", () => {
    clearTimeout(waiting);
    dismiss(BLIND);
  });
}
