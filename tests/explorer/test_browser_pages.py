"""Web pages of pictures, in a browser without a network or a server."""

import time
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from PIL import Image
from support import browser as browsers
from support.browser import share_apart

import fractals
from fractals.rendering.drawing import draw_all, open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.resume_data import known_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

SIZE = (400, 300)
NO_WORKERS = "globalThis.Worker = class { constructor() { throw new Error('no workers'); } }"
COUNT_STOPS = """() => {
    const { again } = viewer;
    window.stops = 0;
    viewer.again = (wanted) => {
        stops++;
        again.call(viewer, wanted);
    };
}"""
FEW = 0.03


@pytest.fixture
def visit(browser):
    """Return a function that opens a file in a browser without a network."""
    made, problems = [], []

    def opened(path, before="", place="", **options):
        given = {"viewport": dict(zip(("width", "height"), SIZE, strict=True)), **options}
        made.append(browser.new_context(offline=True, reduced_motion="reduce", **given))
        page = made[-1].new_page()
        if before:
            page.add_init_script(before)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.goto(path.as_uri() + place)
        until(page, "!!globalThis.viewer")
        return page

    yield opened
    for context in made:
        context.close()
    assert not problems


def until(page, condition, most=20):
    """Wait for a condition; a page whose policy allows no `eval` can't wait for itself."""
    begun = time.monotonic()
    while not page.evaluate(condition):
        assert time.monotonic() - begun < most, condition
        time.sleep(0.02)


def seen(page, most=20):
    until(page, "viewer.settled", most)
    return browsers.canvas_pixels(page)


def expected(page, **keys):
    """Return what `render` draws of the place that a page shows."""
    center, pixel = page.evaluate("[viewer.shown.center, viewer.shown.pixel]")
    place = {"center": tuple(map(repr, center)), "width": repr(pixel * SIZE[0])}
    scene = fractals.load_scene("seahorse", supersampling=1, size=SIZE, **place, **keys)
    return fractals.render(scene, device="cpu").pixels


def test_a_page_draws_each_place_like_render(visit, live):
    page = visit(live)
    limit = page.evaluate("viewer.facts.limit")
    first = seen(page)
    assert page.evaluate("viewer.place.width") == pytest.approx(0.0065)
    assert page.evaluate("viewer.size") == [96, 64]
    assert share_apart(first, expected(page, max_iterations=limit)) < FEW
    page.mouse.move(300, 100)
    point = page.evaluate("viewer.under([300, 100])")
    for _ in range(5):
        page.mouse.wheel(0, -200)
    until(page, "viewer.pixel < viewer.still.pixel / 40")
    zoomed = seen(page)
    assert page.evaluate("viewer.under([300, 100])") == pytest.approx(point, rel=1e-9)
    limit = page.evaluate(
        "viewer.job({ layer: viewer.layers[0], i: 0, j: 0, step: 1, n: 1 }).limit"
    )
    assert limit > page.evaluate("viewer.facts.limit")
    drawn = expected(page, max_iterations=limit)
    assert share_apart(zoomed, drawn) < FEW
    assert share_apart(first, drawn) > 0.5
    page.mouse.down()
    page.mouse.move(340, 80, steps=3)
    page.mouse.up()
    assert page.evaluate("viewer.under([340, 80])") == pytest.approx(point, rel=1e-9)
    moved = seen(page)
    assert share_apart(moved[:-20, 40:], zoomed[20:, :-40]) == 0  # no tile is drawn twice
    assert share_apart(moved, expected(page, max_iterations=limit)) < FEW


@pytest.mark.slow
def test_what_makes_a_picture_smoother_stops_for_another_place(visit, tmp_path):
    path = tmp_path / "a.html"
    keys = {"size": (96, 64), "supersampling": 4, "max_iterations": 100_000}
    fractals.render_to(path, formula="magnet1", device="cpu", **keys)
    page = visit(path)
    until(page, "[...viewer.pool.under.values()].some((wanted) => wanted.n === 4)")
    page.evaluate(COUNT_STOPS)
    page.evaluate("viewer.pan(200, 0)")
    until(page, "stops > 0")
    seen(page)
    assert page.evaluate("viewer.queue.length") == 0


@pytest.mark.slow
def test_what_is_out_of_sight_is_forgotten(visit, live):
    page = visit(live)
    shown = seen(page)
    page.evaluate("viewer.pan(64, 0)")
    moved = seen(page)
    parts = page.evaluate("viewer.layers[0].parts.size")
    page.evaluate("viewer.prune(viewer.layers[0], -64, 0)")
    assert page.evaluate("viewer.layers[0].parts.size") < parts
    assert np.array_equal(seen(page), moved)
    page.evaluate("viewer.pan(-64, 0)")
    assert np.array_equal(seen(page), shown)


def test_the_address_holds_the_place_and_keys_go_home(visit, live):
    page = visit(live, place="#-0.75,0.1,0.01")
    assert page.evaluate("viewer.place.center") == [-0.75, 0.1]
    assert page.evaluate("viewer.place.width") == pytest.approx(0.01)
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    until(page, "location.hash.endsWith(String(viewer.place.width))")
    place = page.evaluate("location.hash")
    assert place != "#-0.75,0.1,0.01"
    page.keyboard.press("0")
    assert page.evaluate("viewer.place.center") == [-0.7453, 0.1127]
    until(page, "location.hash.startsWith('#-0.7453,')")
    page.evaluate("(place) => { location.hash = place; }", place)
    until(page, "viewer.place.center[0] !== -0.7453")
    page.get_by_role("button", name="First view").click()
    assert page.evaluate("viewer.place.width") == pytest.approx(0.0065)


def test_scene_and_picture_of_the_place_are_saved_in_other_colors(visit, live, tmp_path):
    page = visit(live, place="#-0.75,0.1,0.01")
    before = fractals.load_scene("seahorse", size=(96, 64), supersampling=1)
    own = seen(page)
    page.locator("#colors summary").click()
    page.get_by_label("Density").fill("1")
    page.get_by_label("Offset").fill("0.25")
    paint = {"density": 2 * before.color.density, "offset": before.color.offset + 0.25}
    limit = page.evaluate(
        "viewer.job({ layer: viewer.layers[0], i: 0, j: 0, step: 1, n: 1 }).limit"
    )
    shown = seen(page)
    assert share_apart(own, shown) > 0.5
    assert share_apart(shown, expected(page, max_iterations=limit, **paint)) < FEW
    page.get_by_label("Offset").press("Home")  # of the slider
    assert page.evaluate("viewer.place.center") == [-0.75, 0.1]
    page.get_by_label("Offset").fill("0.25")
    shown = seen(page)
    page.locator("summary").first.click()
    page.locator("#toml").get_by_text('center = ["-0.75", "0.1"]').wait_for()
    for name, file in (("Save the scene", "a.toml"), ("Save the picture", "a.png")):
        with page.expect_download() as found:
            page.get_by_role("link", name=name).click()
        found.value.save_as(tmp_path / file)
    saved = fractals.load_scene(tmp_path / "a.toml")
    assert saved == before.replace(center=("-0.75", "0.1"), width=saved.view.width, **paint)
    assert float(saved.view.width) == pytest.approx(0.01)
    assert np.array_equal(np.array(Image.open(tmp_path / "a.png").convert("RGB")), shown)


def test_a_page_says_where_it_ends(visit, live):
    page = visit(live, place="#-0.75,0.1,1e-11")
    seen(page)
    assert not page.locator("#note").is_visible()
    for _ in range(20):
        page.keyboard.press("+")
    assert "fractals explore" in page.locator("#note").text_content()
    seen(page)
    page.keyboard.press("-")
    assert not page.locator("#note").is_visible()


def test_a_browser_that_can_not_draw_says_so_and_magnifies(visit, live):
    page = visit(live, before=NO_WORKERS)
    assert "no workers" in page.locator("#note").text_content()
    assert not page.locator("#colors").count()
    page.keyboard.press("+")
    assert page.evaluate("viewer.pixel < viewer.still.pixel / viewer.fit")


FINGERS = """events => {
    viewer.canvas.setPointerCapture = () => {};
    for (const [id, kind, x, y] of events)
        viewer.canvas.dispatchEvent(new PointerEvent(kind,
            { pointerId: id, pointerType: "touch", clientX: x, clientY: y }));
}"""


def test_a_touch_pinches_and_taps_twice(visit, live):
    page = visit(live, has_touch=True, viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    before = page.evaluate("viewer.pixel")
    tap = [(1, "pointerdown", 200, 300), (1, "pointerup", 200, 300)]
    page.evaluate(FINGERS, [*tap, *tap])  # at once, because a busy browser may part two real ones
    until(page, f"viewer.pixel < {before / 2}")
    seen(page)
    between = page.evaluate("viewer.pixel")
    pinch = [
        (1, "pointerdown", 150, 300),
        (2, "pointerdown", 250, 300),
        (1, "pointermove", 100, 300),
        (2, "pointermove", 300, 300),
        (1, "pointerup", 100, 300),
        (2, "pointerup", 300, 300),
    ]
    page.evaluate(FINGERS, pinch)
    assert page.evaluate("viewer.pixel") == pytest.approx(between / 2)


DOUBLED = {
    "formula": "spider",
    "center": ("-0.70612917816240729430630005", "0.234828524401763762977175075"),
    "width": "2e-18",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "keys", "power"),
    [("leaves", {"max_iterations": 8000}, -33), ({}, {**DOUBLED, "max_iterations": 600}, -19)],
)
def test_a_page_of_a_deep_view_draws_and_gives_scenes_in_all_digits(
    visit, tmp_path, name, keys, power
):
    path = tmp_path / "a.html"
    scene = fractals.load_scene(name, size=(96, 64), supersampling=1, **keys)
    fractals.render_to(path, scene, device="cpu")
    # From the center of the scene
    page = visit(path, place=f"#3e{power},-1.5e{power},6e{power}")
    shown = seen(page, most=120)
    page.locator("summary").first.click()
    with page.expect_download() as found:
        page.get_by_role("link", name="Save the scene").click()
    found.value.save_as(tmp_path / "a.toml")
    saved = fractals.load_scene(tmp_path / "a.toml")
    with localcontext(prec=80):
        pairs = zip(saved.view.center, scene.view.center, strict=True)
        moved = [float(Decimal(own) - Decimal(other)) for own, other in pairs]
    assert moved == pytest.approx([3 * 10**power, -1.5 * 10**power], rel=1e-6, abs=0)
    assert float(saved.view.width) == pytest.approx(6 * 10**power, rel=1e-6, abs=0)
    pixel = Decimal(saved.view.width) / Decimal(96 * page.evaluate("viewer.fit"))
    again = saved.replace(size=SIZE, width=str(pixel * SIZE[0]))
    plan, backend = open_plan(again, RenderOptions(device="cpu"))
    known = known_of(open_drawing(plan, backend).source)  # colors go on from those of the scene
    known = replace(known, count_offset=page.evaluate("viewer.facts.offset"))
    assert share_apart(shown, draw_all(open_drawing(plan, backend, known=known))) < FEW
    page.keyboard.press("Home")
    for _ in range(60):
        page.keyboard.press("+")
    assert "ends here" in page.locator("#note").text_content()


def test_another_page_magnifies_its_picture_and_gives_its_scene(visit, tmp_path):
    path, said = tmp_path / "a.html", []
    keys = {"size": (96, 64), "supersampling": 1, "title": "<i>ranked</i>"}
    scene = fractals.load_scene("seahorse", coloring="rank", **keys)
    fractals.render_to(path, scene, device="cpu", on_message=said.append)
    assert any("whole picture" in line for line in said)
    page = visit(path)
    assert page.title() == "<i>ranked</i>"
    page.mouse.move(300, 150)
    page.mouse.wheel(0, -200)
    until(page, "viewer.pixel < viewer.still.pixel / viewer.fit")
    note = page.locator("#note")
    for _ in range(6):
        page.mouse.wheel(0, -200)
    note.get_by_text("This page holds one picture of 96 x 64 pixels").wait_for()
    assert page.evaluate("viewer.pixel * viewer.fit / viewer.still.pixel") == pytest.approx(0.5)
    page.mouse.wheel(0, 200)
    until(page, "!document.getElementById('note').textContent")
    page.locator("summary").click()
    assert "whole picture" in page.locator("details").text_content()
    for name, file in (("Save the scene", "a.toml"), ("Save the picture", "b.webp")):
        with page.expect_download() as found:
            page.get_by_role("link", name=name).click()
        found.value.save_as(tmp_path / file)
        assert fractals.load_scene(tmp_path / file) == scene
