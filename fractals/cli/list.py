"""`fractals list`."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from fractals.cli.command import option, verb
from fractals.cli.completion import FILE, words
from fractals.cli.messages import choices, print_json, tell, write_out
from fractals.cli.options import json_option, overwrite_option
from fractals.cli.progress import ProgressLine, program_of
from fractals.errors import OptionError, shown

KINDS = {
    "formulas": "formula",
    "colorings": "coloring",
    "palettes": "palette",
    "scenes": "gallery",
    "formats": "format",
    "gallery": "gallery",  # scenes
}
STRIP = 24  # characters of a palette's strip on a terminal


@verb("list", "list palettes", "list palettes --preview sheet.png", "list formulas --json")
@click.argument("what", required=False, metavar="WHAT", shell_complete=words(*KINDS))
@option(
    "--preview",
    metavar="FILE.png",
    section="Output",
    shell_complete=FILE,
    help="Also draw a labelled sheet of all palettes; fractals sheet draws one of your scene.",
)
@overwrite_option
@json_option
@click.pass_context
def list_command(
    context: click.Context, what: str | None, preview: str | None, overwrite: bool, as_json: bool
) -> None:
    """List formulas, colorings, palettes, scenes or file formats.

    WHAT is formulas, colorings, palettes, scenes (those of the gallery) or formats.
    """
    if what is None:
        write_out(context.get_help() + "\n")
        return
    if what not in KINDS:
        from fractals.catalog import did_you_mean

        hint = did_you_mean(what[:50], KINDS) or f"; choose {choices(list(KINDS)[:-1])}"
        raise OptionError(f"unknown kind '{shown(what, 40)}'{hint}")
    if preview is not None:
        write_preview(what, preview, overwrite)
    if as_json:
        print_json({name: title for name, title, _ in entries(what)})
        return
    rows = entries(what)
    width = max(16, *(len(name) for name, _, _ in rows))
    lines = []
    for name, title, more in rows:
        lines.append(f"{name:{width}} {title}")
        lines += [f"{'':{width + 2}}{line}" for line in more]
    write_out("\n".join(lines) + "\n")


def entries(what: str) -> list[tuple[str, str, list[str]]]:
    """Return the names of a kind, each with a line about it and lines about its options."""
    from fractals import catalog

    kind = KINDS[what]
    return [(name, *about_name(kind, name)) for name in catalog.names(kind)]


def about_name(kind: str, name: str) -> tuple[str, list[str]]:
    """Return a line about a name of the catalog, and lines about its options."""
    from fractals import catalog

    if kind == "palette":
        return about_palette(name), []
    if kind == "gallery":
        return about_scene(name), []
    made = catalog.load(kind, name)()
    if kind == "format":
        uses = "read and written" if made.write else "read"
        return f"{' '.join(made.suffixes):12} {made.title}: {uses}", []
    lines = []
    for key, part in (made.options if kind == "coloring" else {}).items():
        reach = ", ".join(part.choices)
        if not isinstance(part.default, str):
            reach = f"{part.least:g} to {part.most:g}"
        lines.append(f"{key}={part.default}: {part.meaning}" + f" ({reach})" * bool(reach))
    return made.title, lines


def about_scene(name: str) -> str:
    """Return the title of a gallery scene, with its formula and coloring."""
    from fractals.io.load import load_scene

    scene = load_scene(f"gallery:{name}")
    julia = " (Julia set)" if scene.julia else ""
    return f"{scene.title}: {scene.make_formula().name}{julia}, {scene.color.coloring.name}"


def about_palette(name: str) -> str:
    """Return what a palette looks like: a strip on a terminal, its stops and its ends."""
    from fractals.color import palette

    found = palette.load(name)
    ends = "cyclic" if found.cyclic else "two ends, not cyclic"
    text = f"{found.title}: {len(found.stops)} colors, {ends}"
    if shows_colors():
        from fractals.tools.sheet import turn

        cells = (f"\x1b[48;2;{r};{g};{b}m " for r, g, b in turn(name, STRIP).tolist())
        text = f"{''.join(cells)}\x1b[0m {text}"
    return text


def shows_colors() -> bool:
    """Return whether stdout is a terminal that may be sent colors; NO_COLOR forbids it."""
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )


def write_preview(what: str, path: str, overwrite: bool) -> None:
    """Write the sheet of palettes to a PNG."""
    from fractals import catalog
    from fractals.io.files import check_output, written

    if what != "palettes":
        raise OptionError(f"--preview requires 'list palettes': there is no sheet of {what}")
    if Path(path).suffix.lower() != ".png":
        raise OptionError(f"--preview: '{shown(path, 80)}' does not end in .png")
    check_output(path, overwrite)
    from fractals.io.load import load_scene
    from fractals.tools import sheet

    names, scene = catalog.names("palette"), load_scene("gallery:seahorse")
    with ProgressLine(program=program_of(scene)):
        data = sheet.png(sheet.assemble(list(sheet.cells(scene, "palettes"))))
    with written(path, overwrite) as file:
        file.write(data)
    tell(f"{path}: {len(names)} palettes")


def table_of_scenes() -> dict[str, Any]:
    """Return the names of the gallery's scenes, each with a line about it."""
    return {name: title for name, title, _ in entries("scenes")}
