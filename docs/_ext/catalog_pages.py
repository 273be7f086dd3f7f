"""Directives that list formulas, solids, colorings, palettes, scenes, and a scene's keys."""

import inspect
import re
from pathlib import Path

import numpy as np
from PIL import Image
from sphinx.util.docutils import SphinxDirective

import fractals
from fractals import catalog
from fractals.cli.convert import about_name
from fractals.color.palette import load
from fractals.explorer.pages import THUMBNAILS
from fractals.io.load import load_scene
from fractals.lessons.kernel_sources import lacking
from fractals.scene.keywords import SceneKeywords
from fractals.scene.model import Scene
from fractals.tools.gallery import picture_file
from fractals.tools.schema import schema_of
from fractals.tools.sheet import turn

FOLDER = "_drawn"  # as of `drawn`
SOURCE = "https://github.com/fractals-numba/fractals/blob/main/"  # as of `conf`
STRIP = (360, 28)  # pixels of a palette's picture


def table(head, rows):
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"


def formulas(folder):
    """Yield a section of each group of formulas: thumbnail, name, map, options and depth."""
    groups = {}
    for name in catalog.names("formula"):
        make = catalog.load("formula", name)
        made = make()
        options = [f"`{line.replace(':', '`:', 1)}" for line in about_name("formula", name)[1]]
        depth = "any" if made.perturbed or made.sequence else "1e-27"
        row = [copied(folder, "formula", name), "<br>".join([f"**`{name}`**", *options])]
        groups.setdefault(made.group, []).append([*row, made.title, source_of(make), depth])
    for group in sorted(groups, key=lambda group: (group == "Others", group)):
        yield f"## {group}\n"
        yield table(["", "name and options", "map", "source", "depth"], groups[group])


def source_of(make):
    """Return who described a formula: as a row of the table says, or in brackets."""
    text = inspect.getdoc(make) or inspect.getmodule(make).__doc__ or ""
    if text.startswith("Return the formula."):
        return text.removeprefix("Return the formula.").strip(" .")
    found = re.search(r"\(([^()]*\d{4})\)", text)
    return found[1].replace("\n", " ") if found else ""


def attractors(_folder):
    """Yield a table of the attractors: name, map or flow, and parameters."""
    yield parametric("attractor")


def solids(_folder):
    """Yield a section of each solid: its source, and a table of its options."""
    for name in catalog.names("solid"):
        if name in ("solid_expression", "solid_hybrid"):  # the page describes their options
            continue
        made = catalog.load("solid", name)()
        yield f"## `{name}`\n\n{made.title}. {made.source}.\n"
        rows = [
            [f"`{key}`", f"`{value}`", knob.meaning, f"{knob.least:g} to {knob.most:g}"]
            for key, value in made.parameters.items()
            for knob in [made.knobs[key]]
        ]
        if rows:
            yield table(["option", "default", "meaning", "range"], rows)


def variations(_folder):
    """Yield a table of the variations of flames: name, meaning and parameters."""
    yield parametric("variation")


def parametric(kind):
    """Return a table of a kind whose names have numbers as parameters."""
    rows = []
    for name in catalog.names(kind):
        title, options = about_name(kind, name)
        lines = [f"`{line.replace(':', '`:', 1)}" + "`" * (":" not in line) for line in options]
        rows.append([f"`{name}`", title, "<br>".join(lines)])
    return table(["name", "what it does", "parameters"], rows)


def colorings(folder):
    """Yield a section of each coloring: its meaning, its options and a gallery scene with it."""
    scenes = {name: colorings_of(name) for name in catalog.names("gallery")}
    rows = []
    for name in catalog.names("coloring"):
        title, options = about_name("coloring", name)
        users = [scene for scene, used in scenes.items() if name in used]
        users.sort(key=lambda scene: scenes[scene].index(name))
        picture = copied(folder, "scene", users[0]) + f" `{users[0]}`" if users else ""
        text = "<br>".join([title, *(f"`{line.replace(':', '`:', 1)}" for line in options)])
        rows.append([picture, f"`{name}`", text])
    yield table(["scene of the gallery", "name", "value, and options"], rows)


def colorings_of(name):
    """Return the names of the colorings of a gallery scene, from the bottom to the top."""
    color = load_scene(f"gallery:{name}").color
    return [paint.coloring.name for paint in color.paints]


def palettes(folder):
    """Yield a table of the palettes, each with its colors in one turn."""
    rows = []
    for name in catalog.names("palette"):
        strip = np.broadcast_to(turn(name, STRIP[0]), (STRIP[1], STRIP[0], 3))
        path = folder / f"palette-{name}.png"
        Image.fromarray(np.ascontiguousarray(strip)).save(path)
        ends = "cyclic" if load(name).cyclic else "two ends"
        rows.append([f"`{name}`", f"![{name}](/{FOLDER}/{path.name})", ends])
    yield table(["name", "one turn", ""], rows)


def backends(_folder):
    """Yield tables of the formulas, colorings and solids that OpenCL has: translated here."""
    for kind in ("formula", "coloring", "solid"):
        rows = []
        for name in catalog.names(kind):
            reason = lacking(kind, name)
            rows.append([f"`{name}`", "yes", f"no: {reason}" if reason else "yes"])
        yield table([kind, "`python`, `cpu`, `simulator`, `cuda`", "`opencl`"], rows)


def scenes(folder):
    """Yield a table of the gallery's scenes."""
    rows = []
    for name in catalog.names("gallery"):
        scene = load_scene(f"gallery:{name}")
        picture = f"[{copied(folder, 'scene', name)}]({SOURCE}gallery/{picture_file(name)})"
        link = f"[`{name}`]({SOURCE}gallery/{name}.toml)"
        rows.append([picture, link, f"*{scene.title}.* {scene.note}"])
    yield table(["larger picture", "name and scene", "about"], rows)


def copied(folder, kind, name):
    """Return the Markdown of a thumbnail of the package, copied to where Sphinx finds it."""
    source = THUMBNAILS / kind / f"{name}.webp"
    if not source.exists():
        return ""
    target = folder / f"{kind}-{name}.webp"
    target.write_bytes(source.read_bytes())
    return f"![{name}](/{FOLDER}/{target.name})"


TABLES = {
    "": "Scene",
    "view": "View",
    "image": "ImageSettings",
    "iteration": "Iteration",
    "color": "Color",
    "color.layers": "Layer",
    "color.layers.layers": "LayerGroup",
    "color.layers.picture_mask": "PictureMask",
    "scatter": "Scatter",
    "display": "Display",
    "relief": "Relief",
    "camera": "Camera",
    "light": "Light",
    "develop": "Develop",
    "film": "FilmSettings",
    "film.keys": "Key",
    "film.keys.camera": "KeyCamera",
    "film.sound": "Sound",
}
TABLES_OF_KEYWORDS = (
    *("view", "image", "iteration", "color"),
    *("scatter", "display", "relief", "camera", "light", "develop"),
)
GROUP = "A group in `[[color.layers]]`"
LISTS = ("color.layers", "film.keys")  # tables of which there may be several


def keys(_folder):
    """Yield a section of each table of a scene file, from the schema."""
    schema = schema_of(Scene)
    for path, name in TABLES.items():
        inner = "[[{}]]" if path in LISTS else "[{}]"
        shown = f"`{inner.format(path)}`" if path else "Top level"
        yield f"## {GROUP if name == 'LayerGroup' else shown}\n"
        properties = (schema if not path else schema["$defs"][name])["properties"]
        rows = [
            [
                f"[`{key}`]{{#{anchor(path, key)}}}",
                type_of(part),
                default_of(part),
                part.get("description", ""),
            ]
            for key, part in properties.items()
            if (f"{path}.{key}" if path else key) not in TABLES
        ]
        yield table(["key", "type", "default", "meaning"], rows)


def anchor(path, key):
    """Return the anchor of a key: `key-color-palette`."""
    return "-".join(["key", *path.split(".") * bool(path), key]).replace("_", "-")


def keywords(_folder):
    """Yield a table of the keywords of `render`: each leads to its key of a scene."""
    schema, rows = schema_of(Scene), {}
    for path in ("", *TABLES_OF_KEYWORDS):
        properties = (schema if not path else schema["$defs"][TABLES[path]])["properties"]
        for key in SceneKeywords.__annotations__:
            if key in properties and key not in rows:
                whole = (f"{path}.{key}" if path else key) in TABLES  # a table by itself
                link = f"[`{key}`](scene.md)" if whole else f"[`{key}`](#{anchor(path, key)})"
                place = f"`[{path}]`" if path else ""
                rows[key] = [link, place, properties[key].get("description", "")]
    assert set(rows) == set(SceneKeywords.__annotations__)
    yield table(["keyword", "table of a scene", "meaning"], rows.values())


def type_of(part):
    """Return the type of a key in words, with its choices or its range."""
    if "enum" in part:
        return ", ".join(f"`{choice}`" for choice in part["enum"])
    if "anyOf" in part:
        return " or ".join(type_of(one) for one in part["anyOf"] if one.get("type") != "null")
    if "const" in part:
        return f"`{part['const']}`"
    if "prefixItems" in part:
        return f"[{', '.join(type_of(one) for one in part['prefixItems'])}]"
    kinds = part.get("type", "table")
    named = {"object": "table", "array": "list"}
    kinds = [kinds] if isinstance(kinds, str) else kinds
    text = " or ".join(named.get(kind, kind) for kind in kinds)
    if "minimum" in part or "maximum" in part:
        text += f" from {part.get('minimum', '-∞')} to {part.get('maximum', '∞')}"
    return text


def default_of(part):
    """Return the default of a key as TOML writes it; nothing for one without."""
    value = part.get("default")
    if isinstance(value, dict):
        value = value.get("name", "")
    if value in (None, "", []):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def directive(write):
    """Return a directive that parses the Markdown which a function yields."""

    class Listing(SphinxDirective):
        def run(self):
            folder = Path(self.env.srcdir) / FOLDER
            folder.mkdir(exist_ok=True)
            return self.parse_text_to_nodes("\n".join(write(folder)), allow_section_headings=True)

    return Listing


LISTINGS = (
    *(formulas, attractors, solids, variations, colorings, palettes),
    *(scenes, keys, keywords, backends),
)


def setup(app):
    """Add the directives `list-formulas`, `list-colorings`, and so on."""
    for write in LISTINGS:
        app.add_directive(f"list-{write.__name__}", directive(write))
    return {"version": fractals.__version__, "parallel_read_safe": True}
