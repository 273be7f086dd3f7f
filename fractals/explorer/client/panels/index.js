/** Panels around the picture. @param {import("../explorer.js").Explorer} explorer */
export function mountPanels(explorer) {}
