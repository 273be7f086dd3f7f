"""`fractals convert`, `list` and `show`."""

import inspect
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fractals import catalog
from fractals.catalog import did_you_mean
from fractals.cli import shared
from fractals.cli.command import FILE, SCENE, option, verb, words
from fractals.cli.messages import (
    ProgressLine,
    as_argument,
    as_typed,
    choices,
    print_facts,
    print_json,
    program_of,
    settings,
    tell,
    tell_lost,
    write_out,
)
from fractals.cli.scenes import check_png, read_stdin, requested_scene
from fractals.errors import OptionError, counted, shown
from fractals.meant import writer_of

if TYPE_CHECKING:
    from fractals.scene.model import Scene


KINDS = {
    kind: name for kind, name in catalog.KINDS.items() if name not in ("raw", "family", "scatter")
} | {"blends": "blend", "gallery": "gallery"}
PLURALS = {kind.removesuffix("s"): kind for kind in KINDS}  # words that are understood, too
STRIP = 24  # characters of a palette's strip on a terminal


@verb("list", "list palettes", "list palettes --preview sheet.png", "list formulas --json")
@click.argument("what", required=False, metavar="WHAT", shell_complete=words(*KINDS))
@option(
    "Output",
    "--preview FILE.png",
    "Also draw a labelled sheet of all palettes; fractals sheet draws one of your scene.",
)
@shared.overwrite_option
@shared.json_option
@click.pass_context
def list_command(
    context: click.Context, what: str | None, preview: str | None, overwrite: bool, as_json: bool
) -> None:
    """List formulas, colorings, palettes, scenes, file formats, attractors, variations or solids.

    WHAT is formulas, colorings, palettes, scenes (those of the gallery), formats, attractors,
    variations, solids, or blends, the ways in which a layer is mixed with those below.
    """
    if what is None:
        if preview is not None or as_json:
            raise OptionError("name what is listed, such as fractals list palettes")
        write_out(context.get_help() + "\n")
        return
    what = PLURALS.get(what, what)
    if what not in KINDS:
        hint = did_you_mean(what[:50], KINDS) or f"; choose {choices(list(KINDS)[:-1])}"
        raise OptionError(f"unknown kind '{shown(what, 40)}'{hint}")
    if preview is not None:
        write_preview(what, preview, overwrite)
    rows = entries(what)
    width = max(16, *(len(name) for name, _, _ in rows))
    is_colored, lines = what == "palettes" and shows_colors(), []
    for name, title, more in rows:
        lines.append(f"{name:{width}} {strip_of(name) if is_colored else ''}{title}")
        lines += [f"{'':{width + 2}}{line}" for line in more]
    table = {name: " ".join(title.split()) for name, title, _ in rows}  # not in columns
    print_facts(table, "\n".join(lines) + "\n", as_json)


def entries(what: str) -> list[tuple[str, str, list[str]]]:
    """Return the names of a kind, each with a line about it and lines about its options."""
    if what == "blends":
        from fractals.scene.paint import BLENDS

        return [(name, meaning, []) for name, meaning in BLENDS.items()]
    kind = KINDS[what]
    return [(name, *about_name(kind, name)) for name in catalog.names(kind)]


def about_name(kind: str, name: str) -> tuple[str, list[str]]:
    """Return a line about a name of the catalog, and lines about its options."""
    if kind == "palette":
        return about_palette(name), []
    if kind == "gallery":
        return about_scene(name), []
    from fractals.kernels.formula import meanings_of

    make = catalog.load(kind, name)
    made = make()
    if kind == "format":
        uses = "read and written" if made.write else "read"
        return f"{' '.join(made.suffixes):12} {made.title}: {uses}", []
    if kind == "variation":
        return made.title, [f"{name}_{key}={value:g}" for key, value in made.parameters.items()]
    if kind == "solid":
        return f"{made.title} ({made.source or 'yours'})", about_options(made, meanings_of(make))
    if kind in ("formula", "attractor"):
        meanings = meanings_of(make).items()
        usual = {key: part.default for key, part in inspect.signature(make).parameters.items()}
        return made.title, [f"{key}={_shown(usual[key])}: {meaning}" for key, meaning in meanings]
    lines = []
    for key, part in (made.options if kind == "coloring" else {}).items():
        reach = ", ".join(part.choices)
        if not isinstance(part.default, str):
            reach = f"{part.least:g} to {part.most:g}"
        lines.append(f"{key}={part.default}: {part.meaning}" + f" ({reach})" * bool(reach))
    return made.title, lines


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value}"


def about_options(solid: Any, meanings: dict[str, str]) -> list[str]:
    """Return a line about each option of a solid; `meanings`: of these, by name."""
    lines = []
    for key, value in solid.parameters.items():
        knob = solid.knobs.get(key)
        reach = f" ({knob.least:g} to {knob.most:g})" if knob else ""
        lines.append(f"{key}={value}: {meanings[key]}{reach}")
    return lines


def about_scene(name: str) -> str:
    """Return the title of a gallery scene, with its formula and coloring."""
    from fractals.io.load import load_scene

    scene = load_scene(f"gallery:{name}")
    julia = " (Julia set)" if scene.julia else ""
    return f"{scene.title}: {scene.make_any_formula().name}{julia}, {scene.color.coloring.name}"


def about_palette(name: str) -> str:
    """Return the title of a palette, its stops and its ends."""
    from fractals.color import palette

    found = palette.load(name)
    ends = "cyclic" if found.cyclic else "two ends, not cyclic"
    return f"{found.title}: {counted(len(found.stops), 'color')}, {ends}"


def strip_of(palette: str) -> str:
    """Return the colors of a palette for a terminal, with a blank behind them."""
    from fractals.tools.sheet import turn

    cells = (f"\x1b[48;2;{r};{g};{b}m " for r, g, b in turn(palette, STRIP).tolist())
    return f"{''.join(cells)}\x1b[0m "


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
    from fractals.io.files import written

    if what != "palettes":
        raise OptionError(f"--preview requires 'list palettes': there is no sheet of {what}")
    check_png(path, overwrite, "--preview")
    from fractals.io.load import load_scene
    from fractals.tools import sheet

    names, scene = catalog.names("palette"), load_scene("gallery:seahorse")
    with ProgressLine(program=program_of(scene)):
        data = sheet.png(sheet.assemble(list(sheet.cells(scene, "palettes"))))
    with written(path, overwrite) as file:
        file.write(data)
    tell(f"{path}: {len(names)} palettes")


@verb(
    "convert",
    "convert sea.png sea.toml             # the scene inside a picture",
    "convert place.kfr place.toml         # a scene of another program",
    "convert sea.fz -o sea.npz            # raw numbers, for NumPy",
)
@click.argument("source", metavar="IN", shell_complete=SCENE)
@click.argument("target", metavar="[OUT]", required=False, shell_complete=FILE)
@shared.reading_options
@shared.output_option("File to write, in place of OUT; - is stdout.", "io.load.SCENE_SUFFIXES")
@shared.overwrite_option
@shared.json_option
def convert_command(
    source: str, target: str | None, output: str | None, overwrite: bool, as_json: bool
) -> None:
    """Convert a scene, a palette or raw numbers to another format, and report what was lost.

    IN is anything that render draws, a palette, or - for stdin. The suffix of OUT, or of -o, is its
    format (fractals list formats); - writes TOML to stdout. A palette becomes the palette of a
    scene, and a scene gives its palette to a palette file. Raw numbers (.fz, .npz, .exr) are
    converted into each other. Other programs have no maximum of iterations "auto": the number
    found is written.
    """
    from fractals.io.escape_data import SUFFIXES
    from fractals.io.files import check_output, written
    from fractals.io.foreign import formats
    from fractals.scene.model import toml_text, validate

    if target is not None and output is not None:
        raise OptionError(
            f"OUT '{shown(target, 80)}' and --output are both given: give one of them"
        )
    target = output if target is None else target
    if target is None:
        raise OptionError("name the file to write: fractals convert IN -o OUT")
    if is_raw(source) and Path(target).suffix.lower() in SUFFIXES:
        convert_raw(source, target, overwrite, as_json)
        return
    suffix = ".toml" if target == "-" else Path(target).suffix.lower()
    form = formats.find(target, writing=True)
    if form is None and suffix not in (".toml", ".json"):
        ends = formats.suffixes(writing=True) + writer_of(suffix)
        raise OptionError(f"'{target}': name a file that ends in {ends}")
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

    if is_raw(source) and Path(source).suffix.lower() == ".fz":
        known = read_store_header(Path(source)).get("max_iterations")
        if isinstance(known, int):
            return known
    with ProgressLine(task="searching for the maximum of iterations") as progress:
        return find_max_iterations(scene, progress=progress, on_message=tell)


def source_table(source: str, lost: list[str]) -> dict[str, Any]:
    """Return the table of a scene, or of a palette: a built-in one, or a file of stops."""
    from fractals.io.load import table_of_file

    if source == "-":
        return read_stdin(lost)
    built_in = catalog.has("palette", source) and not catalog.has("gallery", source)
    if built_in and not os.path.exists(source):
        return {"color": {"palette": source}}
    table = dict(table_of_file(source, lost, shared.formulas(), shared.lossy()))
    return {"color": {"palette": table}} if "stops" in table else table


def is_palette(table: dict[str, Any]) -> bool:
    """Return whether a table holds a palette and nothing else."""
    return set(table) == {"color"} and set(table["color"]) == {"palette"}


def convert_raw(source: str, target: str, overwrite: bool, as_json: bool) -> None:
    """Write raw numbers as another type of file."""
    from fractals.rendering.families import load_raw
    from fractals.rendering.raw_numbers import EscapeData

    if Path(source).absolute() == Path(target).absolute():
        raise OptionError(f"'{source}' is the source: name another file to write")
    raw = load_raw(source)
    if not isinstance(raw, EscapeData):
        raise OptionError(f"{source}: only raw numbers of escape-time images are converted")
    raw.save(target, overwrite=overwrite)
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


@verb("show", "show sea.png", "show seahorse", "show --schema > scene.schema.json")
@click.argument("file", required=False, metavar="SCENE", shell_complete=SCENE)
@shared.reading_options
@option("Output", "--schema", "Print the JSON Schema of scenes, for editors.")
@shared.json_option
def show_command(file: str | None, schema: bool, as_json: bool) -> None:
    """Print the scene inside a picture, a scene file, a gallery scene or a file of raw numbers.

    Of a picture, [resolved] tells what the values "auto" were; a scene is read without this table.
    Of a file with several entries (.par, .ufm) the names are listed, and FILE#NAME shows one. Of a
    file of a palette the palette is shown.
    """
    from fractals.scene.model import Scene, toml_text
    from fractals.tools.schema import schema_of

    if schema:
        if file is not None:
            raise OptionError("--schema is that of all scenes: name none with it")
        print_json(schema_of(Scene))
        return
    if file is None:
        raise OptionError("show requires a SCENE, such as sea.png or seahorse, or --schema")
    if show_entries(file, as_json) or show_palette(file, as_json):
        return
    raw = is_raw(file)
    scene = show_raw(file) if raw else requested_scene((file,), {})
    table = scene.to_table()
    if resolved := {} if raw else resolved_of(file):
        table["resolved"] = resolved
    print_facts(table, toml_text(table), as_json)


def resolved_of(file: str) -> dict[str, Any]:
    """Return what the values "auto" were in a picture that this program drew."""
    from fractals.io.foreign import formats
    from fractals.io.tables import read_resolved

    path = Path(file)
    if path.suffix.lower() not in formats.PICTURES or not path.exists():
        return {}
    return read_resolved(path)


def show_entries(file: str, as_json: bool) -> bool:
    """List the entries of a file that has more than one; return whether it has."""
    from fractals.io.foreign import formats

    found = formats.entries(file, shared.formulas())
    if len(found) < 2:
        return False
    lines = [f"{as_argument(f'{file}#{name}')}  {as_typed(about)}\n" for name, about in found]
    text = "".join(lines)
    print_facts(dict(found), text, as_json)
    return True


def show_palette(file: str, as_json: bool) -> bool:
    """Print the palette of another program's file of palettes; return whether it is one."""
    from fractals.io.foreign import formats
    from fractals.scene.model import toml_text, validate

    form = formats.find(formats.split(file)[0].name)
    if form is None:
        return False
    imported = formats.read(file, shared.formulas(), shared.lossy())
    if not is_palette(dict(imported.table)):
        return False
    tell_lost([f"{file}: {line}" for line in imported.lost])
    table = {"color": {"palette": validate(imported.table, file).to_table()["color"]["palette"]}}
    print_facts(table, toml_text(table), as_json)
    return True


def is_raw(file: str) -> bool:
    """Tell whether a name is that of a file of raw numbers, and not of an entry of another file."""
    from fractals.io.escape_data import SUFFIXES
    from fractals.io.foreign import formats

    path, entry = formats.split(file)
    return not entry and path.name.lower().endswith(SUFFIXES)


def show_raw(file: str) -> "Scene":
    """Say what is in a file of raw numbers, and return its scene."""
    from fractals.io.files import read_store_header
    from fractals.io.stores.store import open_store
    from fractals.rendering.families import load_raw
    from fractals.rendering.raw_numbers import EscapeData

    is_store = Path(file).suffix.lower() == ".fz"
    if is_store and "family" in read_store_header(Path(file)):
        found = load_raw(file)
        tell(f"{file}: {found}")
        scene: Scene = found.scene
        return scene
    if is_store:
        store = open_store(file)
        done = int(store.done().sum())
        planes = ", ".join(f"{name} ({dtype})" for name, dtype in store.planes.items())
        tell(
            f"{file}: {store.shape[1]}x{store.shape[0]} samples, {planes}, {store.method}, "
            f"max_iterations {store.max_iterations}; {done} of {counted(store.tiles, 'tile')} "
            f"finished, {store.size / 2**20:.0f} MiB"
        )
        return store.scene
    raw = EscapeData.load(file)
    tell(
        f"{file}: {raw.count.shape[1]}x{raw.count.shape[0]} samples in {raw.precision}, counts "
        f"{raw.count.min()} to {raw.count.max()}, max_iterations {raw.max_iterations}, "
        f"{'with' if raw.dz is not None else 'without'} dz"
    )
    return raw.scene
