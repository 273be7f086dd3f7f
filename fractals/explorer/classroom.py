"""A class: guests follow the view of a leader, or explore alone; the leader sees their pictures.

Whoever comes in by an address of the terminal leads. Guests open a short address and type a code.
The cookie tells the one from the other, so nobody leads who has only the code.

Nothing is drawn for a guest who follows: the page shows the picture that the leader's page sends.
This picture and those of guests are JPEGs of a bounded size. Pages fetch them by HTTP, so a slow
page leaves pictures out.
"""

import base64
import io
import ipaddress
import secrets
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from time import monotonic
from typing import Any, NamedTuple

from fractals.errors import OptionError
from fractals.explorer import protocol
from fractals.explorer.frames import FrameView
from fractals.explorer.session import NO_CLASS, Rate, Rates, Session
from fractals.rendering.families import moves_of
from fractals.scene.model import Scene
from fractals.scene.numbers import significant

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # of codes: no vowels make words, and none looks like another
LENGTH = 6  # of a code: at the rate of TRIES, 20**6 codes take a year
TRIES = 2.0, 80.0  # codes that are typed a second, and at once: a class comes in together
OF_ADDRESS = 1.0, 40.0  # such codes from one address, behind which many may be (a proxy)
MOST_ADDRESSES = 1000  # whose guesses are counted
MOST_GUESTS = 200  # who are remembered, with those who have left
MOST_PAGES = 2  # of a guest, at once
LONGEST = 24  # characters of a name
PICTURES = 0.4, 3.0  # of a guest, a second and at once
SIDE, LED_SIDE = 512, 2048  # most pixels of a picture's sides: a guest's, and the leader's
MARK = "~"  # of the names of guests in cookies; those of other visitors have none
LEADER = 0  # the number of the leader, as a person

NOT_A_GUEST = 4401  # the code with which a page is closed whose cookie is not valid
REMOVED = "the leader of the class has ended your visit"
ONLY_LEADERS = "only the leader of the class may do this"


def is_near(address: str) -> bool:
    """Tell whether an address is of this machine or of a local network.

    >>> [is_near(each) for each in ("192.168.1.20", "::ffff:10.0.0.3", "fe80::1%eth0", "9.9.9.9")]
    [True, True, True, False]
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    known = getattr(found, "ipv4_mapped", None) or found
    return bool(known.is_private or known.is_link_local)


def clean(name: str) -> str:
    """Return a name as others see it: one line without signs that change how text runs.

    >>> clean("  Mia \\u202e\\n Zo\\u0308e  "), clean("\\x00")
    ('Mia Zöe', '')
    """
    text = unicodedata.normalize("NFC", name[: 8 * LONGEST])
    shown = "".join(each if unicodedata.category(each)[0] != "C" else " " for each in text)
    return " ".join(shown.split())[:LONGEST].rstrip()


def picture_of(text: str, side: int) -> bytes:
    """Return the bytes of a JPEG in base64; other content is an `OptionError`."""
    import PIL.Image

    try:
        data = base64.b64decode(text, validate=True)
        with PIL.Image.open(io.BytesIO(data), formats=["JPEG"]) as image:
            size = image.size  # its header is read, and no pixel
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError):
        raise OptionError("picture: no JPEG in base64") from None
    if max(size) > side:
        raise OptionError(f"picture: a side has at most {side} pixels")
    return data


def fitted(scene: Scene, size: tuple[int, int]) -> Scene:
    """Return a scene for another canvas, on which all of its picture is seen."""
    place = FrameView.of(scene, scene.image.size)
    (width, height), (across, down) = scene.image.size, size
    wider = max(Fraction(1), Fraction(across * height, down * width))
    if not moves_of(scene).in_plane or (wider == 1 and scene.view.frame is None):
        return scene
    view = {"width": significant(place.width * wider), "zoom": None, "frame": None}
    return scene.model_copy(update={"view": scene.view.model_copy(update=view)})


class Led(NamedTuple):
    """What guests follow."""

    number: int
    scene: Scene
    place: int  # the number of the scene: several pictures may be of one
    picture: bytes
    name: str  # of the guest whose picture it is


@dataclass(eq=False)
class Guest:
    """A guest, present or away."""

    number: int
    name: str
    following: bool = True
    picture: bytes = b""
    count: int = 0  # of pictures until now
    pages: list[Session] = field(default_factory=list)  # the newest is the last
    left: float = field(default_factory=monotonic)  # when the last page was closed
    rate: Rate = field(default_factory=lambda: Rate(*PICTURES))

    @property
    def scene(self) -> Scene | None:
        """Return what the guest sees, in the size of the guest's canvas."""
        for page in reversed(self.pages):
            if page.frames.newest:
                return page.scene(page.frames.newest)
        return None


class Classroom:
    """The leader and the guests of a server."""

    def __init__(self, near: bool) -> None:
        """`near`: whether guests come in from local networks only."""
        self.near, self.address = near, ""
        self.code = self._new_code()
        self.open = True  # whether more guests come in
        self.led: Led | None = None
        self.leader: Session | None = None  # the page that leads
        self._leaders: list[Session] = []  # pages of leaders, the newest is the last
        self._guests: OrderedDict[str, Guest] = OrderedDict()  # by the names in their cookies
        self._count = 0  # guests until now
        self._lock = threading.RLock()
        self._tries = Rate(*TRIES)
        self._from = Rates(*OF_ADDRESS, MOST_ADDRESSES)  # guesses by address

    # --- The gate

    def admit(self, code: str, name: str, address: str) -> str:
        """Return the name for a new guest's cookie; an `OptionError` says why there is none.

        The error's text is a key of the texts of the page at which guests come in.
        """
        with self._lock:
            if self.near and not is_near(address):
                raise OptionError("far")
            if not (self._from.spend(address) and self._tries.spend()):
                raise OptionError("often")
            given = "".join(each for each in code.upper() if each.isalnum())
            if not secrets.compare_digest(given.encode(), self.code.encode()):
                raise OptionError("wrong")
            if not self.open:
                raise OptionError("closed")
            self._make_room()
            if len(self._guests) >= MOST_GUESTS:
                raise OptionError("closed")
            self._count += 1
            visitor = MARK + secrets.token_urlsafe(9)
            self._guests[visitor] = Guest(self._count, "")
            self._rename(self._guests[visitor], name)
            return visitor

    def _make_room(self) -> None:
        """Forget the guest who is away for longest, where there are too many."""
        away = [(guest.left, key) for key, guest in self._guests.items() if not guest.pages]
        if len(self._guests) >= MOST_GUESTS and away:
            del self._guests[min(away)[1]]

    def knows(self, visitor: str) -> bool:
        """Tell whether a cookie that is a guest's is that of one who may stay."""
        return visitor in self._guests

    def has_room(self, visitor: str) -> bool:
        """Tell whether a visitor may open one more page."""
        guest = self._guests.get(visitor)
        return guest is None or len(guest.pages) < MOST_PAGES

    @property
    def invitation(self) -> str:
        """Return the address at which guests come in without typing the code."""
        return f"{self.address}/enter?code={self.code}"

    def qr_code(self) -> bytes:
        """Return the invitation as a QR code, an SVG; empty without segno, of the extra explore."""
        try:
            import segno
        except ImportError:
            return b""
        file = io.BytesIO()
        segno.make(self.invitation, error="m").save(file, kind="svg", border=2, light="white")
        return file.getvalue()

    # --- Pages that come and leave

    def enter(self, session: Session) -> None:
        """Take a page in."""
        session.person = self.scene_of
        with self._lock:
            if session.visitor.startswith(MARK):
                session.role = "guest"
                session.options = session.options.replace(read_only=True, gallery=False)
                guest = self._guests.get(session.visitor)
                if guest is None:  # removed while the page was opened
                    session.outbox.end(NOT_A_GUEST, REMOVED)
                elif not session.second:
                    guest.pages.append(session)
                return
            session.role = "leader"
            if not session.second:
                self._leaders.append(session)
                self._lead(session)

    def leave(self, session: Session) -> None:
        """Let a page go."""
        with self._lock:
            for guest in self._guests.values():
                if session in guest.pages:
                    guest.pages.remove(session)
                    guest.left = monotonic()
            if session in self._leaders:
                self._leaders.remove(session)
            if session is self.leader:
                self._lead(self._leaders[-1] if self._leaders else None)

    def _lead(self, session: Session | None) -> None:
        self.leader = session
        self._tell_all()

    def _tell_all(self, gather: bool = False) -> None:
        for page in list(self._pages()):
            if page.hello:
                self._tell(page, gather)

    def _tell(self, page: Session, gather: bool = False) -> None:
        """Tell a guest's page what the leader shows."""
        led = self.led
        number, place, name = (led.number, led.place, led.name) if led else (0, 0, "")
        here = self.leader is not None
        page.say("led", number=number, place=place, name=name, here=here, gather=gather)

    def _pages(self) -> Iterator[Session]:
        with self._lock:
            for guest in self._guests.values():
                yield from guest.pages

    # --- Messages

    def on_lead(self, session: Session, message: protocol.Lead) -> None:
        """Show the guests another picture."""
        self._check_leader(session)
        if session is not self.leader:
            return  # another page of the leader has taken over
        data = picture_of(message.picture, LED_SIDE)
        scene = session.scene(message.frame)
        with self._lock:
            names = [each.name for each in self._guests.values() if each.number == message.person]
            led = self.led
            number, place = (led.number + 1, led.place) if led else (1, 0)
            place += led is None or led.scene != scene
            self.led = Led(number, scene, place, data, "".join(names))
            self._tell_all(message.gather)

    def on_guest(self, session: Session, message: protocol.GuestMessage) -> None:
        """Note what a guest tells; answer the guest's name, and what the leader shows."""
        guest = self._guests.get(session.visitor)
        if session.role != "guest" or guest is None:
            raise OptionError("only a guest of a class tells this")
        if message.picture is not None and guest.rate.spend():
            guest.picture = picture_of(message.picture, SIDE)
            guest.count += 1
        if message.name is not None:
            with self._lock:
                self._rename(guest, message.name)
            session.say("guest", name=guest.name)
        if message.following is not None:
            guest.following = message.following
            session.say("guest", name=guest.name)
            self._tell(session)

    def on_class(self, session: Session, message: protocol.ClassMessage) -> None:
        """Do what the leader decides, and answer how the class is."""
        self._check_leader(session)
        with self._lock:
            if message.open is not None:
                self.open = message.open
            if message.renew:
                self.code = self._new_code()
            if message.lead and not session.second:
                self._lead(session)
            if message.remove is not None:
                self._remove(message.remove)
            guests = [_facts(guest) for guest in self._guests.values()]
            session.say(
                "class",
                address=self.address,
                code=self.code,
                open=self.open,
                leads=session is self.leader,
                guests=guests,
            )

    def _remove(self, number: int) -> None:
        for key, guest in list(self._guests.items()):
            if guest.number == number:
                del self._guests[key]
                for page in guest.pages:
                    page.outbox.end(NOT_A_GUEST, REMOVED)

    # --- Views and pictures

    def scene_of(self, session: Session, number: int, size: tuple[int, int]) -> Scene:
        """Return what a person sees, for another canvas: the leader, or for leaders a guest."""
        if number == LEADER:
            if self.led is None:
                raise OptionError("the leader shows nothing yet")
            return fitted(self.led.scene, size)
        self._check_leader(session)
        if (scene := self._numbered(number).scene) is None:
            raise OptionError("this guest is away")
        return fitted(scene, size)

    def picture(self, number: int, visitor: str) -> bytes:
        """Return the picture of a person; empty: there is none that this visitor may see."""
        if number == LEADER:
            return self.led.picture if self.led else b""
        if visitor.startswith(MARK):
            return b""
        with self._lock:
            found = [each for each in self._guests.values() if each.number == number]
        return found[0].picture if found else b""

    def _numbered(self, number: int) -> Guest:
        with self._lock:
            for guest in self._guests.values():
                if guest.number == number:
                    return guest
        raise OptionError("this guest has left the class")

    def _rename(self, guest: Guest, name: str) -> None:
        """Give a guest a name that no other has."""
        wanted = clean(name) or f"{guest.number}"
        others = {each.name.casefold() for each in self._guests.values() if each is not guest}
        guest.name, count = wanted, 1
        while guest.name.casefold() in others:
            count += 1
            guest.name = f"{wanted} {count}"

    @staticmethod
    def _check_leader(session: Session) -> None:
        if session.role != "leader":
            raise OptionError(ONLY_LEADERS)

    @staticmethod
    def _new_code() -> str:
        return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def _facts(guest: Guest) -> dict[str, Any]:
    return {
        "number": guest.number,
        "name": guest.name,
        "here": bool(guest.pages),
        "following": guest.following,
        "picture": guest.count,
    }


def no_class(session: Session, message: Any) -> None:
    """Refuse a message about a class."""
    raise OptionError(NO_CLASS)
