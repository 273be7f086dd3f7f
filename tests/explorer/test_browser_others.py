"""The explorer's page and pages of pictures in Firefox and WebKit."""

import base64
import contextlib
import io
import time
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from support import browser as browsers
from support import other_browsers
from support.browser import share_apart

import fractals

pytestmark = [pytest.mark.browser]

SIZE = (480, 360)
NAMES = ("firefox", "webkit")
PLACE = {"view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"}}
SCENE = {**PLACE, "color": {"palette": "hokusai"}, "image": {"supersampling": 1}}
FEW = 0.03  # samples near the border whose counts a fused multiply-add changes


@pytest.fixture(scope="module", params=NAMES)
def page(request, tmp_path_factory):
    """Return a page of Firefox, then of WebKit."""
    if missing := other_browsers.missing(request.param):
        pytest.skip(missing)
    folder = tmp_path_factory.mktemp(request.param)
    with contextlib.ExitStack() as ends:
        try:
            made = ends.enter_context(other_browsers.launched(request.param, folder, SIZE))
        except (AssertionError, OSError) as error:  # it lacks something of this system
            pytest.skip(f"{request.param} does not start here: {str(error)[:100]}")
        yield made


class OtherTab(browsers.Explored):
    """A page of the explorer in a browser without Playwright."""

    def __init__(self, page, running, query=""):
        self.page = page
        page.goto(running.invitation())
        if query:
            page.goto(f"{running.url}/{query}")
        self.begin()

    @classmethod
    def at(cls, page, address):
        """Return a page without a server."""
        tab = cls.__new__(cls)
        tab.page = page
        page.goto(address)
        tab.begin()
        return tab

    def begin(self):
        self.until("window.explorer && explorer.placed")

    @property
    def problems(self):
        return self.page.evaluate("window.problems")

    def click(self, selector):
        """Click the middle of the first element, once it is there, on top and at rest."""
        self.until(f"document.querySelector({selector!r})")
        deadline = time.monotonic() + browsers.PATIENCE
        before, where = None, self.middle(selector)
        while not where or where != before:
            assert time.monotonic() < deadline, f"{selector} is covered, or moves"
            before, where = where, self.middle(selector)
        self.page.click(*where)

    def middle(self, selector):
        """Return where an element is; null where another one lies above it."""
        return self.run(
            """(selector) => {
                const found = document.querySelector(selector);
                found.scrollIntoView({ block: "center" });
                const { x, y, width, height } = found.getBoundingClientRect();
                const middle = [x + width / 2, y + height / 2].map(Math.round);
                return found.contains(document.elementFromPoint(...middle)) ? middle : null;
            }""",
            selector,
        )


@pytest.mark.parametrize("query", ["?plain", "?webgl"])
def test_the_canvas_has_the_pixels_of_render_after_each_move(page, server, query):
    tab = OtherTab(page, server.running, query)
    tab.open(SCENE)
    first = tab.assert_exact()
    assert first["image"]["size"] == tab.run("explorer.size")
    page.wheel(200, 150, -110)
    wheeled = tab.assert_exact()
    assert float(wheeled["view"]["width"]) < float(first["view"]["width"])
    browsers.in_time(
        tab,
        lambda: page.drag((200, 150), (260, 120)),
        again=lambda: (tab.run("explorer.undo()"), tab.assert_exact()),
    )
    dragged = tab.assert_exact()
    assert dragged["view"]["center"] != wheeled["view"]["center"]
    assert dragged["view"]["width"] == wheeled["view"]["width"]
    page.press("ArrowLeft")
    assert tab.assert_exact()["view"]["center"] != dragged["view"]["center"]
    tab.run("explorer.undo(), explorer.undo(), explorer.undo()")
    tab.settle()
    tab.until(f"explorer.scene.view.width === {first['view']['width']!r}")
    assert tab.assert_exact()["view"] == first["view"]


def test_the_page_takes_the_canvas_that_costs_less(page, server):
    # No browser of a test machine has a graphics card, and WebKit tells no name of its renderer.
    tab = OtherTab(page, server.running)
    assert tab.run("explorer.stage.renderer.values") is False
    tab.open(SCENE)
    tab.assert_exact()


ADDRESSES = """() => {
    window.before = true;
    setInterval(() => history.replaceState(history.state, "", `#${performance.now()}`), 20);
}"""


def test_a_page_that_changes_its_address_is_left_before_the_next_one_is_looked_at(page, server):
    tab = OtherTab(page, server.running)
    tab.run(ADDRESSES)
    page.goto(server.running.invitation())
    assert not tab.run("Boolean(window.before)")


def test_whole_pictures_are_made_beside_the_page_and_exact(page, server):
    tab = OtherTab(page, server.running, "?plain")
    tab.open(SCENE)
    assert tab.run(browsers.WHOLE) == ["ImageBitmap", 0, 0]
    tab.run("scene => explorer.open({ scene })", {**SCENE, "formula": "tricorn"})
    tab.assert_exact()


def test_panels_open_a_scene_and_change_its_colors(page, server):
    tab = OtherTab(page, server.running)
    tab.open(SCENE)
    page.press("c")
    tab.click('.panel .strip-button[title="Ember"]')
    tab.until("explorer.settled && explorer.scene.color.palette === 'ember'")
    tab.assert_exact()
    page.press("g")
    tab.click('.panel .card:has([data-src$="/scene/seahorse"], [src$="/scene/seahorse"])')
    tab.until("explorer.settled && explorer.scene.title === 'Seahorse valley'")
    tab.run("history.back()")
    tab.until("explorer.settled && explorer.scene.color.palette === 'ember'")


def test_a_site_draws_without_a_server(page, address):
    tab = OtherTab.at(page, address)
    ship = {"formula": "burning_ship", "view": {"center": ["-1.76", "-0.03"], "width": "0.3"}}
    scene = tab.open(ship)
    assert scene["formula"] == "burning_ship"
    pixels = fractals.render(scene, device="cpu").pixels
    apart = abs(tab.pixels().astype(int) - pixels).max(2) > 2
    assert apart.mean() <= FEW
    page.press("ArrowLeft")
    assert tab.settle()["view"]["center"] != scene["view"]["center"]
    assert not tab.problems


def test_a_guest_of_a_class_follows_until_the_picture_moves(page, own_server):
    server = own_server(classroom=True, host="127.0.0.1")
    code = f"{server.url}/enter?code={server.explorer.classroom.code}&name=Mia"
    tab = OtherTab(page, SimpleNamespace(invitation=lambda: code, url=server.url))
    size = tab.run("explorer.size")
    file = io.BytesIO()
    Image.fromarray(fractals.render(SCENE, size=size, device="cpu").pixels).save(file, "JPEG")

    async def lead(client):
        await client.say("open", frame=1, scene=SCENE, size=size)
        await client.until("placed")
        await client.say("lead", frame=1, picture=base64.b64encode(file.getvalue()).decode())
        await client.ask("class", "class")

    server.run(lead)
    tab.until("document.querySelector('.class-state') && explorer.scene.view.width === '0.0065'")
    tab.until("explorer.drawn === null && explorer.stage.picture.complete")
    assert abs(tab.pixels().astype(int) - np.asarray(Image.open(file))).mean() < 1
    page.wheel(200, 150, -110)
    tab.until("document.querySelector('.class-chip .primary')")
    assert float(tab.assert_exact()["view"]["width"]) < 0.0065
    tab.click(".class-chip .primary")
    tab.until("document.querySelector('.class-state') && explorer.scene.view.width === '0.0065'")
    assert not tab.problems


class Picture(browsers.Explored):
    """A page of a picture in a browser without Playwright."""

    def __init__(self, page, path):
        self.page = page
        page.goto(path.as_uri())
        self.until("window.viewer")

    @property
    def problems(self):
        return self.page.evaluate("window.problems")

    def seen(self):
        """Return the picture that is shown, once it is drawn."""
        self.until("viewer.settled")
        return browsers.canvas_pixels(self.page)

    def limit(self):
        return self.run("viewer.job({ layer: viewer.layers[0], i: 0, j: 0, step: 1, n: 1 }).limit")

    def expected(self):
        """Return what `render` draws of the place that is shown."""
        center, pixel, size = self.run(
            "[viewer.shown.center, viewer.shown.pixel, [viewer.canvas.width, viewer.canvas.height]]"
        )
        place = {"center": tuple(map(repr, center)), "width": repr(pixel * size[0])}
        keys = {"size": size, "supersampling": 1, "max_iterations": self.limit()}
        return fractals.render("seahorse", **place, **keys, device="cpu").pixels


def test_a_page_draws_each_place_like_render(page, live):
    shown = Picture(page, live)
    first = shown.seen()
    assert share_apart(first, shown.expected()) < FEW
    for _ in range(3):
        page.press("+")
    page.drag((200, 150), (260, 120))
    moved = shown.seen()
    assert shown.run("viewer.place.width") < 0.0065 / 3
    assert share_apart(moved, shown.expected()) < FEW


def test_a_page_of_one_picture_says_where_it_ends(page, tmp_path):
    path, said = tmp_path / "a.html", []
    keys = {"size": (96, 64), "supersampling": 1, "coloring": "rank"}
    fractals.render_to(path, "seahorse", **keys, device="cpu", on_message=said.append)
    shown = Picture(page, path)
    for _ in range(6):
        page.press("+")
    note = "document.getElementById('note').textContent"
    shown.until(f"{note}.includes('This page holds one picture of 96 x 64 pixels')")
