"""`fractals convert`."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fractals.cli.command import verb
from fractals.cli.completion import FILE, SCENE
from fractals.cli.messages import print_json, settings, tell, tell_lost, write_out
from fractals.cli.options import json_option, overwrite_option
from fractals.cli.progress import ProgressLine
from fractals.cli.scenes import read_stdin
from fractals.errors import OptionError

if TYPE_CHECKING:
    from fractals.scene.model import Scene


@verb(
    "convert",
    "convert sea.png sea.toml             # the scene inside a picture",
    "convert place.kfr place.toml         # a scene of another program",
    "convert sea.fz sea.npz               # raw numbers, for NumPy",
)
@click.argument("source", metavar="IN", shell_complete=SCENE)
@click.argument("target", metavar="OUT", shell_complete=FILE)
@overwrite_option
@json_option
def convert_command(source: str, target: str, overwrite: bool, as_json: bool) -> None:
    """Convert a scene, a palette or raw numbers to another format, and report what was lost.

    IN is anything that render draws, a palette, or - for stdin. The suffix of OUT is its format
    (fractals list formats); - writes TOML to stdout. A palette becomes the palette of a scene, and
    a scene gives its palette to a palette file. Raw numbers (.fz, .npz, .exr) are converted into
    each other. Other programs have no maximum of iterations "auto": the number found is written.
    """
    from fractals.io import formats
    from fractals.io.escape_data import SUFFIXES
    from fractals.io.files import check_output, written
    from fractals.scene.model import toml_text, validate

    if source.lower().endswith(SUFFIXES) and target.lower().endswith(SUFFIXES):
        convert_raw(source, target, overwrite, as_json)
        return
    suffix = ".toml" if target == "-" else Path(target).suffix.lower()
    form = formats.find(target, writing=True)
    if form is None and suffix not in (".toml", ".json"):
        raise OptionError(f"'{target}': name a file that ends in {formats.suffixes(writing=True)}")
    if target == "-" and as_json:
        raise OptionError("--json and OUT '-' both write to stdout: give one of them")
    if target != "-":
        check_output(target, overwrite)
    lost: list[str] = []
    table = source_table(source, lost)
    scene = validate(table, "stdin" if source == "-" else source)
    whole = scene.to_table()
    if form and form.write:
        if form.writes_limit and scene.iteration.max_iterations == "auto":
            whole["iteration"]["max_iterations"] = limit_of(source, scene)
        data, more = form.write(whole)
        lost += [f"{target}: {line}" for line in more]
    else:
        kept = {"color": {"palette": whole["color"]["palette"]}} if is_palette(table) else whole
        text = toml_text(kept) if suffix == ".toml" else json.dumps(kept, ensure_ascii=False) + "\n"
        data = text.encode()
    if target == "-":
        tell_lost(lost)
        write_out(data)
        return
    with written(target, overwrite) as file:
        file.write(data)
    report_lost(target, lost, as_json)


def limit_of(source: str, scene: "Scene") -> int:
    """Return the number of iterations that "auto" stands for: a store's own, or what is found."""
    from fractals.io.files import read_store_header
    from fractals.rendering.render import find_max_iterations

    if source.lower().endswith(".fz"):
        known = read_store_header(Path(source)).get("max_iterations")
        if isinstance(known, int):
            return known
    with ProgressLine(task="searching for the maximum of iterations") as progress:
        return find_max_iterations(scene, progress=progress, on_message=tell)


def source_table(source: str, lost: list[str]) -> dict[str, Any]:
    """Return the table of a scene, or of a palette: a built-in one, or a file of stops."""
    from fractals import catalog
    from fractals.io import load

    if source == "-":
        return read_stdin(lost)
    built_in = source in catalog.names("palette") and source not in catalog.names("gallery")
    if built_in and not os.path.exists(source):
        return {"color": {"palette": source}}
    table = load.read_table(source, lost)
    return {"color": {"palette": table}} if "stops" in table else table


def is_palette(table: dict[str, Any]) -> bool:
    """Return whether a table holds a palette and nothing else."""
    return set(table) == {"color"} and set(table["color"]) == {"palette"}


def convert_raw(source: str, target: str, overwrite: bool, as_json: bool) -> None:
    """Write raw numbers as another type of file."""
    from fractals import catalog
    from fractals.io.escape_data import EscapeData

    if Path(source).absolute() == Path(target).absolute():
        raise OptionError(f"'{source}' is the source: name another file to write")
    raw = EscapeData.load(source)
    raw.save(target, overwrite)
    lost = catalog.load("raw", Path(target).suffix[1:].lower())().lost
    report_lost(target, [f"{target}: {lost}"] if lost else [], as_json)


def report_lost(target: str, lost: list[str], as_json: bool) -> None:
    """Report what has no equivalent in the target, one line each, and as JSON where asked for."""
    tell_lost(lost)
    if as_json:
        print_json({"output": target, "lost": settings(lost)})
    elif settings(lost):
        tell(f"{target}: written, without the settings above")
    else:
        tell(f"{target}: written, with every setting of the source")
