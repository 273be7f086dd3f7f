"""The description of the package: README with addresses in place of its relative links."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "https://github.com/fractals-numba/fractals"
FILES, PICTURES = f"{REPOSITORY}/blob/main/", f"{REPOSITORY}/raw/main/"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\((?!\w+:|#)([^)]+)\)")


def absolute(text: str) -> str:
    """Return Markdown whose relative links and pictures are addresses of the repository."""

    def changed(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        return f"{picture}[{absolute(words)}]({PICTURES if picture else FILES}{target})"

    return LINK.sub(changed, text)


class Readme(MetadataHookInterface):
    """Sets `readme`, which pyproject.toml calls dynamic."""

    def update(self, metadata):
        """Put the description into the metadata."""
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text)}
