/** The form with which a scene is offered to the gallery of the project. */
export const REPOSITORY = "https://github.com/fractals-numba/fractals";
const LONGEST = 7000; // characters of an address: GitHub refuses 8192

/** Return the address of the form. A scene that is too long for an address is left to be pasted.
 * @param {{title?: string|null, author?: string|null}} scene @param {string} toml */
export function formOf({ title, author }, toml) {
  const address = (/** @type {Record<string, string>} */ fields) =>
    `${REPOSITORY}/issues/new?${new URLSearchParams({ template: "picture.yml", ...fields })}`;
  const said = { title: `Picture: ${title || "untitled"}`.slice(0, 200), author: author || "" };
  const whole = address({ ...said, scene: toml });
  return whole.length <= LONGEST ? whole : address(said);
}
