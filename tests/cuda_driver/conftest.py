"""The stand-in, loaded into the process of the tests: each test has a library of its own."""

import ctypes
import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import run as standin

OF_THIS_THREAD = ("cuCtxSynchronize", "cuCtxGetDevice")  # the second version takes a context
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

# struct's letters of PTX's types
CODES = {"u16": "H", "s16": "h", "u32": "I", "s32": "i", "f32": "f", "u64": "Q", "s64": "q"}
CODES |= {"f64": "d", "b16": "H", "b32": "I", "b64": "Q", "pred": "I"}


class CudaError(Exception):
    """A function of the driver that failed: its name and its code."""


class Driver:
    """Functions of the driver, by name; the first argument that is answered comes back."""

    def __init__(self, library):
        self.library = ctypes.CDLL(str(library))

    def call(self, name, *arguments):
        newest = name if name in OF_THIS_THREAD else f"{name}_v2"
        code = (getattr(self.library, newest, None) or getattr(self.library, name))(*arguments)
        if code:
            raise CudaError(name, code)

    def ask(self, name, *arguments, answer=ctypes.c_uint64):
        """Call a function whose first argument is where it puts its answer."""
        value = answer()
        self.call(name, ctypes.byref(value), *arguments)
        return value.value

    def start(self, device=0):
        """Initialise, and make a device's context current in this thread."""
        self.call("cuInit", 0)
        context = self.ask("cuDevicePrimaryCtxRetain", device, answer=ctypes.c_void_p)
        self.call("cuCtxSetCurrent", ctypes.c_void_p(context))

    def memory(self, size):
        return self.ask("cuMemAlloc", ctypes.c_size_t(size))

    def pinned(self, size):
        """Return page-locked memory, as an array of ctypes."""
        at = self.ask("cuMemHostAlloc", ctypes.c_size_t(size), 0)
        return (ctypes.c_ubyte * size).from_address(at)

    def write(self, at, data):
        self.call("cuMemcpyHtoD", ctypes.c_uint64(at), bytes(data), ctypes.c_size_t(len(data)))

    def read(self, at, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH", data, ctypes.c_uint64(at), ctypes.c_size_t(size))
        return data.raw

    def copy(self, name, to, source, size, stream=None):
        to, source = (
            ctypes.c_void_p(a if isinstance(a, int) else ctypes.addressof(a)) for a in (to, source)
        )
        self.call(
            name,
            to,
            source,
            ctypes.c_size_t(size),
            *([ctypes.c_void_p(stream)] * (stream is not None)),
        )

    def stream(self, blocking=False):
        return self.ask("cuStreamCreate", int(not blocking))

    def event(self):
        return self.ask("cuEventCreate", 0)

    def on(self, name, *handles):
        """Call a function of streams and events."""
        self.call(name, *map(ctypes.c_uint64, handles))

    def wait(self, stream, event):
        self.call("cuStreamWaitEvent", ctypes.c_uint64(stream), ctypes.c_uint64(event), 0)

    def kernel(self, ptx, name="k"):
        module = self.ask("cuModuleLoadData", (HEAD + ptx).encode())
        return self.ask("cuModuleGetFunction", ctypes.c_uint64(module), name.encode())

    def launch(self, kernel, *arguments, grid=(1, 1, 1), block=(1, 1, 1), shared=0, stream=0):
        values = [ctypes.c_uint64(a) for a in arguments]
        pointers = (ctypes.c_void_p * (len(values) + 1))(*map(ctypes.addressof, values))
        shape = (*grid, *block, shared)
        handle = ctypes.c_uint64(stream)
        self.call("cuLaunchKernel", ctypes.c_uint64(kernel), *shape, handle, pointers, None)


@pytest.fixture(scope="session")
def built():
    """Return the folder of the built stand-in; skip where it can't be built."""
    if reason := standin.missing():
        pytest.skip(reason)
    return standin.build()


@pytest.fixture(scope="session")
def translated(tmp_path_factory):
    """Return a folder of translated modules, which the tests share."""
    return tmp_path_factory.mktemp("modules")


@pytest.fixture
def load(built, translated, tmp_path, monkeypatch):
    """Return a function that loads a stand-in of its own: `load(cards="t4,h100", order="late")`."""

    def call(**settings):
        for name in [name for name in os.environ if name.startswith("STANDIN_")]:
            monkeypatch.delenv(name)
        values = {"cache": translated, "python": sys.executable} | settings
        for name, value in values.items():
            monkeypatch.setenv(f"STANDIN_{name.upper()}", str(value))
        copy = tmp_path / f"libcuda-{len(list(tmp_path.iterdir()))}.so"
        shutil.copy(built / "libcuda.so.1", copy)
        return Driver(copy)

    return call


@pytest.fixture
def driver(load):
    """Return a stand-in with one card, whose context is current."""
    driver = load()
    driver.start()
    return driver
