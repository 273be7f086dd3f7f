"""Chromium through Playwright, and pages of the explorer in it. Import it inside tests only."""

import base64
import io
import shutil
import time

import numpy as np
from PIL import Image

import fractals

# The page is put together without the software that stands for a graphics card: half of its work.
ARGUMENTS = (
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
    "--no-sandbox",
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE = 120  # seconds
COMPILED = 900  # seconds: an own formula is compiled by a process that leaves cores to others
# What is told where a wait ends.
STATE = """() => window.explorer && JSON.stringify(
    ["connected", "lost", "drawn", "status", "paused", "placed", "scene"].map(
        (name) => [name, explorer[name]]))"""
# Whether a condition holds, whether the server compiles, and what is done; paused views go on.
LOOK = """[window.explorer, window.second].reduce((told, each) => {
    if (each?.paused) each.goOn();
    const { status, drawn } = each ?? {};
    const done = [told[2], status?.what, status?.share, status?.done, drawn?.pass].join();
    return [told[0], told[1] || status?.what === "compiling", done];
}, [Boolean(%s), false, ""])"""
COARSE = 0.25  # device pixels a CSS pixel, where panels are tested: little work for WebGL
# The page draws on a plain canvas where WebGL2 has no graphics card, by the name of the renderer.
CARD = """(() => {
    const { prototype } = WebGL2RenderingContext, { getExtension } = prototype;
    prototype.getExtension = function (name) {
        return name === "WEBGL_debug_renderer_info" ? null : getExtension.call(this, name);
    };
})()"""
# What moves for ever would have the page drawn 60 times a second, in software.
STILL = """(() => {
    const sheet = new CSSStyleSheet();
    const none = "animation: none !important; transition: none !important;";
    sheet.replaceSync(`*, ::before, ::after { ${none} }`);
    document.adoptedStyleSheets = [sheet];
})()"""
READ = """() => {
    const pixels = explorer.readPixels();
    let text = "";
    for (let k = 0; k < pixels.length; k += 8192) {
        text += String.fromCharCode(...pixels.subarray(k, k + 8192));
    }
    return [...explorer.size, btoa(text)];
}"""
# A whole picture, as it comes while a view moves, then a tile: what the worker makes of the first,
# and how many values of the canvas are others than those that have come.
WHOLE = """async () => {
    const { stage, size: [w, h], placed: { frame } } = explorer;
    const buffer = new ArrayBuffer(32 + 3 * w * h), rgb = new Uint8Array(buffer, 32);
    for (let k = 0; k < rgb.length; k++) rgb[k] = Math.imul(k, 2654435761) >>> 24;
    const expected = rgb.slice();
    const message = { kind: 2, format: 0, frame, x: 0, y: 0, w, h, step: 1, paint: 0 };
    const worker = new Worker("/client/decode-worker.js", { type: "module" });
    const data = await new Promise((done, fail) => {
        worker.onmessage = ({ data: { data, error } }) => error ? fail(error) : done(data);
        worker.postMessage({ id: 1, message, buffer, image: stage.takesImage(message) }, [buffer]);
    });
    worker.terminate();
    const apart = () => explorer.readPixels().filter((value, k) => value !== expected[k]).length;
    stage.add({ ...message, data });
    stage.arrived("finer");
    const found = [data.constructor.name, apart()], tile = new Uint8Array(4 * 5 * 3).fill(255);
    for (let k = 0; k < tile.length; k += 4) tile.set([k, 9, 200 - k], k);
    stage.add({ ...message, x: 7, y: 9, w: 5, h: 3, data: tile });
    for (let k = 0; k < 15; k++) {
        const at = 3 * ((9 + Math.floor(k / 5)) * w + 7 + (k % 5));
        expected.set(tile.subarray(4 * k, 4 * k + 3), at);
    }
    return [...found, apart()];
}"""
HOLD = 450  # ms: less than `HOLD` of gestures.js
TIMES = """() => {
    for (const kind of window.pointed ? [] : ["pointerdown", "pointermove", "pointerup"])
        addEventListener(kind, (event) => {
            if (kind === "pointerdown" || pointed.length) pointed.push(event.timeStamp);
        }, { capture: true });
    window.pointed = [];
}"""
CANVAS = """() => new Promise((done) => viewer.canvas.toBlob(async (blob) =>
    done([...new Uint8Array(await blob.arrayBuffer())])))"""


def missing():
    """Return why no browser can be used, or an empty string."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "Playwright is not installed"
    return "" if CHROMIUM else "Chromium is not installed"


def in_time(tab, act, again):
    """Have a pointer act, again and again until a press took less than a flight waits for.

    The picture of a page flies where a button is held, and a busy machine may hold it for long.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        tab.run(TIMES)
        act()
        told = tab.run("window.pointed")
        if told[-1] - told[0] < HOLD:
            return
        assert time.monotonic() < deadline, f"no press takes less than {HOLD} ms"
        again()


def canvas_pixels(page):
    """Return the pixels that a web page of a picture shows."""
    data = bytes(page.evaluate(CANVAS))
    return np.array(Image.open(io.BytesIO(data)).convert("RGB"))


def share_apart(one, other):
    """Return the share of pixels of two pictures that differ visibly."""
    return (abs(one.astype(int) - other).max(2) > 8).mean()


def launched(playwright):
    """Return a browser with WebGL2 in software."""
    from playwright.sync_api import expect

    milliseconds = 1000 * PATIENCE
    expect.set_options(timeout=milliseconds)
    return playwright.chromium.launch(
        executable_path=CHROMIUM, args=ARGUMENTS, timeout=milliseconds
    )


class Explored:
    """A page of the explorer in any browser: `page` evaluates scripts, `problems` are errors."""

    def run(self, script, value=None):
        return self.page.evaluate(script, value)

    def until(self, condition):
        """Wait until an expression is true: for some time, and as long as work goes on."""
        begun = now = time.monotonic()
        deadline, before = begun + PATIENCE, ""
        while True:
            found, compiling, done = self.page.evaluate(LOOK % f"({condition})")
            if found:
                return
            assert not self.problems, self.problems
            assert now < deadline, (condition, self.page.evaluate(STATE))
            time.sleep(0.02)
            now = time.monotonic()
            if (compiling or done != before) and now < begun + COMPILED:
                deadline, before = now + PATIENCE, done

    def settle(self):
        """Wait for the exact pixels; return the scene that the page shows."""
        self.until("explorer.settled")
        assert not self.problems, self.problems
        return self.run("explorer.scene")

    def open(self, scene):
        """Show a scene, and return it as the page has it."""
        self.run("scene => explorer.open({scene})", scene)
        return self.settle()

    def pixels(self):
        """Return what `gl.readPixels` says of the canvas, rows from the top."""
        width, height, text = self.run(READ)
        return np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 3)

    def assert_exact(self):
        """Check that the settled canvas is what `fractals.render` draws of the page's scene."""
        scene = self.settle()
        assert np.array_equal(self.pixels(), fractals.render(scene, device="cpu").pixels)
        return scene


class Tab(Explored):
    """A page of the explorer in Chromium."""

    def __init__(
        self,
        browser,
        running,
        size=(160, 120),
        path="",
        panels=False,
        card=True,
        script="",
        **options,
    ):
        """`path`: a query or a fragment; `panels`: leave them over the picture, of COARSE pixels.

        `card`: the page takes the renderer for a graphics card. `script` runs before the page's.
        """
        self.running, self.panels = running, panels
        viewport = {"width": size[0], "height": size[1]}
        if panels:
            options = {"device_scale_factor": COARSE, **options}
        self.context = browser.new_context(viewport=viewport, **options)
        self.context.set_default_timeout(1000 * PATIENCE)
        self.context.add_init_script(STILL)
        if card:
            self.context.add_init_script(CARD)
        self.context.add_init_script(script)
        self.page = self.context.new_page()
        self.problems = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.goto(running.invitation())
        if path:
            self.go(path)
        self.hide()

    def go(self, path):
        self.page.goto("about:blank")
        self.page.goto(self.running.url + "/" + path)
        self.hide()

    def hide(self):
        self.until("window.explorer")
        if not self.panels:
            self.page.evaluate("document.getElementById('ui').style.display = 'none'")

    def address(self):
        """Wait until the address has the scene that is shown, and return it."""
        link = "#" + self.run("explorer.request({ t: 'link' }).then(({ link }) => link)")
        self.until(f"location.hash === {link!r}")
        return link

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        return self.settle()

    def touch(self, kind, *points, at=None):
        """Touch the screen at points of (x, y); `at`: the time that the page is told."""
        session = getattr(self, "session", None) or self.context.new_cdp_session(self.page)
        self.session = session
        touched = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
        told = {"timestamp": at} if at else {}
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched, **told})

    def close(self):
        self.context.close()
