"""Title, author and rights of a picture where other programs and people look.

Programs look at the texts of PNG files and films, at EXIF, TIFF and XMP, people at web pages.

XMP is the packet of ISO 16684-1, with the names of Dublin Core. The tags are those of TIFF 6.0 and
EXIF, in UTF-8, as the Metadata Working Group's *Guidelines for Handling Image Metadata* (2010) ask.
"""

from typing import NamedTuple

from fractals import __version__
from fractals.errors import escaped
from fractals.scene.model import Scene

SOFTWARE_NAME = f"fractals {__version__}"
XMP_KEYWORD = "XML:com.adobe.xmp"  # of a PNG's text
SOFTWARE, XMP = 0x0131, 0x02BC  # tags of TIFF
MAX_XMP = 60_000  # bytes: the segment of a JPEG has 65,533
NAMESPACES = (
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
PACKET = (
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
    '<x:xmpmeta xmlns:x="adobe:ns:meta/">\n{}\n</x:xmpmeta>\n<?xpacket end="r"?>'
)
ALT, SEQ = ("rdf:Alt", ' xml:lang="x-default"'), ("rdf:Seq", "")  # containers of RDF

ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})  # xml.sax takes 15 ms to import


class Names(NamedTuple):
    """What kinds of files call a text that a scene says of itself."""

    png: str  # a keyword
    tag: int  # of TIFF and EXIF
    film: str  # ffmpeg's key
    dublin: tuple[str, tuple[str, str]]  # the element of Dublin Core, and its container


NAMES = {
    "title": Names("Title", 0x010E, "title", ("title", ALT)),
    "author": Names("Author", 0x013B, "artist", ("creator", SEQ)),
    "rights": Names("Copyright", 0x8298, "copyright", ("rights", ALT)),
}
NOTE = "description", ALT  # of Dublin Core, which alone has a place for it


def signature_of(scene: Scene) -> dict[str, str]:
    """Return what a scene says of itself, on one line each: of title, author and rights."""
    said = {key: getattr(scene, key) for key in NAMES}
    return {key: escaped(text) for key, text in said.items() if text}


def subject(scene: Scene) -> str:
    """Return what a scene draws: its formula's title; the map and c of a Julia set."""
    title = scene.make_any_formula().title
    if not scene.julia:
        return title
    head, _, rest = title.partition(", ")
    called = rest if rest and (head.endswith(" set") or head == "Your own") else title
    re, im = map(float, scene.julia)
    return f"Julia set of {called}, c = {re:.6g} {'-' if im < 0 else '+'} {abs(im):.6g}i"


def byline(scene: Scene) -> list[str]:
    """Return author and rights in words, for pages; [] where the scene says nothing of them."""
    return list(filter(None, (scene.author and f"by {scene.author}", scene.rights)))


def png_texts(scene: Scene) -> dict[str, str]:
    """Return the texts of a PNG by their keywords; {} where the scene says nothing of itself."""
    texts = {NAMES[key].png: text for key, text in signature_of(scene).items()}
    return texts | {XMP_KEYWORD: xmp(scene)} if texts else {}


def tags(scene: Scene) -> dict[int, bytes]:
    """Return the tags of TIFF and EXIF, as UTF-8, with the name of this program."""
    found = {NAMES[key].tag: text.encode() for key, text in signature_of(scene).items()}
    return found | {SOFTWARE: SOFTWARE_NAME.encode()}


def film_tags(scene: Scene) -> dict[str, str]:
    """Return the texts of a film by ffmpeg's keys."""
    return {NAMES[key].film: text for key, text in signature_of(scene).items()}


def xmp(scene: Scene) -> str:
    """Return the XMP packet of a picture; "" where the scene says nothing of itself."""
    if not signature_of(scene):
        return ""
    packets = (PACKET.format(rdf(scene, note)) for note in (scene.note, ""))
    return next(packet for packet in packets if len(packet.encode()) <= MAX_XMP)


def rdf(scene: Scene, note: str = "") -> str:
    """Return title, author, rights and `note` as an element of RDF, which SVG files hold, too."""
    said = [(NAMES[key].dublin, text) for key, text in signature_of(scene).items()]
    if note:
        said.append((NOTE, "\n".join(map(escaped, note.split("\n")))))
    parts = []
    for (name, (kind, language)), text in said:
        item = f"<rdf:li{language}>{text.translate(ESCAPES)}</rdf:li>"
        parts.append(f"<dc:{name}><{kind}>{item}</{kind}></dc:{name}>\n")
    return (
        f'<rdf:RDF {NAMESPACES}>\n<rdf:Description rdf:about="" '
        f'xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreatorTool="{SOFTWARE_NAME}">\n'
        f"{''.join(parts)}</rdf:Description>\n</rdf:RDF>"
    )
