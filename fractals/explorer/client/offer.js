/** Where a scene can be shown to others: the gallery of the project, and the explorer of its documentation. */
export const REPOSITORY = "https://github.com/fractals-numba/fractals";
export const SITE = "https://fractals-numba.github.io/fractals/explore/"; // as .github/workflows/docs.yml publishes it
const ELSEWHERE = ["transforms", "samples", "camera", "relief", "develop"]; // tables of what only the program draws
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

/** Return the address at which anybody sees a scene; "" where only the program draws it.
 * @param {object} scene @param {string} link of the scene, as a server tells it */
export function siteOf(scene, link) {
  const tables = /** @type {Record<string, object|null|undefined>} */ (scene);
  return ELSEWHERE.some((name) => Object.keys(tables[name] ?? {}).length) ? "" : `${SITE}#${link}`;
}
