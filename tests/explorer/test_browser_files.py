"""Files of many things in a browser: one is chosen; and own formulas in Fractint's words."""

import pytest
from support import browser as browsers
from support.panels import opened, section

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore:the formula 'program' has no degree"),
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

MANY = """Mandel(XAXIS) { z = c = pixel: z = sqr(z) + c, |z| <= 4 }
Cubic { z = 0: z = z^3 + pixel, |z| < 9 }
Random { z = rand: z = z*z + pixel, |z| < 4 }
"""
OWN = """mine { ; of two variables
  z = w = pixel:
  if (real(z) > 0)
    z = z*z + w
  else
    z = z*z - w
  endif
  w = pixel
  |z| < 16
}"""


def test_one_of_many_things_in_a_file_is_chosen(panels):
    gallery = opened(panels, "Gallery")
    file = {"name": "many.frm", "mimeType": "text/plain", "buffer": MANY.encode()}
    gallery.locator("input[type=file]").set_input_files(file)
    panel = panels.page.get_by_role("region", name="In the file", exact=True)
    panel.wait_for()
    assert "many.frm holds 3" in panel.inner_text()
    assert panel.get_by_role("button", name="Random").is_disabled()
    assert "'rand' is random" in panel.get_by_role("button", name="Random").inner_text()
    panel.get_by_role("button", name="Cubic").click()
    panels.until("explorer.scene.title === 'Cubic' && explorer.scene.formula.name === 'program'")
    assert panels.assert_exact()["formula"]["step"] == "z = z^3 + c"
    assert panel.get_by_role("button", name="Cubic").get_attribute("aria-pressed") == "true"


def test_an_own_formula_in_fractints_words_is_a_program(panels):
    panel = opened(panels, "Formula")
    part = section(panel, "Your own")
    part.get_by_label("z becomes").fill(OWN.replace("  w = pixel", "  w = rand"))
    part.get_by_role("button", name="Draw it").click()
    part.get_by_text("'rand' is random").wait_for()
    part.get_by_label("z becomes").fill(OWN)
    part.get_by_role("button", name="Draw it").click()
    panels.until("explorer.scene.formula.name === 'program'")
    scene = panels.assert_exact()
    assert "if(re(" in scene["formula"]["step"]
    assert panel.get_by_label("Test", exact=True).input_value() == scene["formula"]["test"]
