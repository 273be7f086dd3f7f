/** Scenes to choose from: the gallery, a sheet of twelve surprises, the user's bookmarks. */

import { button, element, progress, thumbnail, words } from "../ui.js";
import { fileButton } from "./files.js";

const SHEET = 12;

/** Return a card with a picture and a name. */
function card(image, title, onclick, extra = null) {
  return element("li", {}, element("button.card", { type: "button", onclick }, image, element("span.caption", {}, title)), extra);
}

export function galleryPanel({ explorer, close, upload }) {
  const filter = element("input.search", { type: "search", placeholder: "Search", "aria-label": "Search the gallery", oninput: () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const item of list.children) item.hidden = !item.textContent.toLowerCase().includes(wanted);
  } });
  const list = element("ul.cards", { "aria-label": "Scenes" }, explorer.catalog.scenes.map(({ name, title }) =>
    card(thumbnail(`/thumbnail/scene/${name}`), title, () => (explorer.open({ gallery: name }), close()))));
  return { node: list, actions: element("div.line.grow.end", {}, filter, fileButton("Open file", upload, "quiet")) };
}

export function surprisePanel({ explorer, notify, close }) {
  let job = null;
  let sheet = 0;
  const list = element("ul.cards", { "aria-label": "Surprises" });
  const bar = progress(() => job?.cancel());

  async function draw() {
    job?.cancel();
    sheet += 1;
    let count = 0;
    list.replaceChildren(...Array.from({ length: SHEET }, () => element("li.empty", { "aria-hidden": "true" })));
    bar.show(0, "Mutating this scene");
    const mine = explorer.job({ t: "surprise", seed: Math.floor(Math.random() * 2 ** 31) }, (told) => {
      if (told.t !== "surprised") return;
      count += 1;
      const image = explorer.pixelsOf(told.preview);
      list.replaceChild(card(image, words(told.label), () => (explorer.open({ scene: told.scene }), close())), list.children[told.index]);
      bar.show(count / SHEET, `${count} of ${SHEET}`);
    });
    job = mine;
    try {
      await mine.done;
    } catch (error) {
      if (!error.cancelled) notify(error.message, "error");
    } finally {
      if (job === mine) {
        job = null;
        bar.hide();
        for (const empty of list.querySelectorAll(".empty")) empty.remove();
      }
    }
  }
  return {
    node: element("div.stack", {}, bar, list),
    actions: element("div.line.grow.end", {}, button("Twelve more", draw, { symbol: "surprise", kind: "quiet" })),
    shown: () => sheet || draw(),
    hidden: () => job?.cancel(),
  };
}

export function bookmarksPanel({ explorer, notify }) {
  const list = element("ul.cards.small", { "aria-label": "Bookmarks" });
  const empty = element("p.hint", {}, "No bookmarks yet. Go to a place that you like, and keep it.");
  const title = element("input.grow", { type: "text", "aria-label": "Title of the bookmark", placeholder: "Title", maxLength: 200 });

  async function ask(message) {
    try {
      show((await explorer.request(message)).items);
    } catch (error) {
      notify(error.message, "error");
    }
  }
  function show(items) {
    empty.hidden = items.length > 0;
    films.hidden = items.length < 2;
    list.replaceChildren(...items.map((item) =>
      card(thumbnail(item.thumbnail), item.title || "Untitled", () => explorer.open({ link: item.link }),
        button(`Remove ${item.title || "Untitled"}`, () => ask({ t: "bookmark", remove: item.id }), { symbol: "trash", bare: true, kind: "corner-button" }))));
  }
  const form = element("form.line", { onsubmit: (event) => {
    event.preventDefault();
    ask({ t: "bookmark", title: title.value.trim() || explorer.scene?.title || explorer.placed?.formula || "" });
    title.value = "";
  } }, title, button("Keep this place", null, { kind: "primary", type: "submit" }));
  if (!explorer.welcome?.bookmarks) {
    return { node: element("p.hint", {}, "This server keeps no bookmarks. Copy a link under Share: it holds the whole scene.") };
  }
  /** Save the bookmarks as the keys of a film, and say how to make it. */
  const film = async () => {
    try {
      const { toml, keys, left_out } = await explorer.request({ t: "film" });
      const link = element("a", { href: URL.createObjectURL(new Blob([toml], { type: "application/toml" })), download: "film.toml" });
      link.click();
      URL.revokeObjectURL(link.href);
      const rest = left_out ? ` ${left_out} of other formulas are left out.` : "";
      notify(`film.toml has ${keys} keys.${rest} Make the film with: fractals film film.toml -o film.mp4`, "info");
    } catch (error) {
      notify(error.message, "error");
    }
  };
  const films = button("Film through these places", film, { kind: "wide-button" });
  return { node: element("div.stack", {}, form, empty, list, films), shown: () => ask({ t: "bookmarks" }) };
}
