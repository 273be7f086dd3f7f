"""The craft around the picture, in a browser: previews, snapshots, flights, what is seen."""

import functools

import numpy as np
import pytest
from PIL import Image
from support import browser as browsers
from support.panels import SCENE, SIZE, color_of, opened, place_of, section

import fractals

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

GROUND = (9, 9, 11)  # of the canvas, where there is no picture
SILENT = "() => { explorer.connection.send = () => {}; }"  # nothing reaches the server any more
# Messages of a kind reach the server once `release` is called.
HOLD = """(kind) => {
    const { connection } = explorer, { send } = connection, held = [];
    connection.send = (message) => message.t === kind ? held.push(message)
        : send.call(connection, message);
    window.release = () => {
        delete connection.send;
        held.forEach((message) => connection.send(message));
    };
}"""
PHONE = (390, 844)
CANCEL = """() => {  // unless all is done
    const all = [...document.querySelectorAll(".panel button")];
    all.find((each) => each.textContent.trim() === "Cancel" && each.checkVisibility())?.click();
}"""
# Names of animations that never end, of what shows that something is under way.
ENDLESS = """() => {
    const [still] = document.adoptedStyleSheets;  // of tests, which lets nothing move
    document.adoptedStyleSheets = [];
    const made = ["progress", "div"].map((name) => document.createElement(name));
    made[1].innerHTML = '<p class=busy><i class=dot></i></p><p class=card><i class=waiting>';
    document.getElementById("ui").append(...made);
    const all = [made[0], ...made[1].querySelectorAll("*")].map((each) => getComputedStyle(each));
    const endless = all.filter((each) => each.animationIterationCount === "infinite");
    const found = endless.map((each) => each.animationName);
    made.forEach((each) => each.remove());
    document.adoptedStyleSheets = [still];
    return found;
}"""


@pytest.fixture
def tab(panels):
    return panels


@pytest.fixture
def new_tab(browser, server):
    """Return a function that opens a page of its own."""
    opened = []

    def make(**options):
        tab = browsers.Tab(browser, server.running, panels=True, **{"size": SIZE, **options})
        opened.append(tab)
        tab.until("explorer.catalog && explorer.placed")
        tab.open(SCENE)
        return tab

    yield make
    for each in opened:
        each.close()


# ---------------------------------------------------------------------- previews


def test_a_palette_is_shown_while_it_is_pointed_at(tab):
    assert sorted(tab.run(ENDLESS)) == ["breathe", "breathe", "sweep"]
    before, shown = tab.settle(), tab.pixels()
    panel = opened(tab, "Color")
    strip = panel.get_by_role("button", name="Ember", exact=True)
    first = panel.locator(".strip-button").first
    box = first.bounding_box()
    strip.hover()
    tab.until("explorer.stage.peeked")
    ember = tab.pixels()
    assert (ember != shown).any(axis=2).mean() > 0.9
    assert tab.run("explorer.scene") == before
    tab.page.mouse.move(600, 300)
    tab.until("!explorer.stage.peeked")
    assert np.array_equal(tab.pixels(), shown)
    strip.click()
    assert color_of(tab)["palette"] == "ember"
    assert np.abs(tab.pixels().astype(int) - ember).max() <= 1  # as the shader colors
    tab.page.mouse.move(600, 300)
    tab.page.keyboard.press("Escape")
    tab.page.mouse.move(box["x"] + 20, box["y"] + 8)
    opened(tab, "Color")  # a palette is under the mouse, which rests
    tab.page.wait_for_timeout(200)
    assert first.bounding_box() == box
    assert not tab.run("Boolean(explorer.stage.peeked)")
    tab.page.mouse.move(box["x"] + 24, box["y"] + 8)
    tab.until("explorer.stage.peeked")
    tab.page.mouse.move(600, 300)


def test_without_a_graphics_card_the_canvas_is_plain_and_palettes_are_laid_over(new_tab):
    """WebGL2 in software takes twice the work."""
    tab = new_tab(card=False)
    assert not tab.run("explorer.stage.renderer.values")
    assert tab.run(ENDLESS) == []
    tab.assert_exact()
    opened(tab, "Color").get_by_role("button", name="Ember", exact=True).hover()
    tab.page.locator(".over canvas").wait_for()
    tab.page.mouse.move(600, 300)
    tab.page.locator(".over").wait_for(state="detached")
    assert color_of(tab)["palette"] == "hokusai"


@pytest.mark.slow
def test_colorings_of_this_view_are_pictures_to_choose_from(new_tab):
    tab = new_tab()
    names = "['smooth', 'stripe_average', 'root']"  # `root` has no meaning here
    tab.run(f"""() => {{
        const colorings = explorer.catalog.colorings.filter(({{ name }}) => {names}.includes(name));
        explorer.catalog = {{ ...explorer.catalog, colorings }};
    }}""")
    part = section(opened(tab, "Color"), "Coloring")
    cards = part.get_by_role("list", name="Colorings of this view")
    cards.scroll_into_view_if_needed()  # they are drawn while they are seen
    cards.get_by_role("button", name="Stripe average").wait_for()
    assert cards.get_by_role("button").count() == 2
    before = tab.settle()["color"]
    cards.get_by_role("button", name="Stripe average").click()
    tab.until("explorer.scene.color.coloring === 'stripe_average'")
    assert tab.assert_exact()["color"]["density"] > 2  # fitted
    assert tab.press("Control+z")["color"] == before


@pytest.mark.slow
def test_looks_are_presets_over_any_scene(tab):
    before = tab.settle()["color"]
    part = section(opened(tab, "Color"), "Looks")
    looks = part.get_by_role("list", name="Looks")
    looks.scroll_into_view_if_needed()  # they are drawn while they are seen
    looks.get_by_role("button", name="Light").click()
    tab.until("explorer.scene.color.layers?.[0]?.coloring === 'slopes'")
    light = tab.assert_exact()["color"]
    assert light["palette"] == "hokusai"
    looks.get_by_role("button", name="Poster").click()
    tab.until("explorer.scene.color.palette?.stops")
    poster = tab.assert_exact()["color"]
    assert len({color for _, color in poster["palette"]["stops"]}) == 5
    assert tab.press("Control+z")["color"] == light
    assert tab.press("Control+z")["color"] == before


def test_a_photograph_gives_its_colors(tab, tmp_path):
    pixels = np.zeros((60, 90, 3), np.uint8)
    for k, color in enumerate(((20, 30, 60), (230, 120, 40), (240, 235, 210))):
        pixels[:, 30 * k : 30 * k + 30] = color
    path = tmp_path / "Evening.png"
    Image.fromarray(pixels).save(path)
    opened(tab, "Color").locator("input[type=file]").first.set_input_files(path)
    tab.until("explorer.scene.color.palette.title === 'Evening'")
    stops = color_of(tab)["palette"]["stops"]
    found = [[int(color[k : k + 2], 16) for k in (1, 3, 5)] for _, color in stops]
    assert found[0] == pytest.approx([20, 30, 60], abs=6)  # the darkest first
    for wanted in ((230, 120, 40), (240, 235, 210)):
        assert min(np.abs(np.array(found) - wanted).max(axis=1)) <= 6
    tab.assert_exact()


# ---------------------------------------------------------------------- snapshots and steps


def test_a_snapshot_is_compared_with_and_returned_to(tab):
    first = tab.settle()
    tab.page.keyboard.press("k")
    tab.until("JSON.parse(localStorage['fractals.snapshots'] ?? '[]').length === 1")
    tab.page.keyboard.press("+")
    tab.settle()
    over = tab.page.locator(".over")
    tab.page.keyboard.down("o")
    over.get_by_text("Snapshot A").wait_for()
    tab.page.keyboard.up("o")
    over.wait_for(state="detached")
    panel = opened(tab, "Past")
    panel.get_by_role("button", name="Hold to compare with A").hover()
    tab.page.mouse.down()
    over.wait_for()
    tab.page.mouse.up()
    over.wait_for(state="detached")
    panel.get_by_role("button", name="A", exact=True).click()
    tab.until(f"explorer.placed.width === {first['view']['width']!r}")
    assert place_of(tab.settle()) == place_of(first)
    panel.get_by_role("button", name="Remove snapshot A").click()
    assert panel.get_by_role("list", name="Snapshots").get_by_role("button").count() == 0


def test_a_snapshot_lies_beside_the_picture_which_moves_on(tab):
    tab.page.keyboard.press("k")
    tab.until("JSON.parse(localStorage['fractals.snapshots'] ?? '[]').length === 1")
    panel = opened(tab, "Past")
    panel.get_by_role("button", name="Beside the picture: A").click()
    line = tab.page.get_by_role("slider", name="Where Snapshot A ends")
    share = tab.run("explorer.seen.middle[0] / 16 / explorer.size[0]")
    assert line.bounding_box()["x"] + 22 == pytest.approx(share * SIZE[0], abs=1)
    panel.get_by_role("button", name="Close").click()
    line.press("ArrowLeft")
    now = line.bounding_box()["x"] + 22
    assert now == pytest.approx((share - 0.02) * SIZE[0], abs=1)
    tab.page.mouse.move(now, 100)
    tab.page.mouse.down()
    tab.page.mouse.move(400, 200, steps=2)
    tab.page.mouse.up()
    assert line.bounding_box()["x"] + 22 == pytest.approx(400, abs=1)
    width = tab.run("explorer.placed.width")
    tab.press("+")
    assert tab.run("explorer.placed.width") != width
    assert line.is_visible()
    tab.page.keyboard.press("Escape")
    line.wait_for(state="detached")
    tab.page.keyboard.press("Shift+O")
    line.wait_for()
    tab.page.keyboard.press("Shift+O")
    line.wait_for(state="detached")
    opened(tab, "Past").get_by_role("button", name="Remove snapshot A").click()


@pytest.mark.slow
def test_steps_of_undo_are_pictures_and_survive_a_reload(new_tab):
    tab = new_tab()
    first = place_of(tab.settle())
    second = place_of(tab.press("+"))
    tab.press("ArrowUp")  # twice the same, soon, would be one step
    steps = opened(tab, "Past").get_by_role("list", name="Steps")
    steps.get_by_role("button", name="2 back").locator("img").wait_for()
    steps.get_by_role("button", name="2 back").click()
    tab.until(f"explorer.placed.width === {first[1]!r}")
    assert place_of(tab.settle()) == first
    steps.get_by_role("button", name="1 forth").click()
    tab.until(f"explorer.placed.width === {second[1]!r}")
    tab.address()
    tab.page.reload()
    tab.until("window.explorer?.catalog && explorer.placed")
    steps = opened(tab, "Past").get_by_role("list", name="Steps")
    steps.get_by_role("button", name="1 back").locator("img").wait_for()
    steps.get_by_role("button", name="1 back").click()
    tab.until(f"explorer.placed.width === {first[1]!r}")


# ---------------------------------------------------------------------- surprise


@pytest.mark.slow
def test_two_flames_are_bred(new_tab):
    tab = new_tab()
    tab.open(fractals.load_scene("gallery/bonfire.toml").replace(quality=1).to_table())
    panel = opened(tab, "Surprise")
    sheet = panel.get_by_role("list", name="Surprises")
    for _ in range(2):
        sheet.get_by_role("button", name="as a favorite").first.click()
    tab.run(CANCEL)
    favorites = panel.get_by_role("list", name="Favorites")
    for k in range(2):
        favorites.get_by_role("button", name="Parent").nth(k).click()
    panel.get_by_role("button", name="Breed these two").click()
    sheet.get_by_role("button", name="Child 4", exact=True).wait_for()
    tab.run(CANCEL)
    tab.open(SCENE)  # whatever is shown
    panel.get_by_role("button", name="Breed these two").click()
    tab.until("document.querySelectorAll('.panel .empty').length > 4")
    sheet.get_by_role("button", name="Child 4", exact=True).wait_for()
    tab.run(CANCEL)


# Two scenes are favorites, as if another tab had kept them.
FAVORITES = """(scenes) => {
    const still = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACADs=";
    const made = scenes.map((scene, k) =>
        ({ label: `kept ${k}`, scene, still: still + " ".repeat(k) }));
    localStorage.setItem("fractals.surprises", JSON.stringify(made));
    dispatchEvent(new StorageEvent("storage", { key: "fractals.surprises" }));
}"""
BOX = {"name": "mandelbox", "scale": -1.5}, {"name": "mandelbox", "scale": -1.75}
CLIFFORD = {"name": "clifford", "a": -1.7, "b": 1.8}, {"name": "clifford", "a": 1.6, "b": -1.2}


@pytest.mark.parametrize(
    ("formulas", "more"),
    [
        (CLIFFORD, {"scatter": {"quality": 1}}),
        (BOX, {"light": {"samples": 1, "bounces": 0}}),
    ],
)
def test_attractors_and_solids_are_bred(new_tab, formulas, more):
    tab = new_tab()
    parents = [
        tab.open({"formula": formula, "color": {"palette": palette}, **more})
        for formula, palette in zip(formulas, ("ember", "jade"), strict=True)
    ]
    tab.run(FAVORITES, parents)
    panel = opened(tab, "Surprise")
    tab.run(CANCEL)
    for k in range(2):
        panel.get_by_role("button", name="Parent").nth(k).click()
    panel.get_by_role("button", name="Breed these two").click()
    sheet = panel.get_by_role("list", name="Surprises")
    child = sheet.get_by_role("button", name="Child")  # those that show nothing are left out
    child.nth(3).wait_for()
    tab.run(CANCEL)
    child.first.click()
    bred = tab.settle()
    assert bred["formula"]["name"] == formulas[0]["name"]
    for key, value in bred["formula"].items():
        low, high = sorted(each.get(key, value) for each in formulas) if key != "name" else (0, 0)
        assert key == "name" or low <= value <= high
    tab.assert_exact()


@pytest.mark.slow
def test_a_flight_arrives_at_a_minibrot_of_ten_to_the_forty_below(tab):
    """The way that is left is less than the last digit of the whole way."""
    scene = fractals.load_scene("gallery/burr.toml")
    center = [part[:70] for part in scene.to_table()["view"]["center"]]
    deep = {**SCENE, "view": {"center": center, "width": "4.6e-50"}}
    tab.open(deep)
    opened(tab, "Find")
    tab.page.get_by_role("button", name="Fly to the minibrot").click()
    tab.until("explorer.placed.octaves > 290 && explorer.placed.rotation && explorer.settled")
    found = tab.run("explorer.request({ t: 'pick', at: explorer.seen.middle, full: true })")
    assert found["inside"]
    tab.press("Control+z")
    assert tab.run("explorer.placed.width") == "4.6e-50"


@pytest.mark.slow
def test_surprises_are_kept_bred_and_walked_back(tab):
    panel = opened(tab, "Surprise")
    sheet = panel.get_by_role("list", name="Surprises")
    for _ in range(2):
        keep = sheet.get_by_role("button", name="as a favorite")
        keep.first.click()
    tab.run(CANCEL)
    tab.until("document.querySelectorAll('.panel .empty').length === 0")
    first = sheet.get_by_role("listitem").count()
    favorites = panel.get_by_role("list", name="Favorites")
    assert favorites.get_by_role("listitem").count() == 2
    breed = panel.get_by_role("button", name="Breed these two")
    assert breed.is_disabled()
    for k in range(2):
        favorites.get_by_role("button", name="Parent").nth(k).click()
    tab.run("document.querySelector('.panel .stack').style.minHeight = '2000px'")  # many cards
    tab.run("document.querySelector('.panel .body').scrollTop = 500")
    breed.click()
    tab.until("document.querySelector('.panel .body').scrollTop === 0")  # the sheet is seen
    tab.run("document.querySelector('.panel .stack').style.minHeight = ''")
    sheet.get_by_role("button", name="Child 1", exact=True).wait_for()
    tab.until("document.querySelectorAll('.panel .empty').length === 0")
    assert sheet.get_by_role("button", name="Child").count() >= 2
    panel.get_by_role("button", name="The sheet before").click()
    assert sheet.get_by_role("listitem").count() == first
    panel.get_by_role("button", name="The next sheet").click()
    before = tab.run("explorer.scene")
    sheet.get_by_role("button", name="Child 1", exact=True).click()
    panel.wait_for(state="detached")
    tab.until("explorer.settled")
    after = tab.assert_exact()
    assert after["color"] != before["color"]
    panel = opened(tab, "Surprise")  # what was kept is still there
    for _ in range(2):
        panel.get_by_role("button", name="Remove the favorite").first.click()
    assert favorites.count() == 0


@pytest.mark.slow
def test_one_road_leads_from_the_gallery_to_a_poster(tab):
    panel = opened(tab, "Gallery")
    tab.run(HOLD, "open")
    card = panel.get_by_role("button", name="Clockwork", exact=True)
    card.scroll_into_view_if_needed()
    tab.until("document.querySelector('img[src$=clockwork]')?.naturalWidth")
    card.click()
    tab.page.locator(".over canvas").wait_for()  # its small picture, until the scene is seen
    tab.run("() => window.release()")
    tab.settle()
    tab.page.locator(".over").wait_for(state="detached")
    panel = opened(tab, "Gallery")
    card = panel.get_by_role("listitem").filter(has_text="Carpet")
    card.get_by_role("button", name="More like Carpet").click()
    tab.page.get_by_role("region", name="Surprise", exact=True).wait_for()
    assert tab.run("explorer.scene.title") == "Carpet"
    for station, title in (("Color", "Color"), ("Print", "Export"), ("Choose", "Gallery")):
        road = tab.page.get_by_role("group", name="From a picture to a poster")
        road.get_by_role("button", name=station).click()
        tab.page.get_by_role("region", name=title, exact=True).wait_for()


# ---------------------------------------------------------------------- bookmarks


def titles(panel):
    cards = panel.get_by_role("list", name="Bookmarks").locator(".card")
    return [text.strip() for text in cards.all_inner_texts()]


def test_bookmarks_are_ordered_by_keys_and_by_dragging_and_undone(tab):
    from playwright.sync_api import expect

    panel = opened(tab, "Bookmarks")
    cards = panel.get_by_role("list", name="Bookmarks").locator(".card")
    for title in "ABC":
        panel.get_by_label("Title of the bookmark").fill(title)
        panel.get_by_role("button", name="Keep this place").click()
        panel.get_by_role("button", name=title, exact=True).wait_for()
    assert titles(panel) == ["C", "B", "A"]
    panel.get_by_role("button", name="Move C:").press("ArrowRight")
    expect(cards).to_have_text(["B", "C", "A"])
    tab.page.locator(".message").get_by_role("button", name="Undo").last.click()
    expect(cards).to_have_text(["C", "B", "A"])
    grip, target = (panel.get_by_role("button", name=f"Move {title}:") for title in "AC")
    grip.hover()
    tab.page.mouse.down()
    target.hover(force=True)
    tab.page.mouse.up()
    expect(cards).to_have_text(["A", "C", "B"])
    panel.get_by_role("button", name="Close").click()
    panel = opened(tab, "Bookmarks")  # the server keeps the order
    expect(cards).to_have_text(["A", "C", "B"])
    panel.get_by_role("button", name="Remove C").click()
    expect(cards).to_have_text(["A", "B"])
    tab.page.locator(".message").get_by_role("button", name="Undo").last.click()
    expect(cards).to_have_text(["A", "C", "B"])  # where it was
    for title in "ABC":
        panel.get_by_role("button", name=f"Remove {title}").click()
        expect(panel.get_by_role("button", name=title, exact=True)).to_have_count(0)


def test_a_bookmark_with_a_long_title_has_a_card_as_others(tab):
    panel = opened(tab, "Bookmarks")
    for title in ("C" * 190, "A"):
        panel.get_by_label("Title of the bookmark").fill(title)
        panel.get_by_role("button", name="Keep this place").click()
        panel.get_by_role("button", name=title, exact=True).wait_for()
    one, other = (
        panel.get_by_role("button", name=title, exact=True).bounding_box()
        for title in ("C" * 190, "A")
    )
    assert one["width"] == other["width"] < SIZE[0] / 4
    assert one["height"] < 2 * other["height"]
    for title in ("C" * 190, "A"):
        panel.get_by_role("button", name=f"Remove {title}").click()


# ---------------------------------------------------------------------- what is seen


def pixel_of(tab, point):
    """Return where a point of the plane lies on the canvas, in pixels."""
    scene = tab.settle()
    width, (across, down) = float(scene["view"]["width"]), scene["image"]["size"]
    x, y = (float(a) - float(b) for a, b in zip(point, scene["view"]["center"], strict=True))
    return across / 2 + x / width * across, down / 2 - y / width * across


@pytest.mark.slow
def test_flights_home_and_boxes_aim_beside_the_panel(new_tab):
    tab = new_tab(size=(1100, 700), device_scale_factor=1, card=False)
    tab.page.keyboard.press("0")
    tab.until("parseFloat(explorer.placed.width) > 3")
    home = tab.settle()["view"]["center"]
    panel = opened(tab, "Find")
    right = panel.evaluate("each => each.offsetLeft + each.clientWidth")
    middle = ((right + 1100) / 2, 350)
    assert tab.run("explorer.free[0]") == right  # as soon as the panel is there
    tab.page.keyboard.press("0")
    tab.until(f"explorer.scene.view.center[0] !== {home[0]!r}")
    assert pixel_of(tab, home) == pytest.approx(middle, abs=2)
    tab.press("+")
    assert pixel_of(tab, home) == pytest.approx(middle, abs=2)
    whole = float(tab.open(SCENE)["view"]["width"])
    tab.page.get_by_role("button", name="Fly to the minibrot").click()
    tab.until("explorer.scene.view.rotation && explorer.settled")
    found = tab.run("explorer.request({ t: 'pick', at: explorer.seen.middle, full: true })")
    assert found["inside"]  # the copy lies in the middle of what is seen
    tab.press("Control+z")
    assert float(tab.run("explorer.placed.width")) == pytest.approx(whole)
    panel.get_by_role("button", name="Close").click()
    opened(tab, "Color")
    tab.until("explorer.free")
    aim = tab.run("explorer.seen")
    box = (700, 200, 800, 300)
    tab.page.keyboard.down("Shift")
    tab.page.mouse.move(*box[:2])
    tab.page.mouse.down()
    tab.page.mouse.move(*box[2:], steps=3)
    tab.page.mouse.up()
    tab.page.keyboard.up("Shift")
    after = tab.assert_exact()["view"]
    zoomed = aim["share"] * min(1100 / 100, 700 / 100)
    assert whole / float(after["width"]) == pytest.approx(zoomed, rel=0.02)


@pytest.mark.parametrize("card", [True, False])
def test_a_picture_goes_on_beyond_its_edges(new_tab, card):
    """Zooming out showed a sharp rectangle on black until the server had answered."""
    tab = new_tab(card=card, device_scale_factor=1)
    tab.run(SILENT)
    tab.run("() => explorer.move({ scale: -64 })")
    pixels = tab.pixels().astype(int)
    height, width = pixels.shape[:2]
    assert (
        not (pixels == GROUND)
        .all(axis=2)[height // 6 : -height // 6, width // 6 : -width // 6]
        .any()
    )
    edge = height // 4  # the upper edge of the picture, whose middle is half as large
    step = np.abs(pixels[edge - 6 : edge - 2].mean(0) - pixels[edge + 2 : edge + 6].mean(0))
    assert step[width // 4 : -width // 4].mean() < 60
    row = pixels[edge - 20, width // 3 : -width // 3]
    assert np.abs(np.diff(row, axis=0)).max() < 30  # blurred


# Notes that a hint was shown, which ends after two seconds.
HINTED = """() => new MutationObserver(() => {
    window.hinted ||= document.body.innerText.includes("Tap the picture to show the bars again.");
}).observe(document.body, { childList: true, subtree: true, characterData: true })"""


def test_the_bars_hide_by_a_button_and_a_tap(new_tab):
    from playwright.sync_api import expect

    tab = new_tab()
    bar = tab.page.get_by_role("navigation", name="Panels")
    tab.page.get_by_role("button", name="Hide the bars").click()
    expect(bar).to_be_hidden()
    click = functools.partial(tab.page.mouse.click, 300, 300, delay=300)  # a slow one is a click
    browsers.in_time(tab, click, again=lambda: None)
    expect(bar).to_be_visible()
    phone = new_tab(size=PHONE, has_touch=True)
    bar = phone.page.get_by_role("navigation", name="Panels")
    phone.run(HINTED)
    hint = phone.page.get_by_text("Tap the picture to show the bars again.")
    for hidden in (True, False):
        phone.page.touchscreen.tap(180, 400)
        (expect(bar).to_be_hidden if hidden else expect(bar).to_be_visible)()
        phone.until("window.hinted")  # how the bars come back
        hint.wait_for(state="detached")
        phone.page.wait_for_timeout(400)  # two taps soon after each other would be a double tap
    phone.page.keyboard.press("?")
    phone.page.get_by_text("Double tap").wait_for()
    assert phone.page.get_by_text("Wheel", exact=True).count() == 0
    opened(phone, "Color")
    phone.page.touchscreen.tap(180, 100)  # beside a panel, which it closes
    phone.page.locator(".panel").wait_for(state="detached")
    expect(bar).to_be_visible()


def test_a_low_window_has_the_panel_beside_the_picture(new_tab):
    tab = new_tab(size=(683, 384))  # 1366x768 at 200 %
    tab.settle()
    for title in ("Color", "Inspect"):
        panel = opened(tab, title)
        box = panel.bounding_box()
        assert box["width"] <= 350
        assert box["height"] > 250
        bar = tab.page.get_by_role("navigation", name="Panels").bounding_box()
        assert box["y"] + box["height"] <= bar["y"]
        left, _, right, _ = tab.run("explorer.free")
        assert right - left > 0.4 * right
        assert tab.run("explorer.stage.canvas.style.translate") == ""
        tab.page.keyboard.press("Escape")


def test_a_long_press_opens_the_menu_of_the_point(new_tab):
    tab = new_tab(size=PHONE, has_touch=True)
    before = place_of(tab.settle())
    tab.touch("touchStart", (200, 300))
    menu = tab.page.get_by_role("menu")
    menu.wait_for()
    tab.touch("touchEnd")
    assert place_of(tab.settle()) == before
    menu.get_by_role("menuitem", name="Center here").tap()
    menu.wait_for(state="detached")
    assert place_of(tab.settle()) != before


def test_the_finger_that_has_opened_a_menu_chooses_nothing_when_it_leaves(new_tab):
    """Near the edge the menu lay under the finger, and the browser's click centered the view."""
    tab = new_tab(size=PHONE, has_touch=True, is_mobile=True)
    before = place_of(tab.settle())
    tab.touch("touchStart", (300, 600))
    menu = tab.page.get_by_role("menu")
    menu.wait_for()
    item = menu.get_by_role("menuitem").first.bounding_box()
    assert item["x"] < 300 < item["x"] + item["width"]
    tab.touch("touchEnd")
    tab.page.wait_for_timeout(100)  # nothing tells of a click that does not come
    assert place_of(tab.settle()) == before
    assert menu.is_visible()


# A touch of 0.7 s, of which the page can hear only at its end.
LATE = """() => {
    const canvas = document.getElementById("view");
    canvas.setPointerCapture = () => {};
    const send = (kind) => canvas.dispatchEvent(new PointerEvent(kind,
        { pointerId: 7, pointerType: "touch", clientX: 200, clientY: 300, bubbles: true }));
    send("pointerdown");
    for (const begun = performance.now(); performance.now() - begun < 700;);
    send("pointerup");
}"""


def test_a_busy_page_takes_a_long_press_for_no_tap(new_tab):
    tab = new_tab(size=PHONE, has_touch=True)
    tab.settle()
    tab.run(LATE)
    tab.page.get_by_role("menu").wait_for()
    assert tab.page.get_by_role("navigation", name="Panels").is_visible()


# ---------------------------------------------------------------------- autopilot


@pytest.mark.slow
def test_the_autopilot_flies_on_until_the_user_takes_over(tab):
    from playwright.sync_api import expect

    before = tab.settle()
    tab.page.keyboard.press("a")
    bar = tab.page.get_by_role("navigation", name="Panels")
    expect(bar).to_be_hidden()
    depth = tab.run("explorer.placed.octaves")
    tab.until(f"explorer.placed.octaves > {depth} + 1")
    tab.page.mouse.move(500, 300)
    tab.page.mouse.wheel(0, -100)
    expect(bar).to_be_visible()
    stopped = tab.assert_exact()
    tab.page.wait_for_timeout(500)
    assert place_of(tab.run("explorer.scene")) == place_of(stopped)
    tab.press("Control+z")  # the wheel
    assert place_of(tab.press("Control+z")) == place_of(before)  # the whole flight
    tab.page.emulate_media(reduced_motion="reduce")
    tab.page.keyboard.press("a")
    tab.page.get_by_text("asks for reduced motion").wait_for()
    assert tab.run("explorer.settled")


def test_an_image_without_a_scene_that_is_no_photograph_is_explained(tab, tmp_path):
    path = tmp_path / "broken.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    color = color_of(tab)
    opened(tab, "Color").locator("input[type=file]").first.set_input_files(path)
    tab.page.locator(".message.error").first.wait_for()
    assert color_of(tab) == color
    tab.page.get_by_role("button", name="Dismiss").first.click()
    assert fractals.load_scene(SCENE).color.palette == "hokusai"


# ---------------------------------------------------------------------- lessons


def test_lessons_show_what_they_tell(tab):
    opened(tab, "Help").get_by_role("button", name="Lessons in the picture").click()
    panel = tab.page.get_by_role("region", name="Lessons", exact=True)
    panel.get_by_role("heading", name="A question about each point").wait_for()
    panel.get_by_role("button", name="Show the set").click()
    tab.until("parseFloat(explorer.placed.width) > 2 && explorer.settled")
    page = 1
    while (forward := panel.get_by_role("button", name="Next", exact=True)).is_enabled():
        forward.click()
        page += 1
        panel.get_by_text(f"{page} of 7").wait_for()
    assert page == 7
    panel.get_by_role("button", name="Show the ships").click()
    tab.until("JSON.stringify(explorer.scene.formula).includes('burning_ship')")
    tab.settle()
    panel.get_by_role("button", name="Close").click()
    panel = opened(tab, "Lessons")  # goes on where it was
    panel.get_by_text("7 of 7").wait_for()
    tab.run("localStorage.removeItem('fractals.lesson')")
