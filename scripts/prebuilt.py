#!/usr/bin/env python3
"""Write the machine code that comes with the package: a file for each level of processors.

    python scripts/prebuilt.py                       # all levels; some 150 s of a core for each
    python scripts/prebuilt.py here --only default,bonfire   # this processor's level, two pictures
    python scripts/prebuilt.py --verify              # pictures by the files, and by compiled code
    python scripts/prebuilt.py --missing             # first pictures that lack a program
    python scripts/prebuilt.py aarch64 --verify --python 'qemu-aarch64 -L ROOT ROOT/usr/bin/python3'

Small pictures are drawn of all scenes of the gallery, in each coloring, and by the commands of
README and of the docs, and the programs that they need are kept: see `fractals.backends.shipped`.
FRACTALS_PREBUILT=1 then puts the files into a wheel (hatch_build.py). The same sources and versions
of Python, Numba and LLVM make the same bytes, in whatever order programs are compiled; --check
compiles again and compares.

Programs are compiled for the level and run. Where this processor lacks a feature of the level, or
is of another kind, code for this processor runs in their place, made of the same text.
"""

import argparse
import contextlib
import hashlib
import io
import json
import math
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

PAGE, DEFAULT, HERE = ".md", "default", "here"
KEY = "="  # in the name of a first picture: a key and its value
# Further first pictures; each coloring has one, too. `lantern` is what the command draws by default
JULIA, NEWTON = "julia=-0.8,0.156", "formula=newton"
DEEP = "distance", "slopes", "stripe_average", "triangle_average", "curvature_average", "orbit_trap"
SAMPLED = "antialias=jittered", *(f"coloring={name}" for name in DEEP[2:])
KIN = "burning_ship", "multibrot", "tricorn", "celtic", "phoenix", "newton"
SECONDS = "seconds"  # in the name of a first picture: it is a film
FIRST = (
    "precision=float32",
    NEWTON,
    f"{JULIA} coloring=distance",
    f"{JULIA} coloring=slopes",
    *(f"{name} supersampling=1" for name in (DEFAULT, "lantern")),
    *(f"{name} bits=16" for name in ("burning_ship", "lantern")),
    *(f"{name} antialias=jittered" for name in (DEFAULT, "lantern", "heirloom")),
    "bloom=0.5 bloom_radius=0.3",  # wide enough for a small picture
    *(f"heirloom coloring={name}" for name in DEEP),
    *(f"{JULIA} {key}" for key in SAMPLED),
    *(f"formula={name} julia=-1.2,0.1" for name in KIN),
    *(f"formula={name} coloring={each}" for name in KIN[:2] for each in DEEP[:3]),
    # Zooms, whose frames are made of a strip
    *(f"{name} {SECONDS}=2 to=1e-2" for name in ("seahorse", "lantern", "silk", "julia")),
    f"rosette {SECONDS}=8",
)
CONVERGING = "root", "speed"  # colorings of orbits that the default formula does not have
Make = Callable[[str], bytes]  # machine code from LLVM's text, as `machine_code.made`
ATTRIBUTES = re.compile(r'"(?:target-cpu|target-features|tune-cpu)"="[^"]*"')
OWN_CLOCK = "@llvm.readcyclecounter()", "declare i64 @llvm.readcyclecounter()"
# The assembler that reads the instruction's text is there for this machine alone.
ARM_CLOCK = (
    "@llvm.read_volatile_register.i64(metadata !999999)",
    'declare i64 @llvm.read_volatile_register.i64(metadata)\n!999999 = !{!"cntvct_el0"}',
)
VERBS = ("compute", "film", "recolor", "render", "sheet", "tiles", "trace")
ELSEWHERE = ("--gpu", "--device", "--cluster")  # options of commands that the CPU does not draw
# What stands for instructions of AVX-512, in LLVM's text: of (lanes, element, name of the element).
COMPRESS, LARGER = "llvm.x86.avx512.mask.compress.v{n}{e}", "llvm.x86.avx512.mask.range.{p}.512"
COMPRESSED = """
declare void @llvm.masked.compressstore.v{n}{e}(<{n} x {t}>, {t}*, <{n} x i1>)
define internal <{n} x {t}> @own.compress.v{n}{e}(<{n} x {t}> %v, <{n} x {t}> %o, <{n} x i1> %m) {{
  %room = alloca <{n} x {t}>
  store <{n} x {t}> %o, <{n} x {t}>* %room
  %first = bitcast <{n} x {t}>* %room to {t}*
  call void @llvm.masked.compressstore.v{n}{e}(<{n} x {t}> %v, {t}* %first, <{n} x i1> %m)
  %all = load <{n} x {t}>, <{n} x {t}>* %room
  ret <{n} x {t}> %all
}}
"""
LARGEST = """
declare <{n} x {t}> @llvm.fabs.v{n}{e}(<{n} x {t}>)
define internal <{n} x {t}> @own.range.{p}(<{n} x {t}> %a, <{n} x {t}> %b, i32 %how,
    <{n} x {t}> %o, i{n} %m, i32 %rounding) {{
  %x = call <{n} x {t}> @llvm.fabs.v{n}{e}(<{n} x {t}> %a)
  %y = call <{n} x {t}> @llvm.fabs.v{n}{e}(<{n} x {t}> %b)
  %less = fcmp olt <{n} x {t}> %x, %y
  %larger = select <{n} x i1> %less, <{n} x {t}> %y, <{n} x {t}> %x
  ret <{n} x {t}> %larger
}}
"""


def main() -> None:
    """Write the files of some levels."""
    from fractals.backends import machine_code, shipped

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    known = f"{', '.join(shipped.LEVELS)}, or {HERE}: this processor's (default: all)"
    parser.add_argument("levels", nargs="*", default=[*shipped.LEVELS], metavar="LEVEL", help=known)
    only = f"scenes of the gallery, with commas, and {DEFAULT}; no commands are run then"
    parser.add_argument("--only", metavar="SCENES", help=only)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes side by side")
    parser.add_argument("--check", action="store_true", help="compile twice, and compare")
    parser.add_argument("--run-as", help="level of the code that runs, as on a lesser processor")
    parser.add_argument("--verify", action="store_true", help="write nothing: compare pictures")
    parser.add_argument("--missing", action="store_true", help="list first pictures that compile")
    parser.add_argument("--python", help="with --verify: a Python that runs the level's code")
    parser.add_argument("--draw", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--digests", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    here = shipped.level_of(machine_code.FEATURES, platform.machine())
    levels = [here if level == HERE else level for level in given.levels]
    if unknown := {*levels, *filter(None, [given.run_as])} - {*shipped.LEVELS}:
        parser.error(f"no levels: {', '.join(unknown)}; there are {', '.join(shipped.LEVELS)}")
    if given.draw is not None:
        draw(given.draw, levels[0], given.run_as)
        return
    if given.digests is not None:
        print_digests(given.digests, levels)
        return
    if given.missing:
        print_missing(given.only.split(",") if given.only else scenes())
        return
    if given.verify:
        verify(levels, given.only.split(",") if given.only else scenes(), given.python)
        return
    work = given.only.split(",") if given.only else all_work()
    for level in levels:
        contents = build(level, work, given.jobs, given.run_as)
        if given.check:
            again = build(level, work[::-1], given.jobs + 1, given.run_as)
            if places := {place for place, _ in contents.items() ^ again.items()}:
                sys.exit(f"{level}: compiled again, these differ: {', '.join(sorted(places))}")
        data = shipped.packed(contents, together=True)
        file = shipped.file_of(level)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
        print(f"{file.relative_to(ROOT)}: {len(data) / 1e6:.2f} MB")


def all_work() -> list[str]:
    """Return the names of all pictures, and the pages whose commands are run."""
    from test_docs_commands import EACH

    return [*scenes(), "README.md", *EACH]


def scenes() -> list[str]:
    """Return the names of first pictures and of the scenes of the gallery."""
    from fractals import catalog

    colorings = (
        f"{f'{NEWTON} ' if name in CONVERGING else ''}coloring={name}"
        for name in catalog.names("colorings")
    )
    formulas = (
        f"formula={name}"
        for kind in ("formulas", "attractors", "solids")
        for name in catalog.names(kind)
    )
    return [DEFAULT, *FIRST, *colorings, *catalog.names("gallery"), *formulas]


def picture_of(name: str) -> tuple[list[str], dict[str, Any]]:
    """Return the sources and the keys of a picture that `scenes` names: as a user gives them.

    Densities and offsets are fitted to keys that are given so, which takes a program, too.
    """
    parts = [part for part in name.split() if part != DEFAULT]
    sources = [f"gallery:{part}" for part in parts if KEY not in part]
    keys: dict[str, Any] = dict(part.split(KEY) for part in parts if KEY in part)
    if "julia" in keys:
        keys["julia"] = tuple(keys["julia"].split(","))
    return sources, keys


def build(level: str, work: list[str], jobs: int, run_as: str | None) -> dict[str, bytes]:
    """Return the programs of a level, made with an empty cache, by their places in it."""
    from fractals.backends import code_cache, shipped

    more = ["--run-as", run_as] if run_as else []
    with tempfile.TemporaryDirectory() as folder:
        clean = {name: value for name, value in os.environ.items() if "NUMBA_" not in name}
        places = ("NUMBA_CACHE_DIR", "FRACTALS_CACHE_DIR", "XDG_CONFIG_HOME")  # no user's defaults
        own = {**dict.fromkeys(places, folder), "FRACTALS_DEVICE": "cpu"}
        environment = clean | shipped.environment_of(level) | own
        parts = [part for part in (work[k::jobs] for k in range(jobs)) if part]
        processes = [
            subprocess.Popen(
                [sys.executable, __file__, level, *more, "--draw", *part], env=environment
            )
            for part in parts
        ]
        if any([process.wait() for process in processes]):  # noqa: C419 - all are waited for
            sys.exit(f"{level}: a picture failed")
        files = sorted(Path(folder).glob("fractals-*/cpu-*/*.code"))
        contents = {f"{file.parent.name}/{file.name}": file.read_bytes() for file in files}
    for place, content in contents.items():
        facts = json.loads(content[code_cache.BEGINNING :].partition(b"\n")[0])
        if not facts.keys() & {"entry", "refused"}:
            sys.exit(f"{level}: a program that LLVM has to link: {place}")
    print(f"{level}: {len(contents)} programs")
    return contents


def draw(work: list[str], level: str, run_as: str | None) -> None:
    """Draw scenes, and run the commands of pages, with programs for a level."""
    from fractals.backends import machine_code, shipped
    from fractals.backends.cpu import tile_loop
    from fractals.deep import orbit_steps

    own = host_features()
    if level == shipped.ARM != platform.machine():
        tile_loop.CLOCK = tile_loop.CLOCKS[shipped.ARM]
        run_in_place(*own, for_arm(machine_code.made))
    elif run_as or not shipped.LEVELS[level] <= features_of(own[1]):
        run_in_place(*(shipped.environment_of(run_as).values() if run_as else own))
    tile_loop.is_stored = lambda *_: True  # a first picture has the loop for it
    orbit_steps.PATIENCE = math.inf  # on a busy machine more orbits would seem worth a program
    for each in work:
        run_page(each) if each.endswith(PAGE) else draw_scene(each)


def draw_scene(name: str) -> None:
    """Draw a small picture of a scene that `scenes` names, on one thread."""
    pixels_of(name, (32, 18), threads=1)


def pixels_of(name: str, size: tuple[int, int], **options: Any) -> bytes:
    """Return the pixels of a small picture that `scenes` names, or those of a film's frames."""
    import fractals

    sources, keys = picture_of(name)
    how = {"size": size, "on_message": lambda line: None, "device": "cpu", **options}
    if SECONDS in keys:
        return b"".join(frame.tobytes() for frame in film_of(name, **how))
    return fractals.render(*sources, **keys, **how).pixels.tobytes()


def film_of(name: str, **how: Any) -> Any:
    """Return the film that a name of `scenes` says: with enough frames and pixels for a strip."""
    import fractals

    sources, keys = picture_of(name)
    keys[SECONDS] = float(keys[SECONDS])
    return fractals.film(*sources, **keys, **how | {"size": (64, 36), "fps": 10})


def run_page(name: str) -> None:
    """Run the commands of a page that draw on the CPU, with few pixels."""
    from test_docs_commands import commands_of, is_marked, marks_of, small, supply, text_of

    from fractals.cli.verbs import run_verb

    text = text_of(name)
    marks, quiet = marks_of(text), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
    ):
        for words, _ in commands_of(text):
            if isinstance(words, tuple):
                file, code, kind = words
                if kind in ("toml", "file"):
                    Path(file).write_text(code, "utf-8")
            elif (
                words[0] in VERBS
                and not is_marked(words, marks)
                and not any(word.startswith(ELSEWHERE) for word in words)
            ):
                with contextlib.suppress(FileNotFoundError):  # another verb would have written it
                    supply(words)
                    run_verb(small(words))


def verify(levels: list[str], names: list[str], python: str | None) -> None:
    """Compare pictures by the files of some levels with those by code compiled here."""
    from fractals.backends import shipped

    compiled, here = digests("", names), features_of(host_features()[1])
    for level in levels:
        other = level == shipped.ARM != platform.machine()
        if not python and (other or not shipped.LEVELS[level] <= here):
            print(f"{level}: not compared, as this processor lacks its features")
            continue
        found = digests(level, names, python)
        if different := [name for name in names if found[name] != compiled[name]]:
            sys.exit(f"{level}: other pixels: {', '.join(different)}")
        print(f"{level}: {len(names)} pictures are equal")


def digests(level: str, names: list[str], python: str | None = None) -> dict[str, str]:
    """Return digests of pictures, drawn in a process by the file of a level, or compiled."""
    from fractals.backends import shipped

    with tempfile.TemporaryDirectory() as folder:
        own = {shipped.SWITCH: "0"}
        if level:
            own = {**shipped.environment_of(level), "NUMBA_CACHE_DIR": folder}
        clean = {name: value for name, value in os.environ.items() if name != shipped.SWITCH}
        done = subprocess.run(
            [
                *(shlex.split(python) if python else [sys.executable]),
                __file__,
                *([level] if level else []),
                "--digests",
                *names,
            ],
            env=clean | own,
            check=True,
            stdout=subprocess.PIPE,
        )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def print_digests(names: list[str], levels: list[str]) -> None:
    """Print digests of the pixels of pictures; for one level, all programs come from its file."""
    from fractals.backends import shipped
    from fractals.backends.cpu import programs
    from fractals.deep import orbit_steps

    def refuse(*given):
        raise RuntimeError(f"no machine code: {given}")

    if len(levels) == 1:
        orbit_steps.PATIENCE = math.inf
        shipped.why_not = lambda: ""  # that the level is set
        programs.compiled_apart = refuse
    found = {}
    for name in names:
        found[name] = hashlib.sha256(pixels_of(name, (64, 36))).hexdigest()
    print(json.dumps(found))


def print_missing(names: list[str]) -> None:
    """Print which first pictures need a program that the file of this processor lacks."""
    from fractals.backends import code_cache, shipped
    from fractals.backends.cpu import programs, tile_loop
    from fractals.errors import FractalsError

    if reason := shipped.why_not():
        sys.exit(f"first pictures are compiled, because {reason}")
    lacking: list[str] = []

    class Refused(Exception):
        pass

    def refuse(_make, what, _kinds):
        body, number, options, _ = what
        lacking.append(f"{getattr(body, '__qualname__', body)} {number} {options}"[:200])
        raise Refused

    code_cache.folder = lambda: None
    programs.compiled_apart = refuse
    for name in names:
        lacking.clear()
        tile_loop.wanted.clear()  # as in a new process
        try:
            pixels_of(name, (96, 60))
        except Refused:
            pass
        except FractalsError as error:
            print(f"{name}: {error}")
        if lacking:
            print(f"{name}: {'; '.join(dict.fromkeys(lacking))}")


def features_of(flags: str) -> set[str]:
    """Return the features in LLVM's text."""
    return {flag[1:] for flag in flags.split(",") if flag.startswith("+")}


def host_features() -> tuple[str, str]:
    """Return the name and the features of this processor, as LLVM writes them."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def run_in_place(cpu: str, flags: str, make: Make | None = None) -> None:
    """Have programs of another processor run as code for this one; `make` makes the other's."""
    from fractals.backends import machine_code

    own, loaded, here = machine_code.made, machine_code.loaded, {}

    def made_twice(text):
        data = (make or own)(text)
        before = machine_code.CPU, machine_code.FLAGS
        machine_code.CPU, machine_code.FLAGS = cpu, flags
        try:
            here[data] = own(without_avx512(with_clock(ATTRIBUTES.sub("", text), *OWN_CLOCK)))
        finally:
            machine_code.CPU, machine_code.FLAGS = before
        return data

    def load(data):
        if b'"refused"' not in data.partition(b"\n")[0]:
            if data not in here:  # another process made it
                raise OSError("it is for another processor")
            data = here[data]
        return loaded(data)

    machine_code.made, machine_code.loaded = made_twice, load


def for_arm(made: Make) -> Make:
    """Return what makes machine code of AArch64 from LLVM's text for this machine."""
    import llvmlite.binding as llvm

    from fractals.backends import machine_code

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("aarch64-unknown-linux-gnu")
    # Distances within a piece, which any address serves: see `fractals.backends.linked`
    machine = target.create_target_machine("generic", "", 3, "static", "small")
    beginning = f'target datalayout = "{machine.target_data}"\ntarget triple = "{target.triple}"'

    def make(text: str) -> bytes:
        text = re.sub(r"(?m)^target (datalayout|triple) = .*\n", "", ATTRIBUTES.sub("", text))
        text = with_clock(text, *ARM_CLOCK)
        with mock.patch.object(machine_code, "target_machine", return_value=machine):
            return made(f"{beginning}\n{text}")

    return make


def with_clock(text: str, read: str, last: str) -> str:
    """Return LLVM's text with a call in place of an Arm's instruction that reads its clock.

    `last`: lines that the call needs.
    """
    changed = re.sub(r'call i64 asm sideeffect "mrs[^"]*", "=r"\(\)', f"call i64 {read}", text)
    return text if changed == text else f"{changed}\n{last}\n"


def without_avx512(text: str) -> str:
    """Return LLVM's text with functions in place of instructions that AVX-512 alone has."""
    kinds = (8, "double", "f64", "pd"), (16, "float", "f32", "ps")
    for n, t, e, p in (*kinds, (8, "i64", "i64", ""), (16, "i32", "i32", "")):
        names = {"n": n, "t": t, "e": e, "p": p}
        for theirs, ours, body in (
            (COMPRESS, "own.compress.v{n}{e}", COMPRESSED),
            (LARGER, "own.range.{p}", LARGEST),
        ):
            name = theirs.format(**names)
            if f"@{name}(" in text:
                text = re.sub(rf"(?m)^declare [^\n]*@{re.escape(name)}\(.*\n", "", text)
                text = text.replace(f"@{name}(", f"@{ours.format(**names)}(")
                text += body.format(**names)
    return text


if __name__ == "__main__":
    main()
