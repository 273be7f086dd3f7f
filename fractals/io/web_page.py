"""Pictures as HTML: a page of one file, which draws other places by itself, and in notebooks."""

import base64
import html
import re
from collections.abc import Mapping
from pathlib import Path
from string import Template

from fractals.errors import escaped
from fractals.io.metadata import byline, subject
from fractals.scene.model import Scene

FOLDER = Path(__file__).parent / "page"
STILL = "This page magnifies one picture: {}."
LIVE = "This page draws every place that you go to by itself, without a server."
# What modules say to each other, and to their readers: in the page they are one text
_BETWEEN = re.compile(r"^import [^\n]*\n|^export (?=\w)|/\*.*?\*/ *\n?", re.MULTILINE | re.DOTALL)


def page_of(scene: Scene, picture: bytes, live: bytes | None = None, reason: str = "") -> bytes:
    """Return a page that shows a picture, and has its scene.

    `picture`: a WebP. `live`: what it draws other places with (`fractals.rendering.live`). Without
    it the page magnifies the picture; `reason` says in words why.
    """
    toml = scene.to_toml()
    by = "".join(f"{part}. " for part in byline(scene))
    width, height = scene.image.size
    template = (FOLDER / "page.html").read_text(encoding="utf-8")
    page = Template(template).substitute(
        title=html.escape(escaped(scene.title or subject(scene))),
        about=html.escape("\n".join(map(escaped, (by + scene.note).split("\n")))),
        how=html.escape(LIVE if live else STILL.format(reason)),
        width=width,
        height=height,
        picture=_text_of(picture),
        scene=_text_of(toml.encode()),
        toml=html.escape(toml),
        live=_text_of(live or b""),
        tiles=_script("tiles.js"),
        script=_script("decimals.js", "view.js", "main.js"),
    )
    return page.encode()


def _text_of(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _script(*names: str) -> str:
    """Return modules as one script."""
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in names]
    return '"use strict";\n' + _BETWEEN.sub("", "".join(texts))


# --- What notebooks show


def timings_html(timings: Mapping[str, float]) -> str:
    """Return a table of the seconds of each stage that took any."""
    spent = {stage: seconds for stage, seconds in timings.items() if seconds > 0}
    if not spent:
        return ""
    heads = "".join(f"<th>{html.escape(stage)}</th>" for stage in spent)
    cells = "".join(f"<td>{seconds:.3g} s</td>" for seconds in spent.values())
    return f"<table><tr>{heads}</tr><tr>{cells}</tr></table>"


def picture_html(data: bytes, facts: str) -> str:
    """Return a PNG, and a line of facts under it."""
    source = base64.b64encode(data).decode()
    return (
        f'<figure><img src="data:image/png;base64,{source}">'
        f"<figcaption>{html.escape(facts)}</figcaption></figure>"
    )
