"""The flames in a file, as elements of XML, whatever program wrote it.

flam3 puts flames into roots of several names, ``<pick>`` among them. Apophysis and JWildfire read
and write attributes as text, so that their files may be no XML: a name may have & and <, an
attribute may stand there twice, or follow the one before it without a space, and JWildfire calls
the second swirl of a transform ``swirl#1#``.
"""

import re
import xml.etree.ElementTree as ElementTree

from fractals.errors import SceneError, shown
from fractals.io.files import text_of

MAX_FLAMES = 10_000
LAYERED = "jwf-flame"  # of JWildfire: transforms and palettes stand in elements <layer>
LAYERS = "jwf-layers"  # attribute of a flame that was layered: how many of its layers are visible
FORBIDDEN = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)  # entities can grow without bound
# These are possessive and end at <, so that a search takes time in proportion to the text.
# Declarations, and roots, whose attributes need no quotes in Apophysis.
NO_TAGS = re.compile(r"<\?[^<>]*+>|</?flames\b[^<>]*+>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""\s*+([^\s="'<>/]++)\s*+=\s*+"([^"]*+)\"""")
TAG = re.compile(r"""<([A-Za-z][\w.-]*+)((?:\s*+[^\s="'<>/]++\s*+=\s*+"[^"]*+")*+)\s*+(/?)>""")
BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
AGAIN = re.compile(r"#(\d+)#")


def flames_of(data: bytes) -> list[ElementTree.Element]:
    """Return the elements <flame> of a file, of which those of JWildfire have one layer.

    `SceneError`: it is neither XML nor what these programs read, or it has no flame.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):  # UTF-16, as editors of Windows write it
        data = text_of(data, old=True).encode(errors="replace")
    if b"\0" in data:
        raise SceneError("a zero byte, so this is no text")
    if FORBIDDEN.search(data):
        raise SceneError("a document type or an entity: no flame has one, and it is not read")
    root = _root(data)
    found = [each for each in root.iter() if each.tag in ("flame", LAYERED)]
    if not found:
        flames = root.tag.lower() in ("flame", "flames")
        raise SceneError(
            "no flame is in it" if flames else f"<{shown(root.tag, 40)}> holds no flames"
        )
    if len(found) > MAX_FLAMES:
        raise SceneError(f"{len(found)} flames; {MAX_FLAMES} at most")
    return [_of_one_layer(each) if each.tag == LAYERED else each for each in found]


def _root(data: bytes) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        if not TAG.search(text := text_of(data, old=True)):
            raise SceneError(f"no XML: {shown(error, 80)}") from None
        mended = TAG.sub(_mended, NO_TAGS.sub("", text))
        try:
            return ElementTree.fromstring(f"<flames>{mended}</flames>")
        except (ElementTree.ParseError, ValueError):
            raise SceneError(f"no XML: {shown(error, 80)}") from None


def _mended(tag: re.Match[str]) -> str:
    """Return a tag as XML; of attributes of one name, the last one counts, as in Apophysis."""
    attributes = {
        AGAIN.sub(r".\1.", name): BARE.sub("&amp;", value).replace("<", "&lt;")
        for name, value in ATTRIBUTE.findall(tag[2])
    }
    own = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{tag[1]}{own}{tag[3]}>"


def _of_one_layer(flame: ElementTree.Element) -> ElementTree.Element:
    """Return a flame with the parts of its first visible layer."""
    layers = flame.findall("layer")
    visible = [each for each in layers if each.get("visible", "1") != "0"] or layers
    found = ElementTree.Element("flame", {**flame.attrib, LAYERS: str(len(visible))})
    found.extend(each for each in flame if each.tag != "layer")
    for layer in visible[:1]:
        found.extend(layer)
    return found
