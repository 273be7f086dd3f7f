"""Fixtures: servers of the explorer. The tests are skipped where its extra is not installed."""

import functools
import http.server
import threading

import pytest

for name in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(name, reason="the extra 'explore' is not installed")

from support import browser as browsers  # noqa: E402
from support import panels as page  # noqa: E402
from support.explorer import start  # noqa: E402 - it imports these

import fractals  # noqa: E402


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    made, thread = start(tmp_path_factory.mktemp("explorer"))
    yield made
    made.running.close()
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def own_server(tmp_path):
    """Return a function that starts a server with other options."""
    started = []

    def make(**options):
        started.append(start(tmp_path, **options))
        return started[-1][0]

    yield make
    for made, thread in started:
        made.running.close()
        thread.join(20)


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """Return the path of a web page of a picture, which draws other places."""
    path = tmp_path_factory.mktemp("page") / "sea.html"
    fractals.render_to(path, "seahorse", size=(96, 64), supersampling=1, device="cpu")
    return path


@pytest.fixture(scope="module")
def shared_panels(browser, server):
    tab = browsers.Tab(browser, server.running, size=page.SIZE, panels=True)
    tab.until("explorer.catalog")
    yield tab
    tab.close()


@pytest.fixture
def panels(shared_panels):
    """Return the page with SCENE settled, no panel open, and the focus on the picture."""
    shared_panels.page.emulate_media(reduced_motion="no-preference")
    if shared_panels.page.locator(".panel").count():
        shared_panels.page.get_by_role("button", name="Close").click()
    shared_panels.page.locator("#view").focus()
    shared_panels.open(page.SCENE)
    return shared_panels


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Return the folder of a site of two formulas, whose programs need some seconds to be made."""
    from fractals.explorer.site.write import write_site

    folder = tmp_path_factory.mktemp("host") / "some/site"
    return write_site(folder, formulas=("burning_ship", "newton"), threads=1)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """A host of static pages."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def address(site):
    """Return the address of the site, which lies below the root of its host."""
    handler = functools.partial(_Quiet, directory=str(site.parents[1]))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/some/site/"
        server.shutdown()
