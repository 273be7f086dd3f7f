"""`fractals verify`."""

import dataclasses

import click

from fractals.cli.command import option, verb
from fractals.cli.completion import FILE
from fractals.cli.messages import print_json, tell
from fractals.cli.options import json_option
from fractals.cli.progress import ProgressLine
from fractals.cli.values import Whole
from fractals.errors import DifferenceError, SceneError


@verb("verify", "verify sea.png", "verify sea.png --pixels 100", "verify sea.png --exact --json")
@click.argument("picture", metavar="PICTURE", shell_complete=FILE)
@option(
    "--pixels",
    type=Whole(1, 1_000_000),
    metavar="N",
    default=20,
    section="Check",
    help="Number of pixels to recompute (default: 20).",
)
@option(
    "--exact",
    is_flag=True,
    section="Check",
    help="Also compare all iteration counts with those in arbitrary precision.",
)
@option(
    "--seed",
    type=Whole(0, 2**63),
    metavar="N",
    default=0,
    section="Check",
    help="Seed of the random choice of pixels (default: 0).",
)
@json_option
def verify_command(picture: str, pixels: int, exact: bool, seed: int, as_json: bool) -> None:
    """Recompute random pixels of a picture with plain Python loops, and compare them.

    Of deep views, some counts are also compared with those in arbitrary precision.

    Exit code 5: pixels differ.
    """
    from fractals.tools.verify import verify

    if not picture.lower().endswith(".png"):
        raise SceneError(f"{picture}: not a PNG: verify compares a PNG with its scene")
    with ProgressLine(task=f"recomputing {pixels} pixels in plain Python"):
        found = verify(picture, pixels, exact, seed, on_message=tell)
    bad = [pixel for pixel in found if not pixel.right]
    unstable, compared = (sum(getattr(p, name) for p in found) for name in ("unstable", "compared"))
    if as_json:
        tables = [dataclasses.asdict(pixel) for pixel in bad]
        facts = {"unstable_samples": unstable, "exact_samples": compared}
        print_json({"pixels": len(found), "wrong": tables, **facts})
    else:
        note = f"; {compared} counts were compared with exact ones" if compared else ""
        note += f"; {unstable} samples are chaotic: rounding changes their count" if exact else ""
        tell(f"{picture}: {len(found) - len(bad)} of {len(found)} pixels are right{note}")
    if bad:
        first = bad[0]
        raise DifferenceError(
            f"{len(bad)} pixels differ; the first, at ({first.x}, {first.y}), {first.difference}"
        )
