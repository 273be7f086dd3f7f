"""Makes README's animated picture of the explorer: python scripts/explore_film.py."""

import io
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import fractals

TARGET = Path(__file__).parents[1] / "gallery" / "explore.webp"
VIEWPORT = {"width": 1120, "height": 630}  # CSS pixels
SIZE = (800, 450)  # pixels of the film
QUALITY = 60  # the file stays below 1.5 MB
PATIENCE = 240  # seconds: programs may have to be compiled
ARGUMENTS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
SPIRAL = (560, 330)  # CSS pixels, where the wheel turns
LONG, SHORT = 1400, 110  # ms that a picture is shown


def main() -> None:
    """Drive the explorer, and write the film."""
    running = fractals.explore(device="cpu", browser=False, block=False, on_message=print)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=ARGUMENTS
        )
        page = browser.new_page(viewport=VIEWPORT, color_scheme="dark")
        page.goto(running.invitation())
        film = [(frame(page), milliseconds) for milliseconds in scenes(page)]
        browser.close()
    running.close()
    pictures, durations = zip(*film, strict=True)
    pictures[0].save(
        TARGET,
        save_all=True,
        append_images=pictures[1:],
        duration=durations,
        loop=0,
        quality=QUALITY,
        method=4,
    )
    print(f"{TARGET}: {len(film)} pictures, {TARGET.stat().st_size / 1000:.0f} kB")


def scenes(page: Page) -> Iterator[int]:
    """Act, and yield how long the page is shown then."""
    settle(page)
    until(page, "[...document.querySelectorAll('.card img')].slice(0, 15).every((e) => e.src)")
    time.sleep(1)
    yield LONG
    page.get_by_role("button", name="Seahorse").first.click()
    until(page, "explorer.scene.title.includes('eahorse')")
    settle(page)
    yield LONG
    page.mouse.move(*SPIRAL)
    for _ in range(14):
        page.mouse.wheel(0, -120)
        drawn(page)
        yield SHORT
    settle(page)
    yield LONG
    page.keyboard.press("c")
    time.sleep(0.5)
    yield LONG // 2
    for name in ("Ember", "Celadon", "Dusk", "Amethyst"):
        page.get_by_role("button", name=name, exact=True).first.click()
        time.sleep(0.5)
        settle(page)
        yield LONG // 2
    page.keyboard.press("Escape")
    page.keyboard.down("j")
    for step in range(9):
        page.mouse.move(SPIRAL[0] - 120 + 30 * step, SPIRAL[1] + 6 * step)
        time.sleep(0.6)
        yield 2 * SHORT
    page.keyboard.up("j")
    page.keyboard.press("m")
    time.sleep(0.4)
    yield LONG // 2
    page.get_by_role("button", name="Fly to the minibrot").click()
    until(page, "document.querySelector('.progress').textContent.startsWith('Flying')")
    before = ""
    while (now := page.evaluate("explorer.placed.zoom")) and not arrived(page):
        if now != before:
            yield SHORT
        before = now
        time.sleep(0.25)
    settle(page)
    yield LONG


def frame(page: Page) -> Image.Image:
    """Return the page as it is now."""
    picture = Image.open(io.BytesIO(page.screenshot()))
    return picture.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)


def arrived(page: Page) -> bool:
    """Tell whether the flight is over."""
    return bool(page.evaluate("document.querySelector('.progress').hidden"))


def drawn(page: Page) -> None:
    """Wait for a picture of the newest view, be it coarse."""
    time.sleep(0.1)
    until(page, "explorer.drawn")


def settle(page: Page) -> None:
    """Wait for the exact pixels."""
    until(page, "window.explorer?.settled")


def until(page: Page, condition: str) -> None:
    """Wait until an expression is true; the page's security policy forbids Playwright's own way."""
    deadline = time.monotonic() + PATIENCE
    while not page.evaluate(f"Boolean({condition})"):
        if time.monotonic() > deadline:
            raise TimeoutError(condition)
        time.sleep(0.05)


if __name__ == "__main__":
    main()
