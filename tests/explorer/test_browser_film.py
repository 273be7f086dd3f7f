"""The film panel in a browser: films are made, seen, downloaded, cancelled, and found again."""

import re
import tomllib
import wave

import pytest
from support import browser as browsers

import fractals
from fractals.errors import FractalsError
from fractals.films import encode

try:
    encode.find_ffmpeg()
    missing = ""
except FractalsError as error:
    missing = str(error)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
    pytest.mark.skipif(bool(missing), reason=missing or "-"),
]

SCENE = {
    "view": {"center": ["-0.7453", "0.1127"], "width": "0.05"},
    "image": {"supersampling": 1},
}
DEEPER = {**SCENE, "view": {**SCENE["view"], "width": "0.002"}}
MOVE = re.compile("^Move ")
JULIA = {**SCENE, "julia": ["-0.8", "0.156"], "view": {}}


@pytest.fixture
def tab(browser, server):
    """Return a page of its own with SCENE settled, and the film panel open."""
    tab = browsers.Tab(browser, server.running, size=(760, 700), panels=True)
    tab.until("explorer.catalog")
    tab.open(SCENE)
    opened(tab)
    yield tab
    assert not tab.problems
    tab.close()


def opened(tab):
    if not tab.page.get_by_role("region", name="Film", exact=True).count():
        tab.page.locator("#view").focus()
        tab.page.keyboard.press("v")
    panel = tab.page.get_by_role("region", name="Film", exact=True)
    panel.wait_for()
    return panel


def wished(tab, seconds, size=(64, 36), fps="24"):
    """Fill the fields, and return the panel."""
    panel = opened(tab)
    panel.locator("details").evaluate("(each) => { each.open = true; }")
    for side, value in zip(("Width", "Height"), size, strict=True):
        field = panel.get_by_label(f"{side} of the film in pixels")
        field.fill(str(value))
        field.press("Enter")
    panel.get_by_label("Frames a second").select_option(fps)
    field = panel.get_by_role("textbox", name="Seconds")
    field.fill(str(seconds))
    field.press("Enter")
    return panel


def made(panel):
    panel.get_by_role("button", name="Make the film").click()


def downloaded(tab, panel, path):
    with tab.page.expect_download() as found:
        panel.get_by_role("link", name="Download").click()
    assert found.value.suggested_filename.startswith("fractal.")
    found.value.save_as(path)
    return path


def table_of(tab, panel):
    with tab.page.expect_download() as found:
        panel.get_by_role("button", name="Save film.toml").click()
    return tomllib.loads(found.value.path().read_text())


def test_a_short_film_is_made_seen_and_downloaded_and_a_long_one_cancelled(tab, tmp_path, server):
    panel = wished(tab, 1)
    panel.get_by_text("24 frames in about").wait_for()
    made(panel)
    path = downloaded(tab, panel, tmp_path / "film.mp4")
    assert encode.count_frames(path) == 24
    tab.until("document.querySelector('video.film')?.readyState >= 2")
    shown = "(({ videoWidth: w, videoHeight: h, duration }) => [w, h, duration])"
    assert tab.run(f"{shown}(document.querySelector('video.film'))") == [64, 36, 1]
    film = fractals.film(table_of(tab, panel), device="cpu")
    assert (len(film), film.size) == (24, (64, 36))
    film.save(tmp_path / "again.mp4")
    assert (tmp_path / "again.mp4").read_bytes() == path.read_bytes()

    made(wished(tab, 600, (640, 360)))
    panel.get_by_text(" of 14400").wait_for()
    panel.get_by_role("button", name="Cancel").click()
    tab.page.get_by_text("The film was cancelled.").wait_for()
    assert panel.get_by_role("progressbar").count() == 0
    assert not server.explorer.jobs.running
    panel.get_by_role("button", name="Make the film").wait_for()
    tab.page.reload()  # nothing is looked for
    tab.until("window.explorer?.settled")
    assert tab.page.get_by_role("region", name="Film", exact=True).count() == 0


@pytest.mark.slow
def test_a_preview_is_shown_and_no_download(tab):
    panel = wished(tab, 1, (640, 360))
    panel.get_by_role("button", name="Preview").click()
    panel.get_by_text("A preview").wait_for()
    tab.until("document.querySelector('video.film')?.videoWidth === 160")
    assert panel.get_by_role("link", name="Download").count() == 0


@pytest.mark.slow
def test_a_loop_is_a_picture(tab, tmp_path):
    panel = wished(tab, 0.5)
    panel.get_by_role("button", name="WebP", exact=True).click()
    made(panel)
    path = downloaded(tab, panel, tmp_path / "film.webp")
    assert path.read_bytes()[8:12] == b"WEBP"
    tab.until("document.querySelector('img.film')?.naturalWidth === 64")


@pytest.mark.slow
def test_a_film_goes_through_places_in_the_order_of_the_user(tab):
    panel = opened(tab)
    panel.get_by_role("button", name="Places", exact=True).click()
    rows = panel.get_by_role("list", name="Places of the film").get_by_role("listitem")
    for count, scene in enumerate((SCENE, JULIA, DEEPER), 1):
        tab.open(scene)
        panel.get_by_role("button", name="Add this place").click()
        rows.nth(count - 1).wait_for()
    panel.get_by_text("of another formula: left out").wait_for()
    names = [row.split("\n")[0].partition(" of another")[0] for row in rows.all_inner_texts()]
    assert rows.nth(1).get_attribute("class") == "line left-out"

    handle = rows.nth(2).get_by_role("button", name=MOVE).bounding_box()
    x, y = handle["x"] + 20, handle["y"] + 20
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x, y - 70, steps=5)
    tab.page.mouse.move(x, y - 140, steps=5)
    tab.page.mouse.up()
    told = [row.split("\n")[0].partition(" of another")[0] for row in rows.all_inner_texts()]
    assert told == [names[2], names[0], names[1]]
    rows.nth(2).get_by_role("button", name=MOVE).focus()
    tab.page.keyboard.press("ArrowUp")
    tab.page.keyboard.press("ArrowUp")
    told = [row.split("\n")[0].partition(" of another")[0] for row in rows.all_inner_texts()]
    assert told == [names[1], names[2], names[0]]
    rows.nth(0).get_by_role("button", name="Remove").click()
    made(wished(tab, 0.5))
    panel.get_by_role("link", name="Download").wait_for()
    keys = table_of(tab, panel)["film"]["keys"]
    assert [(key["at"], key["width"]) for key in keys] == [(0, "0.002"), (0.5, "0.05")]

    tab.page.reload()  # the places stay
    tab.until("window.explorer?.settled")
    panel = opened(tab)
    assert [row.split("\n")[0] for row in rows.all_inner_texts()] == [names[2], names[0]]


@pytest.mark.slow
def test_a_film_from_here_on_ends_deeper(tab):
    panel = opened(tab)
    panel.get_by_role("button", name="From here").click()
    field = panel.get_by_role("textbox", name="Zoom in")
    field.fill("4")
    field.press("Enter")
    made(wished(tab, 0.5))
    panel.get_by_role("link", name="Download").wait_for()
    first, last = table_of(tab, panel)["film"]["keys"]
    assert (first["width"], last["width"]) == ("0.05", "0.0125")


def test_a_timeline_shows_moments_and_moves_keys(tab):
    panel = opened(tab)
    slider = panel.get_by_label("Moment of the film")
    tab.until("document.querySelectorAll('.film-strip canvas').length === 6")
    slider.fill("2")
    panel.get_by_text("2 s of 4 s").wait_for()
    panel.get_by_role("button", name="Go there").click()
    tab.until("Number(explorer.placed.width) > 0.1 && Number(explorer.placed.width) < 1")

    panel.get_by_role("button", name="Places", exact=True).click()
    panel.get_by_role("button", name="Add this place").click()
    for count, scene in enumerate((SCENE, DEEPER), 2):
        tab.open(scene)
        panel.get_by_role("button", name="Add this place").click()
        panel.get_by_role("list", name="Places of the film").locator(
            f"> :nth-child({count})"
        ).wait_for()
    keys = panel.get_by_role("slider", name="Time of")
    keys.nth(2).wait_for()
    last = round(float(keys.nth(2).get_attribute("aria-valuenow")) + 1, 2)
    times = "[...document.querySelectorAll('.film-key')].map((key) => Number(key.ariaValueNow))"
    keys.nth(2).press("Shift+ArrowRight")
    tab.until(f"{times}[2] === {last}")
    box = keys.nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 600, y, steps=4)  # as far as the next one
    tab.page.mouse.up()
    tab.until(f"{times}[1] === {round(last - 0.1, 2)}")
    field = panel.get_by_role("textbox", name="Seconds")
    field.fill("6")
    field.press("Enter")
    tab.until(f"{times}[2] === 6 && Math.abs({times}[1] - 6 + 0.6 / {last}) < 0.01")
    panel.get_by_text("180 frames in about").wait_for()
    panel.get_by_role("button", name="Whole set").click()
    tracks = panel.get_by_role("group", name="Values over time")
    tracks.get_by_label("Change over time").select_option("density")
    value = tracks.get_by_label("Value at")  # of the last key
    value.fill("3")
    value.press("Enter")
    tracks.get_by_role("slider", name="Key 2").press("ArrowLeft")
    slider.fill("1")
    tracks.get_by_role("button", name="Add a key of Density").click()
    keys = tracks.get_by_role("slider").all()
    length = float(keys[0].get_attribute("aria-valuemax"))
    shares = [float(key.get_attribute("aria-valuenow")) / length for key in keys]
    assert (len(shares), shares[0], shares[2]) == (3, 0, pytest.approx(0.98))
    assert float(value.input_value()) == pytest.approx(1 + 2 * shares[1] / 0.98, rel=1e-3)
    graph = tracks.locator(".graph")
    box = graph.bounding_box()
    graph.dblclick(position={"x": 0.8 * box["width"], "y": 0.14 * box["height"]})
    tab.until("document.querySelectorAll('.lane .film-key').length === 4")
    assert float(value.input_value()) == pytest.approx(3, rel=0.05)  # as high as the last one
    tracks.get_by_label("The value comes here").select_option("hold")
    drawn = graph.locator("path").nth(1).get_attribute("d")
    key = tracks.get_by_role("slider", name="Key 3")
    key.hover()  # waits until the graph, which is drawn anew, stays where it is
    box = key.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.page.mouse.down()
    tab.page.mouse.move(x, y + 40, steps=3)
    tab.page.mouse.up()
    low = "(field) => Number(field.value) < 2.4"
    tab.page.wait_for_function(low, arg=value.element_handle())
    assert graph.locator("path").nth(1).get_attribute("d") != drawn
    lower = float(value.input_value())
    key.press("ArrowUp")
    tab.until(f"Number(document.getElementById('track-value').value) > {lower}")
    key.press("Delete")
    tracks.get_by_role("slider", name="Key 2").press("Delete")
    tracks.get_by_label("The value comes here").select_option("in")
    panel.get_by_role("slider", name="Time of what is shown").focus()
    panel.get_by_label("The film comes to what is shown").select_option("out")
    tracks.get_by_label("Change over time").select_option("palette")
    tracks.get_by_role("combobox", name="Palette at").select_option("ember")
    eases, asked = tab.run("""async () => {
        const { connection } = explorer, { send } = connection;
        return new Promise((resolve) => {
            connection.send = (message) => {
                if (message.t === "film") resolve([message.eases, message.tracks]);
                return send.call(connection, message);
            };
            explorer.scene = { ...explorer.scene };
        });
    }""")
    assert eases == ["out"]
    palettes = asked.pop("palette")
    assert palettes == [[0, "lagoon"], [length, "ember"]]  # lagoon is that of the coloring
    assert asked == {"density": [[0, 1], [pytest.approx(0.98 * length), 3, "in"]]}
    for name in ("Density", "Palette"):
        tracks.get_by_role("button", name=f"Remove {name}").click()
    assert tracks.get_by_role("slider").count() == 0
    tab.run("() => { delete explorer.connection.send; }")
    tab.run("() => explorer.home()")
    tab.until("parseFloat(explorer.placed.width) > 1")
    panel.get_by_text("this is the whole set: zoom in first").wait_for()


@pytest.mark.slow
def test_a_page_that_is_loaded_again_goes_on_with_its_film(tab, tmp_path):
    made(wished(tab, 4, (160, 90)))
    tab.page.get_by_text(" of 96").wait_for()
    tab.page.reload()
    panel = tab.page.get_by_role("region", name="Film", exact=True)  # it opens by itself
    path = downloaded(tab, panel, tmp_path / "film.mp4")
    assert encode.count_frames(path) == 96


@pytest.mark.slow
def test_a_lost_connection_does_not_end_a_film(tab, server, tmp_path):
    made(wished(tab, 4, (160, 90)))
    tab.page.get_by_text(" of 96").wait_for()
    for session in list(server.explorer.sessions):
        session.outbox.end(1012, "a test")
    tab.until("!explorer.connected")
    path = downloaded(tab, opened(tab), tmp_path / "film.mp4")
    assert encode.count_frames(path) == 96


@pytest.mark.slow
def test_a_film_has_sound(tab, tmp_path):
    with wave.open(str(tmp_path / "tone.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(range(256)) * 200)
    (tmp_path / "no.wav").write_bytes(b"no sound")
    panel = wished(tab, 0.5)
    field = panel.locator("input[type=file]")
    field.set_input_files(tmp_path / "no.wav")
    tab.page.get_by_text("“no.wav”: This file holds no sound, or is damaged").wait_for()
    field.set_input_files(tmp_path / "tone.wav")
    panel.get_by_role("button", name="Remove the sound").wait_for()
    made(panel)
    path = downloaded(tab, panel, tmp_path / "film.mp4")
    said = encode.run(["-v", "error", "-i", str(path), "-map", "0:a:0", "-f", "null", "-"])
    assert said == ""
