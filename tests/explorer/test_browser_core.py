"""The explorer's page in a browser: the canvas has the bits of `fractals.render` after any move."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from support import browser as browsers

import fractals

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

DIRECT = {"view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"}}
DEEP = {
    "center": [
        "-0.0452859638423822298653313439951665271406450876813351234",
        "0.9868194087097422631019624201005410122549030049964781234",
    ],
    "width": "1e-50",
}
SCENES = {
    "direct": DIRECT,
    "deep": {"view": DEEP},
    "julia with layers": {
        "julia": ["-0.8", "0.156"],
        "color": {
            "palette": "ember",
            "layers": [{"coloring": "orbit_trap", "blend": "multiply", "palette": "ink"}],
        },
    },
}
SHADER = "() => { explorer.stage.hideExact = true; }"
SILENT = "() => { explorer.connection.send = () => {}; }"  # nothing reaches the server any more


@pytest.fixture(scope="module")
def shared_tab(browser, server):
    tab = browsers.Tab(browser, server.running)
    yield tab
    tab.close()


@pytest.fixture
def tab(shared_tab):
    """Return the page, with the scene DIRECT settled."""
    shared_tab.open(DIRECT)
    return shared_tab


@pytest.fixture
def new_tab(browser, server):
    """Return a function that opens a page of its own."""
    opened = []

    def make(**options):
        opened.append(browsers.Tab(browser, server.running, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def place_of(scene):
    view = scene["view"]
    return view["center"], view["width"], view["rotation"]


def wheel(tab, notches=3):
    """Turn a wheel, in one event: between several, a busy machine may pause for long."""
    tab.page.mouse.move(100, 40)
    tab.page.mouse.wheel(0, -110 * notches)


def spin(tab):
    """Turn a wheel that spins freely, while the page is busy: the browser sums it up."""
    wheel(tab, 10_000)


def drag(tab):
    tab.page.mouse.move(80, 60)
    tab.page.mouse.down()
    tab.page.mouse.move(95, 52, steps=3)
    tab.page.mouse.up()


def box(tab):
    tab.page.keyboard.down("Shift")
    tab.page.mouse.move(40, 30)
    tab.page.mouse.down()
    tab.page.mouse.move(80, 60, steps=3)
    tab.page.mouse.up()
    tab.page.keyboard.up("Shift")


def double_click(tab):
    tab.page.mouse.dblclick(60, 50)


def pinch(tab):
    """Double the distance of two fingers, and turn them by a quarter to the left: 10 are slack."""
    tab.touch("touchStart", (60, 60), (100, 60))
    for x, y in ((8, 15), (2, 30), (0, 40)):
        tab.touch("touchMove", (80 - x, 60 + y), (80 + x, 60 - y))
    tab.touch("touchEnd")


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_settled_canvas_is_the_rendered_picture(tab, scene):
    tab.open(scene)
    first = tab.assert_exact()
    assert first["image"]["size"] == [160, 120]
    wheel(tab, 1)
    assert tab.assert_exact()["view"]["width"] != first["view"].get("width")


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_the_shader_colors_as_the_server_does(tab, scene):
    tab.open({**scene, "image": {"supersampling": 1}})
    exact = tab.pixels().astype(int)
    tab.run(SHADER)
    shaded = tab.pixels().astype(int)
    tab.run("() => { explorer.stage.hideExact = false; }")
    assert np.abs(exact - shaded).max() <= 1
    assert (exact != shaded).any(axis=2).mean() < 0.1  # off by one, because tables have 16 bits


@pytest.mark.parametrize("ratio", [1.25, pytest.param(2, marks=pytest.mark.slow)])
def test_device_pixels_are_pixels_of_the_picture(new_tab, ratio):
    tab = new_tab(size=(120, 80), device_scale_factor=ratio)
    before = tab.assert_exact()
    assert before["image"]["size"] == [120 * ratio, 80 * ratio]
    tab.page.mouse.move(60, 40)
    tab.page.mouse.down()
    tab.page.mouse.move(71, 47, steps=2)
    tab.page.mouse.up()
    assert place_of(tab.assert_exact()) != place_of(before)


@pytest.mark.parametrize("query", ["?line=remote", "?plain"])
def test_slow_lines_and_pages_without_webgl_show_the_same_bits(new_tab, query):
    tab = new_tab(path=query)
    assert tab.run("[explorer.remote, explorer.stage.renderer.values]") == [
        "remote" in query,
        "plain" not in query,
    ]
    tab.open(SCENES["julia with layers"])
    wheel(tab, 1)
    tab.assert_exact()


DRAWN = """() => {
    const { context } = explorer.stage.renderer, draw = context.drawImage.bind(context);
    let count = 0;
    context.drawImage = (...given) => { count++; draw(...given); };
    explorer.stage.draw(explorer.map);
    delete context.drawImage;
    return count;
}"""
# Counts them in a frame that shows the whole picture of a view that moves.
COUNT = """() => {
    const { stage, placed: { frame } } = explorer;
    explorer.addEventListener("frame", () => {
        const moved = stage.picture.frame !== frame && explorer.drawn?.pass !== "exact";
        if (moved && stage.picture.whole) window.count ??= (%s)();
    });
}"""


def test_a_held_key_shows_whole_pictures_on_a_plain_canvas(new_tab):
    tab = new_tab(path="?plain&line=local")  # a busy machine answers like a slow line
    tab.open(DIRECT)
    tab.run(COUNT % DRAWN)
    tab.page.mouse.move(60, 40)
    tab.page.keyboard.down("z")
    tab.until("window.count")
    assert tab.run("window.count") == 1  # what it hides is not drawn
    tab.page.keyboard.up("z")
    tab.assert_exact()


@pytest.mark.parametrize(
    ("gesture", "octaves", "turn"),
    [
        (wheel, 0.75, 0),
        (spin, 8, 0),
        (drag, 0, 0),
        (box, 2, 0),
        (double_click, 2, 0),
        (pinch, 1, 80),
    ],
)
def test_gestures_move_the_view_and_can_be_undone(tab, gesture, octaves, turn):
    before = tab.settle()
    gesture(tab)
    after = tab.assert_exact()
    width, moved = (float(each["view"]["width"]) for each in (before, after))
    assert width / moved == pytest.approx(2**octaves, rel=1e-5)
    assert after["view"]["rotation"] == pytest.approx(-turn)
    assert after["view"]["center"] != before["view"]["center"] or gesture is pinch
    assert place_of(tab.press("Control+z")) == place_of(before)
    assert place_of(tab.press("Control+y")) == place_of(after)


def test_fingers_turn_little_snap_upright_and_a_key_stands_up(tab):
    before = tab.settle()
    tab.touch("touchStart", (60, 60), (100, 60))
    tab.touch("touchMove", (60, 63), (100, 57))  # 8.5 degrees
    tab.touch("touchEnd")
    assert tab.settle()["view"]["rotation"] == before["view"]["rotation"]
    tab.touch("touchStart", (60, 60), (100, 60))
    tab.touch("touchMove", (61, 66), (99, 54))
    tab.touch("touchMove", (60, 64), (100, 56))  # 11.3 degrees: one beyond the slack
    tab.touch("touchEnd")
    assert tab.settle()["view"]["rotation"] == 0
    tab.open({**DIRECT, "view": {**DIRECT["view"], "rotation": 47.2}})
    assert tab.press("\\")["view"]["rotation"] == 0
    tab.assert_exact()
    assert tab.press("Control+z")["view"]["rotation"] == 47.2


# In one task, because a busy page would part the moves of a finger
# A finger's moves with their times, however busy the machine is; then the frames until it rests.
FLICK = """speed => {
    const canvas = document.querySelector("#view"), begun = performance.now();
    const tell = (kind, gone) => {
        const where = { clientX: 40 + speed * gone, clientY: 60, bubbles: true };
        const event = new PointerEvent(kind, { pointerId: 9, pointerType: "touch", ...where });
        Object.defineProperty(event, "timeStamp", { value: begun + gone });
        canvas.dispatchEvent(event);
    };
    tell("pointerdown", 0);
    for (let gone = 15; gone <= 120; gone += 15) tell("pointermove", gone);
    tell("pointerup", 120);
    return new Promise((done) => {
        const look = () => requestAnimationFrame(performance.now() > begun + 2200 ? done : look);
        look();
    });
}"""


def test_a_flick_glides_on_and_is_one_step_of_undo(new_tab):
    tab = new_tab()
    tab.page.emulate_media(reduced_motion="no-preference")
    tab.run("() => { HTMLCanvasElement.prototype.setPointerCapture = () => {}; }")  # no real finger
    tab.open(DIRECT)

    def moved(speed):
        """Return by how many pixels the view moves, and the places before and after."""
        before = place_of(tab.settle())
        tab.run(FLICK, speed)
        after = place_of(tab.settle())
        pixel = float(tab.run("explorer.placed.width")) / tab.run("explorer.size[0]")
        return (float(before[0][0]) - float(after[0][0])) / pixel, before, after

    assert moved(0.1)[0] == pytest.approx(12, abs=2)  # too slow to glide
    pixels, before, _ = moved(0.5)
    assert pixels == pytest.approx(60 + 0.5 * 320, abs=30)  # as GLIDE of gestures.js
    assert place_of(tab.press("Control+z")) == before


def test_a_drag_moves_the_picture_by_whole_pixels_before_the_server_answers(new_tab):
    tab = new_tab()
    tab.settle()
    before = tab.pixels()
    tab.run(SILENT)
    drag(tab)
    assert np.array_equal(tab.pixels()[:-8, 15:], before[8:, :-15])


def test_all_moves_have_keys(tab):
    home = tab.settle()
    keys = ("ArrowLeft", "ArrowUp", "+", "[", "ArrowRight", "ArrowDown", "-", "]")
    seen = [place_of(tab.press(key)) for key in keys]
    assert len({str(place) for place in seen[:4]}) == 4
    assert seen[3][2] == -15
    tab.page.keyboard.down("z")
    tab.until("parseFloat(explorer.placed.width) < 0.006")
    tab.run("() => { for (const t = Date.now(); Date.now() - t < 800;); }")  # a pause of the page
    tab.until("parseFloat(explorer.placed.width) < 0.005")
    tab.page.keyboard.up("z")
    dived = tab.settle()
    tab.page.keyboard.down("x")
    tab.until(f"parseFloat(explorer.placed.width) > {dived['view']['width']}")
    tab.page.keyboard.up("x")
    tab.settle()
    assert float(place_of(tab.press("0"))[1]) > 3
    undone = [place_of(tab.press("Control+z")) for _ in range(3 + len(keys))]
    assert undone[-len(keys) - 1] == seen[-1]
    assert undone[-1] == place_of(home)


def test_the_newest_view_wins(tab):
    """Of many moves, one is unanswered at a time, and the last one is what is shown."""
    width = float(tab.settle()["view"]["width"])
    tab.run("""() => {
        const { connection, connection: { on } } = explorer;
        const send = connection.send.bind(connection);
        window.most = window.views = 0;
        let waiting = 0;
        connection.send = (message) => {
            if (message.t === "view") { views++; most = Math.max(most, ++waiting); }
            send(message);
        };
        const text = on.text;
        on.text = (message) => { if (message.t === "placed") waiting--; text(message); };
    }""")
    for _ in range(12):
        wheel(tab, 1)
    after = tab.assert_exact()
    assert float(after["view"]["width"]) == pytest.approx(width / 8, rel=1e-5)
    assert tab.run("most") == 1
    assert 1 <= tab.run("views") <= 12
    tab.run("() => { delete explorer.connection.send; }")


def test_a_view_that_cannot_be_drawn_returns_to_its_base(tab):
    places = [digits + 40 * "0" for digits in ("0.3", "0.2")]
    deep = {"center": places, "width": "1e-16"}  # in double-double numbers
    before = tab.open({**DIRECT, "formula": "newton", "view": deep})
    tab.run("""() => {
        window.told = [];
        explorer.addEventListener("message", ({ detail }) => told.push(detail.text));
        explorer.move({ scale: 64 * 50 });
    }""")
    tab.until("told.length")
    assert "is drawn down to a width of" in tab.run("told")[0]
    assert tab.assert_exact()["view"]["width"] == before["view"]["width"]


def test_what_the_server_refuses_leaves_the_page_settled(tab):
    """It waited for ever for pixels that it had, and which were not drawn again."""
    before = tab.settle()
    tab.run("() => explorer.open({ formula: 'nothing' })")
    tab.run("() => explorer.move({ scale: -64 * 50 })")  # wider than any view
    assert place_of(tab.settle()) == place_of(before)
    wheel(tab, 1)
    tab.assert_exact()


def test_a_page_whose_scene_is_refused_after_a_lost_connection_shows_another(new_tab):
    tab = new_tab()
    tab.settle()
    tab.run("""() => {
        explorer.scene = { ...explorer.scene, formula: "nothing" };
        explorer.connection.renew();
    }""")
    tab.until("!explorer.connected")
    assert tab.assert_exact()["formula"] == "mandelbrot"
    wheel(tab, 1)
    tab.assert_exact()


@pytest.mark.parametrize("answer", ["this.onerror?.()", ""])
def test_a_page_without_a_worker_decodes_by_itself(new_tab, answer):
    """Where the worker's module was not loaded, what it should decode was waited for."""
    script = """window.Worker = class {
            constructor() { window.workers = (window.workers ?? 0) + 1; }
            postMessage() { setTimeout(() => ANSWER); }
            terminate() {}
        };
        const wait = window.setTimeout;
        window.setTimeout = (call, ms, ...rest) => wait(call, ms === 10000 ? 500 : ms, ...rest);
        """
    tab = new_tab(path="?line=remote", script=script.replace("ANSWER", answer or "{}"))
    tab.assert_exact()
    assert tab.run("[workers, explorer.remote]") == [1, True]


def test_a_server_that_stops_answering_is_connected_to_again(new_tab):
    tab = new_tab(
        script="""{
            const wait = window.setTimeout;
            window.setTimeout = (call, ms, ...rest) =>
                wait(call, ms === 20000 ? window.patience ?? ms : ms, ...rest);
        }"""
    )
    before = tab.settle()
    tab.run("""() => {
        window.lost = 0;
        window.patience = 200;
        explorer.addEventListener("disconnected", () => {
            lost++;
            delete window.patience;
        });
        const { connection } = explorer, { on } = connection, { text } = on;
        on.text = (message) => { if (lost || message.t !== "placed") text(message); };
    }""")
    wheel(tab, 1)
    tab.until("lost && explorer.connected")
    assert tab.assert_exact()["view"]["width"] != before["view"]["width"]


def test_moves_of_one_frame_are_joined_exactly(tab):
    """A joined move lies within a sixteenth of a pixel of the two moves."""
    worst = tab.run("""async () => {
        const { apply, compose, inverse, mapOf, merged } = await import("/client/frames.js");
        let worst = 0, seed = 1;
        const random = (least, most) => {
            seed = (seed * 48271) % 2147483647;
            return least + seed % (most - least + 1);
        };
        const pair = (size) => [random(-size, size), random(-size, size)];
        const move = () => ({
            at: pair(20000), by: random(0, 2) ? pair(4000) : [0, 0],
            scale: random(0, 2) ? random(-64, 64) : 0, turn: random(0, 2) ? random(-9000, 9000) : 0,
        });
        for (let k = 0; k < 2000; k++) {
            const first = move(), second = move(), both = compose(mapOf(first), mapOf(second));
            const one = mapOf(merged(first, second));
            for (const point of [[0, 0], [160, 120], [-300, 500]]) {
                const p = apply(both, point), q = apply(one, point);
                worst = Math.max(worst, Math.abs(p[0] - q[0]), Math.abs(p[1] - q[1]));
            }
            const back = apply(inverse(both), apply(both, [7, 9]));
            worst = Math.max(worst, Math.abs(back[0] - 7), Math.abs(back[1] - 9));
        }
        return worst;
    }""")
    assert 0 < worst <= 1 / 16


def test_live_colors_need_no_server_and_can_be_undone(tab):
    before = tab.settle()["color"]
    shown = tab.pixels()
    tab.run("""() => {
        window.paints = [];
        explorer.addEventListener("painted", ({ detail }) => paints.push(detail.color.density));
        for (const density of [1.5, 2, 3]) {
            explorer.paint({ ...explorer.scene.color, density }, { live: density < 3 });
            if (density === 2) window.before_answer = explorer.readPixels();
        }
    }""")
    live = np.array(list(tab.run("Object.values(before_answer)")), np.uint8)
    assert (live.reshape(shown.shape) != shown).any()
    assert tab.assert_exact()["color"]["density"] == 3
    assert tab.run("paints") == [3]
    assert tab.press("Control+z")["color"] == before
    assert np.array_equal(tab.pixels(), shown)


def test_another_coloring_replaces_the_picture(tab):
    tab.run("() => explorer.paint({ ...explorer.scene.color, coloring: 'stripe_average' })")
    assert tab.assert_exact()["color"]["coloring"] == "stripe_average"
    tab.run("""() => {
        window.told = [];
        explorer.addEventListener("message", ({ detail }) => told.push(detail.text));
        explorer.paint({ ...explorer.scene.color, density: -1e99, palette: "nothing" });
    }""")
    tab.until("told.length")
    assert "nothing" in tab.run("told")[0]
    assert tab.assert_exact()["color"]["palette"] == "auto"


def test_the_palette_cycles_unless_motion_is_reduced(tab):
    before = tab.settle()["color"].get("offset", 0)
    tab.page.emulate_media(reduced_motion="reduce")
    tab.run("() => explorer.cycle(0.5)")
    assert tab.run("explorer.settled")
    tab.page.emulate_media(reduced_motion="no-preference")
    tab.run("() => explorer.cycle(0.5)")
    tab.until("explorer.stage.phase > 0.01")
    tab.run("() => explorer.cycle(0)")
    assert tab.assert_exact()["color"]["offset"] != before


def test_a_lost_context_is_filled_from_kept_arrays(tab):
    before = tab.pixels()
    tab.run(SHADER)
    shaded = tab.pixels()
    tab.run("""() => {
        window.loser = explorer.stage.renderer.gl.getExtension("WEBGL_lose_context");
        loser.loseContext();
    }""")
    tab.until("explorer.stage.renderer.lost")
    tab.run("() => loser.restoreContext()")
    tab.until("!explorer.stage.renderer.lost")
    assert np.array_equal(tab.pixels(), shaded)
    tab.run("() => { explorer.stage.hideExact = false; }")
    assert np.array_equal(tab.pixels(), before)
    wheel(tab, 1)
    tab.assert_exact()


def test_a_page_whose_card_does_not_come_back_says_so_and_goes_on_without_it(new_tab):
    tab = new_tab(panels=True, size=(760, 560))
    tab.open(DIRECT)
    tab.address()
    tab.run("explorer.stage.renderer.gl.getExtension('WEBGL_lose_context').loseContext()")
    tab.page.get_by_text("The graphics card has left this page.").wait_for()
    tab.page.get_by_role("button", name="Draw without it").click()
    tab.until("location.search.includes('plain') && window.explorer?.settled")
    assert tab.assert_exact()["view"]["width"] == DIRECT["view"]["width"]


def test_a_hidden_page_asks_for_nothing(tab):
    tab.run("""() => {
        Object.defineProperty(document, "hidden", { value: true, configurable: true });
        explorer.move({ scale: 16 });
    }""")
    place = place_of(tab.run("explorer.scene"))
    tab.page.wait_for_timeout(300)
    assert place_of(tab.run("explorer.scene")) == place
    tab.run("""() => {
        delete document.hidden;
        document.dispatchEvent(new Event("visibilitychange"));
    }""")
    assert place_of(tab.assert_exact()) != place


def test_the_address_opens_the_same_scene(new_tab):
    tab = new_tab()
    wheel(tab, 2)
    scene, pixels = tab.assert_exact(), tab.pixels()
    tab.go(tab.address())
    assert place_of(tab.settle()) == place_of(scene)
    assert np.array_equal(tab.pixels(), pixels)
    tab.go("#nonsense")
    assert tab.settle()["view"]["center"] == place_of(fractals_scene())[0]


def fractals_scene():
    """Return the table of the scene that the server was started with."""
    return fractals.load_scene("seahorse").to_table()


def test_a_killed_server_leaves_the_picture_and_comes_back(browser, tmp_path):
    """A server that is started again, without a port, is found by the page of the one before."""

    def start():
        command = [sys.executable, "-u", "-m", "fractals", "explore", "seahorse"]
        command += ["--device", "cpu", "--no-browser"]
        own = {"XDG_DATA_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | own,
        )
        for line in process.stdout:
            if found := re.search(r"(http://[^/]+)(/enter\S+)", line):
                return process, *found.groups()
        raise AssertionError("the server has not started")

    process, url, path = start()
    try:
        running = SimpleNamespace(url=url, invitation=lambda: url + path)
        tab = browsers.Tab(browser, running)
        wheel(tab)
        scene, pixels = tab.assert_exact(), tab.pixels()
        tab.run("""() => {
            window.lines = [];
            explorer.addEventListener("disconnected", ({ detail }) => lines.push(detail.text));
        }""")
        process.kill()
        process.communicate()
        tab.until("lines.length && !explorer.connected")
        drag(tab)  # it moves what is there
        assert np.array_equal(tab.pixels()[:-8, 15:], pixels[8:, :-15])
        process, again, _ = start()
        assert again == url
        tab.until("explorer.connected")
        after = tab.assert_exact()
        assert after["view"]["width"] == scene["view"]["width"]
        assert after["view"]["center"] != scene["view"]["center"]
        assert place_of(tab.press("Control+z")) == place_of(scene)
        assert not any("address" in line for line in tab.run("lines"))
        tab.close()
    finally:
        process.kill()
        process.communicate()


MIXED = """() => {
    const { connection } = explorer, { send } = connection;
    window.views = [];
    connection.send = (message) => {
        if (message.t === "view") views.push(message);
        send.call(connection, message);
    };
    for (let k = 0; k < 30; k++)
        explorer.move(k % 2 ? { by: [0, 48], step: "up" } : { by: [32, 0], step: "left" });
}"""


def test_moves_of_different_kinds_are_one_view_and_each_is_undone(tab):
    first = tab.assert_exact()
    tab.run(MIXED)
    last = tab.assert_exact()
    assert tab.run("views.length") <= 2
    assert tab.run("explorer.steps.back.length") >= 30
    tab.run("() => explorer.step(-7)")
    places = [float(part) for part in tab.assert_exact()["view"]["center"]]
    across = float(first["view"]["width"]) / 160
    for axis, by in ((0, -12 * 2), (1, 11 * 3)):  # of 23 moves
        moved = places[axis] - float(first["view"]["center"][axis])
        assert moved == pytest.approx(by * across, abs=across / 100)
    tab.run("() => explorer.step(7)")
    assert place_of(tab.assert_exact()) == place_of(last)
    tab.run("() => explorer.step(-30)")
    assert place_of(tab.assert_exact()) == place_of(first)
    tab.run("() => explorer.step(16)")
    tab.assert_exact()
    tab.run("() => explorer.step(-16)")
    assert place_of(tab.settle()) == place_of(first)


# The line to the server is dead: nothing comes or goes any more, and nobody tells the page.
DEAD = """() => {
    const { send } = WebSocket.prototype;
    let dead = null;
    WebSocket.prototype.send = function (text) {
        dead ??= this;
        if (this === dead) this.onmessage = this.onclose = null;
        else send.call(this, text);
    };
}"""


def test_a_page_whose_question_gets_no_answer_says_so_and_goes_on(new_tab):
    tab = new_tab(panels=True)
    tab.settle()
    tab.run(DEAD)
    tab.run("() => void explorer.request({ t: 'pick', at: [800, 800] }).catch(() => {})")
    said = tab.page.get_by_text("The server does not answer. Trying again.").first
    said.wait_for()
    said.wait_for(state="detached")
    tab.settle()
    assert tab.run("explorer.request({ t: 'pick', at: [800, 800] })")["t"] == "picked"


# The first scene that a page opens reaches the server once the canvas has become narrower.
NARROWER = """(() => {
    const { send } = WebSocket.prototype;
    let first = true;
    WebSocket.prototype.send = function (text) {
        if (!first || JSON.parse(text).t !== "open") return send.call(this, text);
        first = false;
        document.getElementById("view").style.width = "90px";
        const look = setInterval(() => {
            if (explorer.size[0] !== 90) return;
            clearInterval(look);
            send.call(this, text);
        }, 10);
    };
})()"""


def test_a_canvas_that_changes_while_the_first_scene_is_opened_gets_its_size(new_tab):
    tab = new_tab(script=NARROWER)
    assert tab.assert_exact()["image"]["size"] == tab.run("explorer.size") == [90, 120]


LOADED = """() => ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
    .filter(({ name }) => !/thumbnail|[.]svg/.test(name))
    .map((each) => [each.name, each.encodedBodySize, each.decodedBodySize])"""


def test_a_first_visit_loads_little(new_tab):
    """With the toolbar's panels, which come later; without pictures, compressed anyway."""
    tab = new_tab()
    tab.settle()
    tab.until("performance.getEntriesByType('resource').some(({ name }) => /explain/.test(name))")
    tab.until(
        "performance.now() - 1000 > Math.max("
        "...performance.getEntriesByType('resource').map(({ responseEnd }) => responseEnd))"
    )
    loaded = tab.run(LOADED)
    assert sum(size for _, _, size in loaded) > 400_000
    assert sum(size for _, size, _ in loaded) < 220_000
