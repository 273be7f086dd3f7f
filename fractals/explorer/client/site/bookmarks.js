/** Bookmarks that the browser keeps. */
import { kept } from "../state.js";
import { told } from "./said.js";
import { linkOf } from "./scene.js";

const KEY = "site.bookmarks",
  MOST = 200;

/** @typedef {{id: string, title: string, link: string, thumbnail: string}} Item */

export class Bookmarks {
  /** @param {(scene: SiteScene) => Promise<string>} picture a small one, as an address */
  constructor(picture) {
    this.picture = picture;
  }

  /** Do what a message `bookmark` asks for, and return the list. @param {Sent.Bookmark|Sent.BookmarksMessage} message @param {SiteScene|null} scene to keep
   * @returns {Promise<Item[]>} */
  async changed(message, scene) {
    const now = () => /** @type {Item[]} */ (kept.newest(KEY, [])); // other tabs have it, too
    let items = now();
    if (message.t === "bookmarks") return items;
    const { remove, rename, order, title = "" } = message;
    if (remove) items = items.filter(({ id }) => id !== remove);
    else if (rename) items = items.map((each) => (each.id === rename ? { ...each, title } : each));
    else if (order) {
      const sorted = order.flatMap((id) => items.filter((each) => each.id === id));
      if (sorted.length !== items.length || order.length !== items.length)
        throw new Error(told("bookmarks_changed"));
      items = sorted;
    } else if (scene) {
      const own = { ...scene, title: title || (scene.title ?? "") },
        [thumbnail, link] = await Promise.all([this.picture(own), linkOf(own)]);
      items = now(); // others may have been kept while the picture was drawn
      if (items.length >= MOST) throw new Error(told("most_bookmarks", { most: MOST }));
      items = [{ id: newId(), title: own.title, link, thumbnail }, ...items];
    }
    kept.keep(KEY, items);
    return items;
  }
}

/** Return a name that no other bookmark has. Pages that are not encrypted have no `crypto.randomUUID`. */
function newId() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join(
    "-",
  );
}
