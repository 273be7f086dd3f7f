/** The entry of a page without a server: its engine answers in place of one. */
import { transport } from "../net.js";
import { sceneOf } from "./files.js";
import { elsewhere } from "./said.js";
import { Local } from "./socket.js";

transport.open = () => /** @type {WebSocket} */ (/** @type {unknown} */ (new Local()));
transport.lacks = elsewhere;
transport.upload = async (file) => ({ scene: await sceneOf(file), lost: [], unused: "" });
const address = new URL(location.href);
if (!address.searchParams.has("plain")) {
  address.searchParams.set("plain", ""); // the engine colors pixels itself
  history.replaceState(history.state, "", address);
}
import("../main.js");
