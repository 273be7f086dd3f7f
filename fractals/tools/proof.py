"""Proofs of prints: a picture as a printer or a paper shows it, by the ICC profile of these.

Colors are converted by littlecms, in Pillow.
"""

import contextlib
import io
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fractals.errors import InputError, OptionError, SceneError, shown
from fractals.io import metadata
from fractals.io.files import lifted_limit, open_to_read, read_bytes
from fractals.io.image import OPTIONS, WITH_COLORS
from fractals.io.load import load_scene

INTENTS = {"perceptual": 0, "relative": 1, "saturation": 2, "absolute": 3}
MAX_PROFILE = 2**26  # bytes
VISIBLE = 8  # of 255, in a channel: a difference that is seen side by side


def profile_of(path: Path) -> Any:
    """Return the profile in a file.

    `InputError`: it can't be read, or is no ICC profile of RGB, gray or CMYK that colors are
    converted to.
    """
    from PIL import ImageCms

    label = shown(path)
    data = read_bytes(path, MAX_PROFILE)
    try:
        found = ImageCms.ImageCmsProfile(io.BytesIO(data))
    except Exception:  # Pillow raises many types for damaged data
        raise InputError(f"{label}: not an ICC profile, or damaged") from None
    if found.profile.xcolor_space.strip() not in ("RGB", "GRAY", "CMYK"):
        raise InputError(f"{label}: a profile of {found.profile.xcolor_space.strip()}")
    return found


def opened(path: Path) -> tuple[Any, Any]:
    """Return a picture as Pillow's, of RGB, and its own profile.

    `SceneError`: the file is no picture, damaged, or of high dynamic range.
    """
    import PIL.Image
    from PIL import ImageCms

    if _is_hdr(path):
        hint = "a print has no high dynamic range: draw the picture with hdr=False first"
        raise SceneError(f"{shown(path)}: {hint}")
    try:
        with (
            open_to_read(path) as file,
            lifted_limit(),
            PIL.Image.open(file, formats=WITH_COLORS) as picture,
        ):
            own = picture.info.get("icc_profile")
            whole = picture.convert("RGB")
        profile = ImageCms.ImageCmsProfile(io.BytesIO(own)) if own else None
    except FileNotFoundError:
        raise SceneError(f"{shown(path)}: no such file") from None
    except Exception as error:  # Pillow raises many types for damaged data
        reason = getattr(error, "strerror", None)  # of the operating system
        raise SceneError(
            f"{shown(path)}: {reason or f'the picture is damaged ({shown(error)})'}"
        ) from None
    return whole, profile or ImageCms.createProfile("sRGB")


def _is_hdr(path: Path) -> bool:
    """Tell whether a picture has values of PQ, which Pillow takes for those of sRGB."""
    try:
        return load_scene(path).image.hdr
    except (InputError, OptionError):  # a picture of another program, or none
        return False


def proof(picture: Path, icc: Path, intent: str = "relative") -> tuple[Any, float]:
    """Return a picture of sRGB as a print shows it, and the share of pixels that differ visibly.

    `intent` is one of INTENTS: how colors beyond the print's are brought in; "absolute" shows the
    paper's white, too.
    """
    from PIL import ImageCms

    whole, own = opened(picture)
    paper, srgb = profile_of(icc), ImageCms.createProfile("sRGB")
    # By way of the print's own pixels: in one transform littlecms leaves colors of profiles without
    # tables as they are, beyond what the print can show.
    made, _ = converted(picture, icc, intent)
    back = _intent(intent if intent == "absolute" else "relative")
    seen = _converted(made, (paper, srgb, made.mode, "RGB"), back)
    plain = _converted(whole, (own, srgb, "RGB", "RGB"), _intent(intent))
    off = np.abs(np.asarray(seen, np.int16) - np.asarray(plain, np.int16)).max(axis=2)
    return seen, float((off > VISIBLE).mean())


def converted(picture: Path, icc: Path, intent: str = "relative") -> tuple[Any, bytes]:
    """Return a picture in the colors of a profile, as Pillow's, and the bytes of the profile."""
    whole, own = opened(picture)
    other = profile_of(icc)
    mode = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}[other.profile.xcolor_space.strip()]
    return _converted(whole, (own, other, "RGB", mode), _intent(intent)), icc.read_bytes()


def write(file: BinaryIO, made: Any, kind: str, profile: bytes | None, source: Path) -> None:
    """Write a proof or a print, with the resolution, title, author and rights of its source."""
    import PIL.Image

    options: dict[str, Any] = {"icc_profile": profile} if profile else {}
    if kind == "JPEG":
        options |= OPTIONS["JPEG"]
    if kind == "TIFF":
        options |= {"compression": "tiff_adobe_deflate"}
    with lifted_limit(), PIL.Image.open(source, formats=WITH_COLORS) as picture:
        if dpi := picture.info.get("dpi"):
            options["dpi"] = dpi
    with contextlib.suppress(SceneError):  # a picture of another program
        said = metadata.tags(load_scene(source))
        if kind != "TIFF":
            said_exif = PIL.Image.Exif()
            for tag, text in said.items():
                said_exif[tag] = text
            options["exif"] = said_exif
        else:
            options["tiffinfo"] = {tag: text.decode() for tag, text in said.items()}
    made.save(file, kind, **options)


def _intent(name: str) -> int:
    if name not in INTENTS:
        raise OptionError(f"intent='{shown(name, 40)}': choose one of {', '.join(INTENTS)}")
    return INTENTS[name]


def _converted(whole: Any, profiles: tuple[Any, Any, str, str], intent: int) -> Any:
    """Return a picture in other colors; black becomes black (black point compensation)."""
    from PIL import ImageCms

    flags = ImageCms.Flags.BLACKPOINTCOMPENSATION
    try:
        how = ImageCms.Intent(intent)
        transform = ImageCms.buildTransform(*profiles, renderingIntent=how, flags=flags)
        return ImageCms.applyTransform(whole, transform)
    except ImageCms.PyCMSError as error:
        raise InputError(f"the profile can't be used: {shown(error)}") from None
