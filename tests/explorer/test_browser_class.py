"""A class in two pages: one leads, and the other follows until its guest moves the picture."""

from types import SimpleNamespace

import numpy as np
import pytest
from support import browser as browsers
from support import panels as page

import fractals

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-"),
]
OTHER = {**page.SCENE, "view": {"center": ["0.3", "0.02"], "width": "0.01"}}


@pytest.fixture
def pages(browser, own_server):
    """Return the pages of a leader and of a guest, Mia."""
    server = own_server(classroom=True, host="127.0.0.1")
    come_in = f"{server.url}/enter?code={server.explorer.classroom.code}&name=Mia"
    running = SimpleNamespace(invitation=lambda: come_in, url=server.url)
    leader, guest = (
        browsers.Tab(browser, each, size=page.SIZE, panels=True)
        for each in (server.running, running)
    )
    leader.page.get_by_role("region", name="Class", exact=True).wait_for()  # how guests come in
    leader.page.get_by_role("button", name="Close").click()
    yield leader, guest
    assert not leader.problems
    assert not guest.problems
    leader.close()
    guest.close()


def follows(guest, leader):
    """Wait until a page shows the scene of the leader's; return both pictures."""
    view = leader.settle()["view"]
    guest.until(
        f"explorer.scene?.view.width === {view['width']!r} && !explorer.opening"
        f" && explorer.scene.view.center[0] === {view['center'][0]!r}"
    )
    guest.page.locator(".class-state").wait_for()
    leader.page.wait_for_timeout(1500)  # until the picture of the exact pixels has come
    return leader.pixels(), guest.pixels()


def apart(one, other):
    """Return how far pictures are apart, of 255, seen from afar: one of them is a JPEG."""
    blocks = [each.reshape(14, 10, 19, 10, 3).mean((1, 3)) for each in (one, other)]
    return np.abs(blocks[0] - blocks[1]).mean()


def button(tab, name):
    return tab.page.get_by_role("button", name=name, exact=True)


def test_a_guest_follows_until_he_moves_the_picture_and_again(pages):
    leader, guest = pages
    leader.open(page.SCENE)
    shown, seen = follows(guest, leader)
    assert apart(shown, seen) < 3 < apart(shown, seen[::-1])
    assert guest.run("explorer.drawn") is None  # and nothing is drawn for the guest
    guest.page.mouse.move(300, 300)
    guest.page.mouse.wheel(0, -330)
    button(guest, "Follow again").wait_for()
    scene = guest.assert_exact()
    assert float(scene["view"]["width"]) < 0.0065
    assert scene["color"]["palette"] == "hokusai"
    leader.open(OTHER)
    leader.page.wait_for_timeout(1500)
    assert guest.run("explorer.scene.view.width") == scene["view"]["width"]  # he is alone
    button(guest, "Follow again").click()
    follows(guest, leader)
    guest.page.locator("#view").focus()
    guest.page.keyboard.press("Control+z")  # undo returns to his own view
    guest.until(f"explorer.scene.view.width === {scene['view']['width']!r}")
    button(guest, "Follow again").wait_for()


def test_a_panel_ends_following_with_a_picture_that_is_drawn(pages):
    leader, guest = pages
    leader.open(page.SCENE)
    follows(guest, leader)
    guest.page.keyboard.press("c")
    button(guest, "Follow again").wait_for()
    scene = guest.settle()
    assert page.place_of(scene) == page.place_of(leader.run("explorer.scene"))
    guest.page.reload()  # who is alone stays alone
    guest.until("window.explorer?.settled")
    button(guest, "Follow again").wait_for()


def test_the_leader_looks_at_a_picture_of_the_wall_and_shows_it_to_everyone(pages):
    leader, guest = pages
    leader.open(page.SCENE)
    follows(guest, leader)
    guest.open(OTHER)
    leader.page.get_by_role("button", name="Class: 1").click()
    wall = leader.page.get_by_role("region", name="Class", exact=True)
    card = wall.get_by_role("button", name="Mia", exact=True)
    card.locator("img").wait_for()  # after some seconds
    leader.until("document.querySelector('.class-wall img').naturalWidth > 0")
    card.click()
    leader.until("explorer.scene.view.center[0] === '0.3'")
    wait = leader.page.get_by_text("You look at the picture of Mia.")
    wait.wait_for()
    leader.settle()
    leader.page.wait_for_timeout(1500)
    button(leader, "Back to your view").click()
    leader.until(f"explorer.scene.view.center[0] === {page.SCENE['view']['center'][0]!r}")
    wait.wait_for(state="detached")
    leader.page.get_by_role("button", name="Class: 1").click()
    card.click()
    leader.until("explorer.scene.view.center[0] === '0.3'")
    leader.settle()
    button(leader, "Show to everyone").click()
    guest.page.get_by_text("Picture of Mia").wait_for()
    _, seen = follows(guest, leader)
    drawn = fractals.render(leader.run("explorer.scene"), device="cpu").pixels
    assert apart(drawn, seen) < 3
    button(leader, "Back to your view").wait_for()
    leader.page.locator("#view").focus()
    leader.page.keyboard.press("ArrowLeft")  # from now on it is the leader's own
    guest.page.get_by_text("You follow the class").wait_for()


def test_a_leader_who_loads_the_page_again_goes_on(pages):
    leader, guest = pages
    leader.open(page.SCENE)
    leader.address()
    follows(guest, leader)
    leader.page.goto("about:blank")
    guest.page.get_by_text("The leader is away").wait_for()
    leader.page.go_back()
    guest.page.get_by_text("You follow the class").wait_for()
    leader.until("window.explorer?.placed")
    leader.open(OTHER)
    follows(guest, leader)
    assert not leader.page.locator(".panel").count()


def test_all_guests_are_called_back_from_their_panels(pages):
    leader, guest = pages
    leader.open(page.SCENE)
    follows(guest, leader)
    assert not guest.page.locator(".first").count()  # nothing is drawn, and yet there is a picture
    page.opened(guest, "Color")
    button(guest, "Follow again").wait_for()
    leader.page.get_by_role("button", name="Class: 1").click()
    button(leader, "Have everyone follow").click()
    follows(guest, leader)
    guest.page.locator(".panel").wait_for(state="detached")


def test_a_third_tab_of_a_guest_says_so_and_goes_on_when_another_is_closed(pages):
    _, guest = pages
    second, third = [browsers.Explored() for _ in range(2)]
    for each in (second, third):
        each.page, each.problems = guest.context.new_page(), []
        each.page.goto(guest.page.url.partition("#")[0])
        each.until("window.explorer && (explorer.connected || explorer.lost)")
    third.page.get_by_text("You have this class open in two other tabs.").wait_for()
    second.page.close()
    third.until("explorer.connected")


def test_a_link_to_a_scene_is_explored_alone_and_outlives_the_page_of_the_code(pages):
    leader, guest = pages
    leader.open(page.SCENE)
    follows(guest, leader)
    leader.open(OTHER)
    link = leader.address()
    leader.open(page.SCENE)
    friend = browsers.Explored()
    friend.page, friend.problems = guest.context.new_page(), []
    root = guest.page.url.partition("#")[0]
    friend.page.goto(root + link)
    friend.until("window.explorer?.settled")
    button(friend, "Follow again").wait_for()
    assert page.place_of(friend.settle()) == page.place_of(OTHER)
    friend.page.close()
    stranger = browsers.Explored()
    context = leader.page.context.browser.new_context()
    stranger.page, stranger.problems = context.new_page(), []
    stranger.page.goto(root + link)
    code = leader.run("explorer.request({ t: 'class' }).then(({ code }) => code)")
    for typed in ("wrong", code):
        stranger.page.get_by_label("Code").fill(typed)
        stranger.page.get_by_role("button", name="Come in").click()
    stranger.until("window.explorer?.settled")
    assert page.place_of(stranger.settle()) == page.place_of(OTHER)
    stranger.page.reload()  # alone, still
    stranger.until("window.explorer?.settled")
    button(stranger, "Follow again").wait_for()
    context.close()


def test_guests_copy_texts_without_https_and_hear_that_files_are_not_taken(pages):
    _, guest = pages
    guest.run("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    guest.run("addEventListener('copy', () => { window.copied = document.activeElement.value; })")
    panel = page.opened(guest, "Share")
    panel.get_by_role("button", name="Copy link").click()
    guest.page.get_by_text("Copied").wait_for()
    assert "/#eN" in guest.run("copied")
    guest.run(
        "() => window.dispatchEvent(new DragEvent('drop', { dataTransfer: (() => {"
        " const data = new DataTransfer(); data.items.add(new File(['x = 1'], 'a.toml'));"
        " return data; })() }))"
    )
    guest.page.get_by_text("This server takes no files.").wait_for()


def test_a_guest_who_is_removed_is_asked_for_the_code_again(pages):
    leader, guest = pages
    leader.page.get_by_role("button", name="Class: 1").click()
    leader.page.get_by_role("button", name="Remove Mia from the class").click()
    guest.page.get_by_label("Code").wait_for()
    leader.page.get_by_role("button", name="Class: 0").wait_for()


# The line to the server is dead: nothing comes or goes any more, and nobody tells the page.
DEAD = """() => {
    const { send } = WebSocket.prototype;
    let dead = null;
    WebSocket.prototype.send = function (text) {
        if (!dead) {
            dead = this;
            this.onmessage = this.onclose = null;
        }
        if (this !== dead) send.call(this, text);
    };
    explorer.connection.send({ t: "guest", following: true });
}"""
# The clock goes on while the page does not.
LATER = """(minutes) => {
    const { now } = Date;
    Date.now = () => now() + 60_000 * minutes;
}"""


@pytest.mark.parametrize("minutes", [1, 120])
def test_a_guest_whose_line_is_dead_says_so_and_comes_back(pages, minutes):
    leader, guest = pages
    leader.open(page.SCENE)
    follows(guest, leader)
    guest.run(DEAD)
    leader.open(OTHER)
    leader.page.wait_for_timeout(1500)
    assert guest.run("explorer.scene.view.width") == page.SCENE["view"]["width"]
    guest.run(LATER, minutes)  # nothing was heard for long, or the machine has slept
    guest.page.get_by_text("The server does not answer. Trying again.").wait_for()
    shown, seen = follows(guest, leader)
    assert apart(shown, seen) < 3
    guest.page.get_by_text("The server does not answer.").wait_for(state="detached")


def test_a_guest_whose_page_the_browser_stops_comes_back(pages):
    leader, guest = pages
    leader.open(page.SCENE)
    follows(guest, leader)
    browser = guest.context.new_cdp_session(guest.page)
    browser.send("Page.setWebLifecycleState", {"state": "frozen"})
    leader.open(OTHER)
    leader.page.wait_for_timeout(3000)
    browser.send("Page.setWebLifecycleState", {"state": "active"})
    shown, seen = follows(guest, leader)
    assert apart(shown, seen) < 3


@pytest.mark.parametrize("size", [(1100, 700), (683, 384)])  # the other one is magnified to 200 %
def test_a_panel_leaves_the_chip_of_the_class_in_sight(pages, size):
    leader, _ = pages
    leader.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    panel = page.opened(leader, "Color")
    edge = panel.get_by_role("separator")
    for _ in range(8 * edge.count()):  # as wide as can be; a low window's has its width
        edge.press("ArrowRight")
    panel, chip, history = (
        leader.page.locator(each).bounding_box() for each in (".panel", ".class-chip", ".corner")
    )
    assert panel["x"] + panel["width"] < chip["x"] < chip["x"] + chip["width"] < size[0]
    bottom = history["y"] + history["height"]
    assert chip["x"] + chip["width"] <= history["x"] or bottom <= chip["y"]
    leader.page.get_by_role("button", name="Close").click()
    assert bottom <= leader.page.locator(".zooms").bounding_box()["y"]


def test_a_long_name_of_a_guest_covers_no_words_of_the_chip(pages):
    _, guest = pages
    guest.page.set_viewport_size({"width": 390, "height": 700})
    guest.page.locator(".class-chip > button span").wait_for()
    guest.run("document.querySelector('.class-chip > button span').textContent = 'm'.repeat(24)")
    chip, said, name = (
        guest.page.locator(each).bounding_box()
        for each in (".class-chip", ".class-state", ".class-chip > button span")
    )
    assert said["x"] + said["width"] <= name["x"]
    assert name["x"] + name["width"] <= chip["x"] + chip["width"]
