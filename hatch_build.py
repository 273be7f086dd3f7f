"""What a wheel has beside the files of the package.

Its description is README with addresses in place of relative links. With FRACTALS_PREBUILT=1 a
wheel has the machine code that `python scripts/prebuilt.py` has written.
"""

import os
import re
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
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


class MachineCode(BuildHookInterface):
    """Puts machine code into a wheel where FRACTALS_PREBUILT=1 asks for it."""

    def initialize(self, version, build_data):
        """Add the files to those of the wheel: git ignores them, and so does hatchling."""
        if os.environ.get("FRACTALS_PREBUILT") != "1" or version == "editable":
            return
        folder = Path("fractals", "machine_code")
        files = sorted(Path(self.root, folder).glob("*.code"))
        if not files:
            raise SystemExit(
                f"FRACTALS_PREBUILT=1: no machine code in {folder}; "
                "run python scripts/prebuilt.py first"
            )
        for file in files:
            build_data["force_include"][str(file)] = str(folder / file.name)
