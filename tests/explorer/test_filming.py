"""Films of the explorer: the files that the command line makes, progress, ends, and pages that are
loaded again."""

import asyncio
import http.client
import json
import time
import wave

import pytest
from support.explorer import PATIENCE, SIZE, Client, file_of
from support.scenes import slow_but

import fractals
from fractals.errors import FractalsError
from fractals.explorer import filming, jobs
from fractals.explorer.work import reversed_keys
from fractals.films import encode
from fractals.rendering.moves import Moves

# Otherwise each film looks for a limit of its own, in plain Python.
LIMIT = {"iteration": {"max_iterations": 200}}
SEAHORSE = {"view": {"center": ["-0.7453", "0.1127"], "width": "0.05"}, **LIMIT}
DEEPER = {
    **LIMIT,
    "view": {"center": ["-0.74515806380161955527", "0.1125749162054165"], "width": "1e-3"},
}
JULIA = {"julia": ["-0.8", "0.156"]}
SMALL = {"size": [64, 36], "seconds": 0.5, "fps": 20}
LONG = {"size": [64, 36], "seconds": 600.0, "fps": 60}

try:
    encode.find_ffmpeg()
    missing = ""
except FractalsError as error:
    missing = str(error)
needs_ffmpeg = pytest.mark.skipif(bool(missing), reason=missing or "-")


async def shown(client, scene, frame=1):
    await client.say("open", frame=frame, scene=scene)
    return await client.until("placed", frame=frame)


def links(*scenes):
    return [fractals.explorer.outside.link_of(fractals.load_scene(each)) for each in scenes]


KINDS = {
    "the whole set": {},
    "backwards": {"backwards": True},
    "from here on": {"what": "onward", "octaves": 3.5},
    "out": {"what": "onward", "octaves": -1.0},
    "places": {"what": "places", "places": links(SEAHORSE, DEEPER)},
    "places backwards": {"what": "places", "places": links(SEAHORSE, DEEPER), "backwards": True},
    "tracks backwards": {
        "backwards": True,
        "tracks": {
            "density": [[0, 1], [0.5, 3]],
            "offset": [[0.1, 0], [0.4, 0.7]],
            "palette": [[0, "hokusai"], [0.5, "ember", "in"]],
        },
        "eases": ["in"],
    },
    "tracks through places": {
        "what": "places",
        "places": links(SEAHORSE, DEEPER),
        "tracks": {"offset": [[0, 0], [9, 1]]},  # later than the film ends
    },
}


# The film of the whole set is that of another test; the others are kin of this one.
OFTEN = ("tracks through places",)


@needs_ffmpeg
@pytest.mark.parametrize("kind", slow_but(OFTEN, KINDS))
def test_a_film_is_the_file_that_the_command_line_makes(server, kind, tmp_path, run):
    """With sound, too."""
    status, heard = sent(server, "tone.WAV", tone(tmp_path / "tone.wav"))
    assert status == 200
    asked = {**SMALL, **KINDS[kind], "sound": heard["sound"]}

    async def talk(client):
        await shown(client, SEAHORSE)
        return await client.ask("film", "exported", job=1, frame=1, **asked)

    told = server.run(talk)
    path = file_of(server, told)
    assert (told["frames"], told["bytes"]) == (10, path.stat().st_size)
    assert encode.count_frames(path) == 10
    (tmp_path / "film.toml").write_text(told["toml"])
    code, _, err = run(
        *("film", tmp_path / "film.toml", "--audio", tmp_path / "tone.wav"),
        *("-o", tmp_path / "film.mp4", "--cpu"),
    )
    assert code == 0, err
    assert (tmp_path / "film.mp4").read_bytes() == path.read_bytes()


def test_a_loop_needs_no_ffmpeg(server, monkeypatch):
    monkeypatch.setattr(encode, "find_ffmpeg", lambda: pytest.fail("ffmpeg is not needed"))

    async def talk(client):
        await shown(client, SEAHORSE)
        return await client.ask("film", "exported", job=1, frame=1, **SMALL, format="webp")

    path = file_of(server, server.run(talk))
    assert path.read_bytes()[8:12] == b"WEBP"


def test_moments_of_a_film_are_seen_before_it_is_made(server):
    wanted = {"what": "places", "places": links(SEAHORSE, JULIA, DEEPER), "times": [1.0, 2.0, 5.0]}
    asked = {"job": 1, "frame": 1, "forecast": True, **SMALL, "seconds": None, **wanted}
    asked["eases"] = ["soft", "in", "hold"]

    async def moments(client, **keys):
        await client.say("moments", frame=1, width=64, size=[64, 36], **keys)
        found = [await client.until("surprised", job=keys["job"]) for _ in keys["at"]]
        await client.until("done", job=keys["job"])
        return [each["scene"] for each in found]

    async def talk(client):
        await shown(client, SEAHORSE)
        told = await client.ask("film", "forecast", **asked)
        asked["eases"][2] = "in"
        eased = [
            await client.ask("film", "forecast", **asked, backwards=each) for each in (False, True)
        ]
        places = await moments(client, job=2, at=[0.0, 2.0, 4.0], **wanted)
        back = await moments(client, job=3, at=[0.0], backwards=True, **wanted)
        zoom = await moments(client, job=4, at=[0.0, 10.0], seconds=10.0, backwards=True)
        return told, eased, places, back, zoom

    told, (eased, again), places, back, zoom = server.run(talk)
    assert (told["length"], told["left_out"], told["times"]) == (4.0, [1], [0.0, 4.0])
    assert len(set(told["depths"])) == 1  # held until the last place
    depths = eased["depths"]
    assert (2 ** -depths[0], 2 ** -depths[-1]) == pytest.approx((0.05, 1e-3), rel=1e-3)
    assert depths[0] < depths[32] < (depths[0] + depths[-1]) / 2
    assert depths == again["depths"]  # as the film runs forwards
    widths = [float(each["view"]["width"]) for each in places]
    assert (widths[0], widths[2]) == (0.05, 1e-3)
    assert 1e-3 < widths[1] < 0.05
    assert back[0]["view"] == places[2]["view"]
    assert float(zoom[0]["view"]["width"]) == 0.05
    assert float(zoom[1]["view"]["width"]) > 2  # the whole set


def test_moments_have_the_numbers_of_their_time(server):
    tracks = {"density": [[0, 1], [10, 3]], "layers.0.opacity": [[0, 0], [10, 1]]}
    scene = {**SEAHORSE, "color": {"layers": [{"coloring": "slopes"}]}}

    async def talk(client):
        await shown(client, scene)
        keys = {"frame": 1, "width": 64, "size": [64, 36], "seconds": 10.0, "tracks": tracks}
        await client.say("moments", job=2, at=[0.0, 5.0], **keys)
        found = [await client.until("surprised", job=2) for _ in range(2)]
        await client.say("moments", job=3, at=[2.5], backwards=True, **keys)
        found.append(await client.until("surprised", job=3))
        wrong = {"frame": 1, "tracks": {"dens": [[0, 1]]}}
        await client.say("film", job=4, forecast=True, **wrong)
        return found, (await client.until("error"))["message"]

    found, message = server.run(talk)
    colors = [each["scene"]["color"] for each in found]
    assert [color["density"] for color in colors] == [1, 2, 2.5]
    assert [color["layers"][0]["opacity"] for color in colors] == [0, 0.5, 0.75]
    assert "film.tracks.dens" in message


@pytest.mark.parametrize(
    ("times", "words"),
    [([0.0], "give a time for each place"), ([1.0, 1.0], "between two places are at least 0.02 s")],
)
def test_times_of_places_rise(server, times, words):
    async def talk(client):
        await shown(client, SEAHORSE)
        keys = {"what": "places", "places": links(SEAHORSE, DEEPER), "times": times}
        await client.say("film", job=1, frame=1, forecast=True, **keys)
        return (await client.until("error"))["message"]

    assert words in server.run(talk)


def test_without_an_encoder_there_is_one_line(server, monkeypatch):
    def refuse():
        raise FractalsError("ffmpeg is not installed: pip install 'fractals-numba[film]'")

    monkeypatch.setattr(encode, "find_ffmpeg", refuse)
    encode.encoders.cache_clear()

    async def talk(client):
        await shown(client, SEAHORSE)
        await client.say("film", job=1, frame=1, **SMALL)
        return await client.refused()

    assert server.run(talk) == "ffmpeg is not installed: pip install 'fractals-numba[film]'"


def test_a_film_is_forecast(server):
    async def talk(client):
        await shown(client, DEEPER)
        ask = {"job": 1, "frame": 1, "size": [641, 361], "forecast": True, "fps": 30}
        found = [
            await client.ask("film", "forecast", **ask),
            await client.ask("film", "forecast", **ask, seconds=4.0),
            await client.ask("film", "forecast", **ask, seconds=4.0, preview=True),
            await client.ask("film", "forecast", **ask, what="onward", octaves=30.0),
        ]
        places = links(DEEPER, JULIA, SEAHORSE)
        found.append(await client.ask("film", "forecast", **ask, what="places", places=places))
        return found

    whole, chosen, preview, onward, places = server.run(talk)
    assert (whole["length"], whole["frames"]) == (8.0, 240)  # log2(4200) / 1.5
    assert (chosen["length"], chosen["frames"]) == (4.0, 120)
    assert 0 < preview["seconds"] < chosen["seconds"]
    assert preview["samples"] < chosen["samples"]
    assert onward["length"] == 20.0
    assert places["left_out"] == [1]
    assert places["length"] == pytest.approx(5.644, abs=1e-3)  # log2(50)
    assert min(each[key] for each in (whole, places) for key in ("bytes", "memory", "seconds")) > 0


@pytest.mark.parametrize(
    ("scene", "keys", "words"),
    [
        ({}, {}, "this is the whole set: zoom in first"),
        (SEAHORSE, {"what": "places", "places": links(SEAHORSE)}, "requires two places"),
        (SEAHORSE, {"what": "places", "places": links(SEAHORSE, JULIA)}, "requires two places"),
        (SEAHORSE, {"what": "places", "places": ["nonsense"] * 2}, "the link is damaged"),
        (SEAHORSE, {"what": "places", "places": ["x"] * 61}, "more than 60 values"),
        (SEAHORSE, {"what": "onward", "octaves": 1e9}, "is not 3000 or less"),
        (SEAHORSE, {"sound": "0" * 32}, "the sound is not there any more"),
        (SEAHORSE, {"format": "webp", "seconds": 1800.0, "fps": 60}, "too many for an animated"),
        (SEAHORSE, {"seconds": 0}, "is not 0.2 or more"),
        (SEAHORSE, {"size": [8, 8]}, "is not 16 or more"),
    ],
)
def test_what_makes_no_film_is_told_in_one_line(server, scene, keys, words):
    async def talk(client):
        await shown(client, scene)
        await client.say("film", job=1, frame=1, **{**SMALL, "size": [1280, 720], **keys})
        return await client.refused()

    if not missing or keys.get("format") == "webp":
        said = server.run(talk)
        assert words in said
        assert said.isprintable()


def test_a_film_of_days_is_not_begun(server, monkeypatch):
    monkeypatch.setattr(filming, "LONG", 0.0)

    async def talk(client):
        await shown(client, SEAHORSE)
        await client.say("film", job=1, frame=1, **SMALL, format="webp")
        return await client.refused()

    assert "more than a day" in server.run(talk)


@needs_ffmpeg
def test_a_film_tells_its_progress_and_is_cancelled(server):
    async def talk(client):
        await shown(client, SEAHORSE)
        await client.say("film", job=5, frame=1, **LONG)
        told = await client.until("progress", job=5)
        await client.say("film", job=6, frame=1, **LONG)
        refused = await client.refused()
        return told, refused, await client.ask("cancel", "failed", job=5)

    before = set(server.explorer.jobs.folder.iterdir())
    told, refused, ended = server.run(talk)
    assert (told["what"], told["of"]) == ("frame", 36_000)
    assert refused.startswith("one at a time")
    assert (ended["job"], ended["cancelled"]) == (5, True)
    assert not server.explorer.jobs.running
    assert set(server.explorer.jobs.folder.iterdir()) == before


async def other(server, talk):
    async with server.connect() as socket:
        client = Client(socket, SIZE)
        await client.say("hello", v=1, size=list(SIZE))
        await client.until("welcome")
        return await talk(client)


async def begun(client, **keys):
    await shown(client, SEAHORSE)
    await client.say("film", job=1, frame=1, **{**LONG, **keys})
    name = (await client.until("started", job=1))["name"]
    await client.until("progress", job=1)
    return name


def idle(server):
    deadline = time.monotonic() + PATIENCE
    while server.explorer.jobs.running:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return True


@needs_ffmpeg
def test_a_page_that_is_loaded_again_finds_its_film(server):
    async def talk():
        name = await other(server, begun)

        async def again(client):
            await client.say("follow", job=7, name=name)
            first = await client.until("progress", job=7)
            later = await client.until("progress", job=7)
            return first, later, await client.ask("cancel", "failed", job=7)

        return await other(server, again)

    first, later, ended = asyncio.run(talk())
    assert first["done"] <= later["done"]
    assert (ended["job"], ended["cancelled"]) == (7, True)
    assert idle(server)


@needs_ffmpeg
def test_a_film_that_ended_meanwhile_is_told(server, tmp_path, run):
    """It is that of the whole set, which needs no table."""

    async def talk():
        async def start(client):
            await shown(client, SEAHORSE)
            await client.say("film", job=1, frame=1, **SMALL, keep=True)
            name = (await client.until("started", job=1))["name"]
            return name, (await client.ask("link", "link", frame=1))["toml"]

        name, toml = await other(server, start)
        await asyncio.to_thread(idle, server)

        async def again(client):
            return await client.ask("follow", "exported", job=2, name=name)

        return await other(server, again), toml

    told, toml = asyncio.run(talk())
    assert told["frames"] == 10
    (tmp_path / "scene.toml").write_text(toml)
    options = ("--size", "64x36", "--seconds", "0.5", "--fps", "20", "--supersampling", "2")
    code, _, err = run(
        "film", tmp_path / "scene.toml", *options, "-o", tmp_path / "film.mp4", "--cpu"
    )
    assert code == 0, err
    assert (tmp_path / "film.mp4").read_bytes() == file_of(server, told).read_bytes()


@needs_ffmpeg
def test_a_film_ends_whose_page_does_not_return(server, monkeypatch):
    monkeypatch.setattr(jobs, "RETURN_SECONDS", 0.1)
    asyncio.run(other(server, begun))
    assert idle(server)


def test_a_film_that_is_gone_is_one_line(server):
    async def talk(client):
        await client.say("follow", job=1, name="0" * 32)
        return await client.refused()

    assert server.run(talk) == "the film is not there any more"


def test_a_read_only_server_makes_no_films(own_server):
    server = own_server(read_only=True)

    async def talk(client):
        await shown(client, SEAHORSE)
        await client.say("film", job=1, frame=1, **SMALL, format="webp")
        return await client.refused()

    assert "read-only" in server.run(talk)
    assert sent(server, "a.wav", b"")[0] == 403


def sent(server, name, data):
    own = {"Authorization": f"Bearer {server.token}"}
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    line.request("POST", f"/sound?name={name}", data, own)
    answer = line.getresponse()
    told = json.loads(answer.read())
    line.close()
    return answer.status, told


def tone(path):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(range(256)) * 200)
    return path.read_bytes()


@needs_ffmpeg
def test_the_forecast_of_a_film_counts_its_sound(server, tmp_path):
    _, told = sent(server, "tone.wav", tone(tmp_path / "tone.wav"))

    async def talk(client):
        await shown(client, SEAHORSE)
        forecasts = []
        for job, more in enumerate(({}, {"sound": told["sound"]}), 1):
            asked = {**SMALL, **more, "forecast": True}
            forecasts.append(await client.ask("film", "forecast", job=job, frame=1, **asked))
        return forecasts

    silent, heard = server.run(talk)
    assert heard["bytes"] - silent["bytes"] == pytest.approx(32_000 * silent["length"], rel=0.1)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.exe", b"MZ", "sound is a file of .aac"),
        ("a", b"", "sound is a file of .aac"),
        ("..%2f..%2fa.wav", b"no sound", "this file holds no sound"),
        ("a.mp3", b"", "this file holds no sound"),
        ("a.ogg", b"#EXTM3U\nfile:///etc/passwd\n", "this file holds no sound"),
    ],
)
def test_what_is_no_sound_is_told_in_one_line(server, name, data, words):
    if missing and "holds" in words:
        pytest.skip(missing)
    before = set(server.explorer.jobs.folder.iterdir())
    status, told = sent(server, name, data)
    assert (status, words in told["error"]) == (400, True)
    assert set(server.explorer.jobs.folder.iterdir()) == before


def test_a_file_of_sound_has_a_size(server, monkeypatch):
    monkeypatch.setattr(filming, "MAX_SOUND", 100)
    assert sent(server, "a.wav", b"x" * 101)[0] == 413


def test_keys_turn_the_shorter_way_round():
    scenes = [
        fractals.load_scene({"view": {**SEAHORSE["view"], "rotation": degrees}})
        for degrees in (170, -170, 0)
    ]
    keys = Moves().keys_through(scenes, None)
    assert [key["rotation"] for key in keys] == [170, 190, 360]
    assert [key["at"] for key in keys] == [0, 4, 8]
    assert [key["at"] for key in Moves().keys_through(scenes, 2.0)] == [0, 1, 2]
    turned = reversed_keys(keys)
    assert [key["rotation"] for key in turned] == [360, 190, 170]
    assert [key["at"] for key in turned] == [0, 4, 8]
