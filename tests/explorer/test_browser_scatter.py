"""Scatter images in a browser: from the gallery to exact pixels, handles, live colors."""

import numpy as np
import pytest
from support import browser as browsers
from support.panels import SIZE, opened, section

import fractals

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

FLAME = (
    fractals.load_scene("bonfire")
    .replace(size=SIZE, supersampling=1, quality=4, estimator_radius=0.0)
    .to_table()
)


def flame_of(tab):
    return tab.settle()["formula"]


def test_a_flame_of_the_gallery_settles_exact(panels):
    opened(panels, "Gallery").get_by_role("button", name="Bonfire tree", exact=True).click()
    panels.until("explorer.placed?.title === 'Bonfire tree'")
    panels.page.get_by_text("quality").first.wait_for()  # of the status line
    panels.run(
        "explorer.change({ scatter: { quality: 3 }, image: { ...explorer.scene.image,"
        " supersampling: 1 } })"
    )
    panels.assert_exact()
    assert panels.page.locator(".status .state").inner_text() == "quality 3"


def test_a_dragged_handle_changes_the_flame_in_one_step_of_undo(panels):
    panels.open(FLAME)
    before = flame_of(panels)
    opened(panels, "Formula")
    handle = panels.page.get_by_role("button", name="Middle of transform 1", exact=True)
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    steps = panels.run("explorer.steps.back.length")
    mouse = panels.page.mouse
    mouse.move(x, y)
    mouse.down()
    for k in range(1, 5):
        mouse.move(x + 10 * k, y - 5 * k)
    mouse.up()
    panels.until("explorer.scene.formula.transforms[0].affine[2] > 0.3")
    scene = panels.assert_exact()
    moved = scene["formula"]["transforms"][0]["affine"]
    unit = float(scene["view"]["width"]) / SIZE[0]  # of a pixel, in the plane
    was = before["transforms"][0]["affine"]
    assert moved[2] - was[2] == pytest.approx(40 * unit, abs=2e-6)
    assert moved[5] - was[5] == pytest.approx(20 * unit, abs=2e-6)
    assert scene["formula"]["transforms"][1:] == before["transforms"][1:]
    now = handle.bounding_box()
    assert now["x"] - box["x"] == pytest.approx(40, abs=1)  # the handle lies where it was dropped
    assert panels.run("explorer.steps.back.length") == steps + 1
    panels.run("explorer.undo()")
    panels.until(f"explorer.scene.formula.transforms[0].affine[2] === {was[2]}")
    assert flame_of(panels) == before


def test_palette_and_display_are_live(panels):
    panels.open(FLAME)
    panel = opened(panels, "Color")
    for part in ("Coloring", "Layers", "Values", "Looks"):
        assert panel.locator("summary", has_text=part).count() == 0
    shown = panels.pixels()
    gamma = panel.get_by_role("slider", name="Gamma", exact=True)
    gamma.focus()
    panels.page.keyboard.press("ArrowLeft")
    panels.until("explorer.scene.display.gamma < 4")
    panels.assert_exact()
    assert not np.array_equal(panels.pixels(), shown)
    panel.get_by_role("button", name="All 42 palettes", exact=True).click()
    panel.get_by_role("button", name="Lagoon", exact=True).click()
    panels.until("explorer.scene.color.palette === 'lagoon'")
    assert panels.assert_exact()["display"]["gamma"] < 4


def test_panels_of_escape_time_say_so(panels):
    panels.open({"formula": "clifford", "scatter": {"quality": 2}, "image": {"supersampling": 1}})
    for title in ("Find", "Inspect"):
        assert "escape-time images" in opened(panels, title).inner_text()
    panel = opened(panels, "Formula")
    panel.get_by_label("A", exact=True).first.fill("-1.7")
    panels.page.keyboard.press("Enter")
    panels.until("explorer.scene.formula.a === -1.7")
    panels.assert_exact()


OVER = """() => [...document.querySelectorAll(".handles circle")].map((circle) => {
    const { x, y, width, height } = circle.getBoundingClientRect();
    const found = document.elementFromPoint(x + width / 2, y + height / 2);
    return Boolean(found?.closest(".handles"));
})"""


def test_triangles_outside_of_the_window_are_fitted_into_it(panels):
    panels.open(FLAME)
    panels.run("explorer.move({ scale: 64, at: [0, 0] })")  # corners lie outside
    before = flame_of(panels)["transforms"]
    panel = opened(panels, "Formula")
    panels.until(f"({OVER})().length === 9")  # their code is loaded
    assert not all(panels.run(OVER))
    toggle = panel.get_by_label("Fit the triangles into the window")
    toggle.click()
    panels.until("document.querySelector('.handles .frame')")
    panels.until(f"({OVER})().every(Boolean)")
    assert len(panels.run(OVER)) == 9
    handle = panels.page.get_by_role("button", name="Middle of transform 2", exact=True)
    handle.press("ArrowRight")
    after = flame_of(panels)["transforms"]
    assert after[1]["affine"][2] > before[1]["affine"][2]
    assert (after[0], after[2]) == (before[0], before[2])
    toggle.click()
    assert panels.page.locator(".handles .frame").count() == 0


def test_a_variation_is_searched_seen_and_added(panels):
    panels.open(FLAME)
    before = flame_of(panels)
    panel = opened(panels, "Formula")
    part = section(panel, "Add a variation")
    part.get_by_label("Search the variations").fill("wedge jul")
    shown = part.get_by_role("list", name="Variations")
    assert shown.get_by_role("button").all_inner_texts() == ["Wedge julia"]
    shown.locator("canvas").wait_for()  # this flame with it
    assert flame_of(panels) == before
    shown.get_by_role("button", name="Wedge julia").click()
    panels.until(
        "explorer.scene.formula.transforms.some((each) => each.variations?.wedge_julia === 0.5)"
    )
    panels.assert_exact()
    part.get_by_text("No variation has these words.").wait_for()
    part.get_by_label("Search the variations").fill("")


def test_a_weight_does_not_run_away_under_the_pointer(panels):
    """The range of its slider follows the value, and grew while it was dragged."""
    panels.open(FLAME)
    panel = opened(panels, "Formula")
    panel.locator(".transform-name").first.click()
    part = section(panel, "Variations")
    number, slider = part.locator("input.number").first, part.get_by_role("slider").first
    name = slider.get_attribute("aria-label").lower()
    number.fill("1.9")
    number.press("Enter")
    weight = f"explorer.scene.formula.transforms[0].variations.{name}"
    panels.until(f"{weight} === 1.9")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    mouse, y = panels.page.mouse, box["y"] + box["height"] / 2
    steps = panels.run("explorer.steps.back.length")
    mouse.move(box["x"] + 0.75 * box["width"], y)
    mouse.down()
    for share in (0.78, 0.82, 0.86, 0.88, 0.9):
        mouse.move(box["x"] + share * box["width"], y)
        panels.page.wait_for_timeout(150)  # the flame follows
    mouse.up()
    panels.until(f"{weight} > 2.5")
    panels.settle()
    assert 2.8 < panels.run(weight) < 3.6  # within twice 1.9
    assert panels.run("explorer.steps.back.length") == steps + 1


def test_the_desk_of_a_flame_mutes_orders_and_turns(panels):
    panels.open(FLAME)
    before = flame_of(panels)
    panel = opened(panels, "Formula")
    rows = panel.get_by_role("list", name="Transforms")

    def button(name):
        return panel.get_by_role("button", name=name, exact=True)

    def opacities():
        return [each.get("opacity", 1) for each in flame_of(panels)["transforms"]]

    button("Mute transform 1").click()
    panels.until("explorer.scene.formula.transforms[0].opacity === 0")
    shown = panels.assert_exact()
    button("Solo transform 2").press("Enter")
    panels.until("explorer.scene.formula.transforms[2].opacity === 0")
    assert opacities() == [0, 1, 0]
    assert panels.assert_exact() != shown
    assert button("Mute transform 2").is_disabled()  # nothing would be drawn
    button("Solo transform 2").click()
    panels.until("explorer.scene.formula.transforms[2].opacity === undefined")
    assert opacities() == [0, 1, 1]  # the first stays mute
    button("Mute transform 1").click()
    panels.until("explorer.scene.formula.transforms[0].opacity === undefined")
    assert flame_of(panels) == before

    grips = rows.locator(".grip-button")
    grips.nth(0).press("ArrowDown")
    panels.until("explorer.scene.formula.transforms[1].weight === 3")
    one, two, three = before["transforms"]
    assert flame_of(panels)["transforms"] == [two, one, three]
    grips.nth(2).drag_to(grips.nth(0))
    panels.until("explorer.scene.formula.transforms[2].weight === 3")
    assert flame_of(panels)["transforms"] == [three, two, one]
    panels.page.keyboard.press("Control+z")
    panels.page.keyboard.press("Control+z")
    panels.until("explorer.scene.formula.transforms[0].weight === 3")
    assert flame_of(panels) == before

    panel.get_by_label("Turns").select_option("3")
    panels.until("explorer.scene.formula.transforms.length === 5")
    panels.assert_exact()
    assert rows.get_by_role("listitem").count() == 3  # turns are no rows and have no triangles
    assert panels.page.locator(".handles g").count() == 3
    button("Solo transform 2").click()
    panels.until("explorer.scene.formula.transforms[4].opacity === 0")
    assert rows.get_by_role("listitem").count() == 3  # muted turns are still the symmetry's
    button("Solo transform 2").click()
    panels.until("explorer.scene.formula.transforms[4].opacity === undefined")
    panel.get_by_label("Mirrored").click()
    panels.until("explorer.scene.formula.transforms.length === 6")
    panel.get_by_label("Turns").select_option("1")
    panel.get_by_label("Mirrored").click()
    panels.until("explorer.scene.formula.transforms.length === 3")
    assert flame_of(panels) == before


# Each step comes before the one before it is answered: images of points change every 400 ms.
FAST = """async () => {
    const control = (name) => [...document.querySelectorAll("label")].find(
        (each) => each.textContent.trim() === name).control;
    const frame = () => new Promise(requestAnimationFrame);
    const turns = async (fold) => {
        control("Turns").value = fold;
        control("Turns").dispatchEvent(new Event("change", { bubbles: true }));
        await frame();
    };
    const mirror = async () => (control("Mirrored").click(), await frame());
    await turns("3");
    await mirror();
    const most = explorer.wished.formula.transforms.length;
    await turns("1");
    await mirror();
    return most;
}"""


def test_a_fast_user_changes_what_is_wished_for(panels):
    panels.open(FLAME)
    before = flame_of(panels)
    opened(panels, "Formula").get_by_label("Turns").wait_for()
    steps = panels.run("explorer.steps.back.length")
    assert panels.run(FAST) == 6
    assert flame_of(panels) == before
    assert panels.run("explorer.steps.back.length") == steps + 4
    panels.run("explorer.undo()")
    assert len(flame_of(panels)["transforms"]) == 4  # the mirror
    panels.run("explorer.undo()")
    assert len(flame_of(panels)["transforms"]) == 6


def test_colors_and_moves_during_a_change_stay(panels):
    panels.open(FLAME)
    width = float(panels.run("explorer.placed.width"))
    panels.run(
        """() => {
            explorer.move({ scale: 64 });
            explorer.changeIn("display", { gamma: 3 });
            explorer.paint({ ...explorer.wished.color, palette: "lagoon" });
            explorer.move({ scale: 64 });
            explorer.changeIn("develop", { vignette: 0.5 });
        }"""
    )
    scene = panels.assert_exact()
    assert (scene["display"]["gamma"], scene["develop"]["vignette"]) == (3, 0.5)
    assert scene["color"]["palette"] == "lagoon"
    assert float(scene["view"]["width"]) == pytest.approx(width / 4)
    panels.run("explorer.undo()")
    scene = panels.settle()
    assert (scene["color"]["palette"], scene["display"]["gamma"]) == ("lagoon", 3)
    assert "vignette" not in scene.get("develop", {})
    panels.run("explorer.step(-2)")  # the move, and the palette
    scene = panels.settle()
    assert scene["color"]["palette"] == FLAME["color"]["palette"]
    assert scene["display"]["gamma"] == 3


def test_a_post_map_has_numbers_and_a_triangle_of_its_own(panels):
    panels.open(FLAME)
    before = flame_of(panels)["transforms"][0]
    panel = opened(panels, "Formula")
    panel.get_by_role("list", name="Transforms").locator(".transform-name").first.click()
    panel.get_by_role("button", name="Post map", exact=True).click()
    numbers = panel.get_by_role("group", name="Post map")
    assert numbers.get_by_label("a", exact=True).input_value() == "1"
    numbers.get_by_label("c", exact=True).fill("0.25")
    panels.page.keyboard.press("Enter")
    panels.until("explorer.scene.formula.transforms[0].post")
    panels.assert_exact()
    panels.page.get_by_role("button", name="End of x of transform 1").press("ArrowUp")
    panels.until("explorer.scene.formula.transforms[0].post[3] > 0")
    after = flame_of(panels)["transforms"][0]
    assert after["post"][2] == 0.25
    assert after["affine"] == before["affine"]
    panel.get_by_role("button", name="Map", exact=True).click()
    label = panel.get_by_role("group", name="Affine map").get_by_label("a", exact=True)
    assert float(label.input_value()) == before["affine"][0]
