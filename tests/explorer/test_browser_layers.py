"""Groups of layers and masks in a browser: dragged, moved by keys, painted with a brush, undone."""

import base64
import io
import itertools

import numpy as np
import pytest
from PIL import Image
from support import browser as browsers
from support.panels import color_of, opened, section

from fractals.color import trap_image

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

RED, GREEN, BLUE = (
    {"coloring": "smooth", "palette": {"stops": [[0, color], [0.5, "#101010"]]}, "opacity": 0.5}
    for color in ("#ff0000", "#00ff00", "#0000ff")
)
LAYERS = """() => explorer.scene.color.layers.map(
    (each) => (each.layers ?? [each])
        .map(({ palette }) => palette.stops[0][1].slice(1)).join("+"))"""
SHADER = "() => { explorer.stage.hideExact = true; }"
BACK = "() => { explorer.stage.hideExact = false; }"


@pytest.fixture
def stack(panels):
    """Return the page with three layers over the base, and the part Layers of the panel Color."""
    color = {"palette": "hokusai", "density": 0.7, "layers": [RED, GREEN, BLUE]}
    panels.run("color => explorer.paint(color)", color)
    panels.until("explorer.scene.color.layers?.length === 3")
    panels.settle()
    return panels, section(opened(panels, "Color"), "Layers")


def shaded_as_exact(tab):
    """Check the canvas, and that the shader shows the same."""
    color = tab.assert_exact()["color"]
    exact = tab.pixels().astype(int)
    tab.run(SHADER)
    shaded = tab.pixels().astype(int)
    tab.run(BACK)
    assert np.abs(exact - shaded).max() <= 2
    return color


def test_layers_are_dragged_into_a_group_which_is_blended_as_one(stack):
    tab, part = stack
    rows = part.locator(".layer")
    rows.nth(0).locator(".layer-name").click()  # blue, on top
    part.get_by_role("button", name="Make a group of it").click()
    tab.until("explorer.scene.color.layers[2].layers")
    group = part.locator(".group")
    part.get_by_role("list", name="Layers, from the top").evaluate(
        "(each) => each.scrollIntoView({ block: 'center' })"
    )
    grip = rows.nth(3).get_by_role("button", name="Drag").bounding_box()  # red
    box = group.bounding_box()
    tab.page.mouse.move(grip["x"] + 8, grip["y"] + 8)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 80, box["y"] + 12, steps=4)
    tab.page.mouse.up()
    tab.until("explorer.scene.color.layers.length === 2")
    assert tab.run(LAYERS) == ["00ff00", "0000ff+ff0000"]
    group.locator(".layer-name").click()
    part.get_by_role("combobox", name="Blend").select_option("screen")
    part.get_by_role("textbox", name="Opacity").fill("0.6")
    tab.page.keyboard.press("Enter")
    tab.until("explorer.scene.color.layers[1].opacity === 0.6")
    group = shaded_as_exact(tab)["layers"][1]
    assert (group["blend"], group["opacity"], len(group["layers"])) == ("screen", 0.6, 2)

    # Changes of colors that follow each other at once are one step of undo
    tab.page.wait_for_timeout(900)
    rows.nth(3).locator(".layer-name").click()  # green, which goes up into the group by a button
    part.get_by_role("button", name="Move Smooth 1 up").click()
    tab.until("explorer.scene.color.layers.length === 1")
    assert tab.run(LAYERS) == ["00ff00+0000ff+ff0000"]
    tab.run("() => explorer.undo()")
    tab.until("explorer.scene.color.layers.length === 2")
    tab.settle()


def test_groups_lie_in_groups(stack):
    tab, part = stack
    inner = {"layers": [BLUE, {**RED, "blend": "screen"}], "blend": "multiply", "opacity": 0.6}
    outer = {"layers": [GREEN, inner, {"layers": [RED]}], "blend": "overlay", "opacity": 0.9}
    color = {"palette": "hokusai", "density": 0.7, "layers": [outer, {**BLUE, "blend": "screen"}]}
    tab.run("color => explorer.paint(color)", color)
    tab.until("explorer.scene.color.layers.length === 2")
    tab.settle()
    assert len(shaded_as_exact(tab)["layers"][0]["layers"]) == 3
    assert part.locator(".group").count() == 3  # from the top: the outer one, then those in it
    part.locator(".group .layer-name").nth(2).click()
    part.get_by_role("textbox", name="Opacity").fill("0.3")
    tab.page.keyboard.press("Enter")
    tab.until("explorer.scene.color.layers[0].layers[1].opacity === 0.3")
    shaded_as_exact(tab)
    part.get_by_role("button", name="Make a group of it").click()
    tab.until("explorer.scene.color.layers[0].layers[1].layers[0].layers")
    shaded_as_exact(tab)
    part.get_by_role("button", name="Ungroup").click()
    tab.until("!explorer.scene.color.layers[0].layers[1].layers[0].layers")
    part.get_by_role("button", name="Move group up").click()
    tab.until("explorer.scene.color.layers[0].layers.length === 2")
    assert shaded_as_exact(tab)["layers"][0]["layers"][1]["layers"][0]["opacity"] == 0.3


def test_the_shader_knows_every_blend(stack):
    tab, _ = stack
    for mode in ("hard_light", "darken", "lighten", "difference", "exclusion"):
        layers = [{"coloring": "count", "palette": "ember", "blend": mode, "opacity": 0.6}]
        tab.run("layers => explorer.paint({ layers })", layers)
        tab.until(f"explorer.scene.color.layers[0].blend === '{mode}'")
        tab.settle()
        shaded_as_exact(tab)


def test_a_group_of_one_layer_changes_no_picture(stack):
    tab, part = stack
    layer = {**BLUE, "blend": "soft_light", "opacity": 0.7}
    tab.run("color => explorer.paint(color)", {"palette": "hokusai", "layers": [layer]})
    tab.until("explorer.scene.color.layers.length === 1")
    tab.settle()
    before = tab.pixels().astype(int)
    part.locator(".layer .layer-name").first.click()
    part.get_by_role("button", name="Make a group of it").click()
    tab.until("explorer.scene.color.layers[0].layers")
    tab.settle()
    assert np.abs(tab.pixels() - before).max() <= 1
    part.get_by_role("button", name="Ungroup").click()
    tab.until("!explorer.scene.color.layers[0].layers")
    assert tab.settle()["color"]["layers"][0]["blend"] == "soft_light"
    assert np.array_equal(tab.pixels(), before)


def test_words_of_a_layer_lie_beside_each_other(stack):
    tab, part = stack
    file = io.BytesIO()
    Image.new("L", (4, 4), 128).save(file, "PNG")
    mask = {"picture": f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"}
    inner = {**BLUE, "coloring": "triangle_average", "blend": "soft_light", "picture_mask": mask}
    tab.run("layers => explorer.paint({ layers })", [{"layers": [{"layers": [inner]}]}])
    tab.until("explorer.scene.color.layers[0].layers?.[0].layers")
    row = part.locator(".layer .layer-name", has_text="Triangle average")
    name, told = (row.locator(each).bounding_box() for each in (".grow", ".faint"))
    text = row.locator(".grow").evaluate("each => each.scrollWidth")
    assert name["x"] + text <= told["x"]
    row.click()
    for line in part.get_by_role("group", name="Mask").locator(".line").all():
        boxes = [each.bounding_box() for each in line.locator("> *:visible").all()]
        assert all(a["x"] + a["width"] <= b["x"] for a, b in itertools.pairwise(boxes))
        outer = line.bounding_box()
        assert boxes[-1]["x"] + boxes[-1]["width"] <= outer["x"] + outer["width"] + 1


def test_a_mask_is_painted_on_the_picture_and_undone(stack):
    tab, part = stack
    before, steps = tab.pixels(), tab.run("explorer.steps.back.length")
    part.locator(".layer-name").nth(0).click()
    part.get_by_role("button", name="Paint a mask").click()
    brush = tab.page.get_by_label("The mask: paint on the picture")
    brush.wait_for()
    box = tab.page.locator("#view").bounding_box()
    x, y = box["x"] + 0.75 * box["width"], box["y"] + 0.5 * box["height"]
    for count, far in enumerate((60, -60), 1):
        tab.page.mouse.move(x, y)
        tab.page.mouse.down()
        tab.page.mouse.move(x, y + far, steps=3)
        tab.page.mouse.up()
        tab.until(f"explorer.steps.back.length === {steps + count}")
    tab.settle()
    mask = shaded_as_exact(tab)["layers"][2]["picture_mask"]
    assert mask["view"]["width"] == tab.run("explorer.placed.width")
    weights = trap_image.weights(mask["picture"])
    rows, columns = weights.shape
    assert weights[rows // 2, int(0.75 * columns)] < 0.1
    assert weights[rows // 2, columns // 5] == 1
    painted = tab.pixels()
    same = (painted == before).all(axis=2)
    assert same[:, : same.shape[1] // 4].all()
    assert not same.all()
    part.get_by_role("button", name="Done").click()
    assert brush.count() == 0
    part.get_by_role("button", name="Over the frame").click()
    tab.until("!explorer.scene.color.layers[2].picture_mask.view")
    assert (shaded_as_exact(tab)["layers"][2]["picture_mask"]["picture"]) == mask["picture"]
    assert tab.run("explorer.steps.back.length") == steps + 3
    for _ in range(3):
        tab.run("() => explorer.undo()")
    tab.until("!explorer.scene.color.layers[2].picture_mask")
    tab.settle()
    assert np.array_equal(tab.pixels(), before)


@pytest.mark.slow
def test_painting_ends_where_the_mask_does_not_move_along(stack):
    tab, part = stack
    part.locator(".layer-name").nth(0).click()
    part.get_by_role("button", name="Paint a mask").click()
    brush = tab.page.get_by_label("The mask: paint on the picture")
    box = tab.page.locator("#view").bounding_box()
    x, y = box["x"] + 0.75 * box["width"], box["y"] + 0.5 * box["height"]
    tab.page.mouse.move(x, y)
    across = tab.page.locator(".brush-ring").bounding_box()["width"]
    assert across == pytest.approx(0.12 * box["width"], abs=3)
    tab.page.mouse.wheel(0, -100)
    tab.until(f"document.querySelector('.brush-ring').offsetWidth > {across + 5}")
    width = tab.run("explorer.placed.width")
    for _ in range(2):  # of the second stroke, undo leaves the brush where it is
        tab.page.mouse.down()
        tab.page.mouse.move(x, y + 40, steps=3)
        tab.page.mouse.up()
        tab.settle()
    tab.press("Control+z")
    assert brush.count() == 1
    mask = shaded_as_exact(tab)["layers"][2]["picture_mask"]
    tab.press("+")
    brush.wait_for(state="detached")
    tab.page.get_by_text("so painting has ended").wait_for()
    tab.until(f"explorer.placed.width !== {width!r}")
    tab.settle()
    part.get_by_role("button", name="Paint on").click()
    tab.until(f"explorer.placed.width === {width!r}")
    brush.wait_for()
    tab.settle()
    assert brush.count() == 1
    assert shaded_as_exact(tab)["layers"][2]["picture_mask"] == mask
    tab.page.keyboard.press("Escape")


def test_a_mask_of_a_file_and_escape_ends_the_brush(stack, tmp_path):
    tab, part = stack
    part.locator(".layer-name").nth(1).click()
    file = io.BytesIO()
    ramp = np.tile(np.linspace(0, 255, 700).astype(np.uint8), (350, 1))
    Image.fromarray(ramp).save(file, "PNG")
    part.locator("input[type=file]").set_input_files(
        {"name": "ramp.png", "mimeType": "image/png", "buffer": file.getvalue()}
    )
    tab.until("explorer.scene.color.layers[1].picture_mask")
    mask = shaded_as_exact(tab)["layers"][1]["picture_mask"]
    weights = trap_image.weights(mask["picture"])
    assert weights.shape == (256, 512)
    assert (np.diff(weights[100]) >= 0).all()
    assert "view" not in mask
    box = tab.page.locator("#view").bounding_box()
    for down in (0.65, 0.35):  # a mask that was read, and then one that was painted
        part.get_by_role("button", name="Paint on").click()
        tab.until("document.querySelector('.mask-brush')?.width === 512")
        steps = tab.run("explorer.steps.back.length")
        tab.page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + down * box["height"])
        tab.page.mouse.down()
        tab.page.mouse.up()
        tab.until(f"explorer.steps.back.length === {steps + 1}")
        tab.page.locator("#view").focus()
        tab.page.keyboard.press("Escape")
        tab.until("!document.querySelector('.mask-brush')")
        tab.settle()
        painted = trap_image.weights(color_of(tab)["layers"][1]["picture_mask"]["picture"])
        rows = box["width"] / 512  # of the picture a pixel of the mask, both about the middle
        assert painted[128 + int((down - 0.5) * box["height"] / rows), 384] < 0.05
    assert (painted[:, 384] < 0.05).sum() > 40  # both strokes
    assert np.abs(painted - weights)[:, :128].max() < 0.01
    assert tab.page.get_by_role("region", name="Color").count() == 1
    part.get_by_role("button", name="Remove the mask").click()
    tab.until("!explorer.scene.color.layers[1].picture_mask")
    assert "picture_mask" not in color_of(tab)["layers"][1]
