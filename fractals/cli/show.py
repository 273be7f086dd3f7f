"""`fractals show`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fractals.cli.command import option, verb
from fractals.cli.completion import SCENE
from fractals.cli.messages import print_json, tell, tell_lost, write_out
from fractals.cli.options import json_option
from fractals.cli.scenes import requested_scene
from fractals.errors import OptionError

if TYPE_CHECKING:
    from fractals.scene.model import Scene


@verb("show", "show sea.png", "show seahorse", "show --schema > scene.schema.json")
@click.argument("file", required=False, metavar="SCENE", shell_complete=SCENE)
@option(
    "--schema", is_flag=True, section="Output", help="Print the JSON Schema of scenes, for editors."
)
@json_option
def show_command(file: str | None, schema: bool, as_json: bool) -> None:
    """Print the scene inside a picture, a scene file, a gallery scene or a file of raw numbers.

    Of a picture, [resolved] tells what the values "auto" were; a scene is read without this table.
    Of a file with several entries (.par, .ugr) the names are listed, and FILE#NAME shows one. Of a
    file of a palette the palette is shown.
    """
    from fractals.io.escape_data import SUFFIXES
    from fractals.scene.model import Scene, toml_text

    if schema:
        print_json(Scene.model_json_schema())
        return
    if file is None:
        raise OptionError("show requires a SCENE, such as sea.png or seahorse, or --schema")
    if show_entries(file, as_json) or show_palette(file, as_json):
        return
    raw = file.lower().endswith(SUFFIXES)
    scene = show_raw(file) if raw else requested_scene((file,), {})
    table = scene.to_table()
    if resolved := {} if raw else resolved_of(file):
        table["resolved"] = resolved
    if as_json:
        print_json(table)
    else:
        write_out(toml_text(table))


def resolved_of(file: str) -> dict[str, Any]:
    """Return what the values "auto" were in a picture that this program drew."""
    from fractals.io import formats
    from fractals.io.load import read_resolved

    path = Path(file)
    if path.suffix.lower() not in formats.PICTURES or not path.exists():
        return {}
    return read_resolved(path)


def show_entries(file: str, as_json: bool) -> bool:
    """List the entries of a file that has more than one; return whether it has."""
    from fractals.io import formats

    found = formats.entries(file)
    if len(found) < 2:
        return False
    if as_json:
        print_json(dict(found))
    else:
        write_out("".join(f"{file}#{name}  {about}\n" for name, about in found))
    return True


def show_palette(file: str, as_json: bool) -> bool:
    """Print the palette of another program's file of palettes; return whether it is one."""
    from fractals.cli.convert import is_palette
    from fractals.io import formats
    from fractals.scene.model import toml_text, validate

    form = formats.find(formats.split(file)[0].name)
    if form is None:
        return False
    imported = formats.read(file)
    if not is_palette(dict(imported.table)):
        return False
    tell_lost([f"{file}: {line}" for line in imported.lost])
    table = {"color": {"palette": validate(imported.table, file).to_table()["color"]["palette"]}}
    if as_json:
        print_json(table)
    else:
        write_out(toml_text(table))
    return True


def show_raw(file: str) -> "Scene":
    """Say what is in a file of raw numbers, and return its scene."""
    from fractals.io.escape_data import EscapeData
    from fractals.io.store import open_store

    if file.lower().endswith(".fz"):
        store = open_store(file)
        done = int(store.done().sum())
        planes = ", ".join(f"{name} ({dtype})" for name, dtype in store.planes.items())
        tell(
            f"{file}: {store.shape[1]}x{store.shape[0]} samples, {planes}, {store.method}, "
            f"max_iterations {store.max_iterations}; {done} of {store.tiles} tiles are finished, "
            f"{store.size / 2**20:.0f} MiB"
        )
        return store.scene
    raw = EscapeData.load(file)
    tell(
        f"{file}: {raw.count.shape[1]}x{raw.count.shape[0]} samples in {raw.precision}, counts "
        f"{raw.count.min()} to {raw.count.max()}, max_iterations {raw.max_iterations}, "
        f"{'with' if raw.dz is not None else 'without'} dz"
    )
    return raw.scene
