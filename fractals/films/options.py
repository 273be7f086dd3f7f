"""The options of films, as `fractals.rendering.options` describes them."""

from fractals.errors import OptionError
from fractals.rendering.options import FileOptions, Options, option
from fractals.scene.film import FilmSettings
from fractals.scene.numbers import Real


class FilmOptions(Options):
    """How a scene moves that has no table film, and how fast and how large its film is."""

    to: Real | None = option(
        None,
        "Zoom from the scene's view to this width (default: from the whole set to the scene).",
        "A zoom deeper than the digits of the scene's center goes to the eye of a spiral near it, "
        "if there is one, because zeros in place of digits lead to views of one color.",
    )
    cycle: float | None = option(
        None, "Turn the palette once in this number of seconds, in an endless loop."
    )
    turn: float | None = option(
        None,
        "Turn the formula once in this number of seconds, in an endless loop: the transforms of a "
        "flame, or a flow about its z axis.",
    )
    seconds: float | None = option(
        None, "Length of the film (default: that of the scene, or 1.5 octaves a second)."
    )
    fps: float | None = option(
        None,
        "Frames a second (default: those of the scene, or 60).",
        command="Frames a second (default: 60; 30 for .webp, 25 for .gif).",
    )
    preview: bool = option(False, "A quarter of the size, one sample a pixel.")

    def check(self) -> None:
        """Raise an `OptionError` for a bad value."""
        for name in ("fps", "seconds"):
            given, limits = getattr(self, name), FilmSettings.model_fields[name].limits
            if given is not None and not limits["ge"] <= given <= limits["le"]:
                raise OptionError(f"{name}={given:g}: give {limits['ge']:g} to {limits['le']:g}")


class SaveOptions(FileOptions):
    """How a film is written."""

    frames: tuple[int, int] | None = option(
        None,
        "Write these frames only: the first, and the one after the last.",
        command="Write frames A to B - 1 only, such as 0:120.",
    )
    sound: str | None = option(
        None, "Sound, cut to the film (.wav, .flac, .mp3, .ogg, .opus, .m4a, .aac)."
    )
    codec: str | None = option(
        None, "h264 (.mp4), av1 (.mkv, .webm), hevc, prores (.mov), ffv1 (.mkv), or png."
    )
    bits: int | None = option(None, "Bits per channel: 8, 10 or 16.")
    lossless: bool = option(False, "Lose nothing, by FFV1 (.mkv) or PNGs of 16 bits.")
    keep_strip: bool = option(False, "Keep the folder NAME.film/ of the work.")
