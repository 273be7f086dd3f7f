"""Files of many things in a browser: one is chosen; and own formulas in Fractint's words."""

import pytest
from support import browser as browsers
from support.panels import opened, section

import fractals

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore:the formula 'program' has no degree"),
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]

MANY = """Mandel(XAXIS) { z = c = pixel: z = sqr(z) + c, |z| <= 4 }
Cubic { z = 0: z = z^3 + pixel, |z| < 9 }
Random { z = srand(1): z = z*z + pixel, |z| < 4 }
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
    assert "'srand' is random" in panel.get_by_role("button", name="Random").inner_text()
    panel.get_by_role("button", name="Cubic").click()
    panels.until("explorer.scene.title === 'Cubic' && explorer.scene.formula.name === 'program'")
    assert panels.assert_exact()["formula"]["step"] == "z = z^3 + c"
    assert panel.get_by_role("button", name="Cubic").get_attribute("aria-pressed") == "true"


ASKING = b"Own { z = p2: z = fn1(z)^3 + pixel + p1, |z| < 9 }"


def test_what_fractint_asks_for_has_fields(panels):
    gallery = opened(panels, "Gallery")
    file = {"name": "a #1.frm", "mimeType": "text/plain", "buffer": ASKING}
    gallery.locator("input[type=file]").set_input_files(file)
    panel = panels.page.get_by_role("region", name="In the file", exact=True)
    panel.get_by_label("p1", exact=True).wait_for()
    assert panels.page.get_by_text("FILE#NAME").count() == 0
    panel.get_by_label("p1", exact=True).fill("0.5, -0.25")
    panel.get_by_label("p1", exact=True).press("Enter")
    panels.until("explorer.scene.formula.step?.includes('(0.5 + (-0.25)*i)')")
    panel.get_by_label("fn1", exact=True).select_option("ident")
    panels.until("explorer.scene.formula.step?.startsWith('z = z^3')")
    assert "(0.5 + (-0.25)*i)" in panels.assert_exact()["formula"]["step"]
    assert panel.get_by_label("p1", exact=True).input_value() == "0.5,-0.25"
    panel.get_by_label("p1", exact=True).fill("much")
    panel.get_by_label("p1", exact=True).press("Enter")
    panels.page.get_by_text("p1: 'much' is not a decimal number").first.wait_for()


ULTRA = b"""Ultra {
init:
  float limit = @bailout, z = 0
  if @mode == "Four times, or so"
    limit = limit*4
  endif
loop:
  z = z^2 + #pixel
bailout:
  |z| < limit
default:
  param mode
    caption = "Mode"
    enum = "Once" "Four times, or so"
  endparam
  param bailout
    caption = "The bailout"
    default = 16
  endparam
}"""


def test_what_a_formula_of_ultra_fractal_asks_for_has_titles(panels):
    gallery = opened(panels, "Gallery")
    file = {"name": "own.ufm", "mimeType": "text/plain", "buffer": ULTRA}
    gallery.locator("input[type=file]").set_input_files(file)
    panel = panels.page.get_by_role("region", name="In the file", exact=True)
    panel.get_by_label("The bailout", exact=True).fill("100")
    panel.get_by_label("The bailout", exact=True).press("Enter")
    panels.until("explorer.scene.iteration.escape_radius === 10")
    panel.get_by_label("Mode", exact=True).select_option("Four_times,_or_so")
    panels.until("explorer.scene.iteration.escape_radius === 20")
    assert panels.assert_exact()["formula"] == "mandelbrot"


PASTE = """text => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", text);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
}"""


def test_the_gallery_does_not_cover_what_is_pasted_or_opened_from_a_file(panels, tmp_path):
    gallery = opened(panels, "Gallery")
    panels.run(PASTE, "hello")  # no place: the gallery stays
    panels.page.get_by_text("What was pasted is no link").first.wait_for()
    assert gallery.count() == 1
    panels.run(PASTE, "https://mandelbrot.site/?re=-0.75&im=0.125&z=5&e=2")
    panels.until("explorer.scene.view.center[0] === '-0.75'")
    gallery.wait_for(state="detached")
    assert panels.assert_exact()["view"]["width"] == "1.15"
    panels.page.get_by_role("button", name="Dismiss").first.click()

    path = tmp_path / "place.png"
    fractals.render_to(path, panels.settle(), size=(8, 6), center=("-1.25", "0"), device="cpu")
    gallery = opened(panels, "Gallery")
    gallery.locator("input[type=file]").set_input_files(path)
    panels.until("explorer.scene.view.center[0] === '-1.25'")
    gallery.wait_for(state="detached")


def test_the_limit_of_iterations_is_a_field_and_auto_again(panels):
    panel = opened(panels, "Inspect")
    field = panel.get_by_label("Limit of iterations")
    assert field.input_value() == "auto"
    field.fill("1,234")
    field.press("Enter")
    panels.until("explorer.scene.iteration.max_iterations === 1234")
    assert field.input_value() == "1234"
    panels.assert_exact()
    field.fill("many")
    field.press("Enter")
    panel.get_by_text("Type a whole number from 1 to 2,000,000,000").wait_for()
    assert panels.settle()["iteration"]["max_iterations"] == 1234
    field.fill("")
    field.press("Enter")
    panels.until("explorer.scene.iteration.max_iterations === 'auto'")
    panels.page.get_by_role("button", name="Undo").click()
    panels.until("explorer.scene.iteration.max_iterations === 1234")


def test_keys_that_are_not_used_are_told_of_what_is_pasted(panels):
    text = "[view]\nwidth = 1\n[camera]\nlens = 0.1\n"
    panels.run("toml => explorer.open({ toml })", text)
    line = panels.page.get_by_text("Lens: for solids and reliefs; not used here")
    line.first.wait_for()
    panels.run("explorer.change({ iteration: { max_iterations: 300 } })")
    panels.until("explorer.settled && explorer.scene.iteration.max_iterations === 300")
    assert line.count() == 1


@pytest.mark.slow
def test_an_own_formula_in_fractints_words_is_a_program(panels):
    panel = opened(panels, "Formula")
    part = section(panel, "Your own")
    part.get_by_label("z becomes").fill(OWN.replace("  w = pixel", "  w = srand(1)"))
    part.get_by_role("button", name="Draw it").click()
    part.get_by_text("'srand' is random").wait_for()
    part.get_by_label("z becomes").fill(OWN)
    part.get_by_role("button", name="Draw it").click()
    panels.until("explorer.scene.formula.name === 'program'")
    scene = panels.assert_exact()
    assert "if(re(" in scene["formula"]["step"]
    assert panel.get_by_label("Test", exact=True).input_value() == scene["formula"]["test"]
    text = part.get_by_label("z becomes")
    assert text.input_value() == OWN
    panels.run("() => explorer.changeFormula('mandelbrot')")
    panels.until("explorer.scene.formula === 'mandelbrot'")
    assert text.input_value() == "z**2 + c"
    text.fill(ASKING.decode())
    part.get_by_role("button", name="Draw it").click()
    part.get_by_text("which are here: p1 is 0, p2 is 0, fn1 is sin").wait_for()
    panels.until("explorer.scene.formula.name === 'program'")
    assert text.input_value() == ASKING.decode()


def test_a_picture_that_is_none_is_told_of_once_by_its_name(panels):
    gallery = opened(panels, "Gallery")
    file = {"name": "fake.png", "mimeType": "image/png", "buffer": b"none"}
    gallery.locator("input[type=file]").set_input_files(file)
    messages = panels.page.locator(".message")
    told = messages.filter(has_text="fake.png")
    told.wait_for()  # the page may show older ones
    assert "“fake.png”: Not a PNG" in told.inner_text()
    assert sum("png" in text.lower() for text in messages.all_inner_texts()) == 1
    told.get_by_role("button", name="Dismiss").click()
