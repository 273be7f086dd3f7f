"""The one place that chooses the module `cuda`, and the one CUDA kernel."""

import functools
import importlib
import importlib.util
import json
import os
import re
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from fractals.backends import code_cache, cuda_driver, shipped
from fractals.backends.cache_folder import report
from fractals.backends.code_cache import program
from fractals.backends.compilation import allow_nested_calls, announce, first_launch
from fractals.backends.cuda import numba_private, simulator
from fractals.errors import DeviceError, shown, to_install

# Of numba-cuda. Its successor is "numba_cuda_mlir.cuda", and AMD's package "numba.hip".
# docs/explanation/gpu-without-a-gpu.md says what was tried.
CARD = "numba.cuda"


def find(simulated):
    """Return the module `cuda`: that of a card; or the simulator, Numba's where the user asks.

    NUMBA_ENABLE_CUDASIM=1 asks for Numba's. Raises DeviceError: the module can't be used.
    """
    if simulated and not cuda_driver.numba_simulates():
        return simulator
    cuda, problem = _imported()
    if not problem:
        from numba import config

        if config.ENABLE_CUDASIM and not simulated:
            problem = "NUMBA_ENABLE_CUDASIM was set when it was imported"
        elif simulated and not config.ENABLE_CUDASIM:
            problem = "it was imported before NUMBA_ENABLE_CUDASIM was set"
    if problem and simulated:
        raise DeviceError(f"no simulator of Numba ({problem}): unset NUMBA_ENABLE_CUDASIM")
    if problem:
        raise DeviceError(
            f"a GPU is there but {CARD} can't use it ({problem}); "
            f"{to_install('gpu')} brings what it needs"
        )
    return cuda


@functools.cache
def _imported():
    """Return Numba's module with what our programs need, and what is wrong with it."""
    try:
        from numba import config

        os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
        config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # a small picture has few threads
        cuda = importlib.import_module(CARD)
        if not config.ENABLE_CUDASIM:
            if CARD == "numba.cuda" and importlib.util.find_spec("numba_cuda") is None:
                return None, "numba-cuda is not installed"  # Numba's own module lacks what we need
            if not numba_private.has_libnvvm():
                return None, "libNVVM is missing"
        return cuda, ""
    except Exception as error:
        return None, first_line(error)


def stand_in(cuda: Any) -> Callable[[], None]:
    """Have ``from numba import cuda`` give this module; return a function that ends this."""
    import numba

    def put(module):
        sys.modules["numba.cuda"] = numba.cuda = module
        if module is None:
            del sys.modules["numba.cuda"], numba.cuda

    before = sys.modules.get("numba.cuda")
    put(cuda)
    return functools.partial(put, before)


def first_line(error):
    """Return the driver's name of an error and the call that failed, or the first line."""
    text = str(error).strip()
    if lacking := re.search(r"function (\w+) is not found", text):
        return f"the driver is too old (it has no {lacking[1]}): update it"
    if name := re.search(r"CUDA_ERROR_\w+", text):
        call = re.search(r"Call to (\w+)", text)
        return f"{name[0]} in {call[1]}" if call else name[0]
    lines = text.splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


cuda = body = None  # stand for the globals of each kernel


def kernel(out, arguments):
    """Fill a thread's share of the elements of `out`."""
    i, j = cuda.grid(2)
    di, dj = cuda.gridsize(2)
    body(i, j, di, dj, out, *arguments)


def make_kernel(cuda, body):
    """Return the kernel that runs a body; `cuda` is a global, which Numba's simulator replaces."""
    names = {"__name__": __name__, "cuda": cuda, "body": body}
    return cuda.jit(types.FunctionType(kernel.__code__, names))


@functools.cache
def register_overloads(cuda):
    """Teach a card's module our primitives, which it needs to compile."""
    from fractals.backends.cuda import overloads

    overloads.register(cuda)


def add(array, index, value):
    """Add to an element as one step: `fractals.kernels.Target.add`."""
    cuda.atomic.add(array, index, value)


def make_add(cuda):
    """Return `add` for a module `cuda`."""
    return types.FunctionType(add.__code__, {"__name__": __name__, "cuda": cuda})


@functools.cache
def card_target(cuda, number):
    """Return the target for kernels of a card; `number` is "float64" or "float32"."""
    from numba import uint32, uint64

    from fractals.backends.cpu.target import make_target

    jit = functools.cache(cuda.jit(device=True))
    return make_target(number, jit, jit(make_add(cuda)), uint32, uint64)


def card_kernel(number, make_body, options):
    """Return Numba's kernel of a program for a card."""
    cuda = _compiler()
    announce()
    allow_nested_calls()
    register_overloads(cuda)
    return make_kernel(cuda, cuda.jit(device=True)(make_body(card_target(cuda, number), *options)))


# Numba compiles, and its own launches begin, without locks of their own.
COMPILING = threading.RLock()


class CardProgram:
    """The machine code of a program for cards: from the disk, or compiled by Numba.

    What is kept is a line of JSON, which names the kernel, and the code that the driver loads. So a
    process whose code is there imports no Numba. The package may bring the same, compressed.
    """

    def __init__(self, store, number, make_body, options):
        self._store = store
        # Returns Numba's kernel, not compiled yet
        self.made = functools.partial(card_kernel, number, make_body, options)
        # What `fractals.backends.cuda.launch` has loaded, by GPU and layout; and its lock
        self.kernels, self.lock = {}, threading.RLock()
        self._own = {}  # machine code that no cache keeps: a GPU may have to load it again

    def code(self, layout, capability, arguments):
        """Return the name of a kernel and its machine code.

        `layout`: the text of the types of the arguments. `capability`: compute capability of the
        card. `arguments`: some of these types.
        """
        kept = self._own.get((layout, capability))
        if self._store and not kept:
            kept = self._store.load(_own_key(layout, capability), _unpacked)
        found = kept or self._shipped(layout, capability)
        return found or self._compiled(layout, capability, arguments)

    def code_anew(self, layout, capability, arguments, reason):
        """Return what `code` does, compiled, because the driver refuses what it has returned."""
        line = "compiled code that the driver does not take is compiled anew"
        report(f"{line}: {shown(reason, 120)}")
        return self._compiled(layout, capability, arguments)

    def _shipped(self, layout, capability):
        ours = shipped.kernels()
        if ours is None or self._store is None:
            return None
        chosen = functools.partial(_chosen, capability)
        return ours.load(self._store, key_of(layout), chosen)

    def _compiled(self, layout, capability, arguments):
        with COMPILING, first_launch():
            kernel = numba_private.compiled_kernel(self.made(), arguments, capability)
            found = numba_private.code_of(kernel, capability)
        if self._store and self._store.kept:
            self._store.save(_own_key(layout, capability), _packed(*found))
        else:
            self._own[layout, capability] = found
        return found


def _own_key(layout, capability):
    """Return the key in the user's cache, whose folder is not named by the compiler's version."""
    return f"kernel 1 for {capability}: {layout} by {numba_private.version_of_cuda()}"


def key_of(layout):
    """Return the key of a kernel that comes with the package."""
    return f"kernels 1: {layout}"


def compressed(name, codes):
    """Return a kernel as the package brings it: its name, and its code by compute capability.

    Codes are compressed together, because those of neighbors are alike.
    """
    import lzma  # some Pythons are built without

    sizes = [(*capability, len(code)) for capability, code in codes.items()]
    head = json.dumps({"kernel": name, "codes": sizes}).encode()
    return lzma.compress(b"\n".join([head, b"".join(codes.values())]), preset=9)


def _chosen(capability, data):
    """Return the name and the code of a kernel that came with the package; None: for others."""
    import lzma

    head, _, codes = lzma.decompress(data).partition(b"\n")
    facts, at = json.loads(head), 0
    for major, minor, size in facts["codes"]:
        if (major, minor) == capability:
            return str(facts["kernel"]), codes[at : at + size]
        at += size
    return None


def _packed(name, code):
    return json.dumps({"kernel": name}).encode() + b"\n" + code


def _unpacked(data):
    head, _, code = data.partition(b"\n")
    return str(json.loads(head)["kernel"]), code


def card_program(number, make_body, options):
    """Return the program of a body for cards, whose code is kept on the disk."""

    def make(store):
        return CardProgram(store, number, make_body, options)

    return program(make, "cuda", number, make_body, *options)


# --- Whether Numba can compile, which a process whose code is kept does not find out

CAN = b"yes"


def check_compiler():
    """Raise a DeviceError where Numba can't compile for a GPU.

    Importing Numba takes longer than a small picture, so a note on the disk keeps the answer. Where
    there is no note yet, and this package has brought kernels, it is enough that numba-cuda and
    CUDA's compiler are installed, by their names: the first program that is compiled asks Numba
    (`_compiler`), and without an answer the GPU is lost to the process. Where the process has
    imported Numba already, Numba itself answers.
    """
    note = _note()
    known = note[0].load(note[1], bytes) if note else None
    if known is None and shipped.kernels() and " " in numba_private.version_of_cuda():
        known = CAN
    if "numba" in sys.modules or known != CAN:
        _compiler()


def _compiler():
    """Return Numba's module for a card, and keep that it can compile, or that it can't."""
    note, can = _note(), b"no"
    try:
        cuda, can = find(simulated=False), CAN
    finally:
        if note and note[0].load(note[1], bytes) != can:
            note[0].save(note[1], can)
    return cuda


@functools.cache
def _note():
    """Return where it is kept whether Numba can compile, and under which key; None: nowhere."""
    folder = code_cache.folder()
    if folder is None:
        return None
    own = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH", "NUMBA_DISABLE_JIT")]
    key = f"{numba_private.version_of_cuda()} {own}"
    return code_cache.Store(os.path.join(folder, "cuda")), key
