"""A site in Chromium: its page, without a server of the explorer, shows the pixels of `render`."""

import numpy as np
import pytest
from support import browser as browsers

import fractals

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing()),
]

SHIP = "burning_ship"
PLACE = {
    "formula": SHIP,
    "view": {"center": ["-1.76", "-0.03"], "width": "0.3"},
    "color": {"palette": "hokusai"},
}
FUSED = "import('./client/site/drawer.js').then(({ isFused }) => isFused())"


class Visit(browsers.Explored):
    """A page of a site."""

    def __init__(self, browser, address, size=(320, 240), beside=None, card=False):
        """`beside`: another page, in whose window this one is a tab; `card`: as of `Tab`."""
        self.context = beside.context if beside else self._context(browser, size)
        if card:
            self.context.add_init_script(browsers.CARD)
        self.page = self.context.new_page()
        self.problems = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("requestfailed", lambda request: self.problems.append(request.url))
        self.asked = []  # addresses, also those of the page's workers
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)
        self.until("window.explorer")
        self.run("document.getElementById('ui').style.display = 'none'")

    def programs(self, kind):
        """Return the addresses of the programs of a kind that were asked for."""
        return [each for each in self.asked if each.endswith(f"-{kind}.bin")]

    @staticmethod
    def _context(browser, size):
        made = browser.new_context(viewport={"width": size[0], "height": size[1]})
        made.set_default_timeout(1000 * browsers.PATIENCE)
        made.add_init_script(browsers.STILL)
        return made

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        return self.settle()


@pytest.fixture
def visit(browser, address):
    made = Visit(browser, address)
    made.settle()
    if not made.run(FUSED):
        pytest.skip("this processor has no fused multiply-add")
    yield made
    assert not made.problems
    made.context.close()


def test_moves_colors_and_undo_show_exact_pixels(visit):
    visit.open(PLACE)
    first = visit.assert_exact()
    visit.run("explorer.move({ at: [1600, 1200], scale: 64, by: [333, -160] })")
    assert float(visit.assert_exact()["view"]["width"]) == pytest.approx(0.15)
    visit.run("explorer.paint({ ...explorer.scene.color, palette: 'bone', density: 2 })")
    assert visit.assert_exact()["color"]["palette"] == "bone"
    visit.run("(explorer.undo(), explorer.undo())")
    visit.until(f"explorer.scene.view.width === '{first['view']['width']}'")
    assert visit.assert_exact()["view"] == first["view"]


def nearly(pixels, scene):
    """Tell whether pixels are those of a scene, but for the samples that each is the mean of."""
    wanted = fractals.render(scene, device="cpu").pixels
    return np.abs(pixels - wanted.astype(float)).mean() < 8


def test_a_page_that_colors_values_shows_other_colors_at_once(browser, address):
    """With WebGL2 sliders, palettes that are pointed at and cycling iterate nothing again."""
    visit = Visit(browser, address, card=True)
    layer = {"coloring": "distance", "blend": "multiply", "palette": "bone"}
    visit.open(PLACE | {"color": {"palette": "hokusai", "layers": [layer]}})
    visit.run("""window.passes = [];
        explorer.addEventListener("drawn", ({ detail }) => passes.push(detail.pass))""")
    scene = visit.assert_exact()
    paint = "explorer.paint({ ...explorer.scene.color, %s }, { live: %s })"
    other = scene | {"color": scene["color"] | {"density": 2.5, "offset": 0.3}}
    assert not nearly(visit.pixels(), other)
    visit.run(paint % ("density: 2.5, offset: 0.3", "true"))
    assert nearly(visit.pixels(), other)
    assert not visit.run("explorer.drawn")  # more changes follow: the engine draws nothing
    visit.run(paint % ("", "false"))
    assert visit.assert_exact() == other

    tables = "explorer.stage.picture.colors.tables[0]"
    visit.run(f"void (window.table = {tables})")
    visit.run(paint % ("palette: 'bone'", "false"))
    bone = other | {"color": other["color"] | {"palette": "bone"}}
    visit.until(f"{tables} !== table")
    assert nearly(visit.pixels(), bone)
    assert visit.assert_exact() == bone
    assert visit.run("passes") == ["exact", "exact"]

    visit.run("explorer.cycle(0.5)")
    visit.until("explorer.stage.phase > 0.2")
    turned = visit.pixels()
    assert not nearly(turned, bone)
    visit.run("explorer.cycle(0)")
    visit.assert_exact()
    assert visit.run("[...new Set(passes)]") == ["exact"]

    visit.run(paint % ("coloring: 'distance'", "false"))  # other values
    visit.assert_exact()
    assert visit.run("passes.includes('coarse')")
    visit.context.close()


def test_links_open_the_same_place_and_the_gallery_opens_its_scenes(browser, visit, address):
    visit.run("explorer.open({ gallery: 'armada' })")
    visit.until("explorer.scene?.title")
    scene = visit.assert_exact()
    link = visit.run("explorer.request({ t: 'link' }).then(({ link }) => link)")
    other = Visit(browser, f"{address}#{link}")
    assert other.assert_exact() == scene
    other.context.close()


def test_julia_sets_are_previewed_and_opened(visit):
    visit.open(PLACE)
    shown = """new Promise((done) => explorer.requests.julia(
        { t: "julia", at: [2500, 1900], size: 64 },
        ({ w, h, data }) => done([w, h, new Set(data).size])))"""
    width, height, colors = visit.run(shown)
    assert (width, height) == (64, 64)
    assert colors > 8
    visit.run("explorer.open({ julia: { at: [2500, 1900] } })")
    visit.until("explorer.placed.julia")
    assert visit.assert_exact()["julia"]


def test_exports_are_the_pictures_of_render_and_carry_their_scene(visit, tmp_path):
    visit.open(PLACE)
    visit.run("""explorer.job({ t: "export", size: [200, 130], supersampling: 3 }).done
        .then(({ url }) => Object.assign(document.createElement("a"),
            { href: url, download: "a.png" }))
        .then((link) => { document.body.append(link); window.file = link; })""")
    visit.until("window.file")
    with visit.page.expect_download() as coming:
        visit.run("window.file.click()")
    path = tmp_path / "a.png"
    coming.value.save_as(path)
    scene = fractals.load_scene(path)
    assert scene.image.size == (200, 130)
    image = fractals.render(scene, device="cpu")
    import PIL.Image

    with PIL.Image.open(path) as picture:
        assert np.array_equal(np.asarray(picture), image.pixels)


def test_deep_views_are_drawn_by_programs_that_are_loaded_for_them(visit, locations):
    visit.open(PLACE)
    assert not [each for each in visit.asked if "deep" in each]
    place = locations["fs_bs_1e-101"]
    view = {"center": [place["re"], place["im"]], "width": "7e-100"}
    visit.open({**PLACE, "view": view, "color": {}})
    assert visit.run("explorer.drawn.method") == "perturbation"
    first = visit.assert_exact()
    assert visit.programs("deep")
    assert not visit.programs("extended")
    visit.run("explorer.move({ at: [1600, 1200], scale: 64, by: [160, -80] })")
    moved = visit.assert_exact()["view"]
    assert moved["center"] != view["center"]
    link = visit.run("explorer.request({ t: 'link' }).then(({ link }) => link)")
    visit.run("explorer.undo()")
    visit.until("explorer.scene.view.width === '7e-100'")
    assert visit.assert_exact() == first
    visit.run("link => explorer.open({ link })", link)
    visit.until(f"explorer.scene.view.width === '{moved['width']}'")
    assert visit.assert_exact()["view"] == moved
    visit.run("explorer.open({ julia: { at: [2500, 1900] } })")
    visit.until("explorer.placed.julia")
    kept = visit.run("explorer.request({ t: 'bookmark', title: 'Deep' }).then((a) => a.items)")
    assert kept[0]["thumbnail"].startswith("data:image/png")
    visit.run("id => explorer.request({ t: 'bookmark', remove: id })", kept[0]["id"])


@pytest.mark.filterwarnings("ignore:the center has")
@pytest.mark.parametrize(
    ("name", "keys", "file"),
    [
        ("julia", {"julia": ["-1.2", "0.35"], "view": {"center": ["1.8", "0.2"]}}, "deep"),
        ("below float64", {"view": {"center": ["-2", "0"], "width": "1e-400"}}, "extended"),
    ],
)
def test_deep_julia_sets_and_widths_below_float64_show_exact_pixels(visit, name, keys, file):
    view = {"width": "1e-30", **keys["view"]}
    visit.open({"formula": SHIP, "color": {"coloring": "slopes"}, **keys, "view": view})
    assert visit.assert_exact()["view"]["width"] == view["width"], name
    assert visit.run("explorer.drawn.method") == "perturbation"
    visit.run("explorer.move({ at: [1600, 1200], scale: 64, by: [160, -80] })")
    assert visit.assert_exact()["view"]["width"] != view["width"]
    assert visit.programs(file)


@pytest.mark.filterwarnings("ignore:the center has")
def test_the_steps_of_a_long_reference_orbit_are_told(visit):
    visit.open(PLACE)
    steps = 2**21
    chaotic = {"center": ["-1.9", "0"], "width": "1e-30"}  # an orbit that goes on
    visit.run("""() => {
        window.told = [];
        setInterval(() => explorer.status?.done && told.push(explorer.status), 20);
    }""")
    scene = {**PLACE, "view": chaotic, "color": {}, "iteration": {"max_iterations": steps}}
    visit.run("scene => explorer.open({ scene })", scene)
    visit.until("told.length")
    first = visit.run("told[0]")
    assert first["what"] == "reference"
    assert 0 < first["done"] < steps == first["of"]
    visit.assert_exact()


def test_a_view_that_takes_long_says_what_it_does_and_gives_way_to_another(visit):
    # Beside a parabolic point orbits stay for as long as they are followed.
    slow = {"center": ["0.25", "0"], "width": "1e-20"}
    scene = {**PLACE, "view": slow, "color": {}, "iteration": {"max_iterations": 2 * 10**9}}
    visit.run("scene => explorer.open({ scene })", scene)
    visit.until("explorer.status?.what === 'preparing'")
    assert not visit.run("explorer.settled")
    visit.open(PLACE)
    visit.assert_exact()


def test_bookmarks_stay_in_the_browser(visit):
    visit.open(PLACE)
    kept = visit.run("explorer.request({ t: 'bookmark', title: 'Mine' }).then((a) => a.items)")
    assert [item["title"] for item in kept] == ["Mine"]
    assert kept[0]["thumbnail"].startswith("data:image/png")
    visit.page.reload()
    visit.until("window.explorer")  # its modules are loaded after the page
    visit.settle()
    ask = "explorer.request({ t: 'bookmarks' }).then(({ items }) => items)"
    again = visit.run(ask)
    assert again == kept
    visit.run("id => explorer.request({ t: 'bookmark', remove: id })", kept[0]["id"])
    assert visit.run(ask) == []


def test_bookmarks_that_are_made_at_once_or_in_another_tab_are_all_kept(browser, visit, address):
    visit.open(PLACE)
    # Pages that are not encrypted have no randomUUID.
    visit.run("Object.defineProperty(crypto, 'randomUUID', { value: undefined })")
    keep = "title => explorer.request({ t: 'bookmark', title }).then(() => '')"
    assert visit.run(f"Promise.all(['One', 'Two'].map({keep}))") == ["", ""]
    other = Visit(browser, address, beside=visit)
    other.settle()
    other.run(keep, "Three")
    visit.run(keep, "Four")
    items = visit.run("explorer.request({ t: 'bookmarks' }).then(({ items }) => items)")
    assert {item["title"] for item in items} == {"One", "Two", "Three", "Four"}
    assert len({item["id"] for item in items}) == 4


def test_a_slow_view_is_seen_before_its_limit_is_known(visit):
    # Each probe of the limit waits, as one of a formula does whose steps take long.
    visit.run("""async () => {
        const { Pool } = await import("./client/site/pool.js"), { draw } = Pool.prototype;
        Pool.prototype.draw = async function (job, ...rest) {
            if (job.want === "raw") await new Promise((done) => setTimeout(done, 1500));
            return draw.call(this, job, ...rest);
        };
    }""")
    visit.run("scene => explorer.open({ scene })", PLACE)
    visit.until("explorer.placed?.center[0].startsWith('-1.76')")
    visit.until("new Set(explorer.readPixels()).size > 8")
    assert visit.run("explorer.drawn?.pass") != "exact"
    assert not visit.run("explorer.settled")
    visit.assert_exact()


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ({"t": "find", "what": "nucleus"}, "searches"),
        ({"t": "surprise"}, "surprises"),
        ({"t": "film"}, "films"),
        ({"t": "export", "size": [40, 30], "format": "tiff"}, "PNG"),
    ],
)
def test_what_a_site_can_not_do_it_says(visit, message, word):
    said = visit.run(
        "message => explorer.job(message).done.then(() => '', ({ message }) => message)", message
    )
    assert word in said
    assert "fractals explore" in said


def test_panels_offer_only_what_a_site_can_do_and_say_why(visit, tmp_path):
    visit.run("document.getElementById('ui').style.display = ''")
    visit.open(PLACE)
    page = visit.page
    page.set_viewport_size({"width": 900, "height": 700})
    visit.until("explorer.catalog && explorer.settled")

    def panel(name, key):
        page.locator("#view").focus()
        page.keyboard.press(key)
        found = page.get_by_role("region", name=name, exact=True)
        found.wait_for()
        return found

    def dead(found, *names):
        return [found.get_by_role("button", name=name).is_disabled() for name in names]

    surprise = panel("Surprise", "r")
    surprise.get_by_text("fractals explore, makes surprises").wait_for()
    assert surprise.get_by_role("button", name="Twelve more").count() == 0
    find = panel("Find", "m")
    find.get_by_text("fractals explore, searches for").wait_for()
    assert all(dead(find, "Fly to the minibrot", "Autopilot", "Period of the view"))
    assert dead(find, "Julia set of the middle") == [False]
    page.locator("#view").focus()
    page.keyboard.press("n")  # what has no button here is refused in one line
    note = page.locator(".message", has_text="searches for")
    note.wait_for()
    export = panel("Export", "e")
    note.wait_for(state="detached")  # it tells of another panel
    export.get_by_text("writes other files than PNG").wait_for()
    assert export.get_by_role("button", name="TIFF").count() == 0
    button, width = (
        export.get_by_role("button", name="Export", exact=True),
        export.get_by_label("Width in pixels"),
    )
    width.fill("9000")
    width.press("Enter")
    export.get_by_text("from 1 to 8,192").wait_for()
    export.get_by_text("writes pictures above 8192 pixels a side").wait_for()
    assert button.is_disabled()
    width.fill("8192")
    width.press("Enter")
    assert not button.is_disabled()
    assert dead(export, "Poster desk") == [True]
    assert dead(panel("Film", "v"), "Make the film", "Preview") == [True, True]
    assert page.locator(".message").count() == 0
    poster = panel("Poster desk", "Shift+P")
    poster.get_by_text("fractals explore, makes posters").wait_for()
    assert poster.get_by_role("button", name="Export").count() == 0
    lessons = panel("Lessons", "l")
    shown = []  # what each lesson shows: this site has scenes of two formulas, and no searches
    for number in range(1, 8):
        lessons.get_by_text(f"{number} of 7").wait_for()
        shown.append(lessons.locator(".wide-button").all_inner_texts())
        if number < 7:
            lessons.get_by_role("button", name="Next").click()
    assert shown[2:4] == [[], ["Beside the picture"]]
    assert shown[6] == ["Show the ships", "Open the formulas"]
