"""A process of its own for a search, an export or a compiler: `python -m fractals.explorer.work`.

It reads one line of JSON, what to do, from stdin, and writes lines of JSON to stdout. It ends when
stdin is closed, so it never outlives the server by much, whatever ends that.
"""

import contextlib
import ctypes
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, process_time, sleep
from typing import Any, ClassVar

from fractals.backends.probe import memory_size
from fractals.errors import DeviceFailedError, FractalsError, OptionError, first_line
from fractals.explorer import posters, protocol
from fractals.explorer.pages import draw_preview
from fractals.explorer.questions import value_at
from fractals.explorer.scheduler import IDLE, DrawingTask, Engine
from fractals.explorer.shown import RefinedView
from fractals.explorer.view import ClientView
from fractals.rendering.families import family_of, moves_of
from fractals.scene.keywords import RenderKeywords
from fractals.scene.model import Scene, validate

# Compiles the programs of a scene in this process.


def compile_programs(scene: Scene, what: str, device: str) -> dict[str, Any]:
    """Compile programs of a scene, which leaves their code in the cache of compiled code.

    `what`: "values" or "pixels" of a view, as a client shows it; "picture": of a small picture;
    otherwise a coloring, whose value at the center is computed. A GPU that fails is no error here:
    the process that draws meets it, too, and goes on with the CPU or tells the client.
    """
    with contextlib.suppress(DeviceFailedError):
        _compile(Engine(device, 1), scene, what)
    return {}


def _compile(engine: Engine, scene: Scene, what: str) -> None:
    if what in ("values", "pixels"):
        kind = ClientView if family_of(scene).single_pixels else RefinedView
        view = kind(("",), kind.passes, IDLE, engine=engine, scene=scene, frame=1, paint=0)
        view.compile()
    elif what == "picture":
        task = DrawingTask(("",), lambda task: iter(()), IDLE)
        next(draw_preview(engine, task, scene), None)  # the first step draws a tile
    else:
        value_at(engine, scene, what)


EVERY = 0.2  # seconds between messages of progress, and between looks at the memory used
VIEWS = 6  # that a search for interesting ones returns at most
NICE = 10  # drawing the view comes first
LIBRARIES = 2**30  # bytes, of Numba and LLVM
NO_MEMORY = "not enough memory: choose a smaller picture or rectangle"
# Whether the system enforces memory limits of a process. macOS accepts a limit and does not enforce
# it, and Windows has no limits, so on both the process watches its own memory.
KEEPS_LIMITS = sys.platform.startswith("linux")
# For each kind of work: share of the free memory, seconds of CPU time, and advice if they run out.
# At most four searches, two exports, two films and two compilers run at once.
LIMITS = {
    "find": (0.2, 600, "the search took more than 10 minutes: search a smaller rectangle"),
    "export": (0.5, 0, ""),
    "film": (0.5, 0, ""),
    "compile": (
        0.2,
        600,
        "preparing took more than 10 minutes: simplify the formula, or lower max_iterations",
    ),
}


def say(**keys: Any) -> None:
    """Write a line."""
    sys.stdout.write(json.dumps(keys) + "\n")
    sys.stdout.flush()


class Said:
    """Writes progress, not too often."""

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, what: str, done: int, of: int) -> None:
        """Write how far the work is."""
        if monotonic() - self.last > EVERY:
            self.last = monotonic()
            say(t="progress", what=what, done=int(done), of=int(of))


def limit(share: float, seconds: int, message: str) -> None:
    """Limit the process.

    `share`: of the memory that is free now; LIBRARIES come on top. `seconds`: CPU time of all its
    threads together (0: no limit). A process that exceeds a limit says `message`, and ends.
    """
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICE)
    most = LIBRARIES + int(share * memory_size())

    def end(*_: object) -> None:
        say(t="failed", message=message)
        os._exit(0)

    def watch() -> None:
        while most_memory() <= most:
            if seconds and process_time() > seconds:
                end()
            sleep(EVERY)
        say(t="failed", message=NO_MEMORY)
        os._exit(0)

    if not KEEPS_LIMITS:
        threading.Thread(target=watch, daemon=True).start()
        return
    import resource

    with contextlib.suppress(ValueError, OSError):
        # Limit the data, not the address space: threads and drivers reserve more than they use.
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    if seconds:
        signal.signal(signal.SIGXCPU, end)
        with contextlib.suppress(ValueError, OSError):
            # The signal waits while LLVM works; the second limit kills.
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 30))


def most_memory() -> int:
    """Return the most memory that this process has used so far, in bytes; 0: unknown."""
    if sys.platform == "win32":
        used = _MemoryCounters(ctypes.sizeof(_MemoryCounters))
        kernel = ctypes.windll.kernel32
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        process = ctypes.c_void_p(kernel.GetCurrentProcess())
        found = kernel.K32GetProcessMemoryInfo(process, ctypes.byref(used), used.size)
        return int(used.most_committed) if found else 0
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else 1024 * used


class _MemoryCounters(ctypes.Structure):
    """What Windows calls PROCESS_MEMORY_COUNTERS."""

    _fields_: ClassVar = [
        ("size", ctypes.c_uint32),
        ("faults", ctypes.c_uint32),
        *((name, ctypes.c_size_t) for name in ("most_resident", "resident", *"abcd")),
        ("committed", ctypes.c_size_t),
        ("most_committed", ctypes.c_size_t),
    ]


def end_with_stdin() -> None:
    """End the process once stdin is closed."""

    def wait() -> None:
        sys.stdin.read()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def find(scene: Scene, what: str, fraction: float) -> dict[str, Any]:
    """Return what a search has found."""
    from fractals.search.misiurewicz import find_misiurewicz
    from fractals.search.nucleus import find_nucleus, find_period
    from fractals.tools.interesting import find_interesting

    said = Said()
    if what == "interesting":
        found = find_interesting(scene, count=VIEWS, centers=False, device="cpu", threads=1)
        moves = moves_of(scene)
        views = [{"score": each.score, **moves.between(scene, each.scene)} for each in found]
        return {"views": views}
    if what == "period":
        return {"period": find_period(scene, None, said)}
    if what == "misiurewicz":
        eye = find_misiurewicz(scene, progress=said)
        shown = eye.scene().replace(width=scene.view.width)
        return {"period": eye.period, "center": list(eye.center), "scene": shown.to_table()}
    nucleus = find_nucleus(scene, None, said)
    upright = nucleus.angle is not None
    shown = nucleus.julia(fraction) if what == "julia" else nucleus.scene(upright=upright)
    facts = {"period": nucleus.period, "center": list(nucleus.center), "size": nucleus.size}
    return {**facts, "angle": nucleus.angle, "scene": shown.to_table()}


def export(
    scene: Scene,
    path: str,
    device: str,
    threads: int | None,
    cluster: dict[str, Any] | None,
    paper: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Draw a picture, or compute its raw numbers, into a file; `cluster`: of a `Cluster`.

    `paper`: of a poster, as of `protocol.PosterPaper`.
    """
    from fractals.rendering.render import compute, render, render_to

    said, notes = Said(), list[str]()
    begun = monotonic()
    options: RenderKeywords = {
        "device": device,
        "threads": threads,
        "force": True,
        "progress": lambda done, of: said("drawing", done, of),
        "on_message": notes.append,
    }
    layered = path.endswith(family_of(scene).layered)
    if paper:
        posters.save(lambda: render(scene, **options), path, paper)
    elif path.endswith(protocol.RAW_FORMATS) and not layered:
        compute(scene, **options).save(path)
    elif not (cluster and drawn_by(cluster, render_to, path, scene, overwrite=True, **options)):
        render_to(path, scene, overwrite=True, **options)
    return {
        "bytes": os.path.getsize(path),
        "seconds": round(monotonic() - begun, 2),
        "notes": for_the_page(notes),
    }


# Lines that are for who has started the server: they name options of the command line, or a folder
NOT_FOR_THE_PAGE = re.compile(r"--|[/\\][^/\\\s]+[/\\]")


def for_the_page(notes: Sequence[str]) -> list[str]:
    """Return the lines about a file that are for visitors, each once."""
    return [line for line in dict.fromkeys(notes) if not NOT_FOR_THE_PAGE.search(line)]


def drawn_by(
    cluster: dict[str, Any], draw: Callable[..., Any], *arguments: Any, **keywords: Any
) -> Any:
    """Return what `draw` returns by a cluster; None: a cluster does not draw this.

    `cluster`: keywords of `Cluster`.
    """
    from fractals.rendering.cluster.job import Cluster

    try:
        return draw(*arguments, cluster=Cluster(**cluster), **keywords)
    except OptionError:
        return None


def make_film(
    scene: Scene,
    path: str,
    device: str,
    threads: int | None,
    asked: dict[str, Any],
    tracks: dict[str, Any],
    ease: str,
    backwards: bool,
    sound: str | None,
    cluster: dict[str, Any] | None,
) -> dict[str, Any]:
    """Make a film; `asked`: options of `fractals.film`; `tracks`, `ease`: of a zoom."""
    from fractals.films.film import Film, film

    said, notes = Said(), list[str]()
    made = film(
        scene,
        **asked,
        device=device,
        threads=threads,
        progress=lambda done, of: said("frame", done, of),
        on_message=notes.append,
    )
    if tracks or ease != "soft":
        assert made.scene.film
        table = made.scene.film.model_dump(mode="json", exclude_none=True)
        *first, last = table["keys"]
        film_table = {**table, "keys": [*first, {**last, "ease": ease}], "tracks": tracks}
        made = Film(made.scene.replace(film=film_table), made.options)
    if backwards:
        made = Film(_backwards(made.scene), made.options)
    saved = cluster and drawn_by(cluster, made.save, path, sound=sound)
    saved = saved or made.save(path, sound=sound)
    return {
        "bytes": saved.bytes,
        "seconds": round(saved.seconds, 2),
        "frames": saved.frames,
        "flashes": saved.flashes,
        "notes": for_the_page(notes),
        "toml": made.scene.to_toml(),
    }


def _backwards(scene: Scene) -> Scene:
    """Return the scene of a film, backwards."""
    assert scene.film
    table = scene.film.model_dump(mode="json", exclude_none=True)
    keys = reversed_keys(table["keys"])
    tracks = reversed_tracks(table["tracks"], table["keys"][-1]["at"])
    return scene.replace(film={**table, "keys": keys, "tracks": tracks})


REVERSED = {"in": "out", "out": "in"}  # of eases; a hold jumps at its end, backwards, too


def reversed_keys(keys: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the keys of the same film, backwards."""
    end = keys[-1]["at"]
    eases = _reversed_eases([key.get("ease", "soft") for key in keys])
    return [
        {**key, "at": round(end - key["at"], 6), "ease": ease}
        for key, ease in zip(reversed(keys), eases, strict=True)
    ]


def reversed_tracks(tracks: Mapping[str, Any], end: float) -> dict[str, Any]:
    """Return the tracks of a film that ends at the second `end`, backwards."""
    found = {}
    for name, points in tracks.items():
        eases = _reversed_eases([each[2] if len(each) > 2 else "soft" for each in points])
        found[name] = [
            [round(max(0.0, end - at), 6), value, ease]
            for (at, value, *_), ease in zip(reversed(points), eases, strict=True)
        ]
    return found


def _reversed_eases(eases: Sequence[str]) -> list[str]:
    """Return eases of keys in reversed order: each belongs to the way that leads to its key."""
    return ["soft", *(REVERSED.get(ease, ease) for ease in reversed(eases[1:]))]


def main() -> None:
    """Do what the line on stdin says."""
    wanted = json.loads(sys.stdin.readline())
    end_with_stdin()
    limit(*LIMITS[wanted["do"]])
    try:
        scene = validate(wanted["scene"])
        if wanted["do"] == "find":
            found = find(scene, wanted["what"], wanted["fraction"])
        elif wanted["do"] == "compile":
            found = compile_programs(scene, wanted["what"], wanted["device"])
        elif wanted["do"] == "film":
            keys = ("path", "device", "threads", "asked", "tracks", "ease", "backwards", "sound")
            found = make_film(scene, **{key: wanted[key] for key in (*keys, "cluster")})
        else:
            found = export(
                scene,
                **{key: wanted[key] for key in ("path", "device", "threads", "cluster", "paper")},
            )
        say(t="found", **found)
    except FractalsError as error:
        say(t="failed", message=first_line(error), **error.about)
    except MemoryError:
        say(t="failed", message=NO_MEMORY)
    sys.stdout.flush()
    os._exit(0)  # the thread that reads stdin would keep the process waiting


if __name__ == "__main__":
    main()
