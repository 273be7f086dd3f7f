/** The entry of a page without a server: its engine answers in place of one. */
import { transport } from "../net.js";
import { MOST_SIDE } from "./engine.js";
import { sceneOf } from "./files.js";
import { elsewhere } from "./said.js";
import { Local } from "./socket.js";

transport.open = () => /** @type {WebSocket} */ (/** @type {unknown} */ (new Local()));
transport.far = false;
transport.most = MOST_SIDE;
transport.lacks = (what) => elsewhere(what, { most: MOST_SIDE });
transport.upload = async (file) => ({ scene: await sceneOf(file), lost: [], unused: "" });
import("../main.js");
