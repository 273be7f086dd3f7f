"""Instructions that a kernel becomes on a GPU, counted on a machine without one.

Numba's extra `gpu` compiles kernels to PTX, which suits every card, and to the machine code of one
compute capability. The tools `cuobjdump` and `nvdisasm` list machine code; without them the
instructions of PTX are counted, which are nearly as many.
"""

import functools
import importlib
import importlib.util
import os
import re
import runpy
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fractals.errors import FractalsError, OptionError, shown

MACHINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*);")
VIRTUAL = re.compile(r"^(?:(\$\w+):|\s*(?:@!?%p\d+\s+)?([a-z][\w.]*)\s*([^;]*);)", re.MULTILINE)
# Of a loop, floating-point arithmetic, in machine code and in PTX.
ARITHMETIC = re.compile(
    r"[FD](ADD|MUL|FMA|SETP?|MNMX|SEL)|(add|sub|mul|fma|setp|min|max)\S*\.f\d\d"
)
DOUBLE = re.compile(r"D(ADD|MUL|FMA|SETP|MNMX)|\S+\.f64")
TOOLS = ("nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm")


class Instruction(NamedTuple):
    """An instruction; `target` is the list index to which a branch jumps, or None."""

    name: str
    target: int | None


class Loop(NamedTuple):
    """The innermost loop of a kernel that has the most arithmetic.

    Attributes
    ----------
    names : tuple of str
        Its instructions.
    language : str
        "machine code", or "PTX" where the tools that list machine code are missing.
    """

    names: tuple[str, ...]
    language: str

    @property
    def arithmetic(self) -> int:
        """Instructions of floating-point arithmetic."""
        return sum(bool(ARITHMETIC.match(name)) for name in self.names)

    @property
    def double(self) -> int:
        """Instructions of float64 arithmetic."""
        return sum(bool(ARITHMETIC.match(name) and DOUBLE.match(name)) for name in self.names)

    def to_table(self) -> dict[str, Any]:
        """Return the facts for JSON."""
        return {
            "instructions": len(self.names),
            "language": self.language,
            "arithmetic": self.arithmetic,
            "float64": self.double,
            "names": dict(Counter(self.names)),
        }


def count(path: str, kernel: str, signature: str, capability: tuple[int, int] = (9, 0)) -> Loop:
    """Return the innermost loop of a kernel in a Python file.

    Parameters
    ----------
    path : str
        The file, which is run as a module of its own name.
    kernel : str
        The name of a function in it, made by ``@cuda.jit``.
    signature : str
        The types of its arguments, as Numba writes them: ``"float32, int32[:,::1]"``.
    capability : tuple of int
        The compute capability of the card.

    Returns
    -------
    Loop

    Raises
    ------
    OptionError
        There is no such file or kernel, or it has no loop.
    FractalsError
        CUDA's compiler is not installed, or the kernel does not compile.
    """
    from fractals.backends import numba_private

    if importlib.util.find_spec("numba_cuda") is None:
        raise FractalsError(
            "CUDA's compiler is not installed; it needs no GPU: pip install 'fractals-numba[gpu]' "
            + " ".join(TOOLS)
        )
    if not Path(path).is_file():
        raise OptionError(f"no such file: {shown(path, 80)}")
    numba_private.choose_simulator(False)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        made = runpy.run_path(path, run_name="kernels").get(kernel)
        if not hasattr(made, "py_func"):
            raise OptionError(f"no kernel '{shown(kernel, 40)}' in {shown(path, 80)}")
        text, binary = numba_private.code_of_kernel(made, f"({signature},)", capability)
    except FractalsError:
        raise
    except Exception as error:
        line = f"{type(error).__name__}: {error}".splitlines()[0]
        raise FractalsError(f"{shown(kernel, 40)} does not compile: {line}") from error
    finally:
        del sys.path[0]
    if find_tool("cuobjdump") and find_tool("nvdisasm"):
        return Loop(_names(hot_loop(instructions(binary))), "machine code")
    return Loop(_names(hot_loop(virtual_instructions(text))), "PTX")


def _names(code: Sequence[Instruction]) -> tuple[str, ...]:
    if not code:
        raise OptionError("the kernel has no loop")
    return tuple(each.name for each in code)


def hot_loop(code: Sequence[Instruction]) -> list[Instruction]:
    """Return the instructions of the innermost loop with the most arithmetic.

    Examples
    --------
    >>> loop = [Instruction("FADD", None), Instruction("BRA", 1), Instruction("EXIT", None)]
    >>> hot_loop([Instruction("MOV", None), *loop])
    [Instruction(name='FADD', target=None), Instruction(name='BRA', target=1)]
    """
    loops = [
        range(instruction.target, place + 1)
        for place, instruction in enumerate(code)
        if instruction.target is not None and instruction.target < place
    ]
    inner = [a for a in loops if not any(b[0] in a and b[-1] in a and a != b for b in loops)]
    bodies = [[code[i] for i in loop if code[i].name != "NOP"] for loop in inner]
    return max(
        bodies, key=lambda body: sum(bool(ARITHMETIC.match(c.name)) for c in body), default=[]
    )


@functools.cache
def instructions(binary: bytes) -> list[Instruction]:
    """Return the machine instructions of a binary, function by function."""
    found: list[Instruction] = []
    for function in dump("--dump-sass", binary).split("Function :")[1:]:
        lines = MACHINE.findall(function)
        places = {int(address, 16): len(found) + i for i, (address, _, _) in enumerate(lines)}
        for _, name, operands in lines:
            target = re.search(r"\b0x([0-9a-f]+)\s*$", operands) if name.startswith("BRA") else None
            found.append(Instruction(name, places[int(target[1], 16)] if target else None))
    return found


def virtual_instructions(ptx: str) -> list[Instruction]:
    """Return the instructions of PTX; declarations are none.

    Examples
    --------
    >>> virtual_instructions("$L1:\\n\\tadd.f32 \\t%f1, %f1, %f2;\\n\\t@%p1 bra \\t$L1;\\n")
    [Instruction(name='add.f32', target=None), Instruction(name='bra', target=0)]
    """
    places: dict[str, int] = {}
    found: list[tuple[str, str]] = []
    for label, name, operands in VIRTUAL.findall(ptx):
        if label:
            places[label] = len(found)
        else:
            found.append((name, operands.strip()))
    return [
        Instruction(name, places.get(operands) if name.startswith("bra") else None)
        for name, operands in found
    ]


def resources(binary: bytes) -> tuple[int, int]:
    """Return the registers and the bytes of local memory (spilled registers) per thread."""
    use = re.findall(r"\b(REG|STACK|LOCAL):(\d+)", dump("--dump-resource-usage", binary))
    amount = {name: int(number) for name, number in use}
    return amount["REG"], amount["STACK"] + amount["LOCAL"]


def dump(option: str, binary: bytes) -> str:
    """Return what cuobjdump prints about a binary."""
    tool = find_tool("cuobjdump")
    assert tool is not None
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        command = [tool, option, file.name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def find_tool(name: str) -> str | None:
    """Return the path of a tool of CUDA, or None where it is not installed."""
    if importlib.util.find_spec("cuda") is None:
        return None
    pathfinder: Any = importlib.import_module("cuda.pathfinder")
    path: str | None = pathfinder.find_nvidia_binary_utility(name)
    return path


def parse_capability(text: str) -> tuple[int, int]:
    """Return a compute capability.

    Examples
    --------
    >>> parse_capability("8.6")
    (8, 6)
    """
    found = re.fullmatch(r"(\d{1,2})\.(\d)", text)
    if not found:
        raise OptionError(f"--capability: '{shown(text, 40)}' is not of the form 9.0")
    return int(found[1]), int(found[2])
