"""The poster desk, in a browser: paper, what is cut away, the proof, the price, the file."""

import io

import numpy as np
import PIL.Image
import pytest
from support import browser as browsers
from support.panels import opened, section

import fractals

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]
DRAWN = "document.querySelector('.the-picture canvas')"
PROOF = "document.querySelector('.proof-part canvas')"


@pytest.fixture
def desk(panels):
    """Return the page and its desk, with the usual values and little paper."""
    panels.run("localStorage.removeItem('fractals.poster')")
    panel = opened(panels, "Poster desk")
    panel.get_by_role("button", name="Usual values").click()
    panel.get_by_label("Paper", exact=True).select_option("A5")
    section(panel, "File")
    panel.get_by_label("Pixels an inch").select_option("100")
    panel.get_by_label("Samples a pixel").select_option("1")
    panels.until(f"{DRAWN} && {PROOF}")
    return panels, panel


def typed(panel, label, text):
    field = panel.get_by_role("textbox", name=label, exact=True)
    field.fill(text)
    field.press("Enter")
    return field


def test_a_poster_is_made_as_the_desk_shows_it(desk):
    tab, panel = desk
    typed(panel, "Text", "Ana Ferreira")
    tab.until("/Takes about/.test(document.querySelector('.forecast').innerText)")
    assert "850 × 606 pixels" in panel.locator(".forecast").inner_text()
    panel.get_by_role("button", name="Make the poster").click()
    with tab.page.expect_download() as told:
        panel.get_by_role("link", name="Download").click()
    with PIL.Image.open(io.BytesIO(told.value.path().read_bytes())) as file:
        assert file.size == (850, 606)
        pixels = np.asarray(file.convert("RGB"))
    left, top, across, down = 91, 91, 669, 393
    inside = pixels[top : top + down, left : left + across]
    assert (pixels[0] == 255).all()
    below = pixels[top + down :, left:]
    assert (below < 128).any()  # the signature, in the margin
    assert not (pixels[:, : left - 1] < 255).any()
    scene = tab.settle()
    shape = scene["image"]["size"]
    span = min(1.0, across / down / (shape[0] / shape[1]))
    width = float(scene["view"]["width"]) * span
    wanted = fractals.load_scene(scene).replace(size=(across, down), width=str(width))
    drawn = fractals.render(wanted.replace(supersampling=1), device="cpu").pixels
    assert np.mean(np.abs(inside.astype(int) - drawn) > 8) < 0.02  # the width in other digits


def test_without_margins_the_picture_goes_beyond_the_cut(desk):
    tab, panel = desk
    section(panel, "Margins and bleed")
    typed(panel, "Margin in mm", "0")
    typed(panel, "More below, in mm", "0")
    tab.until("document.querySelector('.the-picture').style.width === '100%'")
    assert panel.locator(".cut-away").count() == 1
    panel.get_by_role("switch", name="Show cut and safe area").uncheck()
    assert panel.locator(".cut-away").count() == 0


def test_margins_without_room_are_said_and_taken_back(desk):
    tab, panel = desk
    section(panel, "Margins and bleed")
    typed(panel, "Margin in mm", "90")
    panel.get_by_role("alert").get_by_text("leave no room").wait_for()
    assert panel.get_by_role("button", name="Make the poster").is_disabled()
    panel.get_by_role("button", name="Take back").click()
    tab.until(DRAWN)
    assert panel.get_by_role("button", name="Make the poster").is_enabled()
    field = typed(panel, "Width in millimeters", "wide")
    assert field.get_attribute("aria-invalid") == "true"
    typed(panel, "Width in millimeters", "21 0")
    panel.get_by_role("button", name="Usual values").click()


def test_a_field_keeps_the_focus_after_another_one_was_changed(desk):
    """Keys that follow would move the picture: 0 shows the whole set."""
    tab, panel = desk
    place = tab.run("explorer.placed.center")
    field = panel.get_by_role("textbox", name="Width in millimeters")
    section(panel, "Signature")
    panel.get_by_role("textbox", name="Text", exact=True).click()
    tab.page.keyboard.type("Ana")
    field.click()
    tab.page.keyboard.press("Control+a")
    tab.page.keyboard.type("200")
    assert field.evaluate("each => each === document.activeElement")
    tab.page.keyboard.press("Tab")
    height = panel.get_by_role("textbox", name="Height in millimeters")
    assert height.evaluate("each => each === document.activeElement")
    assert field.input_value() == "200"
    tab.settle()
    assert tab.run("explorer.placed.center") == place
    panel.get_by_role("button", name="Usual values").click()


def test_the_proof_follows_its_square_and_has_the_files_pixels(desk):
    tab, panel = desk
    knob = panel.get_by_role("button", name="Proof: drag")
    before = tab.run(f"{PROOF}.toDataURL()")
    knob.focus()
    for _ in range(6):
        tab.page.keyboard.press("ArrowRight")
    tab.until(f"{PROOF} && {PROOF}.toDataURL() !== {before!r}")
    # 40 mm of paper, on a screen of 96 pixels an inch
    assert tab.run(f"{PROOF}.width") == 157
    assert abs(panel.locator(".proof-part").bounding_box()["width"] - 150) < 2


def test_a_flame_has_no_proof_and_says_why(panels):
    panels.open({"formula": "clifford", "scatter": {"quality": 1}, "image": {"supersampling": 1}})
    panel = opened(panels, "Poster desk")
    panel.get_by_text("depend on the whole picture").wait_for()
    panels.until(DRAWN)
