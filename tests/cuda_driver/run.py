#!/usr/bin/env python3
"""Runs a command as if this machine had CUDA cards: `python tests/cuda_driver/run.py COMMAND ...`.

The command is `fractals ...`, `pytest ...` or a file of Python, and runs with this Python, in whose
environment numba-cuda is installed. The stand-in is built first if its sources have changed. The
variables STANDIN_... choose cards, order and faults: README.md.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
NVIDIA = Path(sysconfig.get_path("purelib")) / "nvidia"
HEADERS = ("cu13/include", "cuda_runtime/include")  # in the wheels of CUDA 13 and of CUDA 12
LINKERS = ("cu13/lib/libnvJitLink.so.13", "nvjitlink/lib/libnvJitLink.so.12")
SOURCES = ("*.cpp", "*.h", "translate.py", "instructions.py", "cards.toml", "run.py")
COMPILER = ["g++", "-std=c++17", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra"]
COMPILER += ["-fvisibility=hidden"]


def found(names):
    """Return the first of some files of NVIDIA's wheels that is there, or None."""
    return next((NVIDIA / name for name in names if (NVIDIA / name).exists()), None)


def missing():
    """Return why the stand-in can't be used here, or an empty string."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "the stand-in for CUDA's driver runs on Linux and x86-64"
    if not shutil.which("g++") or not shutil.which("gcc"):
        return "g++ and gcc are not installed"
    if " fma " not in Path("/proc/cpuinfo").read_text("utf-8"):
        return "the processor has no FMA"
    if not found(f"{name}/cuda.h" for name in HEADERS) or not found(LINKERS):
        return "numba-cuda is not installed (extra gpu or gpu12)"
    return ""


def cards_header(include):
    """Return C++ of cards.toml, and of the errors that NVIDIA's header names."""
    cards = tomllib.loads((HERE / "cards.toml").read_text("utf-8"))
    every = cards.pop("every")
    lines = ["static const std::vector<Card> CARDS = {"]
    for key, card in cards.items():
        name, memory = card.pop("name"), card.pop("memory")
        capability = 10 * card["compute_capability_major"] + card["compute_capability_minor"]
        lines.append(f'{{"{key}", "{name}", {memory}ul, {capability}, {{')
        every_one = (every | card).items()
        lines += [
            f"  {{CU_DEVICE_ATTRIBUTE_{name.upper()}, {value}}}," for name, value in every_one
        ]
        lines.append("}},")
    lines.append("};\nstatic const std::map<int, const char *> ERRORS = {")
    header = (include / "cuda.h").read_text("utf-8")
    codes = re.findall(r"(?m)^ *(CUDA_(?:SUCCESS|ERROR_\w+)) *= *(\d+)", header)
    lines += [f'  {{{code}, "{name}"}},' for name, code in codes]
    return "\n".join([*lines, "};"]) + "\n"


def build():
    """Build both libraries, unless those of these sources are there; return their folder."""
    include, linker = found(HEADERS), found(LINKERS)
    sources = [include / "cuda.h", *sorted(path for name in SOURCES for path in HERE.glob(name))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    version = linker.name.rpartition(".")[2]
    folder = BUILD / f"cuda{version}-{digest[:16]}"
    if folder.exists():
        return folder
    BUILD.mkdir(exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=BUILD))
    (made / "cards.h").write_text(cards_header(include), "utf-8")
    values = {"SOURCE": HERE, "MODULES": folder / "modules", "FIRST": f"_{version}_0"}
    defined = [f'-D{name}="{value}"' for name, value in values.items()]
    for source, library in (("driver.cpp", "libcuda.so.1"), ("linker.cpp", linker.name)):
        command = [*COMPILER, *defined, f"-I{made}", f"-I{include}", f"-Wl,-soname,{library}"]
        command += [str(HERE / source), "-o", str(made / library), "-lpthread", "-ldl"]
        subprocess.run(command, check=True)
    (made / "libcuda.so").symlink_to("libcuda.so.1")
    try:
        made.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(made)
    return folder


def environment(**settings):
    """Return the variables of a process that runs on the stand-in: `order="late"`, `cards=...`."""
    folder, linker = build(), found(LINKERS)
    inherited = dict(os.environ)
    for name, first in (("LD_LIBRARY_PATH", folder), ("LD_PRELOAD", folder / linker.name)):
        inherited[name] = ":".join(filter(None, [str(first), inherited.get(name)]))
    inherited |= {f"STANDIN_{name.upper()}": str(value) for name, value in settings.items()}
    inherited.pop("NUMBA_ENABLE_CUDASIM", None)
    # A card must not find what was compiled for the stand-in, in a cache that both share.
    compiled = Path(inherited.get("NUMBA_CACHE_DIR", BUILD))
    if compiled.name != "standin":
        inherited["NUMBA_CACHE_DIR"] = str(compiled / "standin")
    return inherited | {"STANDIN_PYTHON": sys.executable, "STANDIN_NVJITLINK": str(linker)}


def command(words):
    """Return the command line of a command: modules and files of Python run with this Python."""
    if words[0] in ("fractals", "pytest"):
        return [sys.executable, "-m", *words]
    path = Path(words[0])
    python = path.is_file() and b"python" in path.read_bytes().partition(b"\n")[0]
    return [sys.executable, *words] if python or path.suffix == ".py" or words[0] == "-c" else words


def main(words):
    """Run a command on the stand-in, in place of this process."""
    if not words:
        sys.exit(__doc__)
    if reason := missing():
        sys.exit(f"run.py: {reason}")
    run = command(words)
    os.execvpe(run[0], run, environment())


if __name__ == "__main__":
    main(sys.argv[1:])
