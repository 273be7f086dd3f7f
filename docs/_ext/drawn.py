"""The directive `fractal`: runs what a page shows while the docs are built, and adds the picture.

    ```{fractal}
    fractals find nucleus seahorse -o mini.toml
    fractals render mini.toml -o mini.png
    ```

Each line is a command; the file that the last one writes is the picture, or a web page, shown in a
frame. Instead of commands, the argument `toml` marks a scene to draw, `file` a text to keep, and
`python` code whose last line is the picture or a value to print. The options of a block:

    size     size that `render` and `compute` take in place of their own
    file     name of a scene or text
    picture  file that is shown, where the last command writes several
    output   also show what was printed
    alt      text for readers who don't see the picture

The blocks of a page share a folder and Python's names. A result is kept under a digest of the
page's blocks so far and of the package's version, so an unchanged block is not drawn again.
"""

import ast
import contextlib
import hashlib
import html
import io
import shlex
import shutil
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

import fractals
from fractals.cli.verbs import run_verb

FOLDER = "_drawn"  # of all results; Sphinx looks for pictures below the folder of the pages
SIZE = "560x315"  # pixels, where neither a command nor its block has a size
LANGUAGES = {"": "bash", "toml": "toml", "python": "python", ".py": "python", ".toml": "toml"}
PICTURES = (".png", ".jpg", ".webp", ".gif", ".html")


class Page:
    """The blocks of a page so far: their folder, Python's names, and those that have not run."""

    def __init__(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.folder, self.names, self.waiting = folder, {}, []
        self.digest = hashlib.sha256(fractals.__version__.encode())

    def add(self, *block):
        """Add a block, and return the name of its result."""
        self.waiting.append(block)
        self.digest.update(repr(block).encode())
        return self.digest.hexdigest()[:16]

    def run(self):
        """Run what has not run; return the picture of the last block, or None, and its output."""
        picture, printed = None, io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with contextlib.chdir(self.folder):
            for kind, text, size, name in self.waiting:
                printed.seek(0)
                printed.truncate()
                with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                    if kind in ("toml", "file"):
                        Path(name).write_text(f"{text}\n", "utf-8")
                        drawn = f"fractals render {name} -o {Path(name).stem}.png"
                        text = drawn if kind == "toml" else ""
                    run = self.run_python if kind == "python" else run_commands
                    picture = run(text, size)
                if picture is False:
                    raise ValueError(f"{text}\n{printed.buffer.getvalue().decode()}")
        self.waiting.clear()
        return picture and self.folder / picture, printed.buffer.getvalue().decode()

    def run_python(self, text, _size):
        """Run code; print its last expression, or save it if it is a picture."""
        *body, last = ast.parse(text).body
        if not isinstance(last, ast.Expr):
            body, last = [*body, last], None
        exec(compile(ast.Module(body, []), "<docs>", "exec"), self.names)
        value = last and eval(compile(ast.Expression(last.value), "<docs>", "eval"), self.names)
        if isinstance(value, fractals.Image):
            value.save("python.png", overwrite=True)
            return "python.png"
        if value is not None:
            sys.stdout.write(f"{value!r}\n")
        return None


def run_commands(text, size):
    """Run command lines; return the file that the last one writes, or False if one fails."""
    file = None
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)[1:]
        file = words[words.index("-o") + 1] if "-o" in words else None
        if words and run_verb([*words, *added(words, size)]) != 0:
            return False
    return file if file and file.endswith(PICTURES) and Path(file).exists() else None


def added(words, size):
    """Return the options that a command gets in addition: a small size, and leave to repeat it."""
    draws = words[:1] in (["render"], ["compute"]) and "-o" in words
    sized = ["--size", size or SIZE] * (draws and bool(size or "--size" not in words))
    return sized + ["--overwrite"] * ("-o" in words)


class Fractal(SphinxDirective):
    """Shows commands, a scene or code, with what they draw or print."""

    has_content = True
    optional_arguments = 1
    option_spec = {  # noqa: RUF012
        "size": directives.unchanged,
        "file": directives.unchanged,
        "alt": directives.unchanged,
        "picture": directives.unchanged,
        "output": directives.flag,
    }

    def run(self):
        """Return the picture, the text of the block, and what it printed."""
        results, docname = Path(self.env.srcdir) / FOLDER, self.env.docname.replace("/", "-")
        page = self.env.temp_data.get("fractal") or Page(results / docname)
        self.env.temp_data["fractal"] = page
        kind, text = " ".join(self.arguments), "\n".join(self.content)
        size, file = self.options.get("size", ""), self.options.get("file", "scene.toml")
        key = page.add(kind, text, size, file)  # the order of `Page.run`
        log = results / f"{key}.txt"
        if not log.exists():
            try:
                picture, printed = page.run()
                if "picture" in self.options:
                    picture = page.folder / self.options["picture"]
                if picture:
                    shutil.copy(picture, log.with_suffix(picture.suffix))
            except Exception as error:
                raise self.error(f"this block fails: {error}") from error
            log.write_text(printed, "utf-8")
        language = LANGUAGES[Path(file).suffix if kind == "file" else kind]
        shown = [nodes.literal_block(text, text, language=language)]
        if "output" in self.options:
            printed = log.read_text("utf-8").rstrip()
            shown.append(nodes.literal_block(printed, printed, language="none"))
        alt = self.options.get("alt", text)
        pictures = [path.name for path in results.glob(f"{key}.*") if path != log]
        images = [self.shown(name, alt) for name in pictures]
        shown = [*shown, *images] if kind == "python" else [*images, *shown]
        return [nodes.container("", *shown, classes=["fractal"])]

    def shown(self, name, alt):
        """Return a picture, or the frame of a web page."""
        if not name.endswith(".html"):
            return nodes.image(uri=f"/{FOLDER}/{name}", alt=alt)
        place = f"{'../' * self.env.docname.count('/')}{FOLDER}/{name}"
        frame = f'<iframe src="{place}" title="{html.escape(alt)}" loading="lazy"></iframe>'
        return nodes.raw("", frame, format="html")


def copy_pages(app, _error):
    """Copy the web pages, which Sphinx does not know as it knows pictures."""
    target = Path(app.outdir) / FOLDER
    for page in Path(app.srcdir, FOLDER).glob("*.html"):
        target.mkdir(exist_ok=True)
        shutil.copy(page, target)


def setup(app):
    """Add the directive; blocks change the working folder, so pages are read one after another."""
    app.add_directive("fractal", Fractal)
    app.connect("build-finished", copy_pages)
    return {"version": fractals.__version__, "parallel_read_safe": False}
