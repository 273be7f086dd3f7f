#!/usr/bin/env python3
"""Write the kernels for CUDA GPUs that come with the package: a file for all.

    uv run --group dev --extra gpu python scripts/prebuilt_gpu.py  # some 20 s of a core
    uv run --group dev --extra gpu python scripts/prebuilt_gpu.py --only default --check

The default picture and those of README's commands are drawn, with few pixels, on the stand-in for
CUDA's driver (tests/cuda_driver), which runs PTX. Each kernel that a picture asks for is compiled
by CUDA's own compiler, for each compute capability in `CAPABILITIES`, and kept compressed: see
`fractals.backends.shipped`. FRACTALS_PREBUILT=1 then puts the file into a wheel (hatch_build.py).
The same sources and versions make the same bytes, in whatever order kernels are compiled; --check
compiles again in another order, and compares.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [
    str(ROOT),
    str(ROOT / "scripts"),
    str(ROOT / "tests"),
    str(ROOT / "tests/cuda_driver"),
]

CAPABILITIES = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0))
MOST = 200_000  # bytes of the file, which each wheel carries
README, DEFAULT = "README.md", "default"


def main() -> None:
    """Write the file."""
    from fractals.backends import shipped

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    only = f"scenes of the gallery, with commas, {DEFAULT}, {README} (default: the last two)"
    parser.add_argument("--only", metavar="SCENES", help=only, default=f"{DEFAULT},{README}")
    parser.add_argument("--check", action="store_true", help="compile twice, and compare")
    parser.add_argument("--draw", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.draw is not None:
        draw(given.draw)
        return
    work = given.only.split(",")
    contents = build(work)
    if given.check and (
        places := {place for place, _ in contents.items() ^ build(work[::-1]).items()}
    ):
        sys.exit(f"compiled again, these differ: {', '.join(sorted(places))}")
    data = shipped.packed(contents)
    if len(data) > MOST:
        sys.exit(f"{len(contents)} kernels take {len(data)} bytes; a wheel has room for {MOST}")
    file = shipped.file_of_kernels()
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    print(f"{file.relative_to(ROOT)}: {len(contents)} kernels, {len(data) / 1e3:.0f} KB")


def build(work: list[str]) -> dict[str, bytes]:
    """Return the kernels of some work, made with an empty cache, by their places in it."""
    import run as standin

    if reason := standin.missing():
        sys.exit(f"no kernels can be made: {reason}")
    with tempfile.TemporaryDirectory() as folder:
        own = dict.fromkeys(("NUMBA_CACHE_DIR", "FRACTALS_CACHE_DIR", "XDG_CONFIG_HOME"), folder)
        environment = {**standin.environment(cards="h100"), **own, "FRACTALS_DEVICE": "cuda"}
        del environment["LD_PRELOAD"]  # the real linker makes the machine code of a card
        words = [sys.executable, __file__, "--draw", *work]
        if subprocess.run(words, env=environment, check=False).returncode:
            sys.exit("a picture failed")
        files = sorted(Path(folder).glob("fractals-*/cuda-*/*.code"))
        return {f"{file.parent.name}/{file.name}": file.read_bytes() for file in files}


def draw(work: list[str]) -> None:
    """Draw scenes, and run the commands of README, and keep all kernels that they ask for."""
    import prebuilt
    import test_docs_commands

    import fractals
    from fractals.backends.cuda import kernel

    kernel.CardProgram.code = code
    test_docs_commands.SMALL["film"] = ["--fps", "2"]  # not on the CPU
    for each in work:
        if each == README:
            prebuilt.run_page(each)
        else:
            scene = [] if each == DEFAULT else [each]
            fractals.render(*scene, size=(32, 18), on_message=lambda line: None)


def code(program, layout, _capability, arguments):
    """Keep a kernel for all compute capabilities; return its name, and PTX for the stand-in.

    It takes the place of `CardProgram.code`.
    """
    from numba.cuda.core.bytecode import FunctionIdentity

    from fractals.backends.cuda import kernel, numba_private

    # Numba counts functions and has the number in a name, which would depend on the order
    FunctionIdentity._unique_ids = itertools.count(1)
    kernel.card_target.cache_clear()
    made = numba_private.compiled_kernel(program.made(), arguments, CAPABILITIES[0])
    codes = {each: numba_private.code_of(made, each) for each in CAPABILITIES}
    name = codes[CAPABILITIES[0]][0]
    data = kernel.compressed(name, {each: code for each, (_, code) in codes.items()})
    program._store.save(kernel.key_of(layout), data)
    return name, numba_private.text_of(made, CAPABILITIES[0])


if __name__ == "__main__":
    main()
