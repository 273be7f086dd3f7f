/** The entry of a page without a server: its engine answers in place of one. */
import { transport } from "../net.js";
import { Local } from "./socket.js";

transport.open = () => /** @type {any} */ (new Local());
const address = new URL(location.href);
if (!address.searchParams.has("plain")) {
  address.searchParams.set("plain", ""); // the engine colors pixels itself
  history.replaceState(history.state, "", address);
}
import("../start.js");
