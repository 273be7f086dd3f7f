/** Scenes to choose from: the gallery, and the user's bookmarks. */
import { html } from "../html.js";
import { transport } from "../net.js";
import { observe } from "../state.js";
import { Button, captured, Card, Coming, FileButton, TextField, Thumbnail } from "../ui.js";
import { say, words } from "../words.js";
import { onceDrawn, Road } from "./road.js";

const ALL = say("all");
const GROUPS = [ALL, "Flat", "Deep", "Points", "Solids"]; // of `catalog.scenes`

export function galleryPanel(/** @type {Context} */ { explorer, ui, open, close, upload }) {
  const own = observe({ wanted: "", group: ALL });
  const choose = (/** @type {string} */ name, /** @type {Event} */ { currentTarget }) => {
    history.replaceState({ ...history.state, gallery: true }, ""); // Back returns to it
    const before = explorer.placed?.frame;
    explorer.open({ gallery: name });
    const image = /** @type {HTMLElement} */ (currentTarget).closest("li")?.querySelector("img");
    void import("./standin.js")
      .then(({ standIn }) => standIn(explorer, ui, image, before))
      .catch(() => {});
    close();
  };
  const lacking = transport.lacks("surprises");
  const vary = (/** @type {string} */ name, /** @type {Event} */ event) => {
    choose(name, event);
    onceDrawn(explorer, async () => (await open("surprise"))?.draw?.());
  };
  const Actions =
    () => html`<div class="line grow end"><${Coming} /><input type="search" class="search" placeholder=${say("search")} aria-label=${say("search_the_gallery")} value=${own.wanted}
    onInput=${(/** @type {FieldEvent} */ { target }) => {
      own.wanted = target.value;
    }} /><${FileButton} label=${say("open_file")} kind="quiet" take=${upload} /></div>`;
  const fits = (/** @type {Pick<Received.GalleryScene, "title"|"group">} */ { title, group }) =>
    title.toLowerCase().includes(own.wanted.trim().toLowerCase()) &&
    [ALL, group].includes(own.group);
  const View = () =>
    html`<${Road} at="gallery" open=${open} /><div class="chips" role="group" aria-label=${say("kinds_of_scenes")}>${GROUPS.filter(
      (group) => group === ALL || explorer.catalog.scenes.some((each) => each.group === group),
    ).map(
      (group) =>
        html`<${Button} key=${group} label=${words(group)} kind="chip-button" aria-pressed=${String(own.group === group)} onClick=${() => {
          own.group = group;
        }} />`,
    )}</div><ul class="cards" aria-label=${say("scenes")}>${explorer.catalog.scenes.map(
      ({ name, title, group }) => html`<li key=${name} hidden=${!fits({ title, group })}>
    <${Card} title=${title} onClick=${(/** @type {Event} */ event) => choose(name, event)}><${Thumbnail} src=${`/thumbnail/scene/${name}`} /><//>
    ${!lacking && html`<${Button} label=${say("more_like", { title })} symbol="surprise" bare kind="corner-button passing" onClick=${(/** @type {Event} */ event) => vary(name, event)} />`}</li>`,
    )}</ul>`;
  return { View, Actions };
}

export function bookmarksPanel(/** @type {Context} */ { explorer, notify, open }) {
  // `renamed`: the id of a bookmark whose name is a field; `dragged`: of one that is moved to another place
  const own = observe({
    items: /** @type {Received.BookmarkFacts[]} */ ([]),
    title: "",
    renamed: "",
    dragged: "",
  });

  /** @param {Asked<Sent.Bookmark|Sent.BookmarksMessage>} message @returns {Promise<boolean>} whether it was done */
  async function ask(message) {
    try {
      own.items = (await explorer.request(message)).items;
      return true;
    } catch (error) {
      notify(error.message, "error");
      return false;
    }
  }
  const keep = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const typed = own.title,
      title = typed.trim() || explorer.scene?.title || explorer.placed?.formula || "";
    if ((await ask({ t: "bookmark", title })) && own.title === typed) own.title = "";
  };
  const rename = (/** @type {string} */ id, /** @type {string} */ title) => {
    own.renamed = "";
    ask({ t: "bookmark", rename: id, title: title.trim() });
  };
  const sort = async (/** @type {Received.BookmarkFacts[]} */ items) => {
    const { items: all } = own,
      before = all.map(({ id }) => id),
      order = items.map(({ id }) => id);
    if (order.join() === before.join()) return;
    own.items = items;
    if (!(await ask({ t: "bookmark", order }))) {
      if (own.items === items) own.items = all;
      return;
    }
    notify(say("the_bookmarks_have_another_order"), "info", {
      id: "order",
      action: [say("undo"), () => ask({ t: "bookmark", order: before })],
    });
  };
  /** Move a bookmark to another's place. */
  const put = (/** @type {string} */ id, /** @type {number} */ to) => {
    const from = own.items.findIndex((item) => item.id === id),
      item = own.items[from];
    if (item && to >= 0 && to < own.items.length)
      sort(own.items.toSpliced(from, 1).toSpliced(to, 0, item));
  };
  const remove = async (
    /** @type {string} */ id,
    /** @type {string} */ link,
    /** @type {string} */ title,
  ) => {
    const at = own.items.findIndex((item) => item.id === id);
    if (!(await ask({ t: "bookmark", remove: id }))) return;
    const again = async () => {
      const kept = await ask({ t: "bookmark", link, title }),
        [newest, ...others] = own.items;
      if (kept && at > 0)
        await ask({ t: "bookmark", order: others.toSpliced(at, 0, newest).map((item) => item.id) });
    };
    notify(say("was_removed", { name: title || say("untitled") }), "info", {
      action: [say("undo"), again],
    });
  };
  const key =
    (/** @type {string} */ id, /** @type {number} */ index) =>
    (/** @type {KeyboardEvent} */ event) => {
      const step = /** @type {Record<string, number>} */ ({
        ArrowLeft: -1,
        ArrowUp: -1,
        ArrowRight: 1,
        ArrowDown: 1,
      })[event.key];
      if (!step) return;
      event.preventDefault();
      put(id, index + step);
      requestAnimationFrame(() =>
        /** @type {HTMLElement} */ (document.querySelector(`[data-grip="${id}"]`))?.focus(),
      );
    };
  /** A grip: dragged over another bookmark, it moves this one there; arrow keys move it, too. */
  const Grip = (
    /** @type {{id: string, index: number, title: string}} */ { id, index, title },
  ) => html`<${Button} label=${say("move_name_by", { name: title || say("untitled") })} symbol="grip" bare kind="corner-button grip-button" data-grip=${id} onKeyDown=${key(id, index)}
    onPointerDown=${(/** @type {PointerEvent} */ event) => (captured(event), (own.dragged = id))}
    onPointerMove=${(/** @type {PointerEvent} */ { clientX, clientY }) => {
      const over = /** @type {HTMLElement|null} */ (
        own.dragged ? document.elementFromPoint(clientX, clientY)?.closest("[data-bookmark]") : null
      );
      const to = over ? own.items.findIndex((item) => item.id === over.dataset.bookmark) : -1;
      if (to >= 0) own.items = moved(own.items, own.dragged, to);
    }}
    onLostPointerCapture=${() => drop()} />`;
  let shown = /** @type {Received.BookmarkFacts[]|null} */ (null); // the order before a drag
  const moved = (
    /** @type {Received.BookmarkFacts[]} */ items,
    /** @type {string} */ id,
    /** @type {number} */ to,
  ) => {
    shown ??= items;
    const from = items.findIndex((item) => item.id === id);
    return from < 0 ? items : items.toSpliced(from, 1).toSpliced(to, 0, items[from]);
  };
  const drop = () => {
    const items = own.items;
    own.dragged = "";
    if (!shown) return;
    own.items = shown;
    shown = null;
    sort(items);
  };
  if (!explorer.welcome?.bookmarks)
    return {
      View: () => html`<p class="hint">${say("this_server_keeps_no_bookmarks")}</p>`,
    };
  const View = () => html`<div class="stack">
    <form class="line" onSubmit=${keep}><input type="text" class="grow" aria-label=${say("title_of_the_bookmark")} placeholder=${say("title")} maxlength="200" value=${own.title}
      onInput=${(/** @type {FieldEvent} */ { target }) => {
        own.title = target.value;
      }} /><${Button} label=${say("keep_this_place")} kind="primary" type="submit" /></form>
    ${own.items.length === 0 && html`<p class="hint">${say("no_bookmarks_yet_go_to")}</p>`}
    <ul class="cards small" aria-label=${say("bookmarks")}>${own.items.map(
      (
        { id, title, link, thumbnail },
        index,
      ) => html`<li key=${id} data-bookmark=${id} class=${own.dragged === id ? "dragged" : ""}>
      <${Card} title=${own.renamed === id ? "" : title || say("untitled")} onClick=${() => explorer.open({ link })}><${Thumbnail} src=${thumbnail} /><//>
      ${own.items.length > 1 && html`<${Grip} id=${id} index=${index} title=${title} />`}
      ${own.renamed === id && html`<${TextField} aria-label=${say("new_title")} maxlength="200" value=${title} put=${(/** @type {string} */ text) => rename(id, text)} />`}
      <${Button} label=${say("rename", { name: title || say("untitled") })} symbol="edit" bare kind="corner-button left" onClick=${() => {
        own.renamed = own.renamed === id ? "" : id;
      }} />
      <${Button} label=${say("remove_name", { name: title || say("untitled") })} symbol="trash" bare kind="corner-button" onClick=${() => remove(id, link, title)} /></li>`,
    )}</ul>
    ${own.items.length > 1 && html`<${Button} label=${say("film_through_these_places")} kind="wide-button" onClick=${async () => (await open("film"))?.add?.()} />`}</div>`;
  return { View, shown: () => ask({ t: "bookmarks" }) };
}
