"""`fractals devices`, `list`, `show`, `convert`, `verify` and `completion`."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fractals.cli.options import (
    examples,
    json_option,
    option,
    overwrite_option,
    print_json,
    tell,
    tell_lost,
)
from fractals.errors import DifferenceError, OptionError, SceneError

if TYPE_CHECKING:
    from fractals.scene.model import Scene


@click.command(
    "devices",
    epilog=examples("devices", "devices --json", "render --device cuda:1 -o second.png"),
)
@json_option
def devices_command(as_json: bool) -> None:
    """Show what can draw here, which of it auto takes, and why not the others."""
    from fractals.backends import probe
    from fractals.backends.devices import choose, devices

    found = devices()
    taken = choose("auto").device
    reason = probe.gpus()[1]
    if as_json:
        tables = [{**dataclasses.asdict(d), "auto": d == taken} for d in found]
        print_json({"devices": tables, "auto": taken.kind, "no_gpu": reason})
        return
    for device in found:
        if device.kind == "cpu":
            facts = f"{device.cores} cores, {device.vector_bits}-bit vectors"
        elif device.kind == "cuda":
            major, minor = device.compute_capability
            memory = device.memory / 2**30
            facts = (
                f"compute capability {major}.{minor}, {memory:.0f} GiB, driver CUDA {device.driver}"
            )
        else:
            facts = "slow; for learning and for tests"
        name = f"cuda:{device.index}" if device.kind == "cuda" else device.kind
        mark = "  <- auto" if device == taken else ""
        click.echo(f"{name:10} {device.name}, {facts}{mark}")
        if device.problem:
            click.echo(f"{'':10} not used: {device.problem}")
    if not any(device.kind == "cuda" for device in found):
        click.echo(f"{'cuda':10} none: {reason}")
        click.echo(
            f"{'':10} with an NVIDIA GPU, install its driver and pip install 'fractals-numba[gpu]'"
        )


@click.command(
    "list",
    epilog=examples("list gallery", "list palettes --preview sheet.png", "list formulas --json"),
)
@click.argument(
    "what", type=click.Choice(["formulas", "colorings", "palettes", "formats", "gallery"])
)
@option("--preview", metavar="FILE.png", help="Also draw a labelled sheet of all palettes.")
@overwrite_option
@json_option
def list_command(what: str, preview: str | None, overwrite: bool, as_json: bool) -> None:
    """Show the names there are, with a line about each."""
    from fractals import catalog
    from fractals.color import palette

    if preview is not None:
        write_preview(what, preview, overwrite)
    kind = what.removesuffix("s")
    entries: dict[str, str] = {}
    from fractals.io.load import load_scene

    options: dict[str, dict[str, Any]] = {}
    for name in catalog.names(kind):
        if kind == "palette":
            title = palette.load(name).title
        elif kind == "gallery":
            title = load_scene(name).title
        elif kind == "format":
            form = catalog.load(kind, name)()
            uses = "read and written" if form.write else "read"
            title = f"{' '.join(form.suffixes):12} {form.title}: {uses}"
        else:
            made = catalog.load(kind, name)()
            title = made.title
            if kind == "coloring" and made.options:
                options[name] = made.options
        entries[name] = title
    if as_json:
        print_json(entries)
        return
    width = max(16, *map(len, entries))
    for name, title in entries.items():
        click.echo(f"{name:{width}} {title}")
        for key, part in options.get(name, {}).items():
            reach = ", ".join(part.choices)
            if not isinstance(part.default, str):
                reach = f"{part.least:g} to {part.most:g}"
            click.echo(f"{'':18}{key}={part.default}: {part.meaning}" + f" ({reach})" * bool(reach))


def write_preview(what: str, path: str, overwrite: bool) -> None:
    """Write the sheet of palettes to a PNG."""
    from fractals import catalog
    from fractals.io.files import check_output, written

    if what != "palettes":
        raise OptionError(f"--preview: there is a sheet of palettes, none of {what}")
    if Path(path).suffix.lower() != ".png":
        raise OptionError(f"--preview: '{path[:80]}' does not end in .png")
    check_output(path, overwrite)
    from fractals.tools.palette_sheet import png, sheet

    names = catalog.names("palette")
    data = png(sheet(names))
    with written(path) as file:
        file.write(data)
    tell(f"{path}: {len(names)} palettes")


@click.command(
    "show",
    epilog=examples("show sea.png", "show seahorse", "show --schema > scene.schema.json"),
)
@click.argument("file", required=False)
@option("--schema", is_flag=True, help="Print the JSON Schema of scenes, for editors.")
@json_option
def show_command(file: str | None, schema: bool, as_json: bool) -> None:
    """Show what is inside a picture, a scene file, a gallery scene or a file of raw numbers."""
    from fractals.io.escape_data import SUFFIXES
    from fractals.scene.model import Scene

    if schema:
        print_json(Scene.model_json_schema())
        return
    if file is None:
        raise OptionError("name a file or a gallery scene to show, or give --schema")
    if file.lower().endswith(SUFFIXES):
        scene = show_raw(file)
    else:
        from fractals.io.load import load_scene

        lost: list[str] = []
        scene = load_scene(file, lost=lost)
        tell_lost(lost)
    if as_json:
        print_json(scene.to_table())
    else:
        click.echo(scene.to_toml(), nl=False)


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
            f"max_iterations {store.max_iterations}; {done} of {store.tiles} tiles are there, "
            f"{store.size / 2**20:.0f} MiB"
        )
        return store.scene
    raw = EscapeData.load(file)
    tell(
        f"{file}: {raw.count.shape[1]}x{raw.count.shape[0]} samples in {raw.precision}, counts "
        f"{raw.count.min()} to {raw.count.max()}, limit {raw.max_iterations}, "
        f"{'with' if raw.dz is not None else 'without'} dz"
    )
    return raw.scene


@click.command(
    "convert",
    epilog=examples(
        "convert sea.png sea.toml             # the scene inside a picture",
        "convert place.kfr place.toml         # a scene of another program",
        "convert sea.fz sea.exr               # raw numbers, for other programs",
    ),
)
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@overwrite_option
@json_option
def convert_command(source: str, target: str, overwrite: bool, as_json: bool) -> None:
    """Write a scene, a palette or raw numbers in another format, and say what was lost.

    IN is anything that render draws, or a palette; the end of OUT names the format (fractals list
    formats), and - is TOML on stdout. A palette becomes a part of a scene, and the other way round.
    Raw numbers (.fz, .npz, .exr) are turned into each other.
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
        raise OptionError("--json and OUT - both want stdout: give one of them")
    if target != "-":
        check_output(target, overwrite)
    lost: list[str] = []
    table = source_table(source, lost)
    scene = validate(table, source)
    whole = scene.to_table()
    if form and form.write:
        data, more = form.write(whole)
        lost += [f"{target}: {line}" for line in more]
    else:
        kept = {"color": {"palette": whole["color"]["palette"]}} if is_palette(table) else whole
        text = toml_text(kept) if suffix == ".toml" else json.dumps(kept, ensure_ascii=False) + "\n"
        data = text.encode()
    if target == "-":
        tell_lost(lost)
        click.echo(data.decode(), nl=False)
        return
    with written(target) as file:
        file.write(data)
    said(target, lost, as_json)


def source_table(source: str, lost: list[str]) -> dict[str, Any]:
    """Return the table of a scene, or of a palette: a built-in one, or a file of stops."""
    from fractals import catalog
    from fractals.io import load

    built_in = source in catalog.names("palette") and source not in catalog.names("gallery")
    if built_in and not Path(source).exists():
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
        raise OptionError(f"'{source}' is read: name another file to write")
    raw = EscapeData.load(source)
    raw.save(target, overwrite)
    lost = catalog.load("raw", Path(target).suffix[1:].lower())().lost
    said(target, [f"{target}: {lost}"] if lost else [], as_json)


def said(target: str, lost: list[str], as_json: bool) -> None:
    """Say what was lost, a line each, or as JSON too."""
    tell_lost(lost)
    if as_json:
        print_json({"output": target, "lost": lost})
    elif not lost:
        tell(f"{target}: nothing was lost")


@click.command(
    "verify",
    epilog=examples(
        "verify sea.png", "verify sea.png --pixels 100", "verify sea.png --exact --json"
    ),
)
@click.argument("picture")
@option("--pixels", type=click.IntRange(1, 1_000_000), default=20, help="How many to recompute.")
@option("--exact", is_flag=True, help="Also check the counts, in arbitrary precision.")
@option("--seed", type=int, default=0, help="Chooses the pixels.")
@json_option
def verify_command(picture: str, pixels: int, exact: bool, seed: int, as_json: bool) -> None:
    """Recompute random pixels of a picture by plain Python loops, and compare."""
    from fractals.tools.verify import verify

    if not picture.lower().endswith(".png"):
        raise SceneError(f"{picture}: not a PNG: only those carry the scene to compare with")
    found = verify(picture, pixels, exact, seed)
    bad = [pixel for pixel in found if not pixel.right]
    unstable = sum(pixel.unstable for pixel in found)
    if as_json:
        tables = [dataclasses.asdict(pixel) for pixel in bad]
        print_json({"pixels": len(found), "wrong": tables, "unstable_samples": unstable})
    else:
        note = (
            f"; {unstable} samples are chaotic: a hair's move changes their count" if exact else ""
        )
        tell(f"{picture}: {len(found) - len(bad)} of {len(found)} pixels are right{note}")
    if bad:
        first = bad[0]
        raise DifferenceError(
            f"{len(bad)} pixels differ; the first, at ({first.x}, {first.y}), is {first.drawn}, "
            f"expected {first.expected}" + (f", {first.wrong} wrong counts" if exact else "")
        )


@click.command(
    "completion",
    epilog=examples(
        "completion bash >> ~/.bashrc",
        "completion zsh >> ~/.zshrc",
        "completion fish > ~/.config/fish/completions/fractals.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the script that completes verbs and options in a shell."""
    from click.shell_completion import get_completion_class

    from fractals.cli import cli

    completion: Any = get_completion_class(shell)
    if completion is None:
        raise OptionError(f"no completion for '{shell}'")
    sys.stdout.write(completion(cli, {}, "fractals", "_FRACTALS_COMPLETE").source())
