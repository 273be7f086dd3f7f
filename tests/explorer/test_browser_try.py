"""Choices that are tried on by pointing, and the wall of nine, in a browser."""

import numpy as np
import pytest
from support import browser as browsers
from support.panels import color_of, opened, section

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

POINTS = {"formula": "clifford", "scatter": {"quality": 2}, "image": {"supersampling": 1}}


def wall_of(tab, title):
    """Return the wall, once all of its pictures are there."""
    wall = tab.page.get_by_role("dialog", name=f"{title}: wall of nine")
    wall.wait_for()
    tab.until("document.querySelector('.nine canvas') && !document.querySelector('.nine .empty')")
    return wall


def test_a_look_is_laid_over_the_picture_while_it_is_pointed_at(panels):
    before, shown = panels.settle(), panels.pixels()
    part = section(opened(panels, "Color"), "Looks")
    ink = part.get_by_role("button", name="Ink", exact=True)
    ink.wait_for()
    ink.scroll_into_view_if_needed()
    box = ink.bounding_box()
    panels.page.mouse.move(box["x"] + 20, box["y"] + 20)
    panels.page.mouse.move(box["x"] + 24, box["y"] + 22)
    panels.page.locator(".over canvas").wait_for()
    assert panels.page.locator(".over figcaption").inner_text() == "Ink"
    panels.page.mouse.move(600, 300)
    panels.page.locator(".over").wait_for(state="detached")
    part.get_by_role("button", name="Relief", exact=True).focus()
    panels.page.keyboard.press("Tab")  # to Ink, as of a keyboard
    panels.page.locator(".over canvas").wait_for()
    panels.page.keyboard.press("Tab")
    panels.until("document.querySelector('.over figcaption')?.textContent === 'Engraving'")
    panels.page.locator("#view").focus()
    panels.page.locator(".over").wait_for(state="detached")
    assert panels.settle() == before
    assert np.array_equal(panels.pixels(), shown)


def test_the_wall_of_nine_is_moved_on_by_keys_and_takes_a_look(panels):
    before = color_of(panels)
    part = section(opened(panels, "Color"), "Looks")
    button = part.get_by_role("button", name="Wall of nine")
    button.click()
    wall = wall_of(panels, "Looks")
    assert wall.locator("canvas").count() == 6
    panels.page.keyboard.press("Escape")
    assert wall.count() == 0
    assert panels.page.locator(".panel").count() == 1  # the panel stays
    assert button.evaluate("each => each === document.activeElement")
    panels.page.keyboard.press("Enter")
    wall_of(panels, "Looks")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowDown", "Enter"):
        panels.page.keyboard.press(key)  # to the poster
    panels.until("explorer.scene.color.layers?.length === 1")
    assert wall.count() == 0
    assert panels.assert_exact()["color"]["palette"]["title"] == "Poster"
    assert panels.press("Control+z")["color"] == before


def test_walls_of_many_are_turned_and_undo_leaves_them(panels):
    part = section(opened(panels, "Color"), "Coloring")
    part.get_by_role("button", name="Wall of nine").click()
    wall = panels.page.get_by_role("dialog", name="Colorings of this view: wall of nine")
    cards = wall.get_by_role("list").get_by_role("button")
    first = cards.all_inner_texts()
    assert len(first) == 9
    panels.page.keyboard.press("PageDown")
    panels.until("document.querySelector('.wall header').textContent.includes('2 / ')")
    assert not set(cards.all_inner_texts()) & set(first)
    wall.get_by_role("button", name="The nine before").click()
    panels.until("document.querySelector('.wall header').textContent.includes('1 / ')")
    assert cards.all_inner_texts() == first
    panels.run("explorer.move({ scale: 16 })")
    panels.page.keyboard.press("Control+z")
    wall.wait_for(state="detached")
    assert panels.page.locator(".panel").count() == 1


def test_blend_modes_are_seen_on_this_view(panels):
    layer = {"coloring": "slopes", "palette": "ink", "blend": "soft_light", "opacity": 0.7}
    panels.run("layer => explorer.paint({ ...explorer.scene.color, layers: [layer] })", layer)
    panels.until("explorer.scene.color.layers.length === 1")
    part = section(opened(panels, "Color"), "Layers")
    part.locator(".layer-name").first.click()
    cards = part.get_by_role("list", name="Blend modes of this layer")
    cards.scroll_into_view_if_needed()
    cards.get_by_role("button", name="Multiply").wait_for()
    cards.get_by_role("button", name="Multiply").click()
    panels.until("explorer.scene.color.layers[0].blend === 'multiply'")
    assert color_of(panels)["layers"][0]["opacity"] == 0.7
    panels.assert_exact()


def test_nine_values_of_a_number_are_seen_on_this_view(panels):
    panels.open(POINTS)
    panel = opened(panels, "Formula")
    panel.get_by_role("button", name="Nine values of A", exact=True).click()
    wall = wall_of(panels, "A")
    names = wall.get_by_role("list").get_by_role("button").all_inner_texts()
    values = [float(name) for name in names]
    assert len(values) == 9
    assert values == sorted(values)
    wall.get_by_role("button", name=names[6], exact=True).click()
    panels.until(f"explorer.scene.formula.a === {values[6]}")
    panels.assert_exact()
