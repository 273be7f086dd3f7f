"""Panels of the explorer's page, for tests in a browser."""

SIZE = (760, 560)  # a desktop's layout begins at 701
SCENE = {
    "view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"},
    "image": {"supersampling": 1},
    "color": {"palette": "hokusai", "density": 0.7},
}
PANELS = (
    *("Gallery", "Color", "Formula", "Find", "Surprise"),
    *("Inspect", "Bookmarks", "Share", "Export", "Film", "Help"),
)
KEYS = dict(zip((*PANELS, "Past", "Lessons"), "gcfmribsev?yl", strict=True)) | {
    "Versions": "Shift+Y",
    "Poster desk": "Shift+P",
}


def opened(tab, title):
    """Open a panel by its key, and return it."""
    tab.page.keyboard.press(KEYS[title])
    panel = tab.page.get_by_role("region", name=title, exact=True)
    panel.wait_for()
    return panel


def color_of(tab):
    return tab.settle()["color"]


def section(panel, title):
    """Unfold a part of a panel."""
    found = panel.locator("details", has=panel.page.locator("summary", has_text=title)).first
    if not found.evaluate("each => each.open"):
        found.locator("summary").click()
    return found


def place_of(scene):
    return scene["view"]["center"], scene["view"]["width"]
