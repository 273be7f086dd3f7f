"""Sliders and their numbers, in a browser: sums, drags, wheels, usual values, locks and dice."""

import pytest
from support import browser as browsers
from support.panels import color_of, opened

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

POINTS = {"formula": "clifford", "scatter": {"quality": 2}, "image": {"supersampling": 1}}


def test_a_number_takes_a_sum_a_drag_and_a_wheel_and_a_slider_its_usual_value(panels):
    panel = opened(panels, "Color")
    number = panel.get_by_role("textbox", name="Density", exact=True)
    slider = panel.get_by_role("slider", name="Density", exact=True)
    number.fill("= 0.7*2")
    number.press("Enter")
    panels.until("explorer.scene.color.density === 1.4")
    number.fill("= 0.7*")
    number.press("Enter")
    panel.get_by_text("Type a sum").wait_for()
    number.press("Escape")
    panels.page.locator("#view").focus()

    steps = panels.run("(explorer.endStep(), explorer.steps.back.length)")
    number.scroll_into_view_if_needed()
    box = number.bounding_box()
    x, y = box["x"] + 20, box["y"] + 10
    mouse = panels.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 10, y)
    mouse.move(x + 40, y)
    mouse.up()
    panels.until("explorer.scene.color.density > 1.5")
    dragged = color_of(panels)["density"]
    assert 2 < dragged < 4  # a tenth of four decades
    assert panels.run("explorer.steps.back.length") == steps + 1
    mouse.click(x, y)  # types
    assert number.evaluate("each => each === document.activeElement")
    mouse.wheel(0, -100)
    panels.until(f"explorer.scene.color.density > {dragged}")
    panels.page.locator("#view").focus()

    slider.dblclick()
    panels.until("explorer.scene.color.density === 1")
    slider.focus()
    panels.page.keyboard.press("Shift+ArrowRight")
    panels.until("explorer.scene.color.density > 1")
    assert color_of(panels)["density"] < 1.02
    panels.page.keyboard.press("Delete")
    panels.until("explorer.scene.color.density === 1")
    panels.assert_exact()


def test_dice_and_surprises_leave_a_locked_number(panels):
    panels.open(POINTS)
    panel = opened(panels, "Formula")

    def button(name):
        return panel.get_by_role("button", name=name, exact=True)

    button("Another value of A").click()
    panels.until("explorer.scene.formula.a !== undefined")
    before = panels.settle()["formula"]
    button("Lock A").click()
    assert button("Another value of A").is_disabled()
    button("Others by chance").click()
    panels.until("explorer.scene.formula.b !== undefined && explorer.scene.formula.c !== undefined")
    after = panels.assert_exact()["formula"]
    assert after["a"] == before["a"]
    sent = "window.sent = []; const { send } = explorer.connection;"
    sent += "explorer.connection.send = function (message) {"
    sent += " if (message.t === 'surprise') window.sent.push(message.locked);"
    sent += " return send.call(this, message); }"
    panels.run(f"() => {{ {sent} }}")
    opened(panels, "Surprise")
    panels.until("window.sent.length > 0")  # whether any of the scenes can be drawn is chance
    panels.run("() => { delete explorer.connection.send; }")
    assert panels.run("window.sent") == [["a"]]
    panels.page.keyboard.press("Escape")
    opened(panels, "Formula")
    button("Lock A").click()
