"""Films of what a page shows: a zoom to here, from here on, or through places of the user."""

import asyncio
import math
import secrets
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from fractals.backends.probe import memory_size
from fractals.errors import FractalsError, OptionError, first_line
from fractals.explorer import outside, protocol
from fractals.explorer.jobs import ExportedFile, Jobs
from fractals.explorer.pages import draw_preview, small
from fractals.explorer.scheduler import SHEET, DrawingTask, Steps
from fractals.explorer.session import Session
from fractals.explorer.work import reversed_keys, reversed_tracks
from fractals.films import encode
from fractals.films.film import SHORTEST, SPEED, Film, film
from fractals.films.tracks import scene_of
from fractals.films.writing import check_loop, video_of
from fractals.rendering.families import moves_of
from fractals.rendering.moves import LEAST_GAP
from fractals.scene.geometry import home_width_of, place_of
from fractals.scene.model import Scene
from fractals.scene.numbers import log2, width_text

LONGEST = 60.0  # seconds of a film whose length nobody has chosen
LONG = 24 * 3600  # seconds of drawing, beyond which no film is begun
DEPTHS = 65  # along a film, of the curve that the page shows
SAMPLES = 2  # a pixel, along each side, of frames that are drawn one by one
MAX_SOUND = 2**26  # bytes
SOUND_SECONDS = 120.0  # in which a file of sound arrives


class Filming:
    """Answers what pages ask about films."""

    def __init__(self, jobs: Jobs, read_only: bool) -> None:
        self.jobs, self.read_only = jobs, read_only
        self.sending = asyncio.Semaphore(2)  # files of sound at once

    def film(self, session: Session, message: protocol.FilmMessage) -> None:
        """Make a film, or forecast how long that takes."""
        scene, left_out, times = filmed_scene(session, message)
        length = length_of(scene, message)
        asked = asked_of(scene, message, length)
        forecast = self._forecast(scene, asked, message)
        name = f"film.{message.format}"
        video = video_of(name)
        if video:
            encode.check_encoder(video)
        else:
            check_loop(f".{message.format}", forecast.fps, forecast.size, len(forecast))
        plan = forecast.plan(video, sound=bool(message.sound) and not message.preview)
        workers = None if message.preview else self.jobs.shared(message.format)
        if message.forecast:
            depths = depths_of(forecast)
            session.say(
                "forecast",
                job=message.job,
                seconds=float(f"{plan.seconds:.2g}"),
                memory=plan.memory,
                samples=plan.samples,
                bytes=plan.bytes,
                frames=plan.count,
                length=length,
                left_out=left_out,
                times=times,
                depths=depths[::-1] if message.backwards and scene.film else depths,
                **({"workers": workers.count} if workers else {}),
            )
            return
        if session.options.read_only:
            raise OptionError("this server is read-only: it makes no films")
        if plan.seconds > LONG:
            raise OptionError("this film takes more than a day: choose a smaller size or length")
        if (free := memory_size()) and plan.memory > 0.9 * free:
            raise OptionError("this film needs more memory than is free: choose a smaller size")
        sound = self.jobs.files.get(message.sound)
        if message.sound and sound is None:
            raise OptionError("the sound is not there any more: choose its file again")
        self.jobs.check(session, message.job, "film")
        path = self.jobs.new_folder() / name
        wanted = {
            "do": "film",
            "path": str(path),
            "device": self.jobs.device,
            "threads": self.jobs.threads,
            "asked": {**asked, "preview": message.preview},
            "tracks": {} if scene.film else message.tracks,
            "ease": "soft" if scene.film else ease_of(message),
            "backwards": message.backwards and not scene.film,
            "cluster": workers and workers.asked(),
            "sound": str(sound.path) if sound and video and not message.preview else None,
        }
        finish = partial(self.jobs.exported, path)
        self.jobs.start(session, message.job, wanted, scene, finish, message.keep)

    def _forecast(
        self, scene: Scene, asked: dict[str, Any], message: protocol.FilmMessage | protocol.Moments
    ) -> Film:
        """Return a film that is not made: without a search for more digits."""
        preview = message.preview if isinstance(message, protocol.FilmMessage) else True
        if not scene.film:
            zoom = {**zoom_of(scene, asked, ease_of(message)), "tracks": message.tracks}
            scene = scene.replace(film=zoom)
        return film(scene, preview=preview, device=self.jobs.device, on_message=lambda line: None)

    def moments(self, session: Session, message: protocol.Moments) -> None:
        """Draw small pictures of moments of a film."""
        scene, _, _ = filmed_scene(session, message)
        length = length_of(scene, message)
        timeline = self._forecast(scene, asked_of(scene, message, length), message)
        motion = timeline.motion
        mirrored = message.backwards and not scene.film  # a zoom has two keys, in one order

        def steps(work: DrawingTask) -> Steps:
            for index, at in enumerate(message.at):
                at = max(0.0, length - at) if mirrored else at
                made = scene_of(timeline.tracks, motion.view_at(at), at)
                pixels = yield from draw_preview(session.engine, work, small(made, message.width))
                table = made.to_table()
                session.say("surprised", job=message.job, index=index, label="", scene=table)
                session.preview(message.job, index, pixels)
            session.say("done", job=message.job)

        session.ask("moments", steps, message, SHEET)

    async def sound(self, request: Request) -> JSONResponse:
        """Keep a file of sound for a film, and answer its name."""
        suffix = PurePosixPath(request.query_params.get("name", "")[:300]).suffix.lower()
        if self.read_only:
            return _refused("this server is read-only", 403)
        if suffix not in encode.SOUNDS:
            return _refused(f"sound is a file of {', '.join(encode.SOUNDS)}")
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_SOUND:
            return _refused(f"a file of sound has at most {MAX_SOUND // 2**20} MiB", 413)
        self.jobs.tidy()
        name = secrets.token_hex(16)
        path = self.jobs.folder / f"{name}{suffix}"
        try:
            async with self.sending, asyncio.timeout(SOUND_SECONDS):
                size = await _received(request, path)
                await asyncio.to_thread(encode.check_audible, str(path))
        except TimeoutError:
            line = f"the file did not arrive within {SOUND_SECONDS:.0f} s"
        except ClientDisconnect:
            line = "the file is cut off"
        except FractalsError as error:
            line = first_line(error)
        else:
            self.jobs.files[name] = ExportedFile(path, size)
            return JSONResponse({"sound": name})
        path.unlink(missing_ok=True)
        return _refused(line)


async def _received(request: Request, path: Path) -> int:
    size = 0
    with path.open("wb") as file:
        async for piece in request.stream():
            size += len(piece)
            if size > MAX_SOUND:
                raise OptionError("the file is longer than it said")
            file.write(piece)
    return size


def _refused(line: str, status: int = 400) -> JSONResponse:
    return JSONResponse({"error": line}, status_code=status)


def filmed_scene(
    session: Session, message: protocol.FilmKeys
) -> tuple[Scene, list[int], list[float]]:
    """Return a film's scene, which places are left out for their formulas, and the others' seconds.

    A film through places has its keys; the other kinds are zooms, as of ``fractals film``.
    """
    width, height = (side // 2 * 2 for side in message.size)
    scene = session.scene(message.frame, message.author).unframed()
    scene = scene.replace(size=(width, height), supersampling=SAMPLES, film=None)
    moves = moves_of(scene)
    if message.what != "places":
        ends = moves.ends(scene, message.octaves if message.what == "onward" else None)
        if ends is None:
            return scene, [], []
        keys = moves.keys_through(ends, message.seconds)
        keys = eased(keys, [ease_of(message)] * 2, [0, 1])
        keys = reversed_keys(keys) if message.backwards else keys
        return scene.replace(film={"keys": keys, "fps": message.fps}), [], []
    places = [outside.of_link(link) for link in message.places]
    own = (scene.formula, scene.julia)
    same = [k for k, place in enumerate(places) if (place.formula, place.julia) == own]
    if len(same) < 2:
        raise OptionError("a film requires two places of the formula that is shown")
    keys = moves.keys_through([places[k] for k in same], message.seconds)
    if message.times:
        keys = timed(keys, message.times, same)
    keys = eased(keys, message.eases, same)
    times = [key["at"] for key in keys]
    if message.backwards:
        keys = reversed_keys(keys)
    left_out = [k for k in range(len(places)) if k not in same]
    film: dict[str, Any] = {"keys": keys, "fps": message.fps}
    if tracks := message.tracks:
        tracks = reversed_tracks(tracks, times[-1]) if message.backwards else tracks
        film |= {"tracks": tracks, "seconds": times[-1]}
    return scene.replace(film=film), left_out, times


def ease_of(message: protocol.FilmKeys) -> str:
    """Return how the only part of a zoom goes."""
    return message.eases[-1] if message.eases else "soft"


def eased(
    keys: Sequence[dict[str, Any]], eases: Sequence[str], same: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the keys of the places `same`, with the ease of each place."""
    given = [eases[k] if k < len(eases) else "soft" for k in same]
    return [{**key, "ease": ease} for key, ease in zip(keys, given, strict=True)]


def depths_of(timeline: Film) -> list[float]:
    """Return log2(zoom) at DEPTHS times of a film, evenly from begin to end; [] of a camera."""
    if not moves_of(timeline.scene).in_plane:
        return []
    motion = timeline.motion
    whole = motion.parts[-1].ends
    times = [whole * k / (DEPTHS - 1) for k in range(DEPTHS)]
    return [round(-log2(motion.part_at(at).moment_at(at).width), 4) for at in times]


def timed(
    keys: Sequence[dict[str, Any]], times: Sequence[float], same: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the keys of the places `same` at times of the user, who gives one for each place."""
    if len(times) <= same[-1]:
        raise OptionError("give a time for each place")
    given = [times[k] - times[same[0]] for k in same]
    if any(after - before < LEAST_GAP for before, after in pairwise(given)):
        raise OptionError(f"between two places are at least {LEAST_GAP} s")
    return [{**key, "at": round(at, 3)} for key, at in zip(keys, given, strict=True)]


def asked_of(scene: Scene, message: protocol.FilmKeys, length: float) -> dict[str, Any]:
    """Return the options of `fractals.film` for a message."""
    if scene.film:
        return {}
    own, _ = place_of(scene)
    asked: dict[str, Any] = {"fps": message.fps, "seconds": length}
    if message.what == "onward":
        whole = math.floor(message.octaves)
        narrower = Fraction(2 ** (message.octaves - whole)) * Fraction(2) ** whole
        asked["to"] = width_text(own / narrower)
    elif own >= home_width_of(scene):  # beside a panel it is wider
        raise OptionError("this is the whole set: zoom in first, or film from here on")
    return asked


def zoom_of(scene: Scene, asked: dict[str, Any], ease: str) -> dict[str, Any]:
    """Return the table of a zoom for its forecast: without a search for more digits."""
    own, _ = place_of(scene)
    ends = home_width_of(scene), own
    widths = [width_text(own), asked["to"]] if "to" in asked else [width_text(w) for w in ends]
    times = 0, asked["seconds"]
    keys = [{"at": at, "width": w, "ease": ease} for at, w in zip(times, widths, strict=True)]
    return {"keys": keys, "seconds": asked["seconds"], "fps": asked["fps"]}


def length_of(scene: Scene, message: protocol.FilmKeys) -> float:
    """Return the seconds of a film: those that the user chose, or else a usual length."""
    if scene.film:
        return float(scene.film.keys[-1].at or 0.0)
    if message.seconds:
        return message.seconds
    octaves = message.octaves
    if message.what == "dive":
        own, _ = place_of(scene)
        octaves = log2(home_width_of(scene) / own)
    return float(round(min(LONGEST, max(SHORTEST, abs(octaves) / SPEED))))
