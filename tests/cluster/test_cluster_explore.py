"""Exports and films of the explorer by two processes of a cluster."""

import time

import pytest

pytest.importorskip("distributed", reason="the extra `cluster` is missing")
from support.explorer import file_of, start

import fractals
from fractals.errors import FractalsError, OptionError
from fractals.explorer.jobs import Workers
from fractals.films import encode
from fractals.rendering.cluster.job import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]

HERE = {"view": {"center": ["-0.7453", "0.1127"], "width": "0.05"}}
LARGE = [20_000, 20_000]


@pytest.fixture(scope="module")
def server(engine, tmp_path_factory):
    made, thread = start(
        tmp_path_factory.mktemp("explorer"), cluster=Cluster(engine.scheduler_address)
    )
    yield made
    made.running.close()
    thread.join(20)


def sessions():
    """Return the jobs that a worker has worked for last."""
    from fractals.rendering.cluster import worker

    return list(worker._sessions)


def worked(client, before):
    """Return on how many workers there are jobs that were not there before."""
    return sum(jobs[-1:] != before[address][-1:] for address, jobs in client.run(sessions).items())


def talked(server, kind, **keys):
    async def talk(client):
        await client.say("open", frame=1, scene=HERE)
        await client.until("placed", frame=1)
        forecast = await client.ask(kind, "forecast", job=1, frame=1, forecast=True, **keys)
        return forecast, await client.ask(kind, "exported", job=2, frame=1, **keys)

    return server.run(talk)


def test_workers_draw_an_export(server, client, tmp_path):
    before = client.run(sessions)
    forecast, told = talked(server, "export", size=[700, 300], supersampling=1, format="png")
    assert forecast["workers"] == 2
    assert worked(client, before) == 2
    path = file_of(server, told)
    scene = fractals.load_scene(path)
    fractals.render_to(tmp_path / "alone.png", scene, device="cpu")
    assert path.read_bytes() == (tmp_path / "alone.png").read_bytes()


def test_this_machine_draws_what_a_cluster_does_not(server, client):
    before = client.run(sessions)
    forecast, told = talked(server, "export", size=[64, 36], supersampling=1, format="jpg")
    assert "workers" not in forecast
    assert file_of(server, told).read_bytes()[:3] == b"\xff\xd8\xff"
    assert worked(client, before) == 0


def test_workers_make_a_film(server, client):
    try:
        encode.find_ffmpeg()
    except FractalsError as error:
        pytest.skip(str(error))
    before = client.run(sessions)
    keys = {"size": [64, 36], "seconds": 1.0, "fps": 20}
    forecast, told = talked(server, "film", **keys)
    assert (forecast["workers"], told["frames"]) == (2, 20)
    assert worked(client, before) > 0
    assert encode.count_frames(file_of(server, told)) == 20


def test_workers_stop_when_an_export_is_cancelled(server, client):
    async def talk(page):
        await page.say("open", frame=1, scene=HERE)
        await page.until("placed", frame=1)
        keys = {"size": LARGE, "supersampling": 4, "format": "png"}
        await page.say("export", job=1, frame=1, **keys)
        await page.until("progress", job=1, what="drawing")
        await page.say("cancel", job=1)
        return await page.until("failed", job=1)

    assert server.run(talk)["cancelled"]
    deadline = time.monotonic() + 60
    while any(client.processing().values()):
        assert time.monotonic() < deadline, client.processing()
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("address", "error", "words"),
    [
        ("local:2", OptionError, "requires the address of a scheduler"),
        ("tcp://127.0.0.1:1", FractalsError, "no scheduler answers"),
    ],
)
def test_a_scheduler_is_required(address, error, words, monkeypatch):
    monkeypatch.setattr("fractals.rendering.cluster.pools.TIMEOUT", 1)
    with pytest.raises(error, match=words):
        Workers(address)
