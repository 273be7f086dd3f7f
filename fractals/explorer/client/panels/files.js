/** A button that opens a file: dropping one needs a mouse. */

import { button, element } from "../ui.js";

export function fileButton(label, upload, kind = "") {
  const input = element("input.file", { type: "file", "aria-label": label, tabIndex: -1, onchange: () => {
    if (input.files[0]) upload(input.files[0]);
    input.value = "";
  } });
  return element("span.file-button", {}, button(label, () => input.click(), { kind }), input);
}
