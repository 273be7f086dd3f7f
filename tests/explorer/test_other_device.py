"""A GPU that can't draw: the page says once what draws instead and why, and with each file."""

import sys

import pytest
from support import browser as browsers
from support import explorer
from support.explorer import file_of
from support.panels import opened

from fractals.backends import devices
from fractals.backends.cuda import gpus
from fractals.backends.probe import Device, cpu
from fractals.errors import DeviceLostError
from fractals.explorer import jobs, work

CARD = Device(kind="cuda", name="A card", memory=2**33, multiprocessors=8, clock=1e9)
REASON = "the GPU failed: CUDA_ERROR_LAUNCH_FAILED"
WHY = f"{REASON}; drawing on the CPU"
IN_WORDS = WHY.replace("the", "The", 1)
# The same in a process of an export
PROCESS = f"""
from fractals.backends import devices
from fractals.backends.cuda import gpus
from fractals.backends.probe import Device
from fractals.errors import DeviceLostError
from fractals.explorer import work

def lost(*_):
    raise DeviceLostError({REASON!r})

gpus.found = lambda: ([{CARD!r}], "")
devices._open_gpu = lost
work.main()
"""
SMALL = {"size": [24, 16], "supersampling": 1}
PLAIN = {"iteration": {"max_iterations": 60}, "image": {"supersampling": 1}}


@pytest.fixture
def lost_card(monkeypatch):
    """Have a GPU found that can't be opened, also in processes of the explorer."""

    def lost(*_):
        raise DeviceLostError(REASON)

    monkeypatch.setattr(gpus, "found", lambda: ([CARD], ""))
    monkeypatch.setattr(devices, "_open_gpu", lost)
    monkeypatch.setattr(explorer, "DEVICE", "auto")
    real = jobs.work_command
    monkeypatch.setattr(
        jobs, "work_command", lambda: ([sys.executable, "-P", "-c", PROCESS], real()[1])
    )


def test_each_client_hears_once_what_draws_and_why(lost_card, own_server):
    server = own_server()

    async def talk(client):
        await client.say("open", frame=1, scene=PLAIN)
        await client.exact(1)
        await client.say("open", frame=2, scene={**PLAIN, "formula": "tricorn"})
        await client.exact(2)
        return client.texts

    first, second = server.run(talk), server.run(talk)
    assert (first[0]["device"], first[0]["why"]) == (CARD.name, "")
    told = [text for text in first if text["t"] == "device"]
    assert told == [{"t": "device", "device": cpu().name, "why": WHY}]
    assert (second[0]["device"], second[0]["why"]) == (cpu().name, WHY)
    assert not [text for text in second if text["t"] == "device"]


@pytest.mark.parametrize(
    "asked",
    [
        {"t": "export", "format": "png", **SMALL},
        {"t": "export", "format": "npz", **SMALL},
        {"t": "export", "format": "png", **SMALL, "paper": {"size": [40, 30], "at": [8, 7]}},
        {"t": "film", "format": "webp", "what": "onward", "octaves": 2, "seconds": 1, "fps": 2}
        | {"size": [24, 16]},
    ],
    ids=["picture", "raw", "poster", "film"],
)
def test_a_file_comes_with_the_line_that_the_cpu_drew_it(asked, lost_card, own_server):
    server = own_server()

    async def talk(client):
        await client.say("open", frame=1, scene=PLAIN)
        await client.exact(1)
        keys = {key: value for key, value in asked.items() if key != "t"}
        await client.say(asked["t"], job=1, frame=1, **keys)
        return await client.until("exported", job=1)

    told = server.run(talk)
    assert WHY in told["notes"]
    assert len(set(told["notes"])) == len(told["notes"])
    assert file_of(server, told).stat().st_size == told["bytes"] > 0


def test_lines_that_name_folders_or_options_stay_with_the_server():
    notes = [WHY, "give --force", "not kept: '/home/me/cache'", r"not kept: 'C:\Users\me'", WHY]
    assert work.for_the_page([*notes, "counts of up to 1/2 are wrong"]) == [
        WHY,
        "counts of up to 1/2 are wrong",
    ]


@pytest.mark.browser
@pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing() or "-")
def test_the_page_says_what_draws_and_why(lost_card, own_server, browser):
    tab = browsers.Tab(browser, own_server().running, size=(760, 560), panels=True)
    try:
        tab.until("explorer.catalog")
        tab.open(PLAIN)
        tab.page.locator(".message", has_text=IN_WORDS).wait_for()
        assert tab.page.locator(".message", has_text="drawing on the CPU").count() == 1
        panel = opened(tab, "Help")
        panel.get_by_text(f"drawing with {cpu().name}").wait_for()
        assert IN_WORDS in panel.inner_text()
        assert CARD.name not in panel.inner_text()
        tab.page.keyboard.press("Escape")
        panel = opened(tab, "Export")
        panel.get_by_role("button", name="Export", exact=True).click()
        panel.get_by_role("link", name="Download").wait_for()
        assert panel.get_by_text(IN_WORDS).count() == 1
        tab.page.reload()
        tab.until("window.explorer")  # its modules are loaded after the page
        tab.settle()
        assert tab.page.locator(".message", has_text="drawing on the CPU").count() == 0
        assert IN_WORDS in opened(tab, "Help").inner_text()
    finally:
        tab.close()
