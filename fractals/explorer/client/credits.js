/** What scenes say of themselves. */

export const SAID = ["title", "author", "rights", "note"]; // keys about a picture, which change none of its pixels
