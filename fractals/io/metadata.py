"""Title, author and rights of a picture where other programs look: PNG texts, EXIF, TIFF and XMP.

XMP is the packet of ISO 16684-1, with the names of Dublin Core. The tags are those of TIFF 6.0 and
EXIF, in UTF-8, as the Metadata Working Group's *Guidelines for Handling Image Metadata* (2010) ask.
"""

from fractals import __version__
from fractals.errors import escaped
from fractals.scene.model import Scene

SOFTWARE_NAME = f"fractals {__version__}"
XMP_KEYWORD = "XML:com.adobe.xmp"  # of a PNG's text
TITLE, SOFTWARE, ARTIST, RIGHTS, XMP = 0x010E, 0x0131, 0x013B, 0x8298, 0x02BC
MAX_XMP = 60_000  # bytes: the segment of a JPEG has 65,533
NAMESPACES = (
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"'
)

ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})  # xml.sax takes 15 ms to import


def signature_of(scene: Scene) -> dict[str, str]:
    """Return what a scene says of itself, on one line each: of title, author and rights."""
    said = {"title": scene.title, "author": scene.author, "rights": scene.rights}
    return {key: escaped(text) for key, text in said.items() if text}


def png_texts(scene: Scene) -> dict[str, str]:
    """Return the texts of a PNG by their keywords; {} where the scene says nothing of itself."""
    said = signature_of(scene)
    names = {"title": "Title", "author": "Author", "rights": "Copyright"}
    texts = {names[key]: text for key, text in said.items()}
    return texts | {XMP_KEYWORD: xmp(scene)} if said else {}


def tags(scene: Scene) -> dict[int, bytes]:
    """Return the tags of TIFF and EXIF, as UTF-8, with the name of this program."""
    names = {"title": TITLE, "author": ARTIST, "rights": RIGHTS}
    found = {names[key]: text.encode() for key, text in signature_of(scene).items()}
    return found | {SOFTWARE: SOFTWARE_NAME.encode()}


def xmp(scene: Scene) -> str:
    """Return the XMP packet of a picture; "" where the scene says nothing of itself."""
    if not signature_of(scene):
        return ""
    texts = [_packet(scene, note) for note in (scene.note, "")]
    return next(text for text in texts if len(text.encode()) <= MAX_XMP)


def _packet(scene: Scene, note: str) -> str:
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
        '<x:xmpmeta xmlns:x="adobe:ns:meta/">\n'
        f"{rdf(scene, note)}\n"
        '</x:xmpmeta>\n<?xpacket end="r"?>'
    )


def rdf(scene: Scene, note: str = "") -> str:
    """Return title, author, rights and `note` as an element of RDF, which SVG files hold, too."""
    said = signature_of(scene) | (
        {"note": "\n".join(map(escaped, note.split("\n")))} if note else {}
    )
    kinds = {
        "title": ("title", "rdf:Alt", ' xml:lang="x-default"'),
        "author": ("creator", "rdf:Seq", ""),
        "rights": ("rights", "rdf:Alt", ' xml:lang="x-default"'),
        "note": ("description", "rdf:Alt", ' xml:lang="x-default"'),
    }
    parts = []
    for key, text in said.items():
        name, kind, language = kinds[key]
        item = f"<rdf:li{language}>{text.translate(ESCAPES)}</rdf:li>"
        parts.append(f"<dc:{name}><{kind}>{item}</{kind}></dc:{name}>\n")
    return (
        f'<rdf:RDF {NAMESPACES}>\n<rdf:Description rdf:about="" '
        f'xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreatorTool="{SOFTWARE_NAME}">\n'
        f"{''.join(parts)}</rdf:Description>\n</rdf:RDF>"
    )
