"""The wall of versions, in a browser: rows, names, stars, files, and two compared."""

import json

import pytest
from support import browser as browsers
from support.panels import opened

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]


STEPS = {
    "Palette: Auto": "explorer.open({scene: {formula: 'mandelbrot', image: {supersampling: 1}}})",
    "Density: 2": "explorer.paint({...explorer.scene.color, density: 2})",
    "Density: 3": "explorer.paint({...explorer.scene.color, density: 3})",
    "": "explorer.step(-1)",
    "Palette: Ember": "explorer.paint({...explorer.scene.color, palette: 'ember'})",
}


@pytest.fixture
def walked(browser, server):
    """Return a page with a trunk of four versions and a branch of one, and its panel."""
    tab = browsers.Tab(browser, server.running, size=(760, 560), panels=True)
    tab.until("explorer.catalog && explorer.settled")
    panel = opened(tab, "Versions")
    # The page's first picture is a version, so the name of the first step is a change.
    tab.until("document.querySelector('.version [aria-current]')")
    for name, step in STEPS.items():
        tab.run(f"(explorer.endStep(), {step})")
        tab.settle()
        now = "document.querySelector('.version [aria-current]')?.innerText"
        tab.until(f"{now} === '{name or 'Density: 2'}'")
    yield tab, panel
    tab.close()


def names(panel):
    return [text.strip() for text in panel.locator(".version .card").all_inner_texts()]


def test_who_goes_back_begins_a_row_and_a_click_shows_a_version(walked):
    tab, panel = walked
    rows = panel.locator(".branch")
    assert names(rows.nth(1))[-1] == "Palette: Ember"
    assert rows.nth(1).get_by_text("From “Density: 2”").count() == 1
    assert "Density: 3" in names(rows.nth(0))
    density = rows.nth(0).get_by_role("button", name="Density: 3", exact=True)
    density.click()
    tab.until("explorer.scene.color.density === 3")
    scene = tab.assert_exact()
    tab.until("document.querySelector('.version [aria-current]').innerText === 'Density: 3'")
    assert tab.press("Control+z")["color"]["palette"] == "ember"
    assert scene["color"]["palette"] != "ember"


def test_names_and_stars_outlive_the_page_and_a_removal_is_undone(walked):
    tab, panel = walked
    panel.get_by_role("button", name="More about Palette: Ember").click()
    panel.get_by_role("button", name="Give a name").click()
    tab.page.keyboard.type("Embers at last")
    tab.page.keyboard.press("Enter")
    panel.get_by_role("button", name="Mark Embers at last with a star").click()
    panel.get_by_role("button", name="More about Density: 3").click()
    panel.get_by_role("button", name="Remove", exact=True).click()
    assert "Density: 3" not in names(panel)
    tab.page.locator(".message").get_by_role("button", name="Undo").click()
    tab.until("[...document.querySelectorAll('.version')].length >= 4")
    assert "Density: 3" in names(panel)
    tab.page.reload()
    tab.hide()
    tab.until("explorer.catalog && explorer.settled")
    tab.page.locator("#view").focus()
    panel = opened(tab, "Versions")
    panel.get_by_role("button", name="With a star", exact=True).click()
    assert names(panel) == ["Embers at last"]
    panel.get_by_role("button", name="All", exact=True).click()
    assert "Density: 3" in names(panel)


def test_a_file_holds_the_tree_and_another_file_is_refused_in_one_line(walked, tmp_path):
    tab, panel = walked
    with tab.page.expect_download() as told:
        panel.get_by_role("button", name="Save as a file").click()
    file = tmp_path / told.value.suggested_filename
    told.value.save_as(file)
    saved = json.loads(file.read_text())
    assert len(saved["versions"]) == panel.locator(".version").count()
    assert all(each["still"].startswith("data:image/jpeg") for each in saved["versions"])
    panel.get_by_role("button", name="More about Density: 3").click()
    panel.get_by_role("button", name="Remove", exact=True).click()
    panel.locator("input[type=file]").set_input_files(file)
    tab.page.get_by_text("1 versions were added").wait_for()
    assert "Density: 3" in names(panel)
    other = tmp_path / "other.json"
    other.write_text("{}")
    panel.locator("input[type=file]").set_input_files(other)
    tab.page.get_by_text("This file holds no versions").wait_for()


def test_two_are_compared_up_to_a_line_that_keys_move(walked):
    tab, panel = walked
    for name in ("Density: 3", "Palette: Ember"):
        panel.get_by_role("button", name=f"Compare {name}", exact=True).click()
    panel.get_by_role("button", name="Compare two").click()
    tab.until("document.querySelectorAll('.pair canvas').length === 2")
    assert tab.run("document.querySelector('.pair canvas').width") == 1024
    line = panel.get_by_role("slider", name="Where Density: 3 ends")
    line.focus()
    tab.page.keyboard.press("ArrowRight")
    assert line.get_attribute("aria-valuenow") == "52"
    rows = panel.locator(".differences tr").all_inner_texts()
    assert any("Palette" in row and "Ember" in row for row in rows)
    panel.get_by_role("button", name="Beside each other").click()
    assert panel.locator(".beside-each-other > div").count() == 2
    tab.page.keyboard.press("Escape")  # leaves the two, and not the panel
    assert panel.locator(".version").count() >= 4


def test_two_tabs_see_each_others_versions_and_neither_undoes_the_other(walked):
    tab, panel = walked
    other = browsers.Explored()
    other.page, other.problems = tab.context.new_page(), []
    other.page.goto(tab.page.url)
    other.until("window.explorer?.catalog && explorer.settled")
    theirs = opened(other, "Versions")
    other.until("document.querySelector('.version [aria-current]')")  # its first picture
    theirs.get_by_role("button", name="More about Density: 3").click()
    theirs.get_by_role("button", name="Remove", exact=True).click()
    panel.get_by_role("button", name="Density: 3", exact=True).wait_for(state="detached")
    panel.get_by_role("button", name="Mark Palette: Ember with a star").click()
    theirs.get_by_role("button", name="Take the star from Palette: Ember").wait_for()
    other.run("explorer.paint({...explorer.scene.color, palette: 'jade'})")
    panel.get_by_role("button", name="Palette: Jade", exact=True).wait_for()
    other.page.locator(".message").get_by_role("button", name="Undo").click()
    panel.get_by_role("button", name="Density: 3", exact=True).wait_for()
    assert sorted(names(panel)) == sorted(names(theirs))
    assert "Palette: Jade" in names(panel)
    assert not other.problems
    other.page.close()


def test_a_version_opens_in_another_tab(walked):
    tab, panel = walked
    panel.get_by_role("button", name="More about Density: 3").click()
    with tab.context.expect_page() as told:
        panel.get_by_role("link", name="Open in another tab").click()
    other = browsers.Explored()
    other.page, other.problems = told.value, []
    other.until("window.explorer?.settled")
    assert other.settle()["color"]["density"] == 3
    other.page.close()
