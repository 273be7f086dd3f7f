"""The second live view, beside the picture."""

import base64
import time

import numpy as np
import pytest
from support import browser as browsers
from support.panels import SCENE, place_of

import fractals

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]
MAP = {"view": {"center": ["-0.5", "0.3"], "width": "3"}, "image": {"supersampling": 1}}
SILENT = """() => { window.WebSocket = class extends EventTarget {
    static OPEN = 1;
    send() {}
    close() {}
}; }"""
SECOND = "async () => { second = [...(await import('/client/keys.js')).views.values()][0]; }"


@pytest.fixture
def two(panels, server):
    """Return a function that opens the second view of a scene, and returns what it shows."""

    def opened(scene):
        panels.open(scene)
        panels.page.keyboard.press("t")
        panels.page.locator("#second").wait_for()
        panels.run(SECOND)
        assert not server.explorer.engine.crowded()  # by one person
        return settled(panels)

    yield opened
    panels.page.keyboard.press("Escape")
    panels.page.locator("#second").wait_for(state="detached")
    panels.until("explorer.settled")  # for the whole window again
    assert panels.run("views => views.size", panels.page.evaluate_handle(VIEWS)) == 0
    deadline = time.monotonic() + browsers.PATIENCE
    while len(server.explorer.sessions) > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(server.explorer.sessions) == 1
    assert not panels.problems


VIEWS = "async () => (await import('/client/keys.js')).views"


def settled(tab):
    """Wait for both pictures; return the scene of the second."""
    tab.until("explorer.settled && second.settled")
    return tab.run("second.scene")


def drawn(tab):
    """Return the pixels of the second picture."""
    width, height, text = tab.run(browsers.READ.replace("explorer", "second"))
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 3)


def ring_of(tab):
    """Return where the point of the Julia set lies on the page, and the ring."""
    ring = tab.page.get_by_role("button", name="Point of the Julia set")
    box = ring.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, ring


def point_of(scene):
    return np.array([float(part) for part in scene["julia"]])


def test_the_julia_set_of_a_point_is_beside_the_map(panels, two):
    scene = two(MAP)
    assert np.allclose(point_of(scene), [-0.5, 0.3], atol=1e-3)  # the middle
    assert np.array_equal(drawn(panels), fractals.render(scene, device="cpu").pixels)

    x, y, ring = ring_of(panels)
    pixel = float(panels.run("explorer.placed.width")) / panels.run("view.clientWidth")
    panels.page.mouse.move(x, y)
    panels.page.mouse.down()
    panels.page.mouse.move(x - 20, y - 10, steps=3)
    panels.page.mouse.move(x - 30, y - 40, steps=3)
    panels.page.mouse.up()
    there = np.array([-0.5 - 30 * pixel, 0.3 + 40 * pixel])
    panels.until(f"Math.abs(Number(second.scene.julia[0]) - {there[0]}) < {pixel}")
    assert np.allclose(point_of(settled(panels)), there, atol=pixel)
    ring.press("ArrowRight")
    panels.until(f"Number(second.scene.julia[0]) > {there[0] + 2 * pixel}")
    panels.run("explorer.paint({...explorer.scene.color, palette: 'ember'})")
    panels.until("second.scene.color.palette === 'ember'")

    before = point_of(settled(panels))
    panels.run("explorer.move({by: [16 * 40, 0]})")  # device pixels: the ring goes with its point
    panels.settle()
    moved, _, _ = ring_of(panels)
    assert abs(moved - (x - 30 + 4 + 40 / browsers.COARSE)) < 1.5
    panels.page.locator("#view").focus()
    panels.page.mouse.move(x - 20, y - 60)
    panels.page.keyboard.down("j")  # no preview: it is shown in the second view
    panels.until(f"Number(second.scene.julia[0]) < {before[0] - 2 * pixel}")
    panels.page.keyboard.up("j")
    assert panels.page.locator(".julia").count() == 0
    kept = settled(panels)
    panels.page.reload()  # both views stay
    panels.until("window.explorer?.settled && document.querySelector('#second')")
    panels.run(SECOND)
    assert settled(panels)["julia"] == kept["julia"]
    panels.page.locator("#view").focus()
    panels.open({**MAP, "julia": ["-0.8", "0.156"], "view": {}})  # has no Julia sets
    free = panels.page.get_by_role("button", name="Free")
    assert free.get_attribute("aria-pressed") == "true"
    assert panels.page.get_by_role("button", name="Point of the Julia set").count() == 0


def test_two_views_show_the_same_place_and_are_swapped(panels, two):
    two(SCENE)
    panels.page.get_by_role("button", name="Same place").click()
    panels.until("!second.scene.julia")
    assert place_of(settled(panels)) == place_of(panels.run("explorer.scene"))
    panels.run("second.paint({...second.scene.color, palette: 'ember'})")
    box = panels.page.locator("#second").bounding_box()
    panels.page.mouse.move(box["x"] + 100, box["y"] + 200)
    panels.page.mouse.wheel(0, -220)
    panels.until("explorer.placed.zoom !== second.placed.zoom || explorer.placed.width < 0.005")
    scene = settled(panels)
    assert place_of(scene) == place_of(panels.run("explorer.scene")) != place_of(SCENE)
    panels.run("explorer.home()")  # no move, and yet followed
    panels.until("parseFloat(second.placed.width) > 2")
    settled(panels)

    palettes = "[explorer.scene.color.palette, second.scene.color.palette]"
    assert panels.run(palettes) == ["hokusai", "ember"]
    panels.page.get_by_role("button", name="Swap the two views").click()
    panels.until(f"{palettes}.join() === 'ember,hokusai'")
    settled(panels)
    panels.page.get_by_role("button", name="Free").click()
    panels.page.locator("#second").focus()
    first = panels.run("explorer.placed.center")
    panels.page.keyboard.press("ArrowRight")  # keys move the view that has the focus
    panels.until("explorer.placed.center.join() !== second.placed.center.join()")
    panels.page.keyboard.press("Control+z")
    panels.until("explorer.placed.center.join() === second.placed.center.join()")
    assert panels.run("explorer.placed.center") == first

    line = panels.page.get_by_role("slider", name="Where the second view begins")
    width = panels.run("explorer.size[0]")
    line.press("ArrowRight")
    panels.until(f"explorer.size[0] > {width} && second.size[0] < {width}")
    settled(panels)
    line.press("ArrowLeft")


def test_a_small_picture_stands_in_the_second_view_until_one_is_drawn(panels):
    panels.open(MAP)
    panels.run(SILENT)
    panels.page.keyboard.press("t")  # nothing answers the second view
    first = panels.page.locator(".second-first canvas")
    first.wait_for()
    drawn = first.evaluate(
        "made => new Set(made.getContext('2d').getImageData(0, 0, made.width, made.height).data)"
        ".size"
    )
    assert drawn > 10
    panels.page.get_by_role("button", name="Close the second view").click()
    assert first.count() == 0
    panels.page.reload()
    panels.hide()
    panels.until("explorer.catalog && explorer.settled")
