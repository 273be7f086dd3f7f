"""Languages of the explorer's page: the browser's, and the one that is chosen."""

import pytest
from support import browser as browsers
from support import panels as page

pytestmark = [pytest.mark.browser]


@pytest.fixture
def tab(browser, server, request):
    """Return a page in a browser of a language."""
    made = browsers.Tab(browser, server.running, size=page.SIZE, panels=True, locale=request.param)
    made.until("explorer.catalog && explorer.placed")
    yield made
    assert not made.problems
    made.close()


def language(tab):
    return tab.page.locator("html").get_attribute("lang")


@pytest.mark.parametrize("tab", ["de-AT"], indirect=True)
def test_a_german_browser_gets_german_and_keeps_the_place_in_another_language(tab):
    assert language(tab) == "de"
    tab.page.get_by_role("button", name="Vergrößern").click()
    tab.settle()
    zoom = tab.run("explorer.placed.zoom")
    tab.address()  # it holds the place of now
    tab.page.get_by_role("button", name="Hilfe").click()
    with tab.page.expect_navigation():
        tab.page.get_by_label("Sprache").select_option("zh")
    tab.until("document.documentElement.lang === 'zh' && window.explorer?.placed")
    assert tab.run("explorer.placed.zoom") == zoom
    tab.page.get_by_role("button", name="撤销").click()  # undo is there, too
    tab.until(f"explorer.placed.zoom !== {zoom!r}")


@pytest.mark.parametrize("tab", ["de-DE"], indirect=True)
def test_what_a_key_of_the_scene_means_is_found_by_its_german_label(tab):
    tab.page.get_by_role("button", name="Farbe", exact=True).click()
    tab.page.get_by_role("button", name="Bedienelemente erklären").click()
    tab.page.get_by_role("slider", name="Dichte").hover()
    told = tab.page.locator(".explain p")
    told.wait_for()
    known = tab.run("explorer.catalog.schema.$defs.Color.properties.density.description")
    assert told.inner_text().lower() == known.lower()


@pytest.mark.parametrize("tab", ["fr-FR"], indirect=True)
def test_a_language_without_a_table_is_english(tab):
    assert language(tab) == "en"
    assert tab.page.get_by_role("button", name="Gallery").count() == 1
