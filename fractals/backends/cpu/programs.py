"""Programs of the CPU: machine code from the disk, or compiled by Numba, which is imported then."""

from collections.abc import Callable
from typing import Any

from fractals.backends import code_cache, features, machine_code
from fractals.backends.compilation import compiling, with_room
from fractals.backends.machine_code import Layout, MachineCode, Program, Uncompilable


def program_of(
    make_body: Callable[..., Any] | str,
    number: str,
    options: tuple[Any, ...] = (),
    loop: bool = False,
    checked: bool = False,
    packed: bool = False,
    long: bool = False,
) -> Program:
    """Return the program of the body that ``make_body(target, *options)`` makes.

    `make_body`: a function, or its name as "module:function" where the module needs Numba.
    `number`: "float64" or "float32". `loop`: whether the body computes single elements: the program
    then has a loop over all of them. `checked`: whether indices are checked. `packed`: whether the
    program iterates packs of samples. `long`: whether it is long and takes little of a picture's
    time, so that LLVM takes less time for it.
    """
    kinds = {"loop": loop, "checked": checked, "packed": packed, "long": long}
    name = "-".join(["cpu", *(kind for kind, on in kinds.items() if on)])
    identity = name, number, make_body, *options

    def made(store: code_cache.Store | None) -> Program:
        def load(layout: Layout) -> MachineCode:
            key = f"{layout} for {features.TARGET}"
            found = store.load(key, _stored) if store else None
            if found is None:
                what = make_body, number, options, layout
                with compiling():
                    data = with_room(_compiled, what, kinds)
                found = machine_code.loaded(data)
                if store and machine_code.stands_alone(data):
                    store.save(key, data)
            if isinstance(found, Uncompilable):
                raise found
            return found

        return Program(load)

    return code_cache.program(made, *identity)


def _compiled(what: tuple[Any, ...], kinds: dict[str, bool]) -> bytes:
    from fractals.backends.cpu import target

    make_body, _, options, _ = what
    return target.compiled(*what, code_cache.is_foreign(make_body, *options), **kinds)


def _stored(data: bytes) -> MachineCode | Uncompilable:
    """Return machine code from the disk; the linker takes a function that is missing to be at 0."""
    if not machine_code.stands_alone(data):
        raise OSError("it calls functions that this process lacks")
    return machine_code.loaded(data)


def is_stored(make_body: str, number: str, options: tuple[Any, ...]) -> bool:
    """Tell whether there is machine code of a program on the disk, for any layout."""
    return code_cache.is_stored("cpu", number, make_body, *options)
