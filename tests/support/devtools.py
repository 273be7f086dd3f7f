"""Chromium by its own protocol, for figures. Import it inside tests and benchmarks only.

Playwright has the browser tell it of each message of a WebSocket, with its bytes in Base64. A
picture of 3 MB then takes the page's main thread 14 ms more, and the browser 30.
"""

import contextlib
import itertools
import json
import re
import subprocess
import tempfile
import threading
import time
import urllib.request

from support import browser as browsers
from support.other_browsers import NOTED, talk

CALL = """(async () => {
    const made$ = (%s);
    return typeof made$ === "function" ? made$(%s) : made$;
})()"""
ARGUMENTS = (
    *("--headless", "--remote-debugging-port=0", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update"),
)


class Target:
    """A page, or the browser, that answers methods of the protocol."""

    def __init__(self, address):
        self._socket, self._numbers = (
            talk(address),
            itertools.count(1),
        )

    def send(self, method, **parameters):
        """Call a method, and return its result; events are not looked at."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            told = json.loads(self._socket.recv(timeout=browsers.PATIENCE))
            if told.get("id") == number:
                assert "error" not in told, (method, told)
                return told["result"]

    def evaluate(self, script, value=None):
        """Return the value of an expression, or what a function answers to `value`."""
        call = CALL % (script, json.dumps(value))
        told = self.send("Runtime.evaluate", expression=call, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def close(self):
        self._socket.close()


class Tab(browsers.Explored):
    """A page of the explorer; `browser` tells of all processes."""

    def __init__(self, browser, page, address, size, scale=1.0):
        self.browser, self.page = browser, page
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": scale}
        page.send("Emulation.setDeviceMetricsOverride", mobile=False, **metrics)
        page.send("Page.enable")
        for script in (NOTED, browsers.STILL):
            page.send("Page.addScriptToEvaluateOnNewDocument", source=script)
        page.send("Performance.enable", timeDomain="threadTicks")
        page.send("Page.navigate", url=address)
        self.until("window.explorer?.catalog && explorer.placed")

    @property
    def problems(self):
        return self.page.evaluate("window.problems ?? []")

    def mouse(self, kind, x, y, held=False):
        """Move, press or release the left button at a place in CSS pixels."""
        there = {"x": x, "y": y, "button": "left", "buttons": int(held)}
        self.page.send("Input.dispatchMouseEvent", type=f"mouse{kind}", **there)


@contextlib.contextmanager
def chromium():
    """Give the browser and a page of it."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        contextlib.ExitStack() as ends,
    ):
        command = [browsers.CHROMIUM, *browsers.ARGUMENTS, *ARGUMENTS, f"--user-data-dir={folder}"]
        made = subprocess.Popen([*command, "about:blank"], stderr=subprocess.PIPE, text=True)
        ends.callback(made.wait, 20)
        ends.callback(made.terminate)
        address = next(
            found[1] for line in made.stderr if (found := re.search(r"on (ws://\S+)", line))
        )
        threading.Thread(target=lambda: [None for _ in made.stderr], daemon=True).start()
        place = f"http://{address.split('/')[2]}/json"
        while True:
            with urllib.request.urlopen(place, timeout=browsers.PATIENCE) as told:
                pages = [each for each in json.load(told) if each["type"] == "page"]
            if pages:
                break
            time.sleep(0.05)
        found = [Target(each) for each in (address, pages[0]["webSocketDebuggerUrl"])]
        for each in found:
            ends.callback(each.close)
        yield found
