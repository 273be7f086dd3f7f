"""Mutations of small valid files of every kind that is read, and what reading one may end in."""

import contextlib
import io
import json
import os
import random
import shutil
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
from support.deadline import DeadlineMissed, deadline
from support.memory import most_memory
from support.scenes import scene

import fractals
from fractals.cli.values import parse_size
from fractals.color import trap_image
from fractals.errors import MAX_LINES, FractalsError
from fractals.io import png
from fractals.io.film_files import read_points
from fractals.io.load import load_scene
from fractals.rendering.raw_numbers import EscapeData
from fractals.tools.pixels import read_pixels

MEMORY = 500 * 2**20  # bytes by which reading a file may raise the peak of the process

TEXTS = {
    "a.kfr": "Re: -0.75\r\nIm: 1.5e-3\r\nZoom: 1E5\r\nIterations: 500\r\nIterDiv: 0.1\r\n"
    "ColorMethod: 1\r\nColorOffset: 3\r\nRotateAngle: 10\r\nStretchAmount: 0.5\r\n"
    "Colors: 255,0,9,0,128,64,\r\nSmooth: 1\r\nPower: 2\r\nFractalType: 1\r\nSeedR: 0\r\n",
    "b.kfr": "Re: 0\nIm: 0\nZoom: 1\nUseHybridFormula: 1\n"
    "HybridFormula: 1/1|1,1,0,0,2,1,0;1,0,0,1,3,-2,0.5;2/2|0,0,0,0,2,1,0;0,0,0,0,0,0,0;0\n"
    "FactorAR: 1\nFractalType: 42\nPower: 3\n",
    "a.kfp": "Colors: 255,0,9,0,128,64,\nIterDiv: 1\nInteriorColor: 1,2,3,\nSmooth: 0\n",
    "a.par": "first { ; comment\n  reset=1960 type=julia corners=-2/2/-1.5/1.5 \\\n"
    "  params=0.3/0.6 maxiter=300 inside=0 colors=000zzz<3>000 logmap=yes\n}\n"
    "second { type=fn+fn function=sin/sqr center-mag=-0.5/0/2/1/30 bailout=16 }\n",
    "a.ufm": "A { ; comment\ninit:\n float func f(float x, int n)\n  return x*n\n endfunc\n"
    " complex w[2], w[0] = #pixel, float x = f(0.5, 1)\nloop:\n"
    '$ifdef VER50\n if @mode == "one" && !@flag\n  z = @fn1(z)^@power + w[0]\n'
    " else\n  z = (x, 2i)\n"
    " endif\n$endif\n int k = 0\n while k < 2\n  k = k + 1, z = z + k\\\n % 2\n endwhile\n"
    'bailout:\n |z| < @bailout\ndefault:\n title = "t {"\n center = (-0.5, 1/8)\n magn = 2\n'
    ' maxiter = 90\n float param bailout\n  caption = "b"\n  default = 4*2\n  min = 1\n endparam\n'
    ' param mode\n  enum = "one" "two"\n endparam\n bool param flag\n endparam\n}\n',
    "a.upr": 'A {\nfractal:\n title="t" width=64 height=48\nlayer:\n caption="c" visible=yes\n'
    "mapping:\n center=-0.5/1E-2 magn=1.5E3 angle=12\nformula:\n maxiter=300 \\\n"
    'filename="Standard.ufm" entry="Julia" p_seed=0.3/-0.4 p_power=2/0 p_bailout=128\ninside:\n'
    " transfer=none solid=255\noutside:\n density=2 transfer=sqrt\ngradient:\n smooth=yes index=0\n"
    " color=255 index=-130 color=16711680\n}\n",
    "a.xpf": "; a position\n(initstate)\n(formula 'mandel)\n(view -0.75 0 2.5 2.5)\n(angle 10)\n"
    "(maxiter 1000)\n(julia #t)\n(juliaseed 0.3 0.5)\n(outcoloring 3)\n",
    "b.xpf": '(initstate)\n(formula \'user)\n(usrform "z^2+1.5e2i*c")\n(usrformInit "0")\n',
    "a.f3.toml": 'program = "fraktaler-3"\nlocation.real = "-1.5"\nlocation.imag = "0.1"\n'
    'location.zoom = "1e10"\nbailout.iterations = 500\ntransform.rotate = 5.0\n'
    'formula = [{ abs_x = true, power = 2, opcodes = "absx sqr add" }]\nimage.width = 64\n',
    "a.toml": 'real = "-1.75"\nimag = "0.01"\nzoom = "1e3"\niterations = 900\nrotate = 3\n'
    "image_width = 64\nimage_height = 48\n",
    "b.toml": 'title = "sea"\nformula = {name = "multibrot", power = 3}\njulia = ["0.1", "0.2"]\n'
    '[view]\ncenter = ["-0.75", "0.1"]\nzoom = "1e6"\nrotation = 30\n[image]\nsize = [64, 48]\n'
    "supersampling = 2\n[iteration]\nmax_iterations = 0x1ff\n[color]\npalette = [[0.0, '#000'], "
    '[0.5, "oklch(0.6 0.1 250)"]]\ncoloring = {name = "stripe_average", density = 3}\n'
    '[[color.layers]]\ncoloring = "slopes"\nblend = "multiply"\nopacity = 0.5\n'
    '[[color.layers]]\nblend = "screen"\npicture_mask = "flower"\n[[color.layers.layers]]\n',
    "c.toml": '[color]\npalette = "a.map"\n[[color.layers]]\npalette = "a.ugr#second"\n'
    "range = [0, 1.5]\nmask = 'escaped'\n[view]\nprojection = \"exponential\"\nmirror = true\n",
    "a.json": json.dumps(
        {
            "formula": "z^3 + c*sin(z)",
            "view": {"width": "1e-3", "stretch": 2, "stretch_angle": 4.5},
            "color": {"palette": {"stops": ["#fff", "#123456"], "blend": "smooth"}, "density": 2},
            "iteration": {"escape_radius": 1e4, "precision": "float64"},
        }
    ),
    "d.toml": "palette = [0, 7, 100, 32, 107, 203, 237, 255, 255]\niteration_division = 100.0\n"
    "image_width = 64\nimage_height = 48\niterations = 100\n",
    "a.csv": "t, x\n0, -1.5\n0.5, \u22122e-3\n# c\n1, 3\n",
    "a.map": "0 0 0 black\n255 128 9\n; comment\n12 13 14\n",
    "a.gpl": "GIMP Palette\nName: two\nColumns: 3\nChannels: RGBA\n# c\n  0   9 200\tx\n1 2 3\n",
    "a.ggr": "GIMP Gradient\nName: g\n2\n"
    "0.0 0.2 0.5 1 0 0 1 0 1 0 1 1 1 0 0\n0.5 0.75 1.0 0 1 0 1 1 1 0.5 1 3 2\n",
    "a.ugr": 'first {\ngradient:\n title="a \\\nb" smooth=yes rotation=3\n index=0 color=255\n'
    " index=200 color=16711680\nopacity:\n smooth=no index=0 opacity=255\n}\n; c\nsecond {\n"
    "gradient:\n index=-3 color=7\n}\n",
    "expression": "z^2 + c*sin(1/(z - 2.5*i)) + exp(-z)^-3",
    "number": "+1.25e-3",
    "point": "(-1.25e-3 + 0.5i)",
    "size": "100x70.5cm@300dpi",
}
PIECES = """
    0 1 -1 9 99999999999 1e999999 1e-999999 1e1000001 nan inf -inf 0x 0.1 . .. a.b / // { } [ ] (
    ) < > " ' = : ; , # @ % * ** ^ + - i tan( sqrt( z c true null "" ''' [[ ]]
    ../ ~ oklch(1 2 3) #ffffff auto cmap: smooth first
""".split()  # noqa: SIM905
PIECES += ["\\", "\\u0000", '"""']
PIECES += [" ", "\n", "\r\n", "\t", "\0", "\x1b[0m", "\x1a", "\ufeff", "é", "\u2028", "\U0001f600"]
PIECES = [piece.encode() for piece in PIECES] + [b"\xff", b"\xff\xfe", b"\x80"]
NUMBERS = (0, 1, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)


class Unanswered(Exception):
    """A file that is neither read nor refused as it should be."""


def mutated(dice, content):
    """Return content with one to four random changes."""
    for _ in range(dice.choice((1, 1, 1, 2, 2, 4))):
        at = dice.randrange(len(content) + 1)
        end = min(len(content), at + dice.choice((0, 1, 1, 2, 4, 8, 30, len(content))))
        change = dice.randrange(8)
        if change == 0 and at < len(content):  # a bit
            middle = bytes([content[at] ^ 1 << dice.randrange(8)])
            end = at + 1
        elif change == 1:  # bytes
            middle = dice.randbytes(end - at)
        elif change == 2:  # cut out
            middle = b""
        elif change == 3:  # repeated
            piece = content[at : min(end, at + 30)]
            middle = piece * dice.choice((2, 3, 20, 1000))
        elif change == 4:  # a piece of elsewhere
            start = dice.randrange(len(content) + 1)
            middle = content[start : start + end - at]
        elif change == 5:  # a binary number
            number = dice.choice(NUMBERS)
            middle = struct.pack(dice.choice("<>") + "Q", number)[: dice.choice((1, 2, 4, 8))]
            end = min(len(content), at + len(middle))
        elif change == 6:  # a digit, or more of them
            digits = [k for k, byte in enumerate(content[:4000]) if 48 <= byte < 58] or [at]
            at = dice.choice(digits)
            end = at + 1
            middle = dice.choice((b"9" * dice.choice((1, 20, 400)), b"-1", b"0", b"1e9", b"0.5"))
        else:
            middle = dice.choice(PIECES) * dice.choice((1, 1, 1, 2, 300))
            end = at if dice.random() < 0.5 else end
        content = content[:at] + middle + content[end:]
    return content


def json_mutated(dice, value):
    """Return a value of JSON with one change somewhere inside."""
    other = dice.choice((None, True, "", "x", -1, 0, 2**31, 1e300, float("nan"), [], {}, [1, 2]))
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        change = json_mutated(dice, value[key])
        return {**value, (key if dice.random() < 0.9 else "other"): change}
    if isinstance(value, list) and value and dice.random() < 0.7:
        at = dice.randrange(len(value))
        return [*value[:at], json_mutated(dice, value[at]), *value[at + 1 :]]
    return other


class Fuzz:
    """Small valid files in a folder, and readers of what becomes of them."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.contents = {name: text.encode() for name, text in TEXTS.items()}
        for name in ("a.map", "a.ugr"):
            (self.folder / name).write_text(TEXTS[name])
        drawn = scene(size=(5, 4), supersampling=1, max_iterations=20)
        raw = fractals.compute(drawn, device="python")
        for name in ("a.npz", "a.fz", "a.exr"):
            with contextlib.suppress(FractalsError):  # OpenEXR is not installed
                raw.save(self.folder / name)
        store = self.folder / "a.fz"
        self.store = {path.name: path.read_bytes() for path in store.iterdir()}
        for name in ("a.npz", "a.exr"):
            if (self.folder / name).exists():
                self.contents[name] = (self.folder / name).read_bytes()
        for bits in (8, 16):
            image = fractals.render(drawn.replace(bits=bits), device="python")
            self.contents[f"{bits}.png"] = image.encode()
        for name, file_format in (("a.jpg", "JPEG"), ("a.webp", "WEBP"), ("a.tif", "TIFF")):
            self.contents[name] = fractals.render(drawn, device="python").encode(file_format)
        self.contents["picture"] = trap_image.encode(np.zeros((3, 2, 4), np.uint8)).encode()
        self.contents["a.fz"] = b""
        self.kinds = sorted(self.contents)
        self.work = self.folder / "work"
        self.work.mkdir()
        for name in ("a.map", "a.ugr"):
            shutil.copy(self.folder / name, self.work)

    def input(self, seed, number):
        """Write input `number` of a seed; return its kind and, of a text, the text."""
        dice = random.Random(f"{seed}:{number}")
        kind = dice.choice(self.kinds)
        content = self.contents[kind]
        if kind == "a.fz":
            self._write_store(dice)
            return kind, ""
        if kind == "a.npz" and dice.random() < 0.7:
            content = self.archive(dice, content)
        elif kind.endswith(".png") and dice.random() < 0.7:
            content = self.chunks(dice, content)
        elif kind == "a.exr" and dice.random() < 0.5:
            head = content.index(b"\0\0", 300)
            content = mutated(dice, content[:head]) + content[head:]
        else:
            content = mutated(dice, content)
        if kind == "c.toml":  # its palettes, which other inputs have overwritten
            for name in ("a.map", "a.ugr"):
                shutil.copy(self.folder / name, self.work)
        if "." in kind:
            (self.work / kind).write_bytes(content)
        return kind, content.decode("utf-8", dice.choice(("replace", "surrogateescape")))

    def archive(self, dice, content):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = dice.choice(list(members))
        if dice.random() < 0.5:
            given = np.load(io.BytesIO(members[name]), allow_pickle=False)
            types = ("<i4", ">i4", "<i8", "<c16", "<c8", "<f8", "?", "<U3", "<c32", "<M8[s]")
            shape = dice.choice(((), (1,), (4, 5), (5, 4), (4, 5, 1), (0, 5), (0,), (40, 50)))
            made = np.full(shape, dice.choice((0, 1, 7)), "<i8").astype(dice.choice(types))
            if dice.random() < 0.3 and given.dtype.kind in "iu":
                values = [
                    dice.choice((-(2**31), -1, 0, 20, 21, 2**31 - 1)) for _ in range(given.size)
                ]
                made = np.array(values).reshape(given.shape).astype(given.dtype)
            file = io.BytesIO()
            np.save(file, made)
            members[name] = file.getvalue()
        else:
            members[name] = mutated(dice, members[name])
        if dice.random() < 0.1:
            del members[name]
        file = io.BytesIO()
        method = dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
        with zipfile.ZipFile(file, "w", method) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return file.getvalue()

    def chunks(self, dice, content):
        chunks, at = [], 8
        while at < len(content):
            (length,) = struct.unpack(">I", content[at : at + 4])
            chunks.append((content[at + 4 : at + 8], content[at + 8 : at + 8 + length]))
            at += 12 + length
        k = dice.randrange(len(chunks))
        change = dice.randrange(4)
        if change == 0:
            del chunks[k]
        elif change == 1:
            chunks.insert(dice.randrange(len(chunks) + 1), chunks[k])
        else:
            chunks[k] = chunks[k][0], mutated(dice, chunks[k][1])
        return content[:8] + b"".join(png.chunk(kind, data) for kind, data in chunks)

    def _write_store(self, dice):
        path = self.work / "a.fz"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        contents = dict(self.store)
        name = dice.choice(["header.json", *contents])
        if name == "header.json" and dice.random() < 0.8:
            keys = json_mutated(dice, json.loads(contents[name]))
            keys = keys if isinstance(keys, dict) else {}
            keys.pop("checksum", None)
            text = json.dumps(keys, ensure_ascii=False, indent=1)
            keys["checksum"] = f"{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"
            contents[name] = json.dumps(keys, ensure_ascii=False, indent=1).encode()
        else:
            contents[name] = mutated(dice, contents[name])
        for name, content in contents.items():
            (path / name).write_bytes(content)

    def read(self, kind, text):
        """Read what `input` wrote, as the command line would."""
        path = self.work / kind
        if kind in ("a.npz", "a.fz", "a.exr"):
            raw = EscapeData.load(path)
            if raw.count.size <= 100:
                fractals.recolor(raw, device="python", on_message=str)
        elif kind == "expression":
            load_scene({"formula": text}).make_formula()
            load_scene({"formula": {"name": "newton", "polynomial": text}}).make_formula()
        elif kind == "number":
            load_scene({"view": {"center": [text, "0"], "zoom": text}, "julia": ["0", text]})
        elif kind == "point":
            load_scene({"view": {"center": text}})
        elif kind == "a.csv":
            read_points(path)
        elif kind == "size":
            parse_size(text, (64, 48))
        elif kind == "picture":
            load_scene({"color": {"coloring": {"name": "picture_trap", "picture": text}}})
        else:
            found = load_scene(path, lost=[])
            if load_scene(found.to_table()) != found:
                raise Unanswered("its table is another scene")
            if kind.endswith(".png"):
                read_pixels(path, found.image.bits, found.image.size)

    def check(self, seed, number):
        """Read input `number`; return whether it was valid, or raise an `Unanswered`."""
        kind, text = self.input(seed, number)
        peak = most_memory()
        valid = False
        try:
            with deadline(), quiet(kind):
                self.read(kind, text)
            valid = True
        except FractalsError as error:
            lines = str(error).split("\n")
            if len(lines) > MAX_LINES + 1 or not all(line.isprintable() for line in lines):
                raise Unanswered(f"{kind}: the message {str(error)[:300]!r}") from error
        except (Exception, DeadlineMissed) as error:
            raise Unanswered(f"{kind}: {type(error).__name__}: {str(error)[:300]}") from error
        more = most_memory() - peak
        if more > MEMORY:
            raise Unanswered(f"{kind}: {more / 2**20:.0f} MiB of memory")
        return valid


@contextlib.contextmanager
def quiet(kind):
    """Drop what OpenEXR prints of damaged files."""
    if kind != "a.exr":
        yield
        return
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
