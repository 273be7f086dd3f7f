/** The small picture of a scene, which stands for the scene while its programs are compiled. */

const SLOW_MS = 250; // before it is shown: most scenes are seen by then
let newest = new AbortController(); // ends the stand-in of the scene that was chosen last

/** Lay a card's small picture over the canvas until its scene is seen.
 * @param {import("../explorer.js").Explorer} explorer @param {Pick<Ui, "over">} ui @param {HTMLImageElement|null|undefined} image of the card
 * @param {number} before the frame that was shown when it was chosen */
export function standIn(explorer, ui, image, before) {
  if (explorer.placed?.frame !== before) return; // this file came late
  newest.abort(); // the one before stands for a scene that is no longer wanted
  const end = (newest = new AbortController());
  const shown = image?.naturalWidth ? createImageBitmap(image) : null;
  const waiting = setTimeout(async () => {
    const picture = await shown;
    if (!picture || end.signal.aborted || ui.over) return;
    const over = (ui.over = { picture, title: "" });
    end.signal.addEventListener("abort", () => {
      if (ui.over === over) ui.over = null;
    });
  }, SLOW_MS);
  const seen = () => {
    clearTimeout(waiting);
    end.abort();
  };
  explorer.addEventListener("drawn", () => explorer.opening || seen(), { signal: end.signal });
  for (const event of ["opening", "gesture", "moved", "message", "disconnected", "turned"])
    explorer.addEventListener(event, seen, { signal: end.signal });
}
