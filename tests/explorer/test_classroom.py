"""A class: a leader, guests who follow or explore alone, and strangers who try what they can."""

import asyncio
import base64
import contextlib
import http.client
import io
import json
import re
from fractions import Fraction

import numpy as np
import PIL.Image
import pytest
import websockets
from support.explorer import SIZE, Client

import fractals
from fractals.errors import OptionError
from fractals.explorer import classroom, entrance, gate
from fractals.explorer.application import OPEN_TWICE
from fractals.explorer.classroom import Classroom, clean, fitted
from fractals.explorer.options import ExploreOptions

LEFT = {"view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"}}
RIGHT = {"view": {"center": ["0.3", "0.02"], "width": "0.01"}, "color": {"palette": "ember"}}
PATIENCE = 60


@pytest.fixture
def server(own_server):
    return own_server(classroom=True, host="127.0.0.1")


def asked(server, path, cookie="", method="GET", **more):
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    line.request(method, path, headers={"Accept": "text/html", "Cookie": cookie, **more})
    answer = line.getresponse()
    data = answer.read()
    line.close()
    return answer.status, answer.headers, data


def came_in(server, name="Mia", code=None):
    """Return the cookie of a new guest."""
    code = code or server.explorer.classroom.code
    status, head, _ = asked(server, f"/enter?code={code}&name={name}")
    assert status == 303
    return head["set-cookie"].partition(";")[0]


def picture(size=(64, 48), color="red", kind="JPEG"):
    file = io.BytesIO()
    PIL.Image.new("RGB", size, color).save(file, kind)
    return base64.b64encode(file.getvalue()).decode()


@contextlib.asynccontextmanager
async def page(server, cookie="", size=SIZE):
    """Open a page of a guest, or of the leader, and give it after the welcome."""
    own = {"Cookie": cookie, "Origin": server.url}
    if not cookie:
        own = {"Authorization": f"Bearer {server.token}"}
    address = server.url.replace("http", "ws", 1) + "/ws"
    kept = {"max_size": None, "max_queue": None}  # a client that is full sees no end
    async with websockets.connect(address, additional_headers=own, **kept) as socket:
        client = Client(socket, size)
        await client.say("hello", v=1, size=list(size))
        client.welcome = await client.until("welcome")
        yield client


async def shows(client, frame, scene, **keys):
    """Open a scene, and wait for its place."""
    await client.say("open", frame=frame, scene=scene)
    return await client.until("placed", frame=frame, **keys)


async def leads(client, frame, **keys):
    await client.say("lead", frame=frame, picture=picture(), **keys)


def talked(talk):
    return asyncio.run(asyncio.wait_for(talk, PATIENCE))


def test_a_guest_types_the_code_and_gets_the_view_of_the_leader(server):
    async def talk():
        cookie = await asyncio.to_thread(came_in, server)
        async with page(server) as leader, page(server, cookie, (64, 64)) as guest:
            assert (leader.welcome["role"], guest.welcome["role"]) == ("leader", "guest")
            assert not guest.welcome["export"]
            assert not guest.welcome["upload"]
            await guest.say("guest", following=True)
            assert await guest.until("guest") == {"t": "guest", "name": "Mia"}
            assert (await guest.until("led"))["number"] == 0
            await shows(leader, 1, LEFT)
            await leads(leader, 1)
            told = await guest.until("led", number=1)
            assert (told["place"], told["here"], told["name"]) == (1, True, "")
            await guest.say("open", frame=1, person=0)
            placed = await guest.until("placed")
            assert placed["center"] == LEFT["view"]["center"]
            assert placed["width"] == "0.0065"  # a square canvas shows more above and below
            session = next(s for s in server.explorer.sessions if s.role == "guest")
            assert session.view is None  # nothing is drawn: the page has the picture
            status, head, data = await asyncio.to_thread(asked, server, "/class/0.jpg", cookie)
            assert (status, head["content-type"]) == (200, "image/jpeg")
            assert base64.b64encode(data).decode() == picture()
            await guest.say("view", frame=2, base=1, scale=16)  # he touches it
            await guest.exact(2)
            return placed["scene"]["color"]

    assert talked(talk())["palette"] == "auto"


def test_colors_of_the_leader_are_followed_and_a_guest_who_comes_late_sees_them(server):
    async def talk():
        cookie = await asyncio.to_thread(came_in, server)
        async with page(server) as leader:
            placed = await shows(leader, 1, LEFT)
            color = {**placed["scene"]["color"], "palette": "ember"}
            await leader.say("paint", seq=1, color=color)
            await leader.until("painted")
            for _ in range(2):
                await leads(leader, 1)
            await leader.ask("class", "class")
            led = server.explorer.classroom.led
            assert (led.number, led.place) == (2, 1)  # two pictures of one scene
            async with page(server, cookie) as guest:
                await guest.say("guest", following=True)
                assert (await guest.until("led"))["number"] == 2
                await guest.say("open", frame=1, person=0)
                return (await guest.until("placed"))["scene"]["color"]["palette"]

    assert talked(talk()) == "ember"


def test_the_leader_sees_the_wall_and_opens_a_picture_of_it_and_shows_it_to_all(server):
    async def talk():
        one, two = [await asyncio.to_thread(came_in, server, name) for name in ("Mia", "mia")]
        async with page(server) as leader, page(server, one) as mia, page(server, two) as other:
            await shows(mia, 1, RIGHT)
            await mia.say("guest", following=False, picture=picture(color="blue"))
            await mia.say("guest", name="  <b>Mia\u202e\n")  # is answered after the picture
            assert (await mia.until("guest", name="<b>Mia"))["name"] == "<b>Mia"
            told = await leader.ask("class", "class")
            facts = {each["number"]: each for each in told["guests"]}
            assert [each["name"] for each in facts.values()] == ["<b>Mia", "mia 2"]
            assert facts[1] | {"name": ""} == {
                "number": 1,
                "name": "",
                "here": True,
                "following": False,
                "picture": 1,
            }
            assert facts[2]["following"]
            assert facts[2]["picture"] == 0
            headers = {"Authorization": f"Bearer {server.token}"}
            get = lambda path, **more: asyncio.to_thread(asked, server, path, **more)  # noqa: E731
            status, _, data = await get("/class/1.jpg", **headers)
            assert (status, base64.b64encode(data).decode()) == (200, picture(color="blue"))
            assert (await get("/class/2.jpg", **headers))[0] == 404  # he has sent none
            assert (await get("/class/1.jpg", cookie=two))[0] == 404  # the wall is the leader's
            await leader.say("open", frame=1, person=1)
            placed = await leader.until("placed")
            assert placed["center"] == RIGHT["view"]["center"]
            assert placed["scene"]["color"]["palette"] == "ember"
            await leader.exact(1)
            await leads(leader, 1, person=1, gather=True)
            led = await other.until("led", number=1)
            assert (led["name"], led["gather"]) == ("<b>Mia", True)

    talked(talk())


def test_a_guest_is_no_leader_whatever_he_says(server):
    async def talk():
        cookie = await asyncio.to_thread(came_in, server)
        async with page(server) as leader, page(server, cookie) as guest:
            await shows(leader, 1, LEFT)
            await shows(guest, 1, RIGHT)
            for kind, keys in (
                ("lead", {"frame": 1, "picture": picture()}),
                ("class", {}),
                ("class", {"remove": 1}),
                ("class", {"lead": True}),
                ("open", {"frame": 2, "person": 1}),
            ):
                await guest.say(kind, **keys)
                assert await guest.refused() == classroom.ONLY_LEADERS
            await guest.say("open", frame=2, person=0)
            assert "nothing yet" in await guest.refused()
            await guest.say("export", job=1, frame=1, size=[64, 48])
            assert "read-only" in await guest.refused()
            await guest.say("film", job=2, frame=1)
            assert "read-only" in await guest.refused()
            await guest.say("bookmark", frame=1, title="x")
            assert "keeps no bookmarks" in await guest.refused()
            assert not leader.welcome["bookmarks"]
            assert not guest.welcome["bookmarks"]
            await leader.say("guest", name="x")
            assert "only a guest" in await leader.refused()
        origin = {"Origin": server.url, "Content-Length": "3"}
        for path in ("/upload?name=a.toml", "/sound?name=a.wav"):
            found = await asyncio.to_thread(asked, server, path, cookie, "POST", **origin)
            assert found[0] == 403
        assert server.explorer.classroom.led is None

    talked(talk())


def test_a_removed_guest_is_out_and_a_closed_class_lets_none_in(server):
    async def talk():
        cookie = await asyncio.to_thread(came_in, server)
        async with page(server) as leader, page(server, cookie) as guest:
            await leader.ask("class", "class", remove=1, open=False)
            with pytest.raises(websockets.ConnectionClosed):
                await guest.until("nothing")
            assert guest.socket.close_code == classroom.NOT_A_GUEST
            found = await asyncio.to_thread(asked, server, "/catalog.json", cookie)
            code = server.explorer.classroom.code
            again = await asyncio.to_thread(asked, server, f"/enter?code={code}&name=")
            told = await leader.ask("class", "class", open=True, renew=True)
            assert (told["open"], told["guests"]) == (True, [])
            assert told["code"] != code
            old = await asyncio.to_thread(asked, server, f"/enter?code={code}&name=")
            return found[0], again[0], again[2].decode(), old[0]

    out, closed, text, old = talked(talk())
    assert (out, closed, old) == (401, 403, 403)
    assert entrance.TEXTS["en"]["closed"] in text


def test_the_leader_may_load_the_page_again_and_the_newest_page_leads(server):
    async def talk():
        cookie = await asyncio.to_thread(came_in, server)
        async with page(server, cookie) as guest, page(server) as first:
            await guest.say("guest", following=True)
            await guest.until("led", here=True)
            await shows(first, 1, LEFT)
            async with page(server) as second:
                assert (await second.ask("class", "class"))["leads"]
                assert not (await first.ask("class", "class"))["leads"]
                await leads(first, 1)  # comes to nothing: the other page leads
                assert (await first.ask("class", "class", lead=True))["leads"]
                await leads(first, 1)
                await guest.until("led", number=1)
            assert (await first.ask("class", "class"))["leads"]
            await first.socket.close()
            assert (await guest.until("led", here=False))["number"] == 1  # its picture stays
            async with page(server):
                await guest.until("led", number=1, here=True)

    talked(talk())


def test_a_guest_comes_back_under_his_name_and_has_two_pages_at_most(server):
    async def talk():
        cookie = await asyncio.to_thread(came_in, server)
        async with page(server) as leader:
            async with page(server, cookie) as guest:
                await guest.say("guest", picture=picture(), name="Zoe")
                await guest.until("guest", name="Zoe")
                async with page(server, cookie):
                    with pytest.raises(websockets.ConnectionClosed) as told:
                        async with page(server, cookie):
                            pass
                    assert told.value.rcvd.code == OPEN_TWICE
            while (told := await leader.ask("class", "class"))["guests"][0]["here"]:
                await asyncio.sleep(0.02)
            assert told["guests"][0]["picture"] == 1
            async with page(server, cookie) as again:
                await again.say("guest", following=False)
                assert (await again.until("guest"))["name"] == "Zoe"
                return await leader.ask("class", "class")

    (only,) = talked(talk())["guests"]
    assert (only["name"], only["here"]) == ("Zoe", True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64",
        base64.b64encode(b"no picture").decode(),
        picture(kind="PNG"),
        picture((classroom.SIDE + 1, 2)),
        base64.b64encode(base64.b64decode(picture())[:20]).decode(),
    ],
)
def test_a_picture_that_is_none_is_one_line(server, text):
    async def talk():
        cookie = await asyncio.to_thread(came_in, server)
        async with page(server, cookie) as guest:
            await guest.say("guest", picture=text)
            return await guest.refused()

    assert talked(talk()).startswith("picture: ")
    assert not next(iter(server.explorer.classroom._guests.values())).picture


def test_pictures_that_come_too_often_are_left_out_and_long_ones_are_refused(server):
    async def talk():
        cookie = await asyncio.to_thread(came_in, server)
        async with page(server, cookie) as guest:
            for _ in range(10):
                await guest.say("guest", picture=picture())
            await guest.say("guest", name="x", picture=None)
            await guest.until("guest", name="x")
            await guest.say("guest", picture="A" * 60_000)
            return await guest.refused()

    assert "picture" in talked(talk())
    assert next(iter(server.explorer.classroom._guests.values())).count <= 4


def test_messages_about_a_class_are_refused_without_one(own_server):
    plain = own_server()

    async def talk(client):
        found = []
        for kind, keys in (
            ("lead", {"frame": 1, "picture": ""}),
            ("guest", {}),
            ("class", {}),
            ("open", {"frame": 1, "person": 0}),
        ):
            await client.say(kind, **keys)
            found.append(await client.refused())
        return found, client.texts[0]

    lines, welcome = plain.run(talk)
    assert lines == [classroom.NO_CLASS] * 4
    assert "role" not in welcome
    assert asked(plain, "/enter?code=BCDFGH&name=")[0] == 403
    headers = {"Authorization": f"Bearer {plain.token}"}
    assert asked(plain, "/class/0.jpg", **headers)[0] == 404
    assert asked(plain, "/class/code.svg", **headers)[0] == 404


def test_who_has_no_cookie_gets_the_page_with_the_code_in_his_language(server):
    for accepted, language in (("de-AT,en;q=0.5", "de"), ("zh-CN", "zh"), ("fr", "en")):
        status, head, body = asked(server, "/", **{"Accept-Language": accepted})
        assert status == 401
        assert f'<html lang="{language}">' in body.decode()
        assert entrance.TEXTS[language]["text"] in body.decode()
        assert "form-action 'self'" in head["content-security-policy"]
        assert f"style-src {entrance.STYLE}" in head["content-security-policy"]
        assert f"script-src {entrance.SCRIPT};" in head["content-security-policy"]
        assert "$" not in body.decode()
    assert len({tuple(each) for each in entrance.TEXTS.values()}) == 1
    code = server.explorer.classroom.code
    status, _, body = asked(server, f"/enter?code={code}")  # of a QR code: the name is asked for
    assert (status, f'value="{code}"' in body.decode()) == (200, True)
    assert asked(server, "/client/main.js")[0] == 401
    status, _, body = asked(server, "/enter?code=%22%3E%3Cscript%3E&name=%3Cb%3E")
    assert status == 403
    assert body.decode().count("<script>") == 1  # its own
    assert "<b>" not in body.decode()
    assert entrance.TEXTS["en"]["wrong"] in body.decode()
    assert asked(server, f"/enter?code={code.lower()[:3]}+{code[3:]}&name=")[0] == 303
    assert asked(server, "/class/code.svg", came_in(server))[0] == 404
    leader = {"Authorization": f"Bearer {server.token}"}
    status, head, body = asked(server, "/class/code.svg", **leader)
    assert (status, head["content-type"], b"<svg" in body) == (200, "image/svg+xml", True)


def test_a_link_that_others_have_added_fields_to_lets_guests_in(server):
    code = server.explorer.classroom.code
    added = "&".join(f"utm_{k}=%C3%A9" for k in range(9))
    status, _, body = asked(server, f"/enter?code={code}&{added}")
    assert (status, f'value="{code}"' in body.decode()) == (200, True)
    many = "&".join("x=1" for _ in range(gate.FIELDS + 1))
    for path in (f"/enter?{many}", f"/enter?code={code}&name=&{many}"):
        status, _, body = asked(server, path)
        assert (status, b"Bad Request" in body) == (400, True)


def test_guesses_of_the_code_are_few(server):
    def guessed():
        return asked(server, "/enter?code=BBBBBB&name=")[2].decode()

    found = [guessed() for _ in range(45)]
    assert entrance.TEXTS["en"]["wrong"] in found[0]
    assert entrance.TEXTS["en"]["often"] in found[-1]
    room, said = Classroom(near=True), set()
    for k in range(classroom.MOST_ADDRESSES + 10):
        with pytest.raises(OptionError) as error:
            room.admit("?", "", f"10.0.{k // 256}.{k % 256}")
        said.add(str(error.value))
    assert said == {"wrong", "often"}  # of all addresses together, too
    assert len(room._from.kept) == classroom.MOST_ADDRESSES


def test_guests_come_from_the_local_network_unless_others_are_asked_for():
    with pytest.raises(OptionError, match="far"):
        (room := Classroom(near=True)).admit(room.code, "", "9.9.9.9")
    assert room.admit(room.code, "", "192.168.1.7")
    assert (far := Classroom(near=False)).admit(far.code, "", "9.9.9.9")


def test_a_class_forgets_who_is_away_for_longest():
    room = Classroom(near=False)
    room._tries.burst = room._tries._left = 1e9
    names = [room.admit(room.code, "", f"10.0.0.{k}") for k in range(classroom.MOST_GUESTS + 5)]
    assert [room.knows(each) for each in names[:6]] == [False] * 5 + [True]
    assert room.knows(names[-1])


def test_names_are_one_clean_line():
    assert clean("\u202eabc\u200b d\te") == "abc d e"
    assert clean("x" * 100) == "x" * classroom.LONGEST
    room = Classroom(near=False)
    for _ in range(3):
        room.admit(room.code, "Ann", "10.0.0.1")
    room.admit(room.code, "\x07", "10.0.0.1")
    assert [each.name for each in room._guests.values()] == ["Ann", "Ann 2", "Ann 3", "4"]


@pytest.mark.parametrize("size", [(96, 64), (64, 64), (300, 64)])
@pytest.mark.parametrize("name", ["seahorse", "clockwork", "plume", "a square frame"])
def test_all_of_a_picture_is_seen_on_another_canvas(name, size):
    sources = [{"view": {"frame": ["1", "1"]}}] if name == "a square frame" else [name]
    scene = fractals.load_scene(*sources, size=(96, 64))
    from fractals.explorer.frames import FrameView

    before, after = FrameView.of(scene, (96, 64)), FrameView.of(fitted(scene, size), size)
    across = after.width / before.width
    down = across * Fraction(size[1], size[0]) * Fraction(96, 64)
    assert min(across, down) == pytest.approx(1, abs=1e-5)
    assert after.center == before.center


def test_a_solid_is_followed_with_its_camera():
    scene = fractals.load_scene("caldera", size=(96, 64))
    assert fitted(scene, (300, 64)) == scene


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"uds": "s"}, "classroom=, uds="),
        ({"clients": 1}, "classroom=, clients=1"),
    ],
)
def test_bad_options_of_a_class_are_one_line(options, line):
    with pytest.raises(OptionError, match=line):
        ExploreOptions(classroom=True, **options)


def test_a_class_listens_to_the_local_network_and_has_room():
    made = ExploreOptions(classroom=True)
    assert (made.address, made.pages, made.local) == ("0.0.0.0", 40, False)
    plain = ExploreOptions()
    assert (plain.address, plain.pages, plain.local) == ("127.0.0.1", 16, True)
    assert ExploreOptions(classroom=True, host="127.0.0.1", clients=5).pages == 5


def test_the_command_tells_where_guests_come_in(run):
    lines = []
    running = fractals.explore(
        classroom=True, device="cpu", browser=False, block=False, on_message=lines.append
    )
    running.close()
    (line,) = (each for each in lines if each.startswith("guests open"))
    assert re.fullmatch(rf"guests open {re.escape(running.url)} and type the code [A-Z]{{6}}", line)
    code, _, err = run("explore", "--classroom", "--site", "x")
    assert (code, err.count("\n")) == (2, 1)
    assert "--site writes files, and starts no server: leave --classroom out" in err
    assert run("explore", "--site-formula", "mandelbrot")[::2] == (
        2,
        "fractals: --site-formula names formulas of a site: give --site FOLDER, too\n",
    )


def test_a_class_of_thirty_follows_and_sends_pictures(server):
    """Thirty guests follow three views, and send a picture each; the leader sees all of them."""

    async def talk():
        names = [f"guest {k}".replace(" ", "+") for k in range(30)]
        server.explorer.classroom._from = classroom.Rates(1e9, 1e9, 1)
        cookies = [await asyncio.to_thread(came_in, server, name) for name in names]
        async with contextlib.AsyncExitStack() as opened:
            leader = await opened.enter_async_context(page(server))
            guests = [await opened.enter_async_context(page(server, each)) for each in cookies]
            for number in (1, 2, 3):
                await shows(leader, number, {**LEFT, "color": {"density": number}})
                await leads(leader, number)

                async def follow(guest, number=number):
                    await guest.until("led", number=number)
                    await guest.say("open", frame=number, person=0)
                    placed = await guest.until("placed", frame=number)
                    return placed["scene"]["color"]["density"]

                assert await asyncio.gather(*map(follow, guests)) == [number] * 30
            for guest in guests:
                await guest.say("guest", picture=picture())
            while True:
                told = await leader.ask("class", "class")
                if all(each["picture"] for each in told["guests"]):
                    return told

    told = talked(talk())
    assert len(told["guests"]) == 30
    assert len(json.dumps(told)) < 5000
    assert np.unique([each["name"] for each in told["guests"]]).size == 30
