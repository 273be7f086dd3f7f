"""Hold to fly, in a browser: mouse, fingers and a gamepad; exact pixels at rest."""

import time

import numpy as np
import pytest
from support import browser as browsers
from support.panels import SCENE, SIZE

import fractals

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

HELD = (560, 280)  # to the right of the middle
# Each frame of the screen takes 40 ms, as on a slow machine.
SLOW = """() => {
    const work = () => {
        const until = performance.now() + 40;
        while (performance.now() < until);
        if (window.slow) requestAnimationFrame(work);
    };
    window.slow = true;
    requestAnimationFrame(work);
}"""
# Frames are told to take so many seconds until they are slow, however long a machine draws them.
TOLD = """(told) => {
    const { animate } = Object.getPrototypeOf(explorer);
    explorer.animate = (each) =>
        animate.call(explorer, (seconds) => each(window.slow ? seconds : told));
}"""
# Notes that a whole picture of another view than now was drawn as one image.
SEEN = """() => {
    const { frame } = explorer.placed;
    explorer.addEventListener("frame", () => {
        const { picture } = explorer.stage;
        window.whole ||= picture.frame !== frame && picture.exact instanceof ImageBitmap;
    });
}"""
# A gamepad whose right trigger is pressed so far.
PAD = """(pressed) => {
    const buttons = Array.from({ length: 17 }, (_, k) => ({ value: k === 7 ? pressed : 0 }));
    window.pad = { axes: [0, 0, 0, 0], buttons, mapping: "standard", connected: true };
    navigator.getGamepads = () => [window.pad];
    dispatchEvent(new Event("gamepadconnected"));
}"""


@pytest.fixture(scope="module")
def tab(browser, server):
    """Return a page without a graphics card, whose canvas is plain."""
    made = browsers.Tab(browser, server.running, size=SIZE, panels=True, card=False)
    made.until("explorer.catalog && explorer.placed")
    yield made
    made.close()


@pytest.fixture
def octaves(tab):
    """Show SCENE, and return its octaves."""
    tab.open(SCENE)
    return tab.run("explorer.placed.octaves")


def flies(tab):
    """Wait until the picture was zoomed by half an octave more."""
    far = tab.run("explorer.placed.octaves") + 0.5
    tab.until(f"explorer.placed.octaves > {far}")


def test_a_held_mouse_flies_with_fewer_pixels_where_they_are_late_and_rests_exact(tab, octaves):
    before, steps = tab.settle(), tab.run("explorer.steps.back.length")
    tab.run(TOLD, 1 / 60)
    mouse = tab.page.mouse
    mouse.move(*HELD)
    mouse.down()
    flies(tab)
    assert tab.page.locator(".hold-mark").count() == 1
    assert tab.page.locator(".light").count() == 0
    tab.run(SLOW)
    tab.until("(window.light ??= document.querySelector('.light'))")  # it goes where a view rests
    width, full = tab.run("[light.width, explorer.size[0]]")
    assert 0.3 * full <= width < full
    flies(tab)
    mouse.move(SIZE[0] / 2, SIZE[1] / 2)  # in the middle the flight rests
    tab.run("window.slow = false")
    tab.assert_exact()
    assert tab.page.locator(".hold-mark").count() == 1
    assert tab.page.locator(".light").count() == 0
    mouse.up()
    assert tab.page.locator(".hold-mark, .menu").count() == 0
    assert tab.run("explorer.steps.back.length") == steps + 1
    assert tab.press("Control+z")["view"] == before["view"]
    tab.run("delete explorer.animate")


def test_pictures_of_a_flight_are_made_beside_the_page_and_are_exact(browser, server):
    near = "?line=local"  # a busy machine answers like a slow line, which takes no such pictures
    tab = browsers.Tab(browser, server.running, size=(480, 360), path=near, card=False)
    try:
        tab.open(SCENE)
        assert tab.run(browsers.WHOLE) == ["ImageBitmap", 0, 0]
        tab.open({**SCENE, "formula": "tricorn"})
        tab.run(SEEN)
        tab.page.mouse.move(300, 180)
        tab.page.mouse.down()
        tab.until("window.whole")
        flies(tab)
        tab.page.mouse.up()
        tab.assert_exact()
    finally:
        tab.close()


def test_a_drag_and_a_click_do_not_fly_and_a_key_ends_a_flight(tab, octaves):
    mouse = tab.page.mouse

    def drag():
        mouse.move(*HELD)
        mouse.down()
        mouse.move(HELD[0] + 40, HELD[1])

    def click():
        mouse.down()
        mouse.up()

    browsers.in_time(tab, drag, again=lambda: (mouse.up(), tab.open(SCENE)))
    tab.page.wait_for_timeout(500)
    assert tab.page.locator(".hold-mark").count() == 0
    mouse.up()
    browsers.in_time(tab, click, again=lambda: tab.open(SCENE))
    tab.page.wait_for_timeout(500)
    assert tab.page.locator(".hold-mark").count() == 0
    tab.settle()
    assert tab.run("explorer.placed.octaves") == octaves
    mouse.down()
    flies(tab)
    tab.page.keyboard.down("Shift")
    high = tab.run("explorer.placed.octaves")
    tab.until(f"explorer.placed.octaves < {high}")  # out
    tab.page.keyboard.up("Shift")
    tab.page.keyboard.press("Escape")
    assert tab.page.locator(".hold-mark").count() == 0
    tab.assert_exact()
    shown = tab.pixels()
    mouse.move(100, 100)  # the button is down still
    tab.page.wait_for_timeout(300)
    assert np.array_equal(tab.pixels(), shown)
    mouse.up()


def test_a_drag_of_which_a_busy_page_is_told_late_does_not_fly(tab, octaves):
    before, session = tab.settle()["view"], tab.context.new_cdp_session(tab.page)
    tab.run(TOLD, 0)  # the flight that begins goes nowhere
    pressed = time.time()

    def mouse(kind, x, seconds):
        there = {"x": x, "y": HELD[1], "timestamp": pressed + seconds, "button": "left"}
        session.send("Input.dispatchMouseEvent", {"type": kind, "buttons": 1, **there})

    mouse("mousePressed", HELD[0], 0)
    tab.until("document.querySelector('.hold-mark')")
    mouse("mouseMoved", HELD[0] + 1, 0.2)  # as far as a hand trembles
    assert tab.page.locator(".hold-mark").count() == 1
    mouse("mouseMoved", HELD[0] + 60, 0.3)
    assert tab.page.locator(".hold-mark").count() == 0
    mouse("mouseReleased", HELD[0] + 60, 0.4)
    after = tab.assert_exact()["view"]
    assert after["width"] == before["width"]
    assert float(after["center"][0]) < float(before["center"][0])
    tab.run("delete explorer.animate")


def test_after_a_tap_a_finger_flies_in_and_a_second_one_out(browser, server):
    tab = browsers.Tab(browser, server.running, size=(390, 700), panels=True, has_touch=True)
    try:
        tab.until("explorer.catalog && explorer.placed")
        tab.open(SCENE)
        begun = tab.run("explorer.placed.octaves")
        now = time.time()  # a busy machine may take longer than a double tap
        tab.touch("touchStart", (300, 200), at=now)
        tab.touch("touchEnd", at=now + 0.05)
        tab.touch("touchStart", (300, 200), at=now + 0.1)
        tab.until(f"explorer.placed.octaves > {begun} + 0.5")
        assert tab.page.locator("#ui.bare").count() == 0  # the tap hid no bars
        tab.touch("touchStart", (300, 200), (100, 500))
        high = tab.run("explorer.placed.octaves")
        tab.until(f"explorer.placed.octaves < {high} - 0.5")
        tab.touch("touchEnd")
        assert tab.page.locator(".hold-mark, .menu").count() == 0
        tab.assert_exact()
        tab.touch("touchStart", (300, 200))  # a long press alone is the menu
        tab.page.locator(".menu").wait_for()
        tab.touch("touchEnd")
    finally:
        tab.close()


def test_a_gamepad_flies_until_its_trigger_is_released(tab, octaves):
    tab.run(PAD, 1)
    flies(tab)
    tab.run("window.pad.buttons[7].value = 0")
    scene = tab.assert_exact()
    tab.page.wait_for_timeout(200)
    assert tab.settle()["view"] == scene["view"]


def test_a_gamepad_steers_turns_and_rests_where_its_sticks_are_worn_out(tab, octaves):
    tab.run(PAD, 0)
    before, steps = tab.settle()["view"], tab.run("explorer.steps.back.length")
    tab.run("window.pad.axes = [0.08, -0.06, 0.1, 0.05]")
    tab.page.wait_for_timeout(300)
    assert tab.settle()["view"] == before
    tab.run("window.pad.axes = [0, -1, 0, 0]")
    tab.until(f"Number(explorer.placed.center[1]) > {before['center'][1]} + 0.001")
    tab.run("window.pad.axes = [0, 0, 1, 0]")
    tab.until("Math.abs(explorer.placed.rotation) > 5")
    tab.run("window.pad.axes = [0, 0, 0, 0]")
    turned = tab.assert_exact()["view"]
    assert turned["width"] == before["width"]
    assert tab.run("explorer.steps.back.length") == steps + 1  # a flight is one step of undo
    assert tab.press("Control+z")["view"] == before


def test_a_gamepad_that_is_pulled_out_ends_its_flight(tab, octaves):
    tab.run(PAD, 1)
    flies(tab)
    tab.run("window.pad.connected = false")  # some browsers keep it in their list
    tab.settle()
    view = tab.assert_exact()["view"]
    tab.run("navigator.getGamepads = () => [null]")
    tab.page.wait_for_timeout(200)
    assert tab.settle()["view"] == view
    tab.run(PAD, 1)  # another one
    flies(tab)
    tab.run("navigator.getGamepads = () => []")
    tab.assert_exact()


def test_a_gamepad_flies_over_a_solid(tab):
    tab.open(
        {
            "formula": {"name": "mandelbox", "scale": -1.5},
            "light": {"samples": 1, "bounces": 0},
            "image": {"size": SIZE, "supersampling": 1},
        }
    )
    place = "JSON.stringify(explorer.placed.space.position)"
    before = tab.run(place)
    tab.run(PAD, 1)
    tab.until(f"{place} !== {before!r}")
    tab.run("window.pad.buttons[7].value = 0")
    tab.settle()
    ahead = tab.run("explorer.placed.space")
    tab.run("window.pad.axes = [0, 0, 1, 0]")  # looks to the right
    tab.until(
        "JSON.stringify(explorer.placed.space.target) !== JSON.stringify("
        f"{ahead['target']}) && {place} === JSON.stringify({ahead['position']})"
    )
    tab.run("window.pad.axes = [0, 0, 0, 0]")
    tab.settle()


# A flight through 60 octaves; how far the nearest picture has been from what was seen.
THROUGH = """async (center) => {
    const { flyTo } = await import("/client/panels/flight.js");
    window.far = 0;
    const look = () => (window.far = Math.max(window.far, explorer.stage.away(explorer.map)));
    explorer.addEventListener("frame", look);
    const arrived = await flyTo(explorer, { center, octaves: 60, step: "flight through" }).done;
    explorer.removeEventListener("frame", look);
    return [arrived, window.far];
}"""


def test_a_flight_does_not_outrun_its_pictures(tab, octaves):
    tab.open({"formula": "mandelbrot", "image": {"supersampling": 1}})
    center = fractals.load_scene("clockwork").view.center
    arrived, far = tab.run(THROUGH, list(center))
    assert arrived
    assert far < 11  # at 12 octaves nothing is seen of a picture
    tab.settle()
    assert abs(tab.run("explorer.placed.octaves") - 60) < 0.1
    tab.run("explorer.undo()")
    tab.settle()
