"""`fractals devices`, `list`, `show`, `convert`, `verify` and `completion`."""

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fractals.cli.options import examples, json_option, option, overwrite_option, print_json, tell
from fractals.errors import DifferenceError, OptionError, SceneError

if TYPE_CHECKING:
    from fractals.scene import Scene


@click.command(
    "devices",
    epilog=examples("devices", "devices --json", "render --device cuda:1 -o second.png"),
)
@json_option
def devices_command(as_json: bool) -> None:
    """Show what can draw here, which of it auto takes, and why not the others."""
    from fractals.backends import choose, devices, probe

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
    epilog=examples("list gallery", "list palettes", "list formulas --json"),
)
@click.argument("what", type=click.Choice(["formulas", "colorings", "palettes", "gallery"]))
@json_option
def list_command(what: str, as_json: bool) -> None:
    """Show the names there are, with a line about each."""
    from fractals import catalog, palette
    from fractals.scene import Scene

    kind = what.removesuffix("s")
    entries = {}
    for name in catalog.names(kind):
        if kind == "palette":
            title = palette.load(name).title
        elif kind == "gallery":
            title = Scene.load(name).title
        else:
            title = catalog.load(kind, name)().title
        entries[name] = title
    if as_json:
        print_json(entries)
        return
    for name, title in entries.items():
        click.echo(f"{name:16} {title}")


@click.command(
    "show",
    epilog=examples("show sea.png", "show seahorse", "show --schema > scene.schema.json"),
)
@click.argument("file", required=False)
@option("--schema", is_flag=True, help="Print the JSON Schema of scenes, for editors.")
@json_option
def show_command(file: str | None, schema: bool, as_json: bool) -> None:
    """Show what is inside a picture, a scene file, a gallery scene or a file of raw numbers."""
    from fractals.raw import SUFFIXES
    from fractals.scene import Scene

    if schema:
        print_json(Scene.model_json_schema())
        return
    if file is None:
        raise OptionError("name a file or a gallery scene to show, or give --schema")
    scene = show_raw(file) if file.lower().endswith(SUFFIXES) else Scene.load(file)
    if as_json:
        print_json(scene.to_table())
    else:
        click.echo(scene.to_toml(), nl=False)


def show_raw(file: str) -> "Scene":
    """Say what is in a file of raw numbers, and return its scene."""
    from fractals.raw import EscapeData
    from fractals.store import open_store

    if file.lower().endswith(".fz"):
        store = open_store(file)
        done = int(store.done().sum())
        planes = ", ".join(f"{name} ({dtype})" for name, dtype in store.planes.items())
        tell(
            f"{file}: {store.shape[1]}x{store.shape[0]} samples, {planes}, {store.method}, limit "
            f"{store.limit}; {done} of {store.tiles} tiles are there, {store.size / 2**20:.0f} MiB"
        )
        return store.scene
    raw = EscapeData.load(file)
    tell(
        f"{file}: {raw.count.shape[1]}x{raw.count.shape[0]} samples in {raw.number}, counts "
        f"{raw.count.min()} to {raw.count.max()}, limit {raw.limit}, "
        f"{'with' if raw.dz is not None else 'without'} dz"
    )
    return raw.scene


@click.command(
    "convert",
    epilog=examples(
        "convert sea.png sea.toml             # the scene inside a picture",
        "convert seahorse seahorse.json",
        "convert sea.fz sea.exr               # raw numbers, for other programs",
    ),
)
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@overwrite_option
def convert_command(source: str, target: str, overwrite: bool) -> None:
    """Write a scene as TOML or JSON, or raw numbers as another file of them (.fz, .npz, .exr)."""
    from fractals.files import check_output, written
    from fractals.raw import SUFFIXES
    from fractals.scene import Scene

    if source.lower().endswith(SUFFIXES) and target.lower().endswith(SUFFIXES):
        convert_raw(source, target, overwrite)
        return
    suffix = ".toml" if target == "-" else Path(target).suffix.lower()
    if suffix not in (".toml", ".json"):
        raise OptionError(f"'{target}': a scene is written to a file that ends in .toml or .json")
    scene = Scene.load(source)
    text = scene.to_toml() if suffix == ".toml" else scene.to_json() + "\n"
    if target == "-":
        click.echo(text, nl=False)
        return
    check_output(target, overwrite)
    with written(target) as file:
        file.write(text.encode())
    tell(f"{target}: nothing was lost")


def convert_raw(source: str, target: str, overwrite: bool) -> None:
    """Write raw numbers as another type of file."""
    from fractals.exr import LOST
    from fractals.raw import EscapeData

    if Path(source).absolute() == Path(target).absolute():
        raise OptionError(f"'{source}' is read: name another file to write")
    raw = EscapeData.load(source)
    raw.save(target, overwrite)
    tell(f"{target}: {LOST if target.lower().endswith('.exr') else 'nothing was lost'}")


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
    from fractals.verify import verify

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
