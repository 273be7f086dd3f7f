"""The explorer's panels in a browser: what they change is what the page's scene and pixels are."""

import base64
import io
import random
import re
import shlex
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image
from support import browser as browsers
from support.panels import PANELS, SCENE, SIZE, color_of, opened, place_of, section

import fractals
from fractals import Scene, catalog
from fractals.tools.schema import schema_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

# Targets of less than 44 CSS pixels (WCAG 2.5.5), as far as a browser's rounding goes; a group of
# choices has 44 in all.
SMALL = """() => [...document.querySelectorAll("#ui :is(button, a, select, summary)")]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }))
    .map((each) => [each.getBoundingClientRect(), each])
    .filter(([{ width, height }, each]) =>
        Math.min(width, height) < (each.closest(".segments") ? 40 : 44) - 0.01)
    .map(([{ width, height }, each]) => `${each.outerHTML.slice(0, 80)} ${width}x${height}`)"""
TOLD = """() => {
    const detail = { text: "Something is told", kind: "info" };
    explorer.dispatchEvent(new CustomEvent("message", { detail }));
}"""
CUT = """() => [...document.querySelectorAll("#ui .segments button")]  // texts that lie outside
    .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.textContent.trim())"""
PAINTED = """() => {
    window.painted = [];
    explorer.addEventListener("painted", ({ detail }) => painted.push(detail.values));
}"""
UNDOS = ("undo", "redo")
ALL = re.compile(r"^All \d+ palettes$")
IRIS = "explorer.catalog.palettes.find(({ name }) => name === 'iris').stops"
SENT = """() => {
    window.sent = [];
    const { connection } = explorer, send = connection.send;
    connection.send = (message) => { sent.push(message.t); send.call(connection, message); };
}"""


@pytest.fixture
def tab(panels):
    return panels


# ---------------------------------------------------------------------- color


def test_palettes_and_switches_are_seen_in_forced_colors_and_with_more_contrast(tab):
    def style(part, pseudo, key):
        return tab.run(
            "([part, pseudo, key]) => getComputedStyle(document.querySelector(part), pseudo)[key]",
            [part, pseudo, key],
        )

    tab.page.emulate_media(forced_colors="active", color_scheme="dark")
    opened(tab, "Color")
    tab.page.locator(".palettes .strip").first.wait_for()
    assert "gradient" in style(".palettes .strip", None, "backgroundImage")
    opened(tab, "Export").locator(".switch").first.wait_for()
    for part in (".panel", ".panel .actions"):  # what lies below is not read with them
        assert style(part, None, "backgroundColor") == "rgb(0, 0, 0)", part
    for media in ({"forced_colors": "active"}, {"forced_colors": "none", "contrast": "more"}):
        tab.page.emulate_media(**media)
        knob, track = (style(".switch", each, "backgroundColor") for each in ("::after", None))
        assert knob != track, media
    tab.page.emulate_media(contrast="no-preference", color_scheme="light")


def test_a_palette_recolors_without_iterating_and_can_be_undone(tab):
    tab.run(PAINTED)
    before = tab.pixels()
    panel = opened(tab, "Color")
    panel.get_by_role("button", name="Ember", exact=True).click()
    tab.until("painted.length")
    assert tab.assert_exact()["color"]["palette"] == "ember"
    assert tab.run("painted") == [False]  # no new values
    assert (tab.pixels() != before).any()
    tab.page.get_by_role("button", name="Undo").click()
    tab.until("explorer.scene.color.palette === 'hokusai'")
    tab.settle()
    assert np.array_equal(tab.pixels(), before)


def test_the_editor_makes_an_inline_palette(tab):
    panel = opened(tab, "Color")
    panel.get_by_role("button", name="Edit").click()
    stops = panel.get_by_role("group", name="Stops").get_by_role("slider")
    stops.first.wait_for()
    count = stops.count()
    stops.nth(2).focus()
    place = int(stops.nth(2).get_attribute("aria-valuenow"))
    tab.page.keyboard.press("ArrowRight")
    assert int(stops.nth(2).get_attribute("aria-valuenow")) == place + 1
    panel.get_by_label("Color as text").fill("#00ff00")
    tab.page.keyboard.press("Enter")
    panel.get_by_role("button", name="Add a stop").click()
    tab.until(f"explorer.scene.color.palette.stops?.length === {count + 1}")
    palette = tab.assert_exact()["color"]["palette"]
    assert palette["stops"][2][1] == "#00ff00"
    stops.nth(3).focus()
    tab.page.keyboard.press("Delete")
    tab.until(f"explorer.scene.color.palette.stops?.length === {count}")
    panel.get_by_role("button", name="Edit").click()


def test_the_options_of_a_coloring_are_a_form(tab):
    panel = opened(tab, "Color")
    part = section(panel, "Coloring")
    part.get_by_role("combobox", name="Coloring").select_option("field_lines")
    form = part.get_by_role("group", name="Options of the coloring")
    for name in catalog.load("coloring", "field_lines")().options:
        assert form.get_by_role("textbox", name=name.capitalize()).count() == 1
    form.get_by_role("textbox", name="Lines").fill("7")
    tab.page.keyboard.press("Enter")
    tab.until("explorer.scene.color.coloring.lines === 7")
    assert tab.assert_exact()["color"]["coloring"]["name"] == "field_lines"


def test_layers_are_added_blended_ordered_and_removed(tab):
    panel = opened(tab, "Color")
    part = section(panel, "Layers")
    for _ in range(2):
        part.get_by_role("button", name="Add a layer").click()
    part.get_by_role("combobox", name="Blend").select_option("multiply")
    part.get_by_role("textbox", name="Opacity").fill("0.25")
    tab.run("explorer.paint({ ...explorer.scene.color, offset: 0.3 })")  # typing goes on
    tab.page.keyboard.press("Enter")
    tab.until("explorer.scene.color.layers?.[1]?.opacity === 0.25")
    first, second = tab.assert_exact()["color"]["layers"]
    assert (second["blend"], second["opacity"]) == ("multiply", 0.25)
    part.get_by_role("button", name="Move Slopes 2 down").click()
    tab.until("explorer.scene.color.layers[0].opacity === 0.25")
    part.get_by_role("button", name="Remove Slopes 1").click()
    tab.until("explorer.scene.color.layers.length === 1")
    assert color_of(tab)["layers"] == [first]


def test_the_options_of_a_formula_are_a_form(tab):
    panel = opened(tab, "Formula")
    tab.open({"formula": {"name": "multibrot", "power": 3}})
    field = section(panel, "Options").get_by_role("textbox", name="Power")
    assert ["Power", "Power of z, 2 to 8"] in tab.run(EXPLAINED, "formula")
    field.fill("4")
    tab.run("explorer.paint({ ...explorer.scene.color, offset: 0.3 })")  # typing goes on
    tab.page.keyboard.press("Enter")
    tab.until("explorer.scene.formula.power === 4")
    assert tab.assert_exact()["formula"] == {"name": "multibrot", "power": 4}


def test_a_parameter_of_an_own_formula_has_a_slider(tab):
    panel = opened(tab, "Formula")
    tab.open({"formula": "mandelbrot"})
    text = panel.get_by_label("z becomes")
    text.fill("z**2 + k*c, k=0.5")
    panel.get_by_role("button", name="Draw it").click()
    tab.until("explorer.scene.formula.k === 0.5")
    field = section(panel, "Parameters").get_by_role("textbox", name="k")
    field.fill("0.75")
    tab.page.keyboard.press("Enter")
    tab.until("explorer.scene.formula.k === 0.75")
    assert text.input_value() == "z**2 + k*c"
    formula = {"name": "expression", "step": "z**2 + k*c", "k": 0.75}
    assert tab.assert_exact()["formula"] == formula


def test_formulas_are_found_by_words_of_their_names_titles_and_groups(tab):
    from playwright.sync_api import expect

    panel = opened(tab, "Formula")
    part = section(panel, "Formulas")
    assert part.get_by_role("list").count() > 10  # groups
    search = part.get_by_role("searchbox", name="Search the formulas")
    search.fill("memory manowar")
    expect(part.get_by_role("button")).to_have_count(1)
    expect(part.get_by_role("list", name="With memory")).to_be_visible()
    search.fill("no such thing")
    expect(part.get_by_role("status")).to_have_text("No formula has these words.")
    search.fill("sierpinski triangle")
    part.get_by_role("button").click()
    tab.until("explorer.scene.formula === 'sierpinski_triangle'")


def test_equalize_blends_the_rank_over_the_values(tab):
    panel = opened(tab, "Color")
    field = panel.get_by_role("textbox", name="Equalize")
    field.fill("0.5")
    tab.page.keyboard.press("Enter")
    tab.until("explorer.scene.color.layers?.length")
    (layer,) = tab.assert_exact()["color"]["layers"]
    assert (layer["coloring"], layer["opacity"], layer["palette"]) == ("rank", 0.5, "hokusai")
    field.fill("0")
    tab.page.keyboard.press("Enter")
    tab.until("!explorer.scene.color.layers?.length")
    assert "layers" not in color_of(tab)


def test_fit_spreads_the_palette_over_the_view(tab):
    opened(tab, "Color").get_by_role("button", name="Fit to view").click()
    tab.until("explorer.scene.color.density !== 0.7")
    tab.assert_exact()


# ---------------------------------------------------------------------- controls and scene

INLINE = {"stops": [[0.1, "#102030"], [0.45, "#ff0000"], [0.8, "#eeeeee"]], "cyclic": False}
OPENED = (
    SCENE,
    {"color": {"palette": INLINE, "coloring": {"name": "field_lines", "lines": 9}, "offset": 0.25}},
    {"color": {"coloring": "smooth", "layers": [{"coloring": "slopes", "opacity": 0.5}]}},
    {"julia": ["-0.8", "0.156"], "color": {"palette": "ember", "inside": "#123456"}},
)
# What the controls show, and what the scene that is wished for says: two lists that must be equal.
CONTROLS = """() => {
    const panel = document.querySelector(".panel-color");
    const field = (label) => panel.querySelector(`#field-${label.replaceAll(" ", "-")}`)?.value;
    const pressed = (part) =>
        panel.querySelector(`${part}[aria-pressed=true], ${part} [aria-pressed=true]`)?.textContent;
    const { color } = explorer.wished, { catalog } = explorer, { layers = [] } = color;
    const rows = [...panel.querySelectorAll(".layer")].reverse();
    const picked = rows.findIndex((row) => row.matches(".picked"));
    const paint = picked > 0 ? layers[picked - 1] : color;
    const name = paint.coloring?.name ?? paint.coloring;
    const coloring = catalog.colorings.find((each) => each.name === name);
    const palette = paint.palette && paint.palette !== "auto" ? paint.palette : coloring.palette;
    const known = catalog.palettes.find((each) => each.name === palette) ?? palette;
    const text = (value) => String(Number(value.toPrecision(3)));
    const offset = Number(((paint.offset ?? 0) - Math.floor(paint.offset ?? 0)).toFixed(6));
    const rank = layers.find((layer) => layer.coloring === "rank" && layer.blend === "normal");
    const options = coloring.options.filter(({ choices }) => !choices.length);
    const given = (option) => paint.coloring[option.name] ?? option.default;
    const words = (each) => each.charAt(0).toUpperCase() + each.slice(1).replaceAll("_", " ");
    const shown = [
        field("Density"), field("Offset"), field("Transfer"), field("Equalize"), field("Coloring"),
        field("Draw where"), field("Inside color"), rows.length,
        ...options.map((option) => Number(field(words(option.name)))),
        panel.querySelector(".palettes [aria-pressed=true]")?.title ?? "",
    ];
    const said = [
        text(paint.density ?? 1), text(offset), paint.transfer ?? "auto", text(rank?.opacity ?? 0),
        name, paint.mask ?? "auto", color.inside ?? "#000000", layers.length + 1,
        ...options.map((option) => Number(text(Number(given(option))))),
        typeof palette === "string" ? known.title : "",
    ];
    if (picked > 0) {
        shown.push(field("Blend"), field("Opacity"));
        said.push(paint.blend ?? "auto", text(paint.opacity ?? 1));
    }
    if (panel.querySelector(".editor")) {
        const stops = [...panel.querySelectorAll(".stop")];
        const index = stops.findIndex((stop) => stop.matches(".picked"));
        const list = known.stops ?? known, cyclic = known.cyclic ?? true;
        const places = list.map((stop, k) =>
            Array.isArray(stop) ? stop : [k / (list.length - (cyclic ? 0 : 1)), stop]);
        shown.push(...stops.map((stop) => stop.getAttribute("aria-valuetext")));
        said.push(...places.map(([at, hex]) => `${(100 * at).toFixed(1)} %, ${hex}`));
        const hex = panel.querySelector(".editor input[type=color]").value;
        shown.push(hex, panel.querySelector(".hex").value, panel.querySelector(".switch").checked);
        const told = places[index][1];
        said.push(told.startsWith("#") ? told : hex, hex, cyclic);
    }
    return [shown, said];
}"""


SLOW = pytest.mark.slow
# Undone edits may take layers away between counting them and a click.
PICK = """(panel, number) => {
    const names = panel.querySelectorAll(".layer-name");
    names[number % names.length].click();
}"""


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=SLOW), pytest.param(2, marks=SLOW)])
def test_each_control_equals_the_scene(tab, seed):
    """After random edits by controls and by others, undos, redos and opened scenes."""
    draw = random.Random(seed)
    panel = opened(tab, "Color")
    for title in ("Coloring", "Layers"):
        section(panel, title)
    editor = panel.locator(".editor")
    if not editor.count():
        panel.get_by_role("button", name="Edit").click()
    editor.wait_for()

    def typed(label, value):
        field = panel.get_by_role("textbox", name=label, exact=True)
        field.fill(str(value))
        field.press("Enter")

    def picked(label, values):
        panel.get_by_role("combobox", name=label).select_option(draw.choice(values))

    def slid(label):
        bar = panel.get_by_role("slider", name=label, exact=True)
        bar.press(draw.choice(["ArrowLeft", "ArrowRight", "PageUp"]))

    edits = {
        "palette": lambda: panel.locator(".strip-button").nth(draw.randrange(8)).click(),
        "stop": lambda: panel.locator(".stop").first.focus(),
        "hex": lambda: typed("Color as text", draw.choice(["#f00", "teal", "#0a0b0c", "none"])),
        "reverse": lambda: panel.get_by_role("button", name="Reverse").click(),
        "density": lambda: typed("Density", round(draw.uniform(0.1, 9), 2)),
        "offset": lambda: slid("Offset"),
        "transfer": lambda: picked("Transfer", ["auto", "log", "sqrt"]),
        "coloring": lambda: picked("Coloring", ["smooth", "field_lines", "slopes"]),
        "equalize": lambda: typed("Equalize", draw.choice([0, 0.5])),
        "layer": lambda: panel.get_by_role("button", name="Add a layer").click(),
        "pick": lambda: panel.evaluate(PICK, draw.randrange(12)),
        "open": lambda: tab.open(draw.choice(OPENED)),
        "other": lambda: tab.run(
            "palette => explorer.paint({ ...explorer.wished.color, palette })",
            draw.choice(["jade", "iris", INLINE]),
        ),
    }
    undos = {name: lambda name=name: tab.run(f"() => explorer.{name}()") for name in UNDOS}
    done = []
    for _ in range(30):
        name, action = draw.choice([*edits.items(), *4 * list(undos.items())])
        done.append(name)
        action()
        if draw.random() < 0.3:
            tab.settle()
        shown, said = tab.run(CONTROLS)
        assert shown == said, done
    tab.settle()
    shown, said = tab.run(CONTROLS)
    assert shown == said, done
    panel.get_by_role("button", name="Edit").click()


@pytest.mark.slow
def test_a_relief_is_that_of_the_scene(tab):
    panel = opened(tab, "Color")
    before = tab.assert_exact()
    assert "relief" not in before
    tab.run("() => explorer.change({ light: { samples: 2, bounces: 0 } })")
    section(panel, "Relief")
    panel.get_by_role("combobox", name="Heights").select_option("distance")
    tab.settle()
    for label, value in (("Rise", "0.2"), ("Tilt", "40")):
        field = panel.get_by_role("textbox", name=label, exact=True)
        field.fill(value)
        field.press("Enter")
    found = tab.assert_exact()["relief"]
    assert found == {"heights": "distance", "rise": 0.2, "tilt": 40}
    coloring = section(panel, "Coloring").get_by_role("combobox", name="Coloring")
    assert coloring.is_visible()  # the ground has colors, too
    power = panel.get_by_role("textbox", name="Sun power", exact=True)
    power.fill("5")
    power.press("Enter")
    panel.get_by_role("button", name="Sun").press("ArrowRight")
    light = tab.assert_exact()["light"]
    assert light["sun_power"] == 5
    assert len(light["sun"]) == 3
    tab.press("+")
    assert tab.assert_exact()["relief"] == found
    panel.get_by_role("combobox", name="Heights").select_option("none")
    with pytest.warns(fractals.FractalsWarning, match=r"relief\.rise.* not used here"):
        tab.assert_exact()


def test_develop_is_that_of_the_scene(tab):
    panel = opened(tab, "Color")
    section(panel, "Develop")

    def shown(label):
        return panel.get_by_role("textbox", name=label, exact=True).input_value()

    tab.assert_exact()
    before = tab.pixels()
    assert [shown(label) for label in ("Exposure", "Bloom", "Vignette")] == ["1", "0", "0"]
    for label, value in (("Bloom", "0.8"), ("Vignette", "0.6"), ("Exposure", "1.5")):
        field = panel.get_by_role("textbox", name=label, exact=True)
        field.fill(value)
        field.press("Enter")
    panel.get_by_role("combobox", name="Curve").select_option("filmic")
    found = tab.assert_exact()["develop"]
    expected = {"bloom": 0.8, "vignette": 0.6, "exposure": 1.5, "curve": "filmic"}
    assert {key: found[key] for key in expected} == expected
    assert [shown(label) for label in ("Exposure", "Bloom", "Vignette")] == ["1.5", "0.8", "0.6"]
    assert not np.array_equal(tab.pixels(), before)
    for _ in range(4):
        tab.run("() => explorer.undo()")
    assert "develop" not in tab.assert_exact()
    assert np.array_equal(tab.pixels(), before)
    assert shown("Bloom") == "0"


def test_the_editor_changes_the_palette_that_is_shown(tab):
    """It showed another one after the palette was chosen from the list, or by undo."""
    panel = opened(tab, "Color")
    panel.get_by_role("button", name="Edit").click()
    text = panel.get_by_label("Color as text")
    text.fill("#00ff00")
    text.press("Enter")
    panel.get_by_role("button", name=ALL).click()
    panel.get_by_role("button", name="Iris", exact=True).click()
    panel.get_by_role("button", name="Fewer palettes").click()
    assert (
        panel.get_by_role("list", name="Palettes", exact=True).get_by_role("listitem").count() < 12
    )
    iris = [stop for stop in tab.run(IRIS) if not isinstance(stop, str)]
    text.fill("#0000ff")
    text.press("Enter")
    palette = color_of(tab)["palette"]
    assert [each for _, each in palette["stops"]].count("#0000ff") == 1
    assert len(palette["stops"]) == len(tab.run(IRIS))
    assert "#00ff00" not in str(palette)
    assert not iris or [stop[0] for stop in palette["stops"]] == [stop[0] for stop in iris]
    panel.get_by_role("button", name="Edit").click()


def test_a_chosen_coloring_is_fitted_in_one_step_of_undo(tab):
    """Stripe averages fill a small part of the palette: they were one flat color."""
    before = tab.settle()["color"]
    panel = opened(tab, "Color")
    part = section(panel, "Coloring")
    part.get_by_role("combobox", name="Coloring").select_option("stripe_average")
    tab.until("explorer.scene.color.coloring === 'stripe_average'")
    after = tab.assert_exact()["color"]
    scene = fractals.load_scene(SCENE, size=SIZE)
    wanted = fractals.fit_colors(scene.replace(coloring="stripe_average", transfer="auto")).color
    assert after["density"] == pytest.approx(wanted.density, rel=0.3)
    assert after["density"] > 2
    assert np.std(tab.pixels().reshape(-1, 3), axis=0).max() > 20
    undone = tab.press("Control+z")["color"]
    assert (undone["coloring"], undone["density"]) == (before["coloring"], before["density"])
    tab.settle()
    assert tab.press("Control+y")["color"] == after


def test_an_added_layer_and_a_transfer_are_fitted(tab):
    panel = opened(tab, "Color")
    section(panel, "Layers").get_by_role("button", name="Add a layer").click()
    tab.until("explorer.scene.color.layers?.length")
    (layer,) = tab.settle()["color"]["layers"]
    told = tab.run("explorer.request({ t: 'fit', layer: 1, chosen: true })")
    assert (layer["density"], layer["offset"]) == (told["density"], told["offset"])
    panel.get_by_role("button", name="Base", exact=True).click()
    panel.get_by_role("combobox", name="Transfer").select_option("log")
    tab.until("explorer.scene.color.transfer === 'log'")
    color = tab.assert_exact()["color"]
    told = tab.run("explorer.request({ t: 'fit', chosen: true })")
    assert (color["density"], color["offset"]) == (told["density"], told["offset"])
    assert color["density"] != SCENE["color"]["density"]


# ---------------------------------------------------------------------- start page


def test_without_a_scene_the_page_starts_with_the_gallery(browser, own_server):
    running = own_server(gallery=True).running
    tab = browsers.Tab(browser, running, size=SIZE, panels=True)
    panel = tab.page.get_by_role("region", name="Gallery", exact=True)
    panel.wait_for()
    assert tab.run("document.activeElement.textContent") == "Gallery"
    tab.until("document.querySelector('.card img').naturalWidth === 256")
    tab.page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    tab.settle()
    tab.until("location.hash")
    tab.page.reload()  # the address has the scene now
    tab.until("window.explorer?.catalog && explorer.placed")
    assert panel.count() == 0
    tab.close()


def test_moving_the_picture_closes_the_start_page(browser, own_server):
    tab = browsers.Tab(browser, own_server(gallery=True).running, size=(390, 844), panels=True)
    panel = tab.page.get_by_role("region", name="Gallery", exact=True)
    panel.wait_for()
    tab.page.mouse.move(200, 60)
    tab.page.mouse.wheel(0, -100)
    panel.wait_for(state="detached")
    tab.close()


# ---------------------------------------------------------------------- find


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_jump_to_a_minibrot_flies_unless_motion_is_reduced(tab, motion):
    tab.page.emulate_media(reduced_motion=motion)
    before = tab.settle()
    tab.run(SENT)
    tab.page.keyboard.press("n")
    tab.until("explorer.scene.view.rotation")  # the copy is upright
    after = tab.assert_exact()
    assert float(after["view"]["width"]) < float(before["view"]["width"]) / 4
    views = tab.run("sent").count("view")  # the last one aims beside the panel
    assert (views > 1) == (motion == "no-preference")
    tab.page.get_by_role("button", name="Undo").click()  # flight and arrival are one step
    tab.until("!explorer.scene.view.rotation")
    assert place_of(tab.settle()) == place_of(before)
    tab.run("() => { delete explorer.connection.send; }")


def test_a_flight_to_a_minibrot_can_be_left_out(tab):
    before = tab.settle()
    tab.run("() => { explorer.animate = () => () => {}; }")  # a flight that takes for ever
    tab.page.keyboard.press("n")
    panel = tab.page.get_by_role("region", name="Find", exact=True)
    go = panel.get_by_role("button", name="Go there at once")
    go.wait_for()
    assert place_of(tab.run("explorer.scene")) == place_of(before)
    go.click()
    tab.until("explorer.scene.view.rotation")  # the copy is upright
    go.wait_for(state="detached")
    assert tab.run("document.activeElement.id") == "view"
    assert float(tab.assert_exact()["view"]["width"]) < float(before["view"]["width"]) / 4
    tab.page.get_by_role("button", name="Undo").click()
    tab.until("!explorer.scene.view.rotation")
    assert place_of(tab.settle()) == place_of(before)
    tab.run("() => { delete explorer.animate; }")


def test_a_julia_set_is_previewed_entered_and_left(tab):
    before = tab.settle()
    tab.page.mouse.move(400, 300)
    tab.page.keyboard.down("j")
    tab.page.mouse.move(405, 300)
    tab.page.locator(".julia canvas").wait_for()
    tab.page.mouse.click(405, 300)
    tab.page.keyboard.up("j")
    tab.until("explorer.placed.julia")
    assert tab.assert_exact()["julia"]
    tab.page.keyboard.press("Escape")
    tab.until("!explorer.placed.julia")
    assert place_of(tab.assert_exact()) == place_of(before)


def test_a_finger_previews_julia_sets_and_a_tap_goes_in(browser, server):
    tab = browsers.Tab(browser, server.running, (390, 844), panels=True, has_touch=True)
    tab.open(SCENE)
    before = place_of(tab.settle())
    opened(tab, "Find").get_by_role("button", name="Preview Julia sets by touch").click()
    tab.touch("touchStart", (200, 300))
    tab.touch("touchMove", (220, 320))
    tab.touch("touchEnd")
    tab.page.locator(".julia canvas").wait_for()
    assert place_of(tab.settle()) == before  # the picture stays
    shown = tab.page.locator(".julia")
    for _ in range(20):
        tab.page.wait_for_timeout(400)  # a browser takes a tap just after a touch for its end
        if shown.is_visible():
            tab.page.locator(".julia button").tap()
        else:
            break
    assert shown.is_hidden()
    opened(tab, "Find").get_by_role("button", name="Preview Julia sets by touch").click()
    tab.touch("touchStart", (200, 300))
    tab.touch("touchEnd")
    tab.page.locator(".julia canvas").wait_for()
    tab.page.locator(".julia canvas").tap()
    tab.until("explorer.placed.julia")
    tab.close()


def test_a_point_has_a_menu(tab):
    from playwright.sync_api import expect

    before = tab.settle()
    tab.page.mouse.click(500, 200, button="right")
    menu = tab.page.get_by_role("menu")
    expect(menu.get_by_role("menuitem")).to_have_count(7)
    tab.page.keyboard.press("ArrowDown")
    assert tab.run("document.activeElement.textContent").startswith("Julia set")
    tab.page.keyboard.press("Escape")
    menu.wait_for(state="detached")
    tab.page.mouse.click(500, 200, button="right")
    menu.get_by_role("menuitem", name="Center here").click()
    view = tab.assert_exact()["view"]
    pixel = float(view["width"]) / SIZE[0]
    moved = [
        float(a) - float(b) for a, b in zip(view["center"], before["view"]["center"], strict=True)
    ]
    assert moved == pytest.approx([120 * pixel, 80 * pixel], abs=pixel)
    tab.page.mouse.click(300, 300, button="right")
    menu.get_by_role("menuitem", name="Julia set of this point").click()
    tab.until("explorer.placed.julia")
    tab.page.keyboard.press("Escape")
    tab.until("!explorer.placed.julia")


def test_inspect_tells_the_digits_under_the_pointer(tab):
    tab.page.mouse.move(380, 280)  # the middle
    panel = opened(tab, "Inspect")
    panel.get_by_text("-0.7453").wait_for()
    assert panel.get_by_label("Imaginary part", exact=True).text_content().startswith("0.112")
    count = panel.locator("dt", has_text="Count").locator("+ dd").text_content()
    raw = fractals.compute(tab.settle(), device="cpu")
    y, x = (side // 2 for side in raw.count.shape)
    assert int(count.replace(",", "")) in raw.count[y - 1 : y + 2, x - 1 : x + 2]


def test_a_place_can_be_typed(tab):
    panel = opened(tab, "Inspect")
    part = section(panel, "Place of the picture")
    for label, text in (
        ("Center, real part", "-0.74"),
        ("Center, imaginary part", "0.125"),
        ("Picture width", "0.05"),
        ("Rotation in degrees", "30"),
    ):
        field = part.get_by_label(label)
        field.fill(text)
        field.press("Enter")  # the next one is typed before this place is shown
    tab.until("explorer.scene.view.rotation === 30")
    view = tab.assert_exact()["view"]
    assert (view["center"], view["width"], view["rotation"]) == (["-0.74", "0.125"], "0.05", 30)
    field = part.get_by_label("Zoom")
    field.fill("1e6")
    field.press("Enter")
    tab.until("explorer.placed.zoom === '1.00e6'")
    assert tab.settle()["view"]["center"] == view["center"]
    field.fill("2,000,000")
    field.press("Enter")
    tab.until("explorer.placed.zoom === '2.00e6'")


def test_a_field_says_what_is_wrong_and_keeps_what_is_typed(tab):
    tab.settle()
    messages = tab.page.locator(".message")
    told = set(messages.all_inner_texts())  # in a test before, on the same page
    part = section(opened(tab, "Inspect"), "Place of the picture")
    field = part.get_by_label("Zoom")
    before = field.input_value()
    for odd in ("abc", "-1", "0", "1e99999999", "1..2"):
        field.fill(odd)
        field.press("Enter")
        part.locator(".wrong[role=alert]").wait_for()
        assert field.get_attribute("aria-invalid") == "true"
        field.blur()
        assert field.input_value() == odd
    part.get_by_text("Type a number above 0, such as 250 or 1e12.").wait_for()
    assert set(messages.all_inner_texts()) <= told
    assert tab.run("explorer.placed.zoom") == before
    field.press("Escape")
    assert (field.input_value(), field.get_attribute("aria-invalid")) == (before, None)
    assert part.locator(".wrong").count() == 0
    field.fill("x")
    field.press("Enter")
    field.fill("3x")
    assert field.get_attribute("aria-invalid") is None  # at once
    field.press("Enter")
    tab.until("Number(explorer.placed.zoom) === 3")
    field.blur()  # keys are its letters else
    panel = opened(tab, "Export")
    button = panel.get_by_role("button", name="Export", exact=True)
    for odd in ("0", "1e9", "2.5"):
        panel.get_by_label("Width in pixels").fill(odd)
        panel.get_by_label("Width in pixels").press("Enter")
        panel.get_by_text("Type a whole number from 1 to 32,768").wait_for()
        assert button.is_disabled()
    panel.get_by_label("Width in pixels").press("Escape")
    assert button.is_enabled()


def test_the_gallery_has_groups(panels):
    gallery = opened(panels, "Gallery")
    cards = gallery.get_by_role("list", name="Scenes").locator("li:not([hidden])")
    whole = cards.count()
    shown = {}
    for group in ("Flat", "Deep", "Points", "Solids", "All"):
        button = gallery.get_by_role("button", name=group, exact=True)
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        shown[group] = cards.count()
    assert shown.pop("All") == whole == sum(shown.values())
    assert all(shown.values())
    gallery.get_by_role("button", name="Solids", exact=True).click()
    gallery.get_by_label("Search the gallery").fill("arena")
    assert cards.count() == 1
    gallery.get_by_label("Search the gallery").fill("")
    gallery.get_by_role("button", name="All", exact=True).click()


PASTE = """text => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", text);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
}"""


def test_what_is_pasted_opens(tab):
    tab.run(PASTE, "-0.74 + 0.125i @ 1e6")
    tab.until("explorer.placed.zoom === '1.00e6'")
    first = tab.assert_exact()
    assert first["view"]["center"] == ["-0.74", "0.125"]
    assert first["color"]["palette"] == "hokusai"
    link = tab.run("explorer.request({ t: 'link' })")
    tab.run(PASTE, "Re: -1.75\nIm: 0\nZoom: 1E3\nIterations: 500\n")
    tab.until("explorer.scene.view.center[0] === '-1.75'")
    for text in (link["toml"], f"http://somewhere/#{link['link']}"):
        tab.run("() => explorer.home()")
        tab.until("parseFloat(explorer.placed.width) > 1")
        tab.run(PASTE, text)
        tab.until("parseFloat(explorer.placed.width) < 1")
        assert place_of(tab.settle()) == place_of(first)
    tab.run(PASTE, "hello")
    tab.page.locator(".message.error").first.wait_for()
    tab.page.get_by_role("button", name="Dismiss").first.click()


def test_a_place_over_a_flame_asks_first(tab):
    tab.run("() => explorer.open({ formula: 'de_jong' })")
    tab.until("explorer.scene.formula === 'de_jong'")
    place = tab.run("explorer.placed.center")
    tab.run(PASTE, "-0,7453; 0,1127; 1,5e3")
    offer = tab.page.get_by_role("button", name="Mandelbrot set here")
    offer.wait_for()
    assert tab.run("[explorer.scene.formula, explorer.placed.center]") == ["de_jong", place]
    offer.click()
    tab.until("explorer.scene.formula === 'mandelbrot' && Number(explorer.placed.zoom) === 1500")
    assert tab.assert_exact()["view"]["center"] == ["-0.7453", "0.1127"]


def test_the_whole_set_of_another_formula_lies_beside_the_panel(panels):
    opened(panels, "Formula")
    panels.run("() => explorer.open({ formula: 'mandelbrot' })")
    panels.until("explorer.placed.octaves === 0")
    panels.run("() => explorer.changeFormula('burning_ship')")
    panels.until("explorer.scene.formula === 'burning_ship' && explorer.placed.octaves < -0.5")
    assert panels.run("explorer.placed.center[0]").startswith("-")


def test_a_formula_keeps_the_place_where_it_shows_something(tab):
    view = {"center": ["0.45", "0.68"], "width": "0.8"}
    tab.open({"view": view, "formula": {"name": "multibrot", "power": 3}})
    tab.run("() => explorer.changeFormula({ name: 'multibrot', power: 4 })")
    tab.until("explorer.scene.formula.power === 4")
    assert place_of(tab.assert_exact()) == (view["center"], "0.8")
    tab.open({"view": {"center": ["0.3", "0"], "width": "1e-30"}})
    tab.run("() => explorer.changeFormula('newton')")  # as deep as doubles only
    stay = tab.page.get_by_role("button", name="Stay here")
    stay.wait_for()
    tab.until("explorer.scene.formula?.name === 'newton' || explorer.scene.formula === 'newton'")
    assert float(tab.settle()["view"].get("width", 4)) > 1
    tab.press("Control+z")
    assert tab.settle()["view"]["width"] == "1e-30"


# ---------------------------------------------------------------------- keep and share


def test_a_formula_that_is_wrong_is_told_once(tab):
    panel = opened(tab, "Formula")
    panel.get_by_label("z becomes").fill("z**2 + c*sin(z")
    panel.get_by_role("button", name="Draw it").click()
    panel.get_by_text("column 15").wait_for()
    tab.page.wait_for_timeout(200)
    assert tab.page.get_by_text("column 15").count() == 1
    assert panel.get_by_label("z becomes").get_attribute("aria-invalid") == "true"
    assert panel.locator("mark").text_content() == "\xa0"  # the end
    button = panel.get_by_role("button", name="Draw it")
    assert button.evaluate("each => each.scrollWidth <= each.clientWidth")
    panel.get_by_label("z becomes").fill("z**2 + c")


def test_a_scene_is_offered_by_a_form_that_has_it(tab):
    tab.settle()
    link = opened(tab, "Share").get_by_role("link", name="Offer to the gallery")
    link.wait_for()
    filled = parse_qs(urlsplit(link.get_attribute("href")).query)
    toml = tab.run("explorer.request({ t: 'link' }).then(({ toml }) => toml)")
    assert (filled["template"], filled["scene"]) == (["picture.yml"], [toml])
    assert link.get_attribute("target") == "_blank"


def test_a_bookmark_is_kept_opened_and_removed(tab):
    place = place_of(tab.settle())
    panel = opened(tab, "Bookmarks")
    panel.get_by_label("Title of the bookmark").fill("<b>Spiral</b>")
    panel.get_by_role("button", name="Keep this place").click()
    mark = panel.get_by_role("button", name="<b>Spiral</b>", exact=True)
    mark.wait_for()
    tab.run("() => explorer.home()")
    tab.until("parseFloat(explorer.placed.width) > 1")
    tab.settle()
    mark.click()
    tab.until("parseFloat(explorer.placed.width) < 1")
    assert place_of(tab.settle()) == place
    panel.get_by_label("Title of the bookmark").fill("Again")
    panel.get_by_role("button", name="Keep this place").click()
    panel.get_by_role("button", name="Again", exact=True).wait_for()
    panel.get_by_role("button", name="Film through these places").click()
    rows = tab.page.get_by_role("list", name="Places of the film").get_by_role("listitem")
    rows.nth(1).wait_for()
    assert [row.strip() for row in rows.all_inner_texts()] == ["<b>Spiral</b>", "Again"]
    for title in ("<b>Spiral</b>", "Again"):
        rows.get_by_role("button", name=f"Remove {title}").click()
    panel = opened(tab, "Bookmarks")
    for title in ("<b>Spiral</b>", "Again"):
        panel.get_by_role("button", name=f"Remove {title}").click()
    panel.get_by_text("No bookmarks yet").wait_for()


def test_icons_over_a_light_picture_are_on_a_dark_ground(tab):
    panel = opened(tab, "Bookmarks")
    panel.get_by_label("Title of the bookmark").fill("Light")
    panel.get_by_role("button", name="Keep this place").click()
    button = panel.get_by_role("button", name="Remove Light")
    button.wait_for()
    ground = button.evaluate(
        "each => { each.replaceChildren(); each.closest('li').querySelector('img').remove(); "
        "each.closest('li').style.background = '#fff'; return getComputedStyle(each).filter; }"
    )
    assert ground == "none"
    with Image.open(io.BytesIO(button.screenshot())) as picture:
        width, height = picture.size
        middle = picture.convert("L").getpixel((width // 2, height // 2))
    assert middle < 127  # an icon is white: 4.0 to 1 and more
    button.click()
    panel.get_by_text("No bookmarks yet").wait_for()


def test_what_was_said_of_a_picture_ends_with_a_move_or_other_colors(tab):
    said = {"title": "Seahorse", "author": "Somebody", "note": "Tails"}
    shown = "() => [explorer.scene.title, explorer.scene.author, explorer.scene.note].join('')"
    toml = "explorer.request({ t: 'link' }).then(({ toml }) => toml)"
    whole = "".join(said.values())
    tab.open({**SCENE, **said})
    for change, back in (
        ("() => explorer.move({ scale: 16 })", "() => explorer.undo()"),
        ("() => explorer.paint({ ...explorer.scene.color, offset: 0.3 })", "() => explorer.undo()"),
    ):
        assert tab.run(shown) == whole
        tab.run(change)
        tab.settle()
        assert tab.run(shown) == ""
        assert "Somebody" not in tab.run(toml)
        tab.run(back)
        tab.settle()
    assert tab.run(shown) == whole
    assert "Somebody" in tab.run(toml)


def test_what_is_the_users_own_carries_the_users_name(tab):
    panel = opened(tab, "Share")
    field = panel.get_by_label("Your name")
    field.fill("Ada")
    field.press("Enter")
    tab.until("document.querySelector('#field-TOML').value.includes('author = \"Ada\"')")
    asked = "explorer.request({ t: 'link' }).then(({ toml }) => toml)"
    tab.open({**SCENE, "author": "Somebody"})
    assert 'author = "Somebody"' in tab.run(asked)
    tab.run("() => explorer.move({ scale: 16 })")
    tab.settle()
    assert 'author = "Ada"' in tab.run(asked)
    field.fill("")
    field.press("Enter")
    assert 'author = ""' in tab.run(asked)


def test_a_bookmark_is_renamed_and_its_removal_undone(tab):
    panel = opened(tab, "Bookmarks")
    panel.get_by_label("Title of the bookmark").fill("One")
    panel.get_by_role("button", name="Keep this place").click()
    panel.get_by_role("button", name="Rename One").click()
    field = panel.get_by_label("New title")
    field.fill("Two")
    field.press("Enter")
    panel.get_by_role("button", name="Two", exact=True).wait_for()
    panel.get_by_role("button", name="Remove Two").click()
    panel.get_by_text("No bookmarks yet").wait_for()
    tab.page.locator(".message").get_by_role("button", name="Undo").last.click()
    panel.get_by_role("button", name="Remove Two").click()
    panel.get_by_text("No bookmarks yet").wait_for()


def test_own_palettes_are_kept_exported_and_imported(tab, tmp_path):
    own = {"stops": [[0.0, "#102030"], [0.4, "#ff8800"]], "cyclic": True}
    tab.run("palette => explorer.paint({ ...explorer.scene.color, palette })", own)
    panel = opened(tab, "Color")
    field = panel.get_by_label("Keep this palette as")
    field.fill("Sunset")
    field.press("Enter")
    mine = panel.get_by_role("list", name="My palettes")
    assert color_of(tab)["palette"]["title"] == "Sunset"
    panel.get_by_role("button", name="Ember", exact=True).click()
    tab.until("explorer.scene.color.palette === 'ember'")
    with tab.page.expect_download() as downloaded:
        mine.get_by_role("button", name="Save Sunset as a file").click()
    path = tmp_path / downloaded.value.suggested_filename
    downloaded.value.save_as(path)
    assert fractals.load_scene(SCENE, palette=str(path)).color.make_palette().title == "Sunset"
    mine.get_by_role("button", name="Sunset", exact=True).click()
    tab.until("explorer.scene.color.palette.title === 'Sunset'")
    assert color_of(tab)["palette"]["stops"] == own["stops"]
    mine.get_by_role("button", name="Remove Sunset").click()
    assert mine.count() == 0


def test_shared_texts_draw_the_same_picture(tab, tmp_path, run):
    panel = opened(tab, "Share")
    tab.until("document.querySelectorAll('.panel textarea')[2]?.value")
    toml, command = (panel.get_by_label(name).input_value() for name in ("TOML", "Command line"))
    (tmp_path / "shared.toml").write_text(toml)
    pixels = tab.pixels()
    assert np.array_equal(fractals.render(tmp_path / "shared.toml", device="cpu").pixels, pixels)
    words = shlex.split(command)
    assert words[:2] == ["fractals", "render"]
    picture = tmp_path / "shared.png"
    run(*words[1:], "--cpu", "-o", picture)
    assert np.array_equal(np.asarray(Image.open(picture)), pixels)
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.get_by_role("button", name="Copy the picture").click()
    tab.page.get_by_text("The picture was copied").wait_for()
    copied = "navigator.clipboard.read().then(([item]) => item.types)"
    assert tab.run(copied) == ["image/png"]
    panel.get_by_role("button", name="Copy for Kalles Fraktaler").click()
    tab.page.get_by_text("Copied.", exact=True).wait_for()
    assert tab.run("navigator.clipboard.readText()").startswith("Re: -0.7453")


def test_an_export_has_the_bits_of_the_canvas(tab):
    panel = opened(tab, "Export")
    panel.get_by_role("button", name="As seen").click()
    panel.get_by_label("Samples a pixel").select_option("1")
    panel.get_by_text("million samples").wait_for()
    panel.get_by_role("button", name="Export", exact=True).click()
    link = panel.get_by_role("link", name="Download")
    link.wait_for()
    data = tab.run(
        """async (url) => {
        const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
        let text = "";
        for (const byte of bytes) text += String.fromCharCode(byte);
        return btoa(text);
    }""",
        link.get_attribute("href"),
    )
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    assert np.array_equal(np.asarray(picture), tab.pixels())


def test_raw_numbers_are_exported(tab):
    panel = opened(tab, "Export")
    panel.get_by_role("group", name="Raw numbers").get_by_role("button", name="NumPy").click()
    panel.get_by_text("fractals recolor gives it other colors").wait_for()
    panel.get_by_label("Width in pixels").fill("64")
    panel.get_by_label("Height in pixels").fill("48")
    panel.get_by_role("button", name="Export", exact=True).click()
    link = panel.get_by_role("link", name="Download")
    link.wait_for()
    assert link.get_attribute("href").endswith(".npz")
    panel.get_by_role("group", name="Format").get_by_role("button", name="PNG").click()


def test_a_file_is_opened_and_a_bad_one_explained(tab, tmp_path):
    panel = opened(tab, "Gallery")
    scene = fractals.load_scene("armada")
    good, bad = tmp_path / "place.toml", tmp_path / "bad.toml"
    good.write_text(scene.to_toml())
    bad.write_text("formula = 7")
    panel.locator("input[type=file]").set_input_files(good)
    tab.until("explorer.scene.title === 'The armada'")
    assert place_of(tab.settle())[1] == scene.view.width
    panel = opened(tab, "Gallery")  # it closed, so that the picture is seen
    panel.locator("input[type=file]").set_input_files(bad)
    tab.page.locator(".message.error").first.wait_for()
    tab.page.get_by_role("button", name="Dismiss").first.click()


# ---------------------------------------------------------------------- for everybody


def test_a_loupe_shows_the_pixels_of_the_file(tab):
    panel = opened(tab, "Export")
    panel.get_by_role("button", name="Full HD").click()
    panel.get_by_role("switch", name="Loupe").click()
    picture = panel.locator(".loupe-part canvas")
    picture.wait_for()
    wide = 308 * browsers.COARSE  # CSS pixels of the canvas
    size = [float(picture.get_attribute(name)) for name in ("width", "height")]
    assert size == [wide, wide]
    before = picture.evaluate("canvas => canvas.toDataURL()")
    square = tab.page.get_by_role("button", name="Loupe: drag")
    assert square.bounding_box()["width"] == pytest.approx(wide / 1920 * SIZE[0], abs=0.5)
    for _ in range(3):
        square.press("ArrowRight")
    tab.until(f"document.querySelector('.loupe-part canvas').toDataURL() !== {before!r}")
    panel.get_by_role("switch", name="Loupe").click()
    assert picture.count() == square.count() == 0
    panel.get_by_role("button", name="As seen").click()


def test_the_keyboard_reaches_everything(tab):
    """A key opens each panel and focuses it, Tab goes on inside, Escape returns to the picture."""
    for title in PANELS:
        panel = opened(tab, title)
        assert tab.run("document.activeElement.textContent") == title
        tab.page.keyboard.press("Tab")
        assert panel.evaluate("panel => panel.contains(document.activeElement)")
        tab.page.keyboard.press("Escape")
        panel.wait_for(state="detached")
        assert tab.run("document.activeElement.id") == "view"


def test_letters_typed_into_a_field_are_no_commands(tab):
    panel = opened(tab, "Gallery")
    panel.get_by_label("Search the gallery").fill("")
    tab.page.keyboard.type("mice")
    assert panel.is_visible()
    assert panel.get_by_label("Search the gallery").input_value() == "mice"


def test_keys_work_after_every_control(tab):
    """Only a field of text takes letters, and one into which nothing is typed has no own undo."""
    panel = opened(tab, "Color")
    density = tab.settle()["color"]["density"]
    for focused in (
        panel.get_by_role("slider", name="Density"),
        panel.get_by_role("textbox", name="Density"),
        panel.get_by_role("combobox", name="Transfer"),
    ):
        panel.get_by_role("slider", name="Density").press("ArrowRight")
        assert tab.settle()["color"]["density"] > density
        focused.focus()
        assert tab.press("Control+z")["color"]["density"] == pytest.approx(density)
    field = panel.get_by_role("textbox", name="Density")
    field.fill("5")
    field.press("Escape")  # ends the typing, and not the panel
    assert field.input_value() == "0.7"
    assert panel.is_visible()
    panel.get_by_role("slider", name="Density").focus()
    tab.page.keyboard.press("i")
    tab.page.get_by_role("region", name="Inspect", exact=True).wait_for()
    tab.page.keyboard.press("Escape")


@pytest.mark.parametrize("size", [(844, 390), (683, 384), (1100, 420)])
def test_the_buttons_of_a_low_window_lie_beside_each_other_while_the_picture_is_turned(
    panels, size
):
    panels.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    try:
        panels.run("explorer.move({ turn: 4000 })")
        panels.page.get_by_role("button", name="Stand upright").wait_for()
        panels.settle()
        zooms = panels.page.locator(".zooms").bounding_box()
        assert zooms["x"] + zooms["width"] <= size[0]
        for each in (".corner", ".status"):  # above or below
            other = panels.page.locator(each).bounding_box()
            ends = [box["y"] + box["height"] for box in (zooms, other)]
            assert ends[1] <= zooms["y"] or ends[0] <= other["y"], each
    finally:
        panels.page.set_viewport_size(dict(zip(("width", "height"), SIZE, strict=True)))


@pytest.mark.parametrize("size", [(1100, 700), SIZE, (683, 384)])
def test_the_way_back_to_the_map_is_beside_a_panel(tab, size):
    tab.page.mouse.move(400, 300)
    tab.page.keyboard.press("Shift+J")
    tab.until("explorer.placed.julia")
    tab.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    try:
        opened(tab, "Color")
        panel, corner, back = (
            tab.page.locator(each).bounding_box() for each in (".panel", ".corner", ".back")
        )
        assert panel["x"] + panel["width"] < back["x"] < back["x"] + back["width"] < size[0]
        bottom = corner["y"] + corner["height"]
        assert back["x"] + back["width"] <= corner["x"] or bottom <= back["y"]
    finally:
        tab.page.set_viewport_size(dict(zip(("width", "height"), SIZE, strict=True)))


def test_escape_closes_the_panel_before_it_leaves_a_julia_set(tab):
    tab.page.mouse.move(400, 300)
    tab.page.keyboard.press("Shift+J")
    tab.until("explorer.placed.julia")
    panel = opened(tab, "Color")
    tab.page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    tab.settle()
    assert tab.run("Boolean(explorer.placed.julia)")
    tab.page.keyboard.press("Escape")
    tab.until("!explorer.placed.julia")


def test_a_drag_is_one_step_of_undo_however_long_it_pauses(tab):
    before = place_of(tab.settle())
    tab.page.mouse.move(400, 300)
    tab.page.mouse.down()
    tab.page.mouse.move(430, 310, steps=3)
    tab.page.wait_for_timeout(900)
    tab.page.mouse.move(460, 320, steps=3)
    tab.page.mouse.up()
    assert place_of(tab.settle()) != before
    assert place_of(tab.press("Control+z")) == before


def test_back_returns_and_the_undo_list_survives_a_reload(browser, own_server):
    tab = browsers.Tab(browser, own_server(gallery=True).running, size=SIZE, panels=True)
    gallery = tab.page.get_by_role("region", name="Gallery", exact=True)
    key = tab.page.keyboard.press

    def arrived(title, entry):
        tab.until(f"explorer.scene?.title === {title!r} && explorer.entry === {entry}")

    gallery.wait_for()
    tab.until("explorer.placed")  # what is opened in place of nothing is no jump
    for entry, title in enumerate(("Seahorse valley", "Carpet"), 1):
        if not gallery.count():
            opened(tab, "Gallery")
        gallery.get_by_role("button", name=title, exact=True).click()
        arrived(title, entry)
    key("+")
    arrived("", 2)
    zoomed = place_of(tab.run("explorer.scene"))
    tab.page.go_back()  # also from a place near by
    arrived("Seahorse valley", 1)
    gallery.wait_for()
    tab.page.go_forward()
    arrived("Carpet", 2)
    key("Control+z")  # the list of the browser follows
    arrived("Seahorse valley", 1)
    tab.until("history.state.entry === 1")
    tab.page.go_forward()
    arrived("Carpet", 2)
    key("Control+y")
    arrived("", 2)
    assert place_of(tab.run("explorer.scene")) == zoomed
    tab.address()  # it follows after a rest
    tab.page.reload()
    tab.until("window.explorer?.catalog && explorer.placed")
    assert place_of(tab.run("explorer.scene")) == zoomed
    key("Control+z")
    arrived("Carpet", 2)
    tab.page.go_back()
    arrived("Seahorse valley", 1)
    tab.close()


def test_favourite_palettes_have_keys(tab):
    panel = opened(tab, "Color")
    panel.get_by_role("button", name=ALL).click()
    panel.get_by_role("button", name="Mark Jade as a favorite").click()
    panel.get_by_role("button", name="Fewer palettes").click()  # favorites come first
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("F2")
    tab.until("explorer.scene.color.palette === 'jade'")
    opened(tab, "Color").get_by_role("button", name="Remove Jade from the favorites").click()


# What the help says of each field, by the panel that is open.
EXPLAINED = """async (panel) => {
    const { explained } = await import("/client/panels/explain.js");
    document.querySelectorAll(".panel details").forEach((each) => { each.open = true; });
    return [...document.querySelectorAll(".panel :is(input, select, textarea)")]
        .filter((each) => each.getClientRects().length && each.type !== "file")
        .map((each) => explained(each, explorer.catalog, panel))
        .map(({ name, text }) => [name, text]);
}"""


def test_what_is_pointed_at_is_explained(tab):
    from playwright.sync_api import expect

    told = {}
    for title in ("Formula", "Inspect", "Export", "Film", "Color"):
        panel = opened(tab, title)
        told |= dict(tab.run(EXPLAINED, title.lower()))
    assert [name for name, text in told.items() if not text] == []
    described = schema_of(Scene)["$defs"]["Layer"]["properties"]["density"]["description"]
    assert told["Density"].lower() == described.lower()
    help_box = tab.page.locator(".explain")
    tab.page.keyboard.press("F1")
    expect(help_box).to_contain_text("Point at a control")
    panel.get_by_role("textbox", name="Density").hover()
    expect(help_box).to_contain_text(told["Density"])
    field = panel.get_by_label("Draw where")
    field.focus()
    expect(help_box).to_contain_text(told["Draw where"])
    expect(field).to_have_accessible_description(told["Draw where"])
    assert "reference/scene.md" in help_box.get_by_role("link").get_attribute("href")
    tab.page.keyboard.press("Escape")  # ends the help, and no more
    expect(help_box).to_have_count(0)
    panel.wait_for()
    panel.get_by_role("button", name="Explain the controls").click()
    help_box.get_by_role("button", name="End the help").click()
    panel.get_by_role("textbox", name="Density").press("F1")  # in a field as elsewhere
    expect(help_box).to_contain_text(told["Density"])
    tab.page.keyboard.press("F1")
    expect(help_box).to_have_count(0)


@pytest.mark.slow
def test_with_fingers_a_tap_explains_and_does_nothing_else(browser, server):
    from playwright.sync_api import expect

    tab = browsers.Tab(
        browser, server.running, (390, 844), panels=True, has_touch=True, is_mobile=True
    )
    tab.until("explorer.catalog")
    scene = tab.open(SCENE)
    tab.page.get_by_role("button", name="Color").tap()
    panel = tab.page.get_by_role("region", name="Color", exact=True)
    panel.get_by_role("button", name="Explain the controls").tap()
    panel.get_by_role("button", name="Fit to view").tap()
    expect(tab.page.locator(".explain")).to_contain_text("spread the palette")
    panel.get_by_role("slider", name="Offset").tap(force=True)
    expect(tab.page.locator(".explain")).to_contain_text("Shift of the palette")
    assert tab.run("explorer.scene") == scene
    tab.close()


def test_names_are_told_to_screen_readers(tab):
    from playwright.sync_api import expect

    names = "\n".join(f'  - button "{title}"' for title in PANELS)
    snapshot = f'- navigation "Panels":\n{names}'
    expect(tab.page.get_by_role("navigation")).to_match_aria_snapshot(snapshot)
    expect(tab.page.get_by_role("application")).to_have_accessible_name(
        "Fractal picture. Arrow keys move, plus and minus zoom, question mark lists all keys."
    )
    tab.until("document.querySelector('[role=status]').textContent.endsWith(', drawn')")
    assert tab.page.locator("[role=status]").first.text_content() == "zoom 710, drawn"


@pytest.mark.parametrize("size", [SIZE, (390, 844)])
def test_targets_are_large_enough_and_nothing_overflows(browser, server, size):
    tab = browsers.Tab(browser, server.running, size=size, panels=True)
    tab.until("explorer.catalog && explorer.placed")
    for title in PANELS:
        opened(tab, title)
        tab.run("() => document.querySelectorAll('details').forEach((each) => each.open = true)")
        assert tab.run(SMALL) == []
        assert tab.run(CUT) == []
        assert tab.run("document.documentElement.scrollWidth") <= size[0]
        tab.page.keyboard.press("Escape")
    tab.close()


def test_the_picture_lies_above_a_sheet_on_a_phone(browser, server):
    tab = browsers.Tab(browser, server.running, size=(390, 844), panels=True)
    tab.until("explorer.catalog && explorer.placed")
    box = "document.querySelector('{}').getBoundingClientRect()"
    view, sheet = (box.format(name) for name in ("#view", ".panel"))
    for title in ("Color", "Bookmarks"):
        panel = opened(tab, title)
        tab.until(f"Math.abs({view}.top + {sheet}.height / 2) < 1 && {view}.top < -20")
        tab.page.keyboard.press("Escape")
        panel.wait_for(state="detached")
        tab.until(f"{view}.top === 0")
    opened(tab, "Color")
    tab.run(TOLD)
    tab.until(f"{box.format('.messages')}.bottom < {sheet}.top")  # and hides no button of it
    for there in (True, False):  # a second view below the sheet's picture
        tab.page.keyboard.press("t")
        tab.until(f"({view}.top === 0) === {str(there).lower()}")
    tab.close()


@pytest.mark.parametrize("size", [SIZE, (390, 844)])
def test_a_note_about_counts_is_seen(browser, server, size):
    from playwright.sync_api import expect

    tab = browsers.Tab(browser, server.running, size=size, panels=True)
    tab.until("explorer.catalog && explorer.settled")
    drawn = {"pass": "exact", "max_iterations": 1000, "note": "counts of up to 9 % ..."}
    tell = "(drawn) => { explorer.drawn = drawn; }"
    tab.run(tell, drawn)
    expect(tab.page.get_by_title(drawn["note"])).to_be_visible()
    assert tab.run("document.documentElement.scrollWidth") <= size[0]
    tab.run(tell, {**drawn, "note": None})
    expect(tab.page.get_by_title(drawn["note"])).to_have_count(0)
    tab.close()


def test_a_panel_keeps_its_width_and_its_folds_when_the_page_is_loaded_again(browser, server):
    tab = browsers.Tab(browser, server.running, size=(1000, 560), panels=True)
    tab.until("explorer.catalog")
    tab.open(SCENE)
    panel = opened(tab, "Color")
    edge = panel.get_by_role("separator", name="Width of the panel")
    usual = panel.bounding_box()["width"]
    edge.press("ArrowRight")
    wider = panel.bounding_box()["width"]
    assert wider == usual + 24
    section(panel, "Motion")
    panel.locator("summary", has_text="Palette").first.click()
    # The browser tells of a fold after the click.
    tab.until("JSON.parse(localStorage['fractals.folds'] ?? '{}').Palette === false")
    tab.page.reload()
    tab.hide()
    tab.until("explorer.catalog")
    panel = opened(tab, "Color")
    assert panel.bounding_box()["width"] == wider
    folds = panel.locator("details").evaluate_all(
        "all => Object.fromEntries(all.map(each => [each.firstChild.textContent, each.open]))"
    )
    assert folds["Motion"]
    assert not folds["Palette"]
    panel.locator(".body").evaluate("body => body.scrollTo(0, body.scrollHeight)")
    seen = panel.get_by_role("img", name="Histogram of the view, in the colors of the palette")
    box, body = seen.bounding_box(), panel.locator(".body").bounding_box()
    assert box["y"] >= body["y"]  # it stays in view above what is scrolled
    edge = panel.get_by_role("separator", name="Width of the panel")
    edge.dblclick()
    assert panel.bounding_box()["width"] == usual
    tab.close()


def test_how_many_small_pictures_have_come_is_told(browser, server):
    tab = browsers.Tab(browser, server.running, size=SIZE, panels=True)
    tab.until("explorer.catalog")
    tab.page.route("**/thumbnail/**", lambda route: None)  # a server that is slow
    told = opened(tab, "Gallery").get_by_role("status")
    told.get_by_text(re.compile(r"^0 of \d+ pictures$")).wait_for()
    tab.close()


def test_a_panel_that_was_not_loaded_comes_with_the_page_once_the_server_answers(browser, server):
    """Chromium asks for a module once: no panel opened any more after a break of the line."""
    tab = browsers.Tab(browser, server.running, size=SIZE, panels=True)
    before = tab.open(SCENE)
    tab.context.route("**/client/panels/lessons.js", lambda route: route.abort())
    tab.page.keyboard.press("l")
    again = tab.page.get_by_role("alert").get_by_role("button", name="Load the page again")
    again.wait_for()
    tab.context.set_offline(True)
    again.click()
    again.wait_for()  # no page is better than the one that is there
    tab.context.unroute_all()
    tab.context.set_offline(False)
    with tab.page.expect_navigation():
        again.click()
    tab.until("window.explorer?.catalog && !document.querySelector('.message')")
    tab.settle()
    assert place_of(tab.run("explorer.scene")) == place_of(before)
    opened(tab, "Lessons")
    tab.close()


def test_a_value_that_comes_while_a_field_is_selected_is_typed_over(tab):
    field = opened(tab, "Color").get_by_role("textbox", name="Density", exact=True)
    field.select_text()
    tab.run("explorer.paint({ ...explorer.wished.color, density: 0.37 })")  # as a fit does
    tab.until("document.activeElement.value === '0.37'")
    tab.page.keyboard.type("7.25")
    tab.page.keyboard.press("Enter")
    assert color_of(tab)["density"] == 7.25


# Each connection is refused as by a server that is full, as long as `full` is set.
FULL = """(() => {
    const Real = WebSocket;
    window.full = true;
    window.WebSocket = function (...given) {
        if (!window.full) return new Real(...given);
        setTimeout(() => this.onclose?.({ code: 1013, reason: "" }), 20);
        this.close = () => {};
    };
    Object.assign(window.WebSocket, { CONNECTING: 0, OPEN: 1, CLOSED: 3 });
})()"""


def test_a_page_that_finds_the_server_full_does_not_say_that_it_opens(browser, server):
    tab = browsers.Tab(browser, server.running, size=SIZE, panels=True, script=FULL)
    try:
        tab.page.get_by_text("The server is full.").wait_for()
        assert tab.page.locator(".first").text_content() == ""
        tab.run("window.full = false")
        tab.settle()
        assert tab.page.locator(".first").count() == 0
        assert tab.page.get_by_text("The server is full.").count() == 0
    finally:
        tab.close()


# Controls that something else lies over, or that lie beyond the window, once each is in view.
COVERED = """(root) => [...document.querySelectorAll(`${root} :is(button, input, select, summary)`)]
    .filter((each) => each.checkVisibility() && each.offsetWidth > 1 && !each.disabled)
    .filter((each) => {
        each.scrollIntoView({ block: "center" });
        const { left, top, width, height } = each.getBoundingClientRect();
        const there = document.elementFromPoint(left + width / 2, top + height / 2);
        return !there || !(each.contains(there) || there.closest("label")?.contains(each));
    }).map((each) => each.ariaLabel || each.textContent)"""


def test_all_controls_are_reached_in_a_window_that_is_magnified_to_400_percent(tab):
    tab.run("document.querySelectorAll('.message button:last-child').forEach((x) => x.click())")
    while tab.run("Boolean(document.querySelector('.panel'))"):  # which a test has left open
        tab.page.keyboard.press("Escape")
    tab.page.set_viewport_size({"width": 340, "height": 190})
    try:
        for root in (".zooms", ".corner", ".bar"):
            assert tab.run(COVERED, root) == [], root
        tab.run("explorer.tell('A line.')")
        tab.page.locator(".message").first.wait_for()
        tab.page.locator("#view").press("Shift+F10")
        menu = tab.page.get_by_role("menu")
        menu.wait_for()
        assert tab.run(COVERED, ".menu") == []
        tab.page.keyboard.press("Escape")
        menu.wait_for(state="detached")
        tab.page.locator(".message button").last.click()
        for key, name in (("v", "Film"), ("c", "Color"), ("r", "Surprise"), ("e", "Export")):
            tab.page.keyboard.press(key)
            panel = tab.page.get_by_role("region", name=name, exact=True)
            panel.wait_for()
            if name == "Film":
                panel.get_by_role("button", name="Whole set").click()
                tab.until("document.querySelector('.timeline')")
            assert tab.run(COVERED, ".panel") == [], name
            assert tab.run("document.querySelector('.panel .body').clientHeight") > 80
            assert tab.run("document.documentElement.scrollWidth") <= 340
            tab.page.keyboard.press("Escape")
            tab.page.keyboard.press("Escape")  # the first may have ended a job
            panel.wait_for(state="detached")
    finally:
        tab.page.set_viewport_size(dict(zip(("width", "height"), SIZE, strict=True)))


def test_the_focus_goes_to_what_lies_where_its_button_was_removed(tab):
    focused = "document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()"
    panel = opened(tab, "Bookmarks")
    for title in ("One", "Two", "Three"):
        panel.get_by_label("Title of the bookmark").fill(title)
        panel.get_by_role("button", name="Keep this place").click()
        panel.get_by_role("button", name=f"Remove {title}").wait_for()
    for title, beside in (("Two", "Remove One"), ("One", "Remove Three"), ("Three", "Bookmarks")):
        button = panel.get_by_role("button", name=f"Remove {title}")
        button.focus()
        button.press("Enter")
        button.wait_for(state="detached")
        assert tab.run(focused) == beside
    panel.get_by_label("Title of the bookmark").fill("Last")
    panel.get_by_role("button", name="Keep this place").click()
    button = panel.get_by_role("button", name="Remove Last")
    button.click()
    tab.page.locator("#view").focus()  # the user is elsewhere by then
    button.wait_for(state="detached")
    assert tab.run("document.activeElement.id") == "view"
