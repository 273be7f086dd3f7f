"""Films as files: videos that ffmpeg reads back, loops, sequences, sound, and refusals."""

import os
import re
import wave
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import PIL.Image
import pytest

import fractals
from fractals import FractalsError, OptionError
from fractals.errors import to_install
from fractals.films import encode, writing
from fractals.films.planes import Planes
from fractals.films.work import folder_of
from fractals.films.writing import durations
from fractals.rendering.cluster import worker
from fractals.rendering.cluster.job import Cluster

EXAMPLE = Path(__file__).parents[2] / "examples" / "dive.toml"
TINY = {"size": (32, 18), "supersampling": 1, "device": "cpu"}


@pytest.fixture(autouse=True, scope="module")
def short_segments():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fractals.films.plan.SEGMENT", 10)
        yield


@pytest.fixture(scope="module")
def cycle():
    """Return a film of 24 frames, iterated once."""
    return fractals.film("seahorse", cycle=1, fps=24, **TINY)


@pytest.fixture(scope="module")
def still_frames(cycle):
    return list(cycle.frames())


@pytest.fixture
def sound(tmp_path):
    path = tmp_path / "tone.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        tone = 8000 * np.sin(np.arange(40_000))
        file.writeframes(tone.astype("<i2").tobytes())
    return str(path)


def test_a_film_is_its_frames(cycle, still_frames):
    assert len(cycle) == len(still_frames) == 24
    assert cycle.seconds == 1
    assert {frame.shape for frame in still_frames} == {(18, 32, 3)}
    assert {frame.dtype for frame in still_frames} == {np.dtype(np.uint16)}
    part = list(cycle.frames(5, 9))
    assert [np.array_equal(a, b) for a, b in zip(part, still_frames[5:9], strict=True)] == [
        True
    ] * 4
    assert repr(cycle) == "Film(24 frames, 32x18, 24 fps, 1 s)"


def test_a_cycle_has_no_seam(still_frames):
    """The step from the last frame to the first is one like all others."""
    frames = [frame.astype(float) for frame in still_frames]
    steps = [np.abs(a - b).mean() for a, b in zip(frames, [*frames[1:], frames[0]], strict=True)]
    assert steps[-1] < 1.5 * max(steps[:-1])


def test_a_recolored_frame_is_the_picture_of_its_scene(cycle, still_frames):
    scene = cycle.scene_at(7).replace(bits=16)
    assert scene.color.offset == pytest.approx(cycle.scene.color.offset + 7 / 24)
    np.testing.assert_array_equal(still_frames[7], fractals.render(scene, device="cpu").pixels)


@pytest.mark.parametrize(
    ("name", "codec", "known"),
    [
        ("film.mp4", None, "h264"),
        ("film.mp4", "hevc", "hevc"),
        ("film.mkv", None, "av1"),
        ("film.webm", None, "av1"),
        ("film.mov", None, "prores"),
        ("film.mkv", "ffv1", "ffv1"),
    ],
)
def test_videos_are_read_back(tmp_path, cycle, decode, times, name, codec, known):
    path = tmp_path / name
    saved = cycle.save(path, codec=codec)
    assert (saved.frames, saved.resumed, saved.bytes) == (24, 0, path.stat().st_size)
    facts, data = decode(path, "gray")
    assert (facts["codec"], facts["size"]) == (known, (32, 18))
    assert facts["tags"] == (known != "ffv1")
    assert data.size == 24 * 32 * 18
    moments = times(path)
    assert np.diff(moments) == pytest.approx([1 / 24] * 23, abs=1.1e-3)  # Matroska counts in ms
    assert not folder_of(path).exists()
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_lossless_film_has_the_bits_of_its_frames(tmp_path, cycle, still_frames, decode):
    path = tmp_path / "film.mkv"
    cycle.save(path, lossless=True)
    _, data = decode(path, "rgb48le", np.dtype("<u2"))
    np.testing.assert_array_equal(data.reshape(24, 18, 32, 3), np.array(still_frames))


@pytest.mark.parametrize(("bits", "pixel_format"), [(8, "yuv420p"), (10, "yuv420p10le")])
def test_encoders_get_our_planes(
    tmp_path, monkeypatch, still_frames, cycle, decode, bits, pixel_format
):
    """Without loss by the encoder, the decoded planes are those of our kernel."""
    known = encode.CODECS["h264"]
    options = [*known.options[: known.options.index("-crf")], "-qp", "0", "-threads", "1"]
    monkeypatch.setitem(
        encode.CODECS, "h264", encode.Codec(tuple(options), known.suffixes, known.bits)
    )
    cycle.save(tmp_path / "film.mp4", bits=bits)
    kind = np.uint8 if bits == 8 else np.dtype("<u2")
    _, data = decode(tmp_path / "film.mp4", pixel_format, kind)
    planes = Planes("420", bits)
    wanted = b"".join(planes.encode(frame) for frame in still_frames)
    np.testing.assert_array_equal(data, np.frombuffer(wanted, kind))


def test_streams_begin_at_once(tmp_path, cycle, ffmpeg):
    """The index of an .mp4 lies before its pictures, so that it plays while it is loaded."""
    cycle.save(tmp_path / "film.mp4")
    data = (tmp_path / "film.mp4").read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


def test_pieces_are_those_of_the_whole(tmp_path, cycle, monkeypatch, decode):
    """Frames of a piece that begins with a segment have the bytes that they have in the film."""
    cycle.save(tmp_path / "whole.mp4")
    cycle.save(tmp_path / "piece.mp4", frames=(10, 24))
    _, whole = decode(tmp_path / "whole.mp4")
    _, piece = decode(tmp_path / "piece.mp4")
    size = 32 * 18 * 3 // 2
    np.testing.assert_array_equal(piece, whole[10 * size :])


@pytest.mark.parametrize("name", ["film.mp4", "film.mkv", "film.webm"])
def test_sound_is_cut_to_the_film(tmp_path, cycle, sound, decode, name):
    cycle.save(tmp_path / name, sound=sound)
    facts, _ = decode(tmp_path / name, "gray")
    assert facts["sound"]
    assert facts["seconds"] == pytest.approx(1, abs=0.06)


def test_short_sound_ends_in_silence(tmp_path, sound, decode):
    film = fractals.film("seahorse", cycle=6, fps=4, **TINY)
    film.save(tmp_path / "film.mp4", sound=sound)  # 5 seconds
    facts, data = decode(tmp_path / "film.mp4", "gray")
    assert facts["seconds"] == pytest.approx(6, abs=0.1)
    assert data.size == 24 * 32 * 18


@pytest.mark.parametrize(("suffix", "fps"), [(".webp", 24), (".gif", 24)])
def test_a_loop_has_all_frames_and_their_length(tmp_path, cycle, still_frames, suffix, fps):
    path = tmp_path / f"loop{suffix}"
    assert cycle.save(path).frames == 24
    with PIL.Image.open(path) as picture:
        assert picture.n_frames == 24
        assert picture.size == (32, 18)
        assert picture.info["loop"] == 0
        length = 0
        for k in range(24):
            picture.seek(k)
            picture.load()
            length += picture.info["duration"]
            shown = np.asarray(picture.convert("RGB")).astype(float)
            assert np.abs(shown - still_frames[k] / 257).mean() < 16
    assert length == 1000


def test_times_of_loops():
    assert sum(durations(".webp", 60, 60)) == sum(durations(".gif", 30, 30)) == 1000
    assert set(durations(".gif", 50, 9)) == {20}


def test_a_sequence_is_pictures_and_is_resumed(tmp_path, cycle, still_frames):
    (tmp_path / "another").write_bytes(bytes(1000))  # is no part of the film
    saved = cycle.save(tmp_path / "frame%03d.png", frames=(3, 5), bits=16)
    (tmp_path / "another").unlink()
    names = sorted(entry.name for entry in tmp_path.iterdir())
    assert saved.bytes == sum((tmp_path / name).stat().st_size for name in names)
    assert names == ["frame003.png", "frame004.png"]
    again = fractals.render(str(tmp_path / "frame004.png"), device="cpu")
    np.testing.assert_array_equal(again.pixels, still_frames[4])
    cycle.save(f"{tmp_path}/many/", frames=(0, 2))
    assert sorted(os.listdir(tmp_path / "many")) == ["00000.png", "00001.png"]
    saved = cycle.save(f"{tmp_path}/many/", frames=(1, 4))  # the same film: it is resumed
    assert (saved.resumed, saved.frames) == (1, 3)
    (tmp_path / "many" / "00005.png").write_bytes((tmp_path / "many" / "00003.png").read_bytes())
    with pytest.raises(FractalsError, match="exists already"):
        cycle.save(f"{tmp_path}/many/", frames=(4, 6))
    assert not (tmp_path / "many" / "00004.png").exists()


def test_an_existing_file_is_kept(tmp_path, cycle, ffmpeg):
    path = tmp_path / "film.mp4"
    path.write_bytes(b"mine")
    with pytest.raises(FractalsError, match="exists already"):
        cycle.save(path)
    assert path.read_bytes() == b"mine"
    cycle.save(path, overwrite=True)
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("film.avi", {}, "unknown type of film: end the name in .mp4"),
        ("film.mp4", {"codec": "mpeg2"}, "unknown codec 'mpeg2'"),
        ("film.webm", {"codec": "h264"}, "'.webm' holds no h264"),
        ("film.mp4", {"bits": 12}, "h264 takes 8 or 10 bits"),
        ("film.mp4", {"lossless": True}, "'.mp4' holds no ffv1"),
        ("film.mkv", {"lossless": True, "codec": "av1"}, "give one of them"),
        ("film.webp", {"bits": 10}, "takes no codec and no bits"),
        ("film.mp4", {"frames": (3, 3)}, "frames 3:3: the film has frames 0:24"),
        ("film.mp4", {"frames": (0, 25)}, "the film has frames 0:24"),
        ("frame.png", {}, "such as frame%05d.png"),
        ("50%_%02d.png", {}, "such as frame%05d.png"),
        ("%s%02d.png", {}, "such as frame%05d.png"),
        ("film.mp4", {"sound": "gone.wav"}, "no such file of sound"),
        ("film.mp4", {"sound": __file__}, "sound is a file of .aac"),
        ("film.webp", {"sound": "song.wav"}, "holds no sound: leave sound= out"),
        ("film.gif", {"sound": "song.wav"}, "holds no sound: leave sound= out"),
        ("none/film.mp4", {}, "the folder .* does not exist"),
    ],
)
def test_refusals_are_one_line_and_leave_nothing(tmp_path, cycle, ffmpeg, name, options, words):
    with pytest.raises(FractalsError, match=words) as caught:
        cycle.save(tmp_path / name, **options)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


SPOILED = {
    "no video": lambda arrays: {"light": arrays["light"]},
    "no light": lambda arrays: {"video": arrays["video"]},
    "little light": lambda arrays: {**arrays, "light": arrays["light"][:-1]},
    "another type": lambda arrays: {**arrays, "video": arrays["video"].astype("f8")},
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_a_segment_that_arrives_spoiled_is_made_again(tmp_path, cycle, ffmpeg, monkeypatch, spoil):
    encode_part, names = worker.encode, []

    def first_spoiled(name, work, arrays, facts=None):
        names.append(name)
        return encode_part(name, work, spoil(arrays) if len(names) == 1 else arrays, facts)

    monkeypatch.setattr(worker, "encode", first_spoiled)
    with ThreadPoolExecutor(1) as executor:
        cycle.save(tmp_path / "film.mp4", cluster=Cluster(executor, returns=True))
    assert encode.count_frames(tmp_path / "film.mp4") == len(cycle)
    assert names.count(names[0]) == 2


def test_odd_sizes(tmp_path, ffmpeg, decode):
    film = fractals.film("seahorse", cycle=1, fps=4, **{**TINY, "size": (33, 17)})
    with pytest.raises(OptionError, match=r"even sides; give size=\(34, 18\), or lossless=True"):
        film.save(tmp_path / "film.mp4")
    film.save(tmp_path / "film.mkv", lossless=True)
    facts, _ = decode(tmp_path / "film.mkv")
    assert facts["size"] == (33, 17)


@pytest.mark.parametrize(("codec", "suffix"), [("av1", "mkv"), ("hevc", "mp4")])
def test_sides_that_end_the_encoder_are_refused(tmp_path, codec, suffix):
    film = fractals.film("seahorse", cycle=1, fps=4, **{**TINY, "size": (64, 8)})
    with pytest.raises(OptionError, match=f"^64x8: the sides of {codec} have 16 pixels or more"):
        film.save(tmp_path / f"film.{suffix}", codec=codec)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("dry", [["--dry-run"], []], ids=["dry run", "film"])
@pytest.mark.parametrize(
    ("name", "codec", "size", "words"),
    [
        ("a.mp4", "h264", "1x4", "the sides of h264 have 2 pixels or more"),
        ("a.mkv", "ffv1", "4x1", "the sides of ffv1 have 2 pixels or more"),
        ("a.mov", "prores", "3x4", "even sides; give --size 4x4"),
        ("a.mp4", "hevc", "8x64", "the sides of hevc have 16 pixels or more;"),
        ("a.mp4", "hevc", "4098x30", "have 32 pixels or more beside more than 4096;"),
        ("a.mp4", "h264", "16386x2", "h264 takes at most 16384x16384 pixels"),
        ("a.webm", "av1", "16x8706", "av1 takes at most 16384x8704 pixels"),
        ("a.mov", "prores", "2x65536", "prores takes at most 65535x65535 pixels"),
        ("a.webp", None, "16384x1", "the sides of a .webp have at most 16383 pixels"),
        ("a.gif", None, "1x65536", "the sides of a .gif have at most 65535 pixels"),
    ],
)
def test_a_size_that_a_file_cannot_hold_is_refused_before_any_work(
    run, name, codec, size, words, dry
):
    asked = ["--codec", codec] if codec else []
    line = ["--cycle", "1", "--fps", "2", "--max-iterations", "5", "--size", size, *asked]
    code, out, err = run("film", *line, "-o", name, *dry)
    assert (code, out, err.count("\n")) == (2, b"", 1)
    assert err.startswith(f"fractals: {size}: ")
    assert words in err
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("suffix", "codec", "size"),
    [
        ("mp4", "h264", (2, 2)),
        ("mp4", "h264", (16384, 2)),
        ("mp4", "hevc", (16, 4096)),
        ("mp4", "hevc", (4098, 32)),
        ("webm", "av1", (16, 8704)),
        ("mov", "prores", (65534, 2)),
        ("mkv", "ffv1", (2, 3)),
        ("gif", None, (1, 1)),
        ("webp", None, (16383, 1)),
    ],
)
def test_the_least_and_the_largest_sides_are_encoded(tmp_path, ffmpeg, suffix, codec, size):
    given = {**TINY, "size": size, "max_iterations": 5}
    film = fractals.film(cycle=1, fps=2, **given)
    assert film.save(tmp_path / f"a.{suffix}", codec=codec).frames == 2


def test_one_frame(tmp_path, decode):
    film = fractals.film("seahorse", cycle=1, fps=1, **TINY)
    film.save(tmp_path / "film.mp4")
    _, data = decode(tmp_path / "film.mp4", "gray")
    assert data.size == 32 * 18


@pytest.fixture
def no_ffmpeg(monkeypatch, tmp_path):
    monkeypatch.delenv("FRACTALS_FFMPEG", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    encode.find_ffmpeg.cache_clear()
    encode.encoders.cache_clear()
    yield
    encode.find_ffmpeg.cache_clear()
    encode.encoders.cache_clear()


def test_no_ffmpeg(tmp_path, cycle, no_ffmpeg, monkeypatch):
    with pytest.raises(FractalsError, match=re.escape(to_install("film"))):
        cycle.save(tmp_path / "film.mp4")
    cycle.save(tmp_path / "loop.webp", frames=(0, 2))
    monkeypatch.setenv("FRACTALS_FFMPEG", "/nowhere/ffmpeg")
    with pytest.raises(FractalsError, match="FRACTALS_FFMPEG: '/nowhere/ffmpeg' is no program"):
        cycle.save(tmp_path / "film.mp4")


@pytest.fixture
def play_ffmpeg(tmp_path, monkeypatch):
    """Return a function that has the commands of a shell stand in for ffmpeg."""
    path = tmp_path / "ffmpeg"

    def play(commands):
        path.write_text(f"#!/bin/sh\n{commands}\n")
        path.chmod(0o755)
        monkeypatch.setenv("FRACTALS_FFMPEG", str(path))
        encode.find_ffmpeg.cache_clear()
        encode.encoders.cache_clear()

    yield play
    encode.find_ffmpeg.cache_clear()
    encode.encoders.cache_clear()


def wait_for(go):
    """Return a line of a shell that waits for a file, and fails where nobody makes it."""
    looks = "n=0; while [ $n -lt 400 ]"
    return f'{looks} && [ ! -e "{go}" ]; do sleep 0.05; n=$((n+1)); done; [ -e "{go}" ] || exit 9'


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ("echo No space left on device >&2; exit 1", "no space left on the disk"),
        ("kill -9 $$", "ffmpeg was ended by signal 9: the same command resumes"),
        ("echo Unknown thing >&2; exit 3", "ffmpeg failed: Unknown thing"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="a program written as a shell script")
def test_an_ffmpeg_that_fails_leaves_the_work(tmp_path, cycle, ffmpeg, play_ffmpeg, ends, words):
    """One line, and the folder is there for the next try."""
    play_ffmpeg(f'case "$*" in *rawvideo*) {ends};; esac\nexec {ffmpeg} "$@"')
    with pytest.raises(FractalsError, match=words) as caught:
        cycle.save(tmp_path / "film.mp4")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "film.mp4").exists()
    assert folder_of(tmp_path / "film.mp4").is_dir()


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("rawvideo", " for 0 s, and is waited for; Ctrl-C ends it"),
        ("concat", "has not ended for 0 s"),
        ("null", "has not ended for 0 s"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="a program written as a shell script")
def test_an_ffmpeg_that_hangs(tmp_path, cycle, ffmpeg, monkeypatch, play_ffmpeg, when, words):
    """A line says so, and the film is made if it goes on."""
    go, told = tmp_path / "go", []
    play_ffmpeg(f'case "$*" in *{when}*) {wait_for(go)};; esac\nexec {ffmpeg} "$@"')
    monkeypatch.setattr(encode, "SILENCE", 0.4)

    def tell(line):
        told.append(line)
        go.touch()

    film = fractals.Film(cycle.scene, cycle.options.replace(on_message=tell))
    film.save(tmp_path / "film.mp4")
    assert any(words in line for line in told)
    assert (tmp_path / "film.mp4").exists()


@pytest.mark.skipif(os.name != "posix", reason="a program written as a shell script")
@pytest.mark.parametrize("frames", [1, 4], ids=["at the end", "within"])
def test_an_encoder_that_takes_no_frame(tmp_path, ffmpeg, monkeypatch, play_ffmpeg, frames):
    """A frame is larger than what a pipe holds."""
    go, told = tmp_path / "go", []
    play_ffmpeg(f'{wait_for(go)}\nexec {ffmpeg} "$@"')
    monkeypatch.setattr(encode, "SILENCE", 0.4)

    def tell(line):
        told.append(line)
        go.touch()

    video = encode.choose_video(".mp4")
    encoder = encode.Encoder(tmp_path / "a.mp4", video, (640, 360), Fraction(25), tell=tell)
    for _ in range(frames):
        encoder.write(np.zeros((360, 640, 3), np.uint16))
    encoder.close()
    assert "has taken no frame for 0 s" in told[0]
    assert encode.count_frames(tmp_path / "a.mp4") == frames


@pytest.mark.skipif(os.name != "posix", reason="a program written as a shell script")
def test_an_ffmpeg_that_does_not_say_what_it_is(tmp_path, cycle, monkeypatch, play_ffmpeg):
    play_ffmpeg("exec sleep 50")
    monkeypatch.setattr(encode, "ANSWER", 0.4)
    with pytest.raises(FractalsError, match="does not answer within 0 s: name another ffmpeg"):
        cycle.save(tmp_path / "film.mp4")


def test_a_full_disk_is_told_before_any_work(tmp_path, cycle, ffmpeg, monkeypatch):
    monkeypatch.setattr(writing.shutil, "disk_usage", lambda path: SimpleNamespace(free=9))
    with pytest.raises(
        FractalsError, match=r"\d\.\d MiB are free there: name a place on another disk"
    ):
        cycle.save(tmp_path / "film.mp4")
    assert not list(tmp_path.iterdir())


def test_arguments_are_safe(tmp_path, cycle, ffmpeg, monkeypatch):
    """No shell, no terminal, files and pipes only; names of ours in what is joined."""
    calls = []
    real = encode.subprocess.Popen.__init__

    def spy(self, arguments, *more, **options):
        calls.append((arguments, options))
        real(self, arguments, *more, **options)

    monkeypatch.setattr(encode.subprocess.Popen, "__init__", spy)
    cycle.save(tmp_path / "-a 'b' $(touch c): d.mp4", frames=(0, 4))
    made = [(arguments, options) for arguments, options in calls if "-i" in arguments]
    assert len(made) >= 3
    for arguments, options in made:
        assert isinstance(arguments, list)
        assert not options.get("shell")
        assert "-nostdin" in arguments
        assert arguments[arguments.index("-protocol_whitelist") + 1] == "file,pipe"
    assert not (tmp_path / "c").exists()


def test_a_film_needs_motion():
    with pytest.raises(OptionError, match="nothing moves: give to=WIDTH"):
        fractals.film(**TINY)
    with pytest.raises(OptionError, match="is the width of the scene, so nothing moves"):
        fractals.film("mandelbrot", width=3, to=3, **TINY)
    with pytest.raises(OptionError, match="a zoom does not end where it begins"):
        fractals.film(to="1e-3", cycle=2, **TINY)
    with pytest.raises(OptionError, match="the palette has two ends"):
        fractals.film(cycle=2, palette={"stops": ["black", "white"], "cyclic": False}, **TINY)
    with pytest.raises(OptionError, match="has keys or tracks of its own"):
        fractals.film(to="1e-3", film={"keys": [{"at": 0}]}, **TINY)
    with pytest.raises(OptionError, match="fps=1000: give 1 to 240"):
        fractals.film(to="1e-3", fps=1000, **TINY)
    with pytest.raises(OptionError, match="an exponential map is no view of a film"):
        fractals.film(to="1e-3", projection="exponential", **TINY)


def test_a_frame_by_its_number():
    film = fractals.film("seahorse", to="1e-2", seconds=1, fps=4, **TINY)
    frames = list(film)
    assert all(np.array_equal(film[k], frames[k]) for k in (0, 2, -1))
    for number in (4, -5):
        with pytest.raises(IndexError, match="the film has 4 frames"):
            film[number]
    with pytest.raises(TypeError, match=r"film\.frames\(first, last\) yields frames"):
        film[1:2]


def test_stills_and_previews():
    film = fractals.film("seahorse", to="1e-4", seconds=2, **{**TINY, "supersampling": 2})
    image = film.still(2)
    assert image.size == (32, 18)
    assert image.scene.view.width == "0.0001"
    assert image.scene.film is None
    with pytest.raises(OptionError, match="the film has 2 s"):
        film.still(2.1)
    small = fractals.film("seahorse", to="1e-4", preview=True, size=(640, 360))
    assert (small.size, small.scene.image.supersampling) == ((160, 90), 1)


def test_the_example_is_a_dive_and_a_change_of_colors():
    film = fractals.film(EXAMPLE, preview=True, device="cpu")
    assert [chosen.method for chosen in film.plan().parts] == ["strip", "recolor"]
    assert len(film) == 36 * 60


def test_notebooks_show_a_loop():
    text = fractals.film("seahorse", cycle=1, fps=24, **TINY)._repr_html_()
    assert text.startswith('<figure><img src="data:image/webp;base64,')
    assert "24 frames" in text


def test_colors_that_depend_on_the_whole_frame():
    keys = {"coloring": "histogram", "size": (16, 10), "supersampling": 1, "device": "cpu"}
    film = fractals.film("mandelbrot", to="1", seconds=1, fps=4, **keys)
    assert [chosen.method for chosen in film.parts] == ["frames"]
    assert "may flicker" in "".join(film.warnings())
    assert len({frame.tobytes() for frame in film.frames()}) == 4
    strip = fractals.film("mandelbrot", to="1", seconds=1, fps=60, **keys)
    assert [chosen.method for chosen in strip.parts] == ["strip"]
    assert not strip.warnings()


DEEP = ({"at": 0, "width": "4"}, {"at": 60, "width": "5e-41"})


def test_forecasts_are_measured_where_that_is_soon():
    film = fractals.film("seahorse", to="1e-4", seconds=2, **TINY)
    (chosen,), (measured,) = film.parts, film.plan(measured=True).parts
    assert chosen.method == measured.method == "strip"
    assert measured.iterating != chosen.iterating
    assert 0 < measured.iterating < 5
    assert measured.coloring == chosen.coloring
    assert chosen.samples < measured.samples < 18 * chosen.samples
    assert measured.reason.startswith(chosen.reason + "; texels in noise take about")
    keys = [{"at": 0, "width": "3"}, {"at": 2, "center": ["0", "1"], "width": "1e-20000"}]
    deep = fractals.film("mandelbrot", {"film": {"keys": keys}}, transfer="log", **TINY)
    assert deep.plan(measured=True).parts == deep.parts
    assert "facts" not in deep.__dict__  # no orbit was computed


def test_deep_dives_keep_contrast():
    told = []
    keys = {"seconds": 60, "fps": 60, **TINY, "on_message": told.append}
    density = fractals.load_scene("heirloom").color.density
    color = fractals.film("heirloom", **keys).scene.color
    assert (color.transfer, color.density) == ("cbrt", 1.6 * density)
    assert "136 octaves" in told.pop()
    color = fractals.film("heirloom", transfer="log", **keys).scene.color
    assert (color.transfer, color.density) == ("log", density)
    assert fractals.film("rosette", **keys).scene.color.transfer == "auto"
    assert not told
    tracks = {"film": {"tracks": {"density": [[0, 0.3], [60, 0.5]]}, "keys": [*DEEP]}}
    film = fractals.film("heirloom", tracks, **keys)
    assert film.scene.color.transfer == "auto"
    assert "transfer='cbrt'" in "".join(film.warnings())


@pytest.mark.parametrize(
    ("center", "missing"),
    [(("-0.75", "0.1"), 25), (("0", "1"), 0), (("0.1234567890123456789012345678", "1"), 0)],
)
def test_a_center_that_lacks_digits_is_told_once(tmp_path, center, missing):
    told = []
    keys = [{"at": 0, "width": "3"}, {"at": 1, "center": list(center), "width": "1e-25"}]
    film = fractals.film(
        "mandelbrot", {"film": {"fps": 3, "keys": keys}}, **TINY, on_message=told.append
    )
    list(film.frames())
    assert not [line for line in told if "decimals" in line]
    said = [line for line in film.warnings() if "decimals" in line]
    assert len(said) == bool(missing)
    assert not missing or f"{missing} decimals" in said[0]


def test_a_film_that_stays_lacks_no_digits_where_its_picture_lacks_none():
    scene = {"view": {"center": ["-0.75", "0.1"], "width": "1e-3"}}
    assert not fractals.film("mandelbrot", scene, cycle=1, fps=3, **TINY).warnings()
    scene["view"]["width"] = "1e-20"
    said = fractals.film("mandelbrot", scene, cycle=1, fps=3, **TINY).warnings()
    assert "20 decimals fewer" in said[0]


def test_an_unknown_option_of_a_file_is_an_error(tmp_path, cycle):
    for word in ("audio", "sound"):
        with pytest.raises(OptionError, match=rf"unknown keyword '{word}'; give film\.save\("):
            fractals.film("seahorse", **{word: "a.wav"})
    with pytest.raises(OptionError, match=r"unknown keyword 'sounds'.*did you mean 'sound'"):
        cycle.save(tmp_path / "film.mp4", sounds="a.wav")
