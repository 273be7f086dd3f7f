"""Firefox and WebKit, each by the protocol that it speaks itself. Import it inside tests only.

Playwright has no Firefox and WebKit of systems: it downloads its own builds.
"""

import contextlib
import inspect
import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

PATIENCE = 120  # seconds: programs may have to be compiled
START = 60  # seconds until a browser answers
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
WEBKIT, SCREEN = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
# The page gives what JSON can say; so both protocols answer alike.
CALL = """async () => {
    const made = (%s);
    const told = typeof made === "function" ? made(%s) : made;
    return JSON.stringify((await told) ?? null);
}"""
NOTED = "window.problems = []; addEventListener('error', (event) => problems.push(event.message));"
# Firefox asks the network for nothing of its own.
QUIET = """
user_pref("app.normandy.enabled", false);
user_pref("browser.startup.homepage", "about:blank");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("services.settings.server", "data:,#none");
"""
KEYS = {"Enter": "\ue007", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "Home": "\ue011"}


def missing(name):
    """Return why a browser can't be used, or an empty string."""
    if name == "firefox":
        return "" if FIREFOX else "Firefox is not installed"
    if not WEBKIT:
        return "WebKitWebDriver is not installed"
    return "" if SCREEN else "Xvfb is not installed, and WebKit needs a screen"


@contextlib.contextmanager
def launched(name, folder, size):
    """Give a page of `size` CSS pixels of a browser, which keeps its files in a folder."""
    page = Firefox() if name == "firefox" else WebKit()
    try:
        page.start(folder, size)
        yield page
    finally:
        page.close()


def talk(address):
    """Return a WebSocket to a browser; a busy one answers no ping for longer than 20 s."""
    from websockets.sync.client import connect

    # Before version 15 there are no pings.
    pings = "ping_interval" in inspect.signature(connect).parameters
    still = {"ping_interval": None} if pings else {}
    return connect(address, max_size=None, open_timeout=START, **still)


def _ended(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stderr:
        process.stderr.close()


def _first_line(pipe, pattern):
    """Return what a process tells of itself; what it prints later is read and forgotten."""
    for line in pipe:
        if found := re.search(pattern, line):
            threading.Thread(target=lambda: [None for _ in pipe], daemon=True).start()
            return found[1]
    raise AssertionError("the browser ended before it was ready")


class Page:
    """A browser's page, with some of the methods that Playwright's pages have."""

    def __init__(self):
        self._ends = contextlib.ExitStack()

    def _run(self, *command, **options):
        """Run a program until the browser is closed."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, **options)
        self._ends.callback(_ended, process)
        return process

    def evaluate(self, script, value=None):
        """Return the value of an expression, or what a function answers to `value`."""
        return json.loads(self._call(CALL % (script, json.dumps(value))))

    def press(self, key):
        """Press a key, and let it go."""
        key = KEYS.get(key, key)
        self._perform("key", [{"type": f"key{way}", "value": key} for way in ("Down", "Up")])

    def click(self, x, y):
        """Press the left button at a place in CSS pixels."""
        there = {"type": "pointerMove", "x": x, "y": y}
        ways = [{"type": f"pointer{way}", "button": 0} for way in ("Down", "Up")]
        self._perform("pointer", [there, *ways])

    def drag(self, start, end):
        """Drag with the left button from a place to another one."""
        moves = [{"type": "pointerMove", "x": x, "y": y} for x, y in (start, end)]
        ways = [{"type": f"pointer{way}", "button": 0} for way in ("Down", "Up")]
        self._perform("pointer", [moves[0], ways[0], moves[1], ways[1]])

    def close(self):
        """End the browser."""
        self._ends.close()


class Firefox(Page):
    """Firefox without a screen, by WebDriver BiDi."""

    def start(self, folder, size):
        profile = folder / "profile"
        profile.mkdir()
        (profile / "user.js").write_text(QUIET)
        options = ["--headless", "--no-remote", "--profile", str(profile)]
        process = self._run(
            *(FIREFOX, *options, "--remote-debugging-port", "0", "about:blank"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        address = _first_line(process.stderr, r"BiDi listening on (ws://\S+)")
        self._numbers = itertools.count(1)
        self._socket = self._ends.enter_context(talk(f"{address}/session"))
        self._send("session.new", capabilities={})
        self._context = self._send("browsingContext.create", type="tab")["context"]
        viewport = {"width": size[0], "height": size[1]}
        self._send("browsingContext.setViewport", context=self._context, viewport=viewport)
        self._send("script.addPreloadScript", functionDeclaration=f"() => {{ {NOTED} }}")

    def _send(self, method, **parameters):
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            told = json.loads(self._socket.recv(timeout=PATIENCE))
            if told.get("id") == number:
                assert told["type"] == "success", (method, told)
                return told["result"]

    def goto(self, address):
        """Go to an address, and wait until the page has loaded.

        Firefox tells that it has when the page before changes its own address, as the explorer's
        does after each move. Therefore that page is marked.
        """
        self.evaluate("() => { window.left = true; }")
        self._send("browsingContext.navigate", context=self._context, url=address, wait="complete")
        deadline = time.monotonic() + PATIENCE
        while self.evaluate("Boolean(window.left)"):
            assert time.monotonic() < deadline, f"the page before {address} stays"
            time.sleep(0.02)

    def _call(self, function):
        told = self._send(
            "script.callFunction",
            functionDeclaration=function,
            target={"context": self._context},
            awaitPromise=True,
        )
        assert told["type"] == "success", told["exceptionDetails"]["text"]
        return told["result"]["value"]

    def _perform(self, kind, steps):
        source = {"type": kind, "id": kind, "actions": steps}
        self._send("input.performActions", context=self._context, actions=[source])

    def wheel(self, x, y, by):
        """Turn the wheel at a place in CSS pixels."""
        step = {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": by}
        self._perform("wheel", [step])


class WebKit(Page):
    """WebKitGTK's small browser on a screen of its own, by WebDriver."""

    def start(self, folder, size):
        read, write = os.pipe()
        command = [SCREEN, "-displayfd", str(write), "-screen", "0", "1400x1000x24"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._run(*command, "-nolisten", "tcp", pass_fds=[write], **quiet)
        os.close(write)
        with os.fdopen(read) as pipe:
            screen = ":" + pipe.readline().strip()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environment = {**os.environ, "DISPLAY": screen, "GDK_BACKEND": "x11"}
        for name in ("CACHE", "CONFIG", "DATA"):
            environment[f"XDG_{name}_HOME"] = str(folder)
        self._run(WEBKIT, f"--port={port}", env=environment, **quiet)
        self._address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + START
        while True:
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                if self._send("GET", "/status")["ready"]:
                    break
            assert time.monotonic() < deadline, "WebKitWebDriver does not answer"
            time.sleep(0.02)
        self._address += "/session/" + self._send("POST", "/session", capabilities={})["sessionId"]
        self._ends.callback(self._send, "DELETE", "")
        self._send("POST", "/timeouts", script=1000 * PATIENCE)
        inner = self.evaluate("[outerWidth - innerWidth, outerHeight - innerHeight]")
        rect = {"width": size[0] + inner[0], "height": size[1] + inner[1]}
        self._send("POST", "/window/rect", **rect)

    def _send(self, method, path, **body):
        data = json.dumps(body).encode() if method == "POST" else None
        head = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._address + path, data, head, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError((path, error.read().decode(errors="replace"))) from None

    def goto(self, address):
        """Go to an address, and wait until the page has loaded."""
        self._send("POST", "/url", url=address)
        self.evaluate(f"() => {{ {NOTED} }}")

    def _call(self, function):
        # The driver takes a callback, because it does not wait for promises.
        script = f"""const done = arguments[0];
            ({function})().then((text) => done([text]), (error) => done(["", String(error)]));"""
        text, *wrong = self._send("POST", "/execute/async", script=script, args=[])
        assert not wrong, wrong
        return text

    def _perform(self, kind, steps):
        source = {"type": kind, "id": kind, "actions": steps}
        self._send("POST", "/actions", actions=[source])

    def wheel(self, x, y, by):
        """Turn the wheel at a place in CSS pixels, by an event: the driver turns no wheel."""
        given = {"clientX": x, "clientY": y, "deltaY": by, "bubbles": True, "cancelable": True}
        self.evaluate(
            "(given) => document.elementFromPoint(given.clientX, given.clientY)"
            ".dispatchEvent(new WheelEvent('wheel', given)) && null",
            given,
        )
