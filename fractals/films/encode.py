"""Encodes frames by an ffmpeg process, and joins what several processes wrote.

ffmpeg is called with a list of arguments, never by a shell; it reads no terminal, and opens files
and pipes only.
"""

import functools
import os
import queue
import shutil
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import IO, Any

from fractals.errors import FractalsError, OptionError, shown, to_install
from fractals.films.planes import SAMPLING, Frame, Packed, Planes
from fractals.films.work import FilmFolder
from fractals.scene.numbers import MAX_SIDE
from fractals.threads import threads_for

Tell = Callable[[str], None]

COMMON = ("-hide_banner", "-loglevel", "error", "-nostats", "-nostdin", "-y")
SAFE = ("-protocol_whitelist", "file,pipe")
EXACT = ("-fflags", "+bitexact", "-flags", "+bitexact", "-map_metadata", "-1")
TAGS = {
    "-color_range": "tv",
    "-colorspace": "bt709",
    "-color_primaries": "bt709",
    "-color_trc": "bt709",
}
MAX_MESSAGE = 2**16  # bytes of what ffmpeg says on stderr
ANSWER = 60.0  # seconds within which ffmpeg must tell its version or encoders
SILENCE = 15.0  # seconds without a frame or an end, after which a message says so
SLOWER = 4.0  # times the usual seconds for its frames, which an encoder may take besides

# Demuxers by suffix: others, such as playlists, could name further files.
SOUNDS = {
    ".aac": "aac",
    ".flac": "flac",
    ".m4a": "mov",
    ".mp3": "mp3",
    ".oga": "ogg",
    ".ogg": "ogg",
    ".opus": "ogg",
    ".wav": "wav",
}


@dataclass(frozen=True)
class Audio:
    """How the sound of a kind of file is encoded."""

    options: tuple[str, ...]  # ffmpeg's, of the encoder
    # bits, seconds: of a second of sound, for forecasts. Seconds were measured on an EPYC (Zen 5)
    # with noise and a tone in stereo. FLAC's bits depend on the sound (0.1 and 0.57 Mbit/s for
    # these): 0.6 of the 1.41 Mbit/s of a CD is a guess for music.
    bits: float
    seconds: float


AAC = Audio(("-c:a", "aac", "-b:a", "256k"), 256e3, 0.014)
AUDIO = {
    ".mp4": AAC,
    ".mov": AAC,
    ".mkv": Audio(("-c:a", "flac"), 850e3, 0.001),
    ".webm": Audio(("-c:a", "libopus", "-b:a", "192k"), 192e3, 0.006),
}


@dataclass(frozen=True)
class Codec:
    """How a codec is called."""

    options: tuple[str, ...]  # ffmpeg's, of the encoder
    suffixes: tuple[str, ...]  # of the files that hold it
    bits: tuple[int, ...] = (8, 10)  # that it encodes; the first is the default
    sampling: str = "420"  # of chroma; "" for RGB
    # bits_a_pixel, pixels_a_second: of a file, and of one encoder, for forecasts
    bits_a_pixel: float = 0.08
    pixels_a_second: float = 29e6
    # Pixels of a side, and of width and height: others end ffmpeg with an error, or by a signal.
    # .mp4 and .mov write a side in 16 bits.
    least: int = 2
    most: tuple[int, int] = (65_535, 65_535)


# Pixels of a side, beyond which libx265 requires 32 of the other: level 5 has no smaller blocks.
LONG = 4096
X265 = "log-level=error:pools=none:frame-threads=1:info=0:open-gop=0"
CODECS = {
    "h264": Codec(
        ("-c:v", "libx264", "-preset", "medium", "-crf", "17", "-threads", "1"),
        (".mp4", ".mkv", ".mov"),
        most=(16_384, 16_384),
    ),
    "hevc": Codec(
        (
            *("-c:v", "libx265", "-preset", "medium", "-crf", "20"),
            *("-x265-params", X265, "-tag:v", "hvc1"),
        ),
        (".mp4", ".mkv", ".mov"),
        pixels_a_second=8e6,
        least=16,
    ),
    "av1": Codec(
        ("-c:v", "libsvtav1", "-preset", "6", "-crf", "26", "-svtav1-params", "lp=1"),
        (".mkv", ".webm", ".mp4"),
        (10, 8),
        pixels_a_second=12e6,
        least=16,
        most=(16_384, 8_704),
    ),
    "prores": Codec(
        ("-c:v", "prores_ks", "-profile:v", "3", "-threads", "1"),
        (".mov", ".mkv"),
        (10,),
        "422",
        4.0,
    ),
    "ffv1": Codec(
        (
            *("-c:v", "ffv1", "-level", "3", "-coder", "1", "-context", "1", "-g", "1"),
            *("-slices", "4", "-slicecrc", "1", "-threads", "1"),
        ),
        (".mkv",),
        (16,),
        "",
        20.0,
        most=(MAX_SIDE, MAX_SIDE),
    ),
}
DEFAULTS = {".mp4": "h264", ".mov": "prores", ".mkv": "av1", ".webm": "av1"}
QUIET = {"av1": {"SVT_LOG": "1"}}  # environment: the encoder would print its settings


@dataclass(frozen=True)
class Video:
    """What a file is encoded to."""

    codec: str  # of CODECS
    bits: int  # of a channel
    sampling: str  # of chroma: "420", "422" or "444"; "" for RGB
    suffix: str  # of the file

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"codec": self.codec, "bits": self.bits, "sampling": self.sampling}

    def converter(self) -> Planes | Packed:
        """Return what makes bytes of frames."""
        return Planes(self.sampling, self.bits) if self.sampling else Packed()

    def check_size(self, size: tuple[int, int]) -> None:
        """Raise an `OptionError` for sides that the codec does not take.

        They are too short or too long, or chroma values would lie across the picture's edge.
        """
        least, most = CODECS[self.codec].least, CODECS[self.codec].most
        if self.codec == "hevc" and max(size) > LONG:
            least = 32
        if min(size) < least:
            beside = f" beside more than {LONG}" if least == 32 else ""
            raise OptionError(
                f"{size[0]}x{size[1]}: the sides of {self.codec} have {least} pixels or more"
                f"{beside}; give a larger size=, or a .gif or .webp"
            )
        if size[0] > most[0] or size[1] > most[1]:
            raise OptionError(
                f"{size[0]}x{size[1]}: {self.codec} takes at most {most[0]}x{most[1]} pixels; give "
                "a smaller size=, or lossless=True and a .mkv"
            )
        across, down = SAMPLING.get(self.sampling, (1, 1))
        if size[0] % across or size[1] % down:
            even = ((size[0] + 1) // 2 * 2, (size[1] + 1) // 2 * 2)
            raise OptionError(
                f"{size[0]}x{size[1]}: a video of this kind has even sides; give "
                f"size={even}, or lossless=True and a .mkv"
            )


def choose_video(
    suffix: str, codec: str | None = None, bits: int | None = None, lossless: bool = False
) -> Video:
    """Return what a file of a suffix is encoded to.

    Raises OptionError: the suffix, the codec and the bits do not fit together.
    """
    if lossless:
        if codec not in (None, "ffv1"):
            raise OptionError(f"lossless=True is codec ffv1, not {codec}: give one of them")
        codec = "ffv1"
    codec = codec or DEFAULTS[suffix]
    if not isinstance(codec, str) or codec not in CODECS:
        raise OptionError(
            f"unknown codec '{shown(codec, 40)}': choose one of {', '.join(CODECS)}, or png"
        )
    known = CODECS[codec]
    if suffix not in known.suffixes:
        raise OptionError(
            f"'{suffix}' holds no {codec}: end the name in {' or '.join(known.suffixes)}"
        )
    if bits is not None and bits not in known.bits:
        raise OptionError(
            f"{codec} takes {' or '.join(map(str, known.bits))} bits per channel, not {bits}"
        )
    return Video(codec, bits or known.bits[0], known.sampling, suffix)


@functools.cache
def find_ffmpeg() -> str:
    """Return the path of the ffmpeg program.

    Raises FractalsError: there is none.
    """
    given = os.environ.get("FRACTALS_FFMPEG")
    if given:
        found = shutil.which(given)
        if not found:
            raise FractalsError(f"FRACTALS_FFMPEG: '{shown(given)}' is no program")
        return found
    if found := shutil.which("ffmpeg"):
        return found
    try:
        import imageio_ffmpeg

        path: str = imageio_ffmpeg.get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise FractalsError(
            f"ffmpeg is not found: install it, or {to_install('film')}, or name it in "
            "FRACTALS_FFMPEG; .webp, .gif and PNG sequences need none"
        ) from None
    return path


@functools.cache
def encoders() -> frozenset[str]:
    """Return the names of the encoders that ffmpeg has."""
    listed = run([*COMMON, "-encoders"])
    return frozenset(line.split()[1] for line in listed.splitlines() if len(line.split()) > 1)


def version() -> str:
    """Return the first line of what ffmpeg says of itself."""
    return run(["-hide_banner", "-version"]).partition("\n")[0][:200]


def check_encoder(video: Video) -> None:
    """Raise a `FractalsError` where ffmpeg lacks an encoder."""
    name = CODECS[video.codec].options[1]
    if name not in encoders():
        raise FractalsError(
            f"{shown(find_ffmpeg())} has no encoder {name}: choose another codec=, or "
            f"{to_install('film')}"
        )


def run(arguments: Sequence[str], tell: Tell | None = None) -> str:
    """Return what ffmpeg prints.

    `tell`: called with a message if ffmpeg takes long; without it, ffmpeg has to end soon. Raises
    FractalsError: with the last line of what ffmpeg said, or with the seconds in which it did not
    end.
    """
    try:
        process = subprocess.Popen(
            [find_ffmpeg(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise FractalsError(f"ffmpeg can't be run: {error.strerror or error}") from None
    with process:
        try:
            try:
                out, err = process.communicate(timeout=SILENCE if tell else ANSWER)
            except subprocess.TimeoutExpired:
                if not tell:
                    raise FractalsError(
                        f"'{shown(find_ffmpeg())}' does not answer within {ANSWER:.0f} s: name "
                        "another ffmpeg in FRACTALS_FFMPEG"
                    ) from None
                tell(_waiting(process, "has not ended", SILENCE))
                out, err = process.communicate()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise FractalsError(_failure(err, process.returncode))
    return out.decode("utf-8", "replace")


def _waiting(process: "subprocess.Popen[bytes]", what: str, seconds: float) -> str:
    return (
        f"ffmpeg (process {process.pid}) {what} for {seconds:.0f} s, and is waited for; Ctrl-C "
        "ends it, and the same command resumes"
    )


def _failure(message: bytes, code: int) -> str:
    lines = [line for line in message.decode("utf-8", "replace").splitlines() if line.strip()]
    full = next((line for line in lines if "No space left" in line), "")
    if full:
        return "ffmpeg: no space left on the disk: free some, and the same command resumes"
    if code < 0:
        return f"ffmpeg was ended by signal {-code}: the same command resumes"
    return f"ffmpeg failed: {shown(lines[0].strip()) if lines else f'exit code {code}'}"


class Encoder:
    """An ffmpeg process that encodes frames into a file.

    `path`: of the file to write. `size`: width and height. `fps`: frames a second. `ahead`: bytes
    of frames that wait for the process, so that the caller can begin another segment. `tell`:
    called with a message if the process takes no frame for long.
    """

    def __init__(
        self,
        path: Path,
        video: Video,
        size: tuple[int, int],
        fps: Fraction,
        ahead: int = 0,
        tell: Tell | None = None,
    ) -> None:
        self._tell, self._patience = tell, SILENCE
        self._a_frame = SLOWER * size[0] * size[1] / CODECS[video.codec].pixels_a_second
        self._convert = video.converter()
        arguments = [
            *(find_ffmpeg(), *COMMON, *SAFE),
            *("-f", "rawvideo", "-pix_fmt", self._convert.pixel_format),
            *("-video_size", f"{size[0]}x{size[1]}", "-framerate", str(fps)),
            *_tags(video),
            *("-i", "pipe:0", "-an", *CODECS[video.codec].options),
            *("-pix_fmt", _stored(video, self._convert.pixel_format)),
            *_tags(video),
            *(*EXACT, *_container(video.suffix), f"file:{path}"),
        ]
        self._messages: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        environment = {**os.environ, **QUIET.get(video.codec, {})}
        try:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._messages,
                env=environment,
                # Ctrl-C is for this program, which then ends ffmpeg.
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # on Windows
            )
        except OSError as error:
            self._messages.close()
            raise FractalsError(f"ffmpeg can't be run: {error.strerror or error}") from None

        self._waiting: queue.Queue[bytes | None] = queue.Queue(self._room(size, ahead))
        self._broken = False
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        self._feeder.start()

    def _room(self, size: tuple[int, int], ahead: int) -> int:
        return max(1, ahead // (3 * size[0] * size[1] * self._convert.bits // 8))

    def _feed(self) -> None:
        """Write waiting frames to the process, until there is None."""
        assert self._process.stdin
        while (data := self._waiting.get()) is not None:
            if not self._broken:
                try:
                    self._process.stdin.write(data)
                except (OSError, ValueError):  # the process ended, and says why in `close`
                    self._broken = True
        with suppress(OSError):
            self._process.stdin.close()

    def write(self, frame: Frame) -> None:
        """Encode the next frame, after those that wait."""
        if self._broken:
            self.close()
            raise FractalsError("ffmpeg ended before the film")
        self._patience += self._a_frame
        self._put(self._convert.encode(frame))

    def write_all(self, frames: Iterable[Frame]) -> None:
        """Encode the frames that follow; the process ends where one of them fails."""
        try:
            for frame in frames:
                self.write(frame)
        except BaseException:
            self.kill()
            raise

    def _put(self, data: bytes | None) -> None:
        """Have the feeder write bytes, or end, once there is room."""
        try:
            self._waiting.put(data, timeout=self._patience)
        except queue.Full:
            self._say("has taken no frame")
            self._waiting.put(data)

    def _say(self, what: str) -> None:
        if self._tell:
            self._tell(_waiting(self._process, what, self._patience))
            self._tell = None  # once

    def close(self) -> None:
        """Wait for the end of the file, or raise a `FractalsError` with what ffmpeg said."""
        try:
            self._put(None)
            self._feeder.join(self._patience)
            if self._feeder.is_alive():
                self._say("has taken no frame")
                self._feeder.join()
            try:
                code = self._process.wait(self._patience)
            except subprocess.TimeoutExpired:
                self._say("has not ended")
                code = self._process.wait()
            self._messages.seek(0)
            message = self._messages.read(MAX_MESSAGE)
        finally:
            self._messages.close()
        if code:
            raise FractalsError(_failure(message, code))

    def kill(self) -> None:
        """End the process; its file is not complete."""
        self._broken = True
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        if self._feeder.is_alive():
            self._waiting.put(None)
            self._feeder.join()
        self._messages.close()


def _tags(video: Video) -> list[str]:
    if not video.sampling:
        return []
    found = [part for pair in TAGS.items() for part in pair]
    return [*found, "-chroma_sample_location", "left"] if video.sampling == "420" else found


def _stored(video: Video, given: str) -> str:
    return given if video.sampling else "rgb48le"


def _container(suffix: str) -> list[str]:
    return ["-f", {".mp4": "mp4", ".mov": "mov", ".mkv": "matroska", ".webm": "webm"}[suffix]]


def join(
    segments: Iterable[Path],
    path: Path,
    suffix: str,
    seconds: float,
    sound: tuple[str, float] | None = None,
    said: Mapping[str, str] | None = None,
    tell: Tell | None = None,
) -> None:
    """Join files of one codec into one, without encoding again, and add sound.

    `segments`: in order; in the folder of `path`, or inside it. `seconds`: the length to which the
    sound is cut. `sound`: a file, and the seconds of it that are left out. `said`: what the file
    says of itself, by ffmpeg's names.
    """
    listing = path.with_suffix(".txt")
    names = [os.path.relpath(each, path.parent) for each in segments]
    listing.write_text("ffconcat version 1.0\n" + "".join(f"file '{name}'\n" for name in names))
    arguments = [*COMMON, *SAFE, "-f", "concat", "-i", f"file:{listing}"]
    if sound:
        arguments += _sound_input(*sound)
        arguments += ["-map", "0:v", "-map", "1:a:0", *AUDIO[suffix].options]
        arguments += ["-t", f"{seconds:.6f}"]
    arguments += ["-c:v", "copy", *EXACT]
    for key, text in (said or {}).items():
        arguments += ["-metadata", f"{key}={text}"]
    if suffix in (".mp4", ".mov"):
        arguments += ["-movflags", "+faststart"]
    if sound:
        arguments += ["-af", "apad"]
    run([*arguments, *_container(suffix), f"file:{path}"], tell)
    listing.unlink()


def _sound_input(file: str, start: float) -> list[str]:
    if not os.path.isfile(file):
        raise FractalsError(f"'{shown(file)}': no such file of sound")
    kind = SOUNDS.get(Path(file).suffix.lower())
    if not kind:
        raise OptionError(f"'{shown(file)}': sound is a file of {', '.join(SOUNDS)}")
    return [*SAFE, "-ss", f"{start:.6f}", "-f", kind, "-i", f"file:{file}"]


def check_sound(file: str) -> None:
    """Raise an error where a file of sound is missing, or of an unknown type."""
    _sound_input(file, 0.0)


def check_audible(file: str) -> None:
    """Raise an error where a file holds no sound."""
    check_sound(file)
    tried = ("-map", "0:a:0", "-t", "0.1", "-f", "null", "-")
    try:
        run([*COMMON, *_sound_input(file, 0.0), *tried])
    except FractalsError:
        raise FractalsError("this file holds no sound, or is damaged") from None


def count_frames(path: Path, tell: Tell | None = None) -> int:
    """Return how many pictures a file holds, by its packets."""
    copied = ("-map", "0:v:0", "-c", "copy", "-f", "null", "-progress", "pipe:1", "-")
    said = run([*COMMON, *SAFE, "-i", f"file:{path}", *copied], tell)
    counts = [line[6:] for line in said.splitlines() if line.startswith("frame=")]
    return int(counts[-1]) if counts else 0


# Several encoders at once, which write the segments of a film.


AHEAD = 96 * 2**20  # bytes of frames that wait for encoders, together
ENDING = 5.0  # seconds in which encoders end after Ctrl-C or an error


class Encoders:
    """Encodes segments, several at once: what waits for one encoder does not stop the next.

    Each encoder has one thread, so that its bytes do not depend on the machine.

    `size`: width and height of a frame. `work`: where segments are kept. `threads`: by default one
    for each core; half of them encode. `ending`: seconds in which encoders end after Ctrl-C or an
    error. `tell`: called with a message if an encoder takes no frame for long.
    """

    def __init__(
        self,
        size: tuple[int, int],
        fps: float,
        video: Video,
        work: FilmFolder,
        threads: int | None = None,
        ending: float = ENDING,
        tell: Tell | None = None,
    ) -> None:
        self._tell = tell
        self._size, self._video, self._work = size, video, work
        self._fps = Fraction(fps).limit_denominator(1001)
        # Encoders that end their segments, besides the one that gets frames.
        self._most = max(1, threads_for(threads) // 2)
        self._seconds = ending
        self._threads = ThreadPoolExecutor(self._most)
        self._ending: deque[tuple[Encoder, Future[None]]] = deque()

    def __enter__(self) -> "Encoders":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self._wait(0)
        finally:
            # These encoders have all frames of their segments; those that end soon are kept.
            wait([future for _, future in self._ending], self._seconds)
            for encoder, future in self._ending:
                if not future.done():
                    encoder.kill()
            self._threads.shutdown()

    def _wait(self, most: int) -> None:
        """Wait until at most this many encoders are ending."""
        while len(self._ending) > most:
            self._ending[0][1].result()
            self._ending.popleft()

    def encode(self, first: int, frames: Iterator[Frame]) -> None:
        """Encode the frames of a segment."""
        self._wait(self._most)
        ahead = AHEAD // (self._most + 1)
        draft = self._work.draft(first)
        encoder = Encoder(draft, self._video, self._size, self._fps, ahead, self._tell)
        encoder.write_all(frames)
        self._ending.append((encoder, self._threads.submit(partial(self._end, encoder, first))))

    def _end(self, encoder: Encoder, first: int) -> None:
        encoder.close()
        self._work.keep(first)
