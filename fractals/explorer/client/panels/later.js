/** Tools that are loaded when they are first used. */
import { html, signal } from "../html.js";

/** What lays choices over the picture and shows walls of nine: `tryTool`. @param {Pick<Context, "explorer"|"ui">} context */
export function tryLater(context) {
  const loaded = signal(/** @type {ReturnType<typeof import("./tryon.js").tryTool>|null} */ (null));
  const tool = async () => (loaded.value ??= (await import("./tryon.js")).tryTool(context));
  let wanted = /** @type {object|null} */ (null); // the newest call of `show`
  return {
    View: () => loaded.value && html`<${loaded.value.View} />`,
    show: async (/** @type {Parameters<Awaited<ReturnType<typeof tool>>["show"]>} */ ...given) => {
      const mine = (wanted = {}),
        { show } = await tool();
      if (mine === wanted) show(...given);
    },
    hide: () => {
      wanted = null;
      loaded.value?.hide();
    },
    open: async (/** @type {Parameters<Awaited<ReturnType<typeof tool>>["open"]>[0]} */ wall) =>
      (await tool()).open(wall),
    close: () => loaded.value?.close() ?? false,
    /** Show nothing more, because the panel is left. */
    end: () => {
      wanted = null;
      loaded.value?.hide();
      loaded.value?.close();
    },
  };
}
