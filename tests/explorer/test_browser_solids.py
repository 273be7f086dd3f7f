"""Solids in a browser: each control is a key of the scene; the sun, the focus, flights."""

import pytest
from support import browser as browsers
from support.panels import SIZE, opened, section

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

BOX = {
    "formula": {"name": "mandelbox", "scale": -1.5},
    "light": {"samples": 1, "bounces": 0},
    "image": {"size": SIZE, "supersampling": 1},
}
# What the controls of the open panel show.
SHOWN = """() => Object.fromEntries([...document.querySelectorAll(".panel .number")].map(
    (field) => [field.id.replace("field-", ""), Number(field.value)]))"""


def dragged(tab, handle, right, down):
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = tab.page.mouse
    mouse.move(x, y)
    mouse.down()
    for k in range(1, 4):
        mouse.move(x + right * k / 3, y + down * k / 3)
    mouse.up()


def test_controls_of_a_solid_are_keys_of_its_scene(panels):
    panels.open(BOX)
    panels.run("explorer.move({ by: [1600, 320] })")  # around the solid
    turned = panels.settle()["camera"]
    panel = opened(panels, "Color")
    steps = panels.run("explorer.steps.back.length")
    dragged(panels, panel.get_by_role("button", name="Sun"), 30, 20)
    panels.until("explorer.scene.light.sun !== 'key'")
    scene = panels.assert_exact()
    assert panels.run("explorer.steps.back.length") == steps + 1
    assert scene["camera"] == turned  # a control keeps what a drag has done
    sun = panels.run("explorer.placed.space.sun")
    assert sun == pytest.approx(scene["light"]["sun"], abs=1e-3)
    for label, value in (("Haze", 0.4), ("Sun power", 5), ("Bounces", 1)):
        field = panel.get_by_role("textbox", name=label, exact=True)
        field.fill(str(value))
        field.press("Enter")
    panels.until("explorer.scene.light.bounces === 1")
    light, shown = panels.assert_exact()["light"], panels.run(SHOWN)
    for name in ("haze", "sun_power", "bounces", "sun_size", "gloss"):
        label = name.capitalize().replace("_", "-")
        assert shown[label] == pytest.approx(light[name], rel=1e-2), name
    panels.page.keyboard.press("Escape")
    panel = opened(panels, "Formula")
    bar = panel.get_by_role("slider", name="Scale", exact=True)
    bar.focus()
    bar.press("ArrowLeft")
    panels.until("explorer.scene.formula.scale < -1.5")
    section(panel, "Camera").get_by_role("textbox", name="Field", exact=True).fill("60")
    panels.page.keyboard.press("Enter")
    panels.until("explorer.scene.camera.field === 60")
    scene = panels.assert_exact()
    assert scene["light"] == light
    assert panels.run(SHOWN)["Scale"] == pytest.approx(scene["formula"]["scale"], rel=1e-2)
    for _ in range(2):
        panels.run("explorer.undo()")
    panels.until("explorer.scene.formula.scale === -1.5")
    assert panels.settle()["camera"]["field"] == turned["field"]


def test_a_click_focuses_and_keys_fly(panels):
    panels.open(BOX)
    panels.page.locator("#view").click(modifiers=["Alt"])
    panels.until("explorer.scene.camera?.focus > 0")
    camera = panels.assert_exact()["camera"]
    assert camera["lens"] == 0.01
    steps = panels.run("explorer.steps.back.length")
    panels.page.keyboard.down("w")
    panels.until("explorer.placed.space.position[2] < 2.5")
    panels.page.keyboard.up("w")
    moved = panels.assert_exact()["camera"]
    assert moved["focus"] == camera["focus"]
    assert panels.run("explorer.steps.back.length") == steps + 1
    panels.page.keyboard.press("Shift+F")
    before = panels.run("explorer.placed.space")
    dragged(panels, panels.page.locator("#view"), 60, 0)
    panels.until(f"explorer.placed.space.target[0] !== {before['target'][0]}")
    after = panels.run("explorer.placed.space")
    assert after["position"] == pytest.approx(before["position"])  # it looks around
    panels.page.locator(".pad").click()
    panels.page.keyboard.press("Escape")
    panels.until("!explorer.flying")
    for key, title in (("Shift+S", "Share"), ("Shift+E", "Export")):  # S and E fly
        panels.page.keyboard.press(key)
        panels.page.get_by_role("region", name=title, exact=True).wait_for()
        panels.page.get_by_role("button", name=title, exact=True).and_(
            panels.page.locator(f"[aria-keyshortcuts='{key}']")
        ).wait_for()
        panels.page.keyboard.press("Escape")
    panels.page.keyboard.press("Shift+A")
    panels.page.get_by_text("The autopilot flies on").wait_for()
    panels.page.keyboard.press("Escape")
    panels.page.keyboard.press("i")
    field = panels.page.get_by_label("Position", exact=True)
    assert panels.page.get_by_label("Zoom", exact=True).count() == 0  # of a plane
    field.fill("0, -3.5, 1")
    field.press("Enter")
    panels.until("String(explorer.placed.space.position) === '0,-3.5,1'")
    panels.page.get_by_label("Looks at").fill("somewhere")
    panels.page.keyboard.press("Enter")
    panels.page.get_by_text("three numbers, such as").wait_for()
    panels.run("explorer.home()")
    panels.until("!explorer.scene.camera.position")


def test_an_eye_and_a_part_of_a_larger_picture_have_fields(panels):
    panels.open({**BOX, "camera": {"stereo": 0.05}})
    both = panels.pixels()
    panel = opened(panels, "Formula")
    panel.get_by_role("group", name="Eye").get_by_role("button", name="Left").click()
    panels.until("explorer.scene.camera.eye === 'left'")
    panels.assert_exact()
    assert (panels.pixels() != both).any()
    field = panel.get_by_label("Part of", exact=True)
    width, height = panels.run("explorer.size")
    field.fill(f"{width} x {height} + 1 + 0")
    field.press("Enter")
    panel.get_by_text("does not lie in this picture").wait_for()
    assert field.input_value() == f"{width} x {height} + 1 + 0"
    field.fill(f"{2 * width}x{2 * height}+{width}+0")
    field.press("Enter")
    panels.until("explorer.scene.camera.whole")
    assert panels.assert_exact()["camera"]["eye"] == "left"
    field.fill("")
    field.press("Enter")
    panels.until("!explorer.scene.camera.whole")
    panels.assert_exact()


@pytest.mark.slow
def test_views_are_found_and_flown_to(panels):
    panels.open({**BOX, "camera": {"field": 50}})
    panel = opened(panels, "Find")
    panel.get_by_role("button", name="Find views").click()
    card = panel.get_by_role("button", name="View 1")
    card.wait_for()
    here = panels.run("explorer.placed.space.position")
    steps = panels.run("explorer.steps.back.length")
    panels.page.emulate_media(reduced_motion="reduce")  # at once
    card.click()
    panels.until(f"explorer.placed.space.position[0] !== {here[0]}")
    camera = panels.assert_exact()["camera"]
    assert camera["field"] == 50
    assert sum(x * x for x in camera["position"]) < sum(x * x for x in here)
    assert panels.run("explorer.steps.back.length") == steps + 1


def test_samples_are_auto_until_a_number_is_given(panels):
    panels.open({**BOX, "light": {"bounces": 0}, "scatter": {"quality": "draft"}})
    field = opened(panels, "Formula").get_by_role("textbox", name="Samples", exact=True)
    assert field.input_value() == "auto"
    at = panels.page.get_by_role("slider", name="Samples", exact=True)
    stands = panels.run("explorer.placed.space.samples")
    assert at.get_attribute("aria-valuetext") == "auto"
    for typed, value in (("3", 3), ("AUTO", "auto")):
        field.fill(typed)
        field.press("Enter")
        panels.until(f"explorer.scene.light.samples === {value!r}")
        panels.assert_exact()
    assert field.input_value() == "auto"
    assert panels.run("explorer.placed.space.samples") == stands
    field.fill("many")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"
    field.press("Escape")
