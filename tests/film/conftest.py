"""What tests of films share: ffmpeg, where there is one."""

import functools
import re
import subprocess

import numpy as np
import pytest

from fractals.errors import FractalsError
from fractals.films import encode
from fractals.rendering import forecast

mean_count = functools.lru_cache(maxsize=500)(forecast.mean_count)


@pytest.fixture(autouse=True)
def views_are_estimated_once(monkeypatch):
    """Keep the estimates of a film's views, which take half of the time of a small film."""
    monkeypatch.setattr(forecast, "mean_count", mean_count)


@pytest.fixture(scope="session")
def ffmpeg():
    """Return the path of ffmpeg; tests without it are skipped."""
    try:
        return encode.find_ffmpeg()
    except FractalsError as error:
        pytest.skip(str(error))


@pytest.fixture
def decode(ffmpeg):
    """Return a function that decodes a video: its facts, and its planes as an array of bytes."""

    def run(path, pixel_format="yuv420p", kind=np.uint8):
        said = subprocess.run(
            [
                *(ffmpeg, "-hide_banner", "-i", str(path), "-f", "rawvideo"),
                *("-pix_fmt", pixel_format, "-fps_mode", "passthrough", "-"),
            ],
            capture_output=True,
            check=True,
        )
        notes = said.stderr.decode()
        video = re.search(r"Stream #0:0.*?Video: (\w+).*?, (\d+)x(\d+)", notes)
        facts = {
            "codec": video[1],
            "size": (int(video[2]), int(video[3])),
            "tags": "(tv, bt709" in notes,
            "sound": "Audio:" in notes,
            "seconds": _seconds(re.search(r"Duration: (\S+),", notes)[1]),
        }
        return facts, np.frombuffer(said.stdout, kind)

    return run


@pytest.fixture
def times(ffmpeg):
    """Return a function that lists the times of a video's frames, in seconds."""

    def run(path):
        said = subprocess.run(
            [ffmpeg, "-hide_banner", "-i", str(path), "-map", "0:v", "-f", "framecrc", "-"],
            capture_output=True,
            check=True,
        )
        text = said.stdout.decode()
        unit = re.search(r"#tb 0: (\d+)/(\d+)", text)
        rows = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
        return [int(row[2]) * int(unit[1]) / int(unit[2]) for row in rows]

    return run


def _seconds(text):
    hours, minutes, seconds = text.split(":")
    return 3600 * int(hours) + 60 * int(minutes) + float(seconds)
