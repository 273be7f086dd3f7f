"""`fractals film`."""

import re
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

import fractals
from fractals.cli import collect_again, shared
from fractals.cli.command import of, section, verb, words
from fractals.cli.messages import (
    DAY,
    ProgressLine,
    Verbosity,
    about,
    duration,
    print_facts,
    print_json,
    program_of,
    tell,
)
from fractals.cli.scenes import default_output, requested_scene
from fractals.cli.values import Whole
from fractals.errors import OptionError, counted, shown
from fractals.films.options import FilmOptions, SaveOptions

if TYPE_CHECKING:
    from fractals.films.film import Film
    from fractals.films.plan import FilmPlan
    from fractals.films.writing import Saved

LOOP_FPS = {".webp": 30.0, ".gif": 25.0}  # where neither the scene nor an option says another
LONG = 24 * 3600  # seconds, beyond which a film requires --force
SETTLED = 3.0  # seconds after the first frame before the time left is shown
NUMBERS = re.compile(r"(\d{0,9}):(\d{0,9})", re.ASCII)


class Seconds(click.ParamType):  # type: ignore[type-arg]
    """A number of seconds, such as ``40`` or ``2.5s``, or one of frames a second."""

    name = "seconds"

    def __init__(
        self, kind: str = f"time: give seconds up to {DAY:g}, such as 40", unit: str = "s"
    ) -> None:
        self.kind, self.unit = kind, unit

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | None:
        """Return the number."""
        try:
            found = float(str(value).removesuffix(self.unit))
        except ValueError:
            found = -1.0
        if not 0 <= found <= DAY:
            self.fail(f"'{shown(value, 40)}' is no {self.kind}", param, ctx)
        return found


@verb(
    "film",
    "film seahorse --to 1e-12 --seconds 20 -o dive.mp4",
    "film seahorse --cycle 4 --size 640x360 -o loop.webp",
    "film dive.toml --preview             # small and fast; then without --preview",
)
@shared.scene_arguments
@section(
    "Film",
    {
        **of(
            FilmOptions,
            "--to WIDTH",
            "--cycle SECONDS",
            "--turn SECONDS",
            "--seconds N",
            "--fps N",
            "--preview",
        ),
        "--still T": "Draw the picture at T seconds.",
        **of(SaveOptions, "--frames A:B", "--audio FILE sound", "--codec NAME", "--bits N"),
        **of(SaveOptions, "--lossless", "--keep-strip"),
    },
    cycle=Seconds(),
    turn=Seconds(),
    seconds=Seconds(),
    fps=Seconds("rate: give frames a second, such as 30", "fps"),
    still=Seconds(),
    codec={"shell_complete": words("h264", "hevc", "av1", "prores", "ffv1", "png")},
    bits=Whole(8, 16),
)
@shared.cluster_options
@shared.scene_options
@shared.color_options
@shared.signature_options
@shared.device_options
@shared.effort_options
@shared.output_option(
    "Film to write: .mp4, .mkv, .webm, .mov, .webp, .gif, or a FOLDER/ or frame%05d.png for PNGs.",
    "films.writing.SUFFIXES",
    "io.image.FORMATS",
    "/",
)
@shared.overwrite_option
@shared.dry_run_option
@shared.json_option
def film_command(scenes: tuple[str, ...], **options: Any) -> None:
    """Make a film of a scene: a zoom, a change of colors, or what its table [film] says.

    Without a table [film] the film zooms. [[film.keys]] are views at times, and [film.tracks]
    change any number of the scene. An interrupted film is resumed by the same command. Videos
    require ffmpeg: on the PATH, named by FRACTALS_FFMPEG, or from the extra film.
    """
    from fractals.films.encode import check_encoder
    from fractals.films.sizes import with_measured_file
    from fractals.films.writing import sound_of, video_of
    from fractals.scene.credits import HOUSE

    own = _taken(options, "to", "cycle", "turn", "seconds", "fps", "preview")
    saving = _taken(options, "codec", "bits", "lossless", "keep_strip", "overwrite", "sound")
    saving["cluster"] = shared.cluster_request(options)
    still, numbers = options.pop("still"), options.pop("frames")
    output, dry_run, as_json = (options.pop(key) for key in ("output", "dry_run", "as_json"))
    if still is not None:
        options["bits"] = saving.pop("bits")  # of a picture
        _check_still({"dry_run": dry_run, "frames": numbers, **saving})
    how = shared.drawing_request(options)
    force = how.pop("force")
    defaults = shared.scene_table()
    scene = requested_scene(scenes, options, [], defaults, fits=not dry_run)
    if scene.author == HOUSE and scene.film is None:  # a film is more than the gallery's picture
        scene = scene.replace(author=defaults.get("author", ""))
    suffix = ".png" if still is not None else ".mp4"
    path = output or default_output(scenes, options, suffix, free=not saving["overwrite"])
    if own["fps"] is None and scene.film is None:
        own["fps"] = LOOP_FPS.get(Path(path).suffix.lower())
    film = fractals.film(scene, **own, **how)
    if still is not None:
        _save_still(film, still, path, saving["overwrite"], as_json)
        return
    video = video_of(path, **{key: saving[key] for key in ("codec", "bits", "lossless")})
    if video:  # before a program is compiled, which takes seconds
        check_encoder(video)
    if dry_run:
        sound_of(film, path, video, saving["sound"])
        with ProgressLine(0, program_of(film.scene)):
            plan = film.plan(video, measured=True, sound=bool(saving["sound"]))
            plan = with_measured_file(film, plan, path)
        print_facts(plan.to_table(), "".join(f"{line}\n" for line in _plan_lines(plan)), as_json)
        return
    collect_again()
    _make(film, path, {**saving, "frames": _range(numbers, film)}, force, as_json)


def _check_still(options: Mapping[str, Any]) -> None:
    """Raise an `OptionError` where options are given that a single picture does not follow."""
    for name, value in options.items():
        if value and name != "overwrite":
            raise OptionError(f"--still draws one picture: leave {name}= out")


def _taken(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: options.pop(name) for name in names}


def _range(text: str | None, film: "Film") -> tuple[int, int] | None:
    if text is None:
        return None
    found = NUMBERS.fullmatch(text.strip())
    if not found or text.strip() == ":":
        raise OptionError(f"--frames: '{shown(text, 40)}' is not A:B, such as 0:120")
    return int(found[1] or 0), int(found[2] or len(film))


def _save_still(film: "Film", seconds: float, path: str, overwrite: bool, as_json: bool) -> None:
    from fractals.io.files import check_output
    from fractals.io.image import check_format, format_of

    check_format(format_of(path), film.scene.image)
    check_output(path, overwrite)
    with ProgressLine(program=program_of(film.scene)):
        film.still(seconds).save(path, overwrite=overwrite)
    width, height = film.size
    if as_json:
        print_json({"output": path, "seconds": seconds, "size": [width, height]})
    else:
        tell(f"{path}: {width}x{height}, the picture at {seconds:g} s")


def _plan_lines(plan: "FilmPlan") -> list[str]:
    """Return how a film would be made: a line for each part, and one for all."""
    from fractals.io.stores.store import bytes_text

    lines = []
    for chosen in plan.parts:
        numbers = chosen.part.frames
        lines.append(
            f"frames {numbers.start}:{numbers.stop}: {chosen.method}, because {chosen.reason}; "
            f"{about(chosen.seconds)}, {bytes_text(chosen.memory)} of memory"
        )
    width, height = plan.scene.image.size
    lines.append(
        f"{counted(plan.count, 'frame')}, {width}x{height}, "
        f"{plan.samples / 1e6:.1f} million samples, {about(plan.seconds)} with encoding, "
        f"a file of about {bytes_text(plan.bytes)}"
    )
    return lines


def _make(film: "Film", path: str, saving: dict[str, Any], force: bool, as_json: bool) -> None:
    from dataclasses import replace

    plan = film.plan()
    _check(plan, force)
    for warning in film.warnings():
        tell(warning)
    if Verbosity.verbose:
        for each in _plan_lines(plan):
            tell(each)
    with ProgressLine(program=program_of(film.scene)) as line:
        shown_film = replace(film, options=film.options.replace(progress=FrameProgress(line)))
        try:
            saved = shown_film.save(path, **saving)
        except KeyboardInterrupt:
            tell(f"{path}: finished segments are kept; the same command resumes")
            raise
    _report(film, path, saved, as_json)


def _check(plan: "FilmPlan", force: bool) -> None:
    """Raise an `OptionError` for a film that takes too long, or more memory than is free."""
    from fractals.backends.probe import memory_size
    from fractals.io.stores.store import bytes_text

    if plan.seconds > LONG and not force:
        raise OptionError(
            f"the film takes {about(plan.seconds)}: give a smaller --size or fewer --seconds; "
            "--force makes it all the same"
        )
    free = memory_size()
    if free and plan.memory > 0.9 * free:
        raise OptionError(
            f"the film needs {bytes_text(plan.memory)}, and {bytes_text(free)} are free: give a "
            "smaller --size or --supersampling, or more --seconds"
        )


def _report(film: "Film", path: str, saved: "Saved", as_json: bool) -> None:
    """Print what a film has become."""
    from fractals.io.stores.store import bytes_text

    if saved.resumed:
        tell(f"{path}: resumed with {saved.resumed} of {counted(saved.frames, 'frame')}")
    if saved.flashes:
        tell(
            "warning: a part of the film flashes more than three times a second, which can cause "
            "seizures (WCAG 2.3.1): give a longer --cycle, a lower --density, or fewer octaves "
            "a second"
        )
    methods = ", ".join(dict.fromkeys(saved.methods))
    if as_json:
        print_json(
            {
                "output": str(saved.path),
                "frames": saved.frames,
                "resumed": saved.resumed,
                "fps": film.fps,
                "size": list(film.size),
                "bytes": saved.bytes,
                "seconds": round(saved.seconds, 2),
                "methods": list(saved.methods),
                "flashes": saved.flashes,
            }
        )
        return
    width, height = film.size
    tell(
        f"{path}: {counted(saved.frames, 'frame')}, {width}x{height}, {film.fps:g} fps, "
        f"{methods}, {bytes_text(saved.bytes)}, {saved.seconds:.1f} s"
    )


class FrameProgress:
    """Shows how many frames are done."""

    def __init__(self, line: ProgressLine) -> None:
        self._line, self._begun = line, monotonic()
        self._first: tuple[int, float] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Show the numbers and the time left, by the speed since the first frame."""
        now = monotonic()
        first, begun = self._first = self._first or (done, now)
        speed = (done - first) / (now - begun) if now - begun > SETTLED else 0.0
        left = f", {about((total - done) / speed)} left" if speed and done < total else ""
        text = f"frame {done} of {total} after {duration(now - self._begun)}{left}"
        self._line.show("", done, total, text, f"frames{left}")
