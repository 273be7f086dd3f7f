/** Tools that are loaded when they are first used. */
import { html, signal } from "../html.js";
import { say } from "../words.js";

/** What lays choices over the picture and shows walls of nine: `tryTool`. @param {Pick<Context, "explorer"|"ui">} context */
export function tryLater(context) {
  const loaded = signal(/** @type {ReturnType<typeof import("./tryon.js").tryTool>|null} */ (null));
  const tool = async () => (loaded.value ??= (await import("./tryon.js")).tryTool(context));
  let wanted = /** @type {object|null} */ (null); // the newest call of `show`
  return {
    View: () => loaded.value && html`<${loaded.value.View} />`,
    show: async (/** @type {Parameters<Awaited<ReturnType<typeof tool>>["show"]>} */ ...given) => {
      const mine = (wanted = {}),
        found = await tool().catch(() => null);
      if (mine === wanted) found?.show(...given);
    },
    hide: () => {
      wanted = null;
      loaded.value?.hide();
    },
    open: (/** @type {Parameters<Awaited<ReturnType<typeof tool>>["open"]>[0]} */ wall) =>
      tool().then(
        ({ open }) => open(wall),
        () => context.explorer.tell(say("the_server_does_not_answer_this"), "error"),
      ),
    close: () => loaded.value?.close() ?? false,
    /** Show nothing more, because the panel is left. */
    end: () => {
      wanted = null;
      loaded.value?.hide();
      loaded.value?.close();
    },
  };
}
