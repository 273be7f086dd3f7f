"""Image: a picture's pixels with its scene, and the files that pictures are written to."""

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

import numpy as np

from fractals.errors import OptionError, SceneError, shown, typed
from fractals.io import metadata, png
from fractals.io.facts import RESOLVED, Partial, PictureFacts, Summary, resolved_values
from fractals.io.files import SCENE_KEY, check_output, lifted_limit, written
from fractals.io.metadata import SOFTWARE_NAME
from fractals.io.png import Pixels
from fractals.kernels.formula import Formula
from fractals.meant import Hinting, Hints, writer_of
from fractals.scene.model import Scene, no_scene
from fractals.scene.numbers import whole
from fractals.scene.picture import ImageSettings as Picture
from fractals.threads import core_count

FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".avif": "AVIF",
    ".ppm": "PPM",
    ".html": "HTML",
}
OPTIONS: dict[str, dict[str, Any]] = {  # of Pillow, which writes all but PNG and TIFF
    "JPEG": {"quality": 95, "subsampling": 0},
    "WEBP": {"lossless": True},
    "AVIF": {"quality": 95, "subsampling": "4:4:4"},
    "PPM": {},
}
WITH_COLORS = ("PNG", "JPEG", "WEBP", "TIFF", "AVIF")  # pictures whose colors are looked at
LARGEST = {"JPEG": 65_500, "WEBP": 16_383, "AVIF": 65_535, "HTML": 16_383}  # pixels a side
WITH_DPI = ("PNG", "JPEG", "TIFF")
WITH_16_BITS = ("PNG", "TIFF")
MAX_TIFF = 2**32 - 2**26  # bytes of pixels: offsets have 32 bits, and random pixels do not shrink
# Stands for the formula of pixels that no scene draws
UNKNOWN = Formula("unknown", "", lambda x, y, a, b: (x, y), lambda x, y, p, q: (p, q), degree=1)


@dataclass(eq=False, repr=False, init=False)
class Image(Hints, PictureFacts, metaclass=Hinting):
    """A picture. ``np.asarray(image)`` is its pixels; notebooks show it.

    Two images are equal if their pixels and their scenes are.

    Attributes
    ----------
    pixels : ndarray of uint8 or uint16, shape (height, width, 3)
        Values of sRGB, or of what the scene's `gamut` and `hdr` say; row 0 is the top.
    scene : Scene
        What was drawn. Pixels of another origin may have none: it is then the default scene, of
        their size.
    drawn : bool
        Whether the scene draws the pixels. False, for a picture that was changed, or has no scene:
        files carry title, author, rights and note of the scene, and not the scene itself.
    size : tuple of int
        Width and height in pixels.
    timings : dict of str to float
        Seconds of each stage, 0 of those that the picture does not have: "compile", whatever is
        compiled within another stage; "reference", the reference orbit of a deep view and its
        limit of iterations; "iterate", iterating, throwing points or tracing light; "color"; "copy"
        of a GPU's numbers, and reading and writing raw numbers; "encode", writing the file. They
        add up to the time that passed from the begin of the call to its end: what threads do at the
        same time shares that time.
    device : str
        The kind of device that drew: "cpu", "cuda", "opencl", "simulator" or "python".
    precision : str
        The number type of the iteration: "float64", "float32" or "double-double".
    method : str
        "direct" or "perturbation"; of other families "trajectories", "chaos game", "orbits" or
        "rays".
    loop : str
        How samples were iterated: "packs" or "packets" of samples in SIMD registers, "kernel" on a
        GPU, "python", or "plain", one sample after the other, with the reason.
    summary : Summary, optional
        The limit of iterations, the least and the greatest count, and the share inside.

    Raises
    ------
    OptionError
        The pixels have another shape or type, or another size than the scene.
    """

    pixels: Pixels = field(kw_only=True)  # no default: __init__ takes it first
    drawn: bool = field(kw_only=True)

    def __init__(
        self,
        pixels: Pixels,
        scene: Scene | None = None,
        timings: dict[str, float] | None = None,
        device: str = "",
        precision: str = "",
        method: str = "",
        loop: str = "",
        summary: Summary | None = None,
        *,
        drawn: bool = True,
    ) -> None:
        self.pixels, self.drawn = pixels, drawn and scene is not None
        shape: tuple[int, ...] = getattr(self.pixels, "shape", ())
        dtype = getattr(self.pixels, "dtype", None)
        if len(shape) != 3 or shape[2] != 3 or dtype not in (np.uint8, np.uint16):
            raise OptionError(
                f"pixels of shape {shape} and type {dtype}: give a NumPy array of uint8 or uint16, "
                "shape (height, width, 3)"
            )
        if scene is None:
            bits = 8 * self.pixels.itemsize
            scene = Scene(image={"size": self.size, "bits": bits})
        if not isinstance(scene, Scene):
            raise no_scene(scene)
        timings = {} if timings is None else timings
        super().__init__(scene, timings, device, precision, method, loop, summary)
        if self.size != scene.image.size:
            (width, height), (across, down) = self.size, scene.image.size
            raise OptionError(
                f"pixels of {width}x{height}, and the scene's size is {across}x{down}: give "
                f"scene.replace(size=({width}, {height}))"
            )

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height in pixels."""
        height, width = self.pixels.shape[:2]
        return width, height

    @property
    def width(self) -> int:
        """Return the width in pixels."""
        return self.size[0]

    @property
    def height(self) -> int:
        """Return the height in pixels."""
        return self.size[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of `pixels`: height, width, 3."""
        return self.pixels.shape

    def __getitem__(self, place: Any) -> Any:
        """Return pixels, as of an array of shape (height, width, 3)."""
        return self.pixels[place]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Image):
            return NotImplemented
        same = self.pixels.dtype == other.pixels.dtype and self.scene == other.scene
        return same and np.array_equal(self.pixels, other.pixels)

    __hash__ = None  # type: ignore[assignment]  # pixels can change

    def __repr__(self) -> str:
        width, height = self.size
        facts = (self.scene.title and repr(self.scene.title), self.device, self.method)
        return f"Image({', '.join([f'{width}x{height}', *filter(None, facts)])})"

    def save(
        self,
        path: str | Path | BinaryIO,
        *,
        format: str | None = None,
        quality: int | None = None,
        overwrite: bool = False,
    ) -> None:
        """Write the picture to a file, which carries the scene that draws it, but in a PPM.

        Parameters
        ----------
        path : str, Path or binary file
            The suffix names the type: .png, .jpg, .webp, .avif, .tif, .ppm or .html, a web page
            that magnifies the picture.
        format : str, optional
            The type, such as "png" or "JPEG", in place of the suffix; of an open file PNG by
            default.
        quality : int, optional
            1 to 100, of JPEG and AVIF (95 by default) and WebP (without loss by default); the
            other types lose nothing.
        overwrite : bool
            True: an existing file is replaced.

        Raises
        ------
        OptionError
            The suffix or the format names no type of picture, or a type that can't hold this
            picture.
        FractalsError
            The file exists, or can't be written; an existing file is unchanged.
        """
        if not isinstance(path, str | Path):
            _check_open(path)
        if format is None:
            file_format = format_of(path) if isinstance(path, str | Path) else "PNG"
        else:
            file_format = format_named(format)
        quality = self._checked(file_format, quality)
        if isinstance(path, str | Path):
            check_output(path, overwrite)
            with written(path, overwrite) as file:
                self.write(file, file_format, quality)
        else:
            self.write(path, file_format, quality)

    def encode(self, format: str = "PNG", *, quality: int | None = None) -> bytes:
        """Return the bytes of a file of a type, such as "PNG" or "JPEG"; see `save`.

        Raises
        ------
        OptionError
            The type is unknown, or can't hold this picture.
        """
        file_format = format_named(format)
        quality = self._checked(file_format, quality)
        buffer = io.BytesIO()
        self.write(buffer, file_format, quality)
        return buffer.getvalue()

    def _checked(self, file_format: str, quality: int | None) -> int | None:
        """Return the quality, if a file of this type can hold the picture."""
        if file_format == "HTML" and not self.drawn:
            raise OptionError("a page has the scene of its picture, and this picture has none")
        own = {"size": self.size, "bits": 8 * self.pixels.itemsize}
        check_format(file_format, self.scene.image.model_copy(update=own))
        number = whole(quality)
        if quality is not None and not (number and 1 <= number <= 100):
            raise OptionError(f"quality={typed(quality)}: give a whole number from 1 to 100")
        return number

    def show(self) -> None:
        """Open the picture in the system's viewer, by way of a temporary file."""
        self.to_pil().show(title=self.scene.title or "fractals")

    def to_pil(self) -> Any:
        """Return the picture as a Pillow image of 8 bits per channel.

        One of high dynamic range is converted to sRGB: light brighter than white is cut off.
        """
        import PIL.Image

        pixels = self.pixels
        if self.scene.image.hdr:
            pixels = _srgb_of_pq(pixels)
        elif pixels.itemsize > 1:
            pixels = (pixels >> 8).astype(np.uint8)
        picture = PIL.Image.fromarray(pixels)
        if profile := png.icc_profile(self.scene.image.gamut):
            picture.info["icc_profile"] = profile
        return picture

    def write(self, file: BinaryIO, file_format: str, quality: int | None = None) -> None:
        """Write the picture to an open file, as a type that `check_format` allows."""
        begun = perf_counter()
        picture, scene = self.scene.image, self.scene
        if not self.drawn:  # a scene of such a formula can't be written, so files carry none
            scene = scene.model_copy(update={"formula": UNKNOWN})
        resolved: dict[str, Any] | None = None
        if self.drawn and isinstance(self.summary, Summary):
            found = self.summary.max_iterations, self.summary.count_offset
            resolved = resolved_values(scene, *found)
        elif self.drawn and isinstance(self.summary, Partial):
            resolved = self.summary.to_table()
        if file_format == "PNG":
            beginning = png_beginning(scene, self.size, 8 * self.pixels.itemsize, resolved)
            png.write(file, beginning, self.pixels, picture.compression, core_count())
        elif file_format == "TIFF":
            from fractals.io import exif

            exif.write_tiff(file, self.pixels, scene, exif.comment_of(scene, resolved))
        elif file_format == "HTML":
            from fractals.io.web_page import page_of

            reason = "fractals render writes pages that draw"
            file.write(page_of(self.scene, self.encode("WEBP"), reason=reason))
        else:
            import PIL.Image

            options = dict(OPTIONS[file_format])
            if quality is not None:
                options |= {"quality": quality, "lossless": False}
            if file_format != "PPM":
                from fractals.io import exif

                options["exif"] = exif.make_exif(file_format, scene, resolved)
                if packet := metadata.xmp(scene):
                    options["xmp"] = packet.encode()
            if profile := png.icc_profile(picture.gamut):
                options["icc_profile"] = profile
            if picture.dpi and file_format in WITH_DPI:
                options["dpi"] = (picture.dpi, picture.dpi)
            PIL.Image.fromarray(self.pixels).save(file, file_format, **options)
        self.timings["encode"] = perf_counter() - begun

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Return how the pixels lie in memory, for Pillow's `fromarray` and others."""
        return {**self.pixels.__array_interface__, "strides": self.pixels.strides}

    def tobytes(self) -> bytes:
        """Return the bytes of the pixels, row by row."""
        return self.pixels.tobytes()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the pixels: ``np.asarray(image)`` copies nothing."""
        same = dtype is None or np.dtype(dtype) == self.pixels.dtype
        if same and not copy:
            return self.pixels
        if not same and copy is False:
            raise ValueError(f"pixels of {self.pixels.dtype} are no {dtype} without a copy")
        return np.array(self.pixels, dtype)

    def _repr_png_(self) -> bytes:
        return self.encode()

    def _repr_html_(self) -> str:
        from fractals.io.web_page import picture_html, timings_html

        width, height = self.size
        facts = ", ".join(
            part for part in (f"{width}x{height}", self.device, self.method, self.precision) if part
        )
        shown = picture_html(self.encode(), facts)
        return shown + timings_html(self.timings) + self.scene._repr_html_()


class PictureFile:
    """Where a picture is written: a path, or an open file that receives a PNG.

    `OptionError`: the suffix names no type of picture, or a type that can't hold this picture.
    `FractalsError`: the file exists and `overwrite` is False, or its folder can't be written to.
    """

    def __init__(
        self, path: str | Path | BinaryIO, picture: Picture, overwrite: bool = False
    ) -> None:
        self._path, self._overwrite = path, overwrite
        self.file_format = "PNG"  # such as "PNG" or "JPEG"
        if isinstance(path, str | Path):
            self.file_format = format_of(path)
            if self.file_format != "PNG":  # which holds every picture
                check_format(self.file_format, picture)
            check_output(path, overwrite)
        else:
            _check_open(path)
        # Whether rows can be written while others are drawn
        self.streams = self.file_format == "PNG"

    @contextlib.contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file: a path appears under its name only once it is written to the end."""
        if isinstance(self._path, str | Path):
            with written(self._path, self._overwrite) as file:
                yield file
        else:
            yield self._path


def png_beginning(
    scene: Scene, size: tuple[int, int], bits: int, resolved: Mapping[str, Any] | None = None
) -> bytes:
    """Return the beginning of a scene's PNG, which carries the scene if it can be written.

    `size` is width and height in pixels; a channel has 8 or 16 bits; `resolved`, as of
    `fractals.io.facts.resolved_values`, is kept beside the scene.
    """
    texts = metadata.png_texts(scene)
    with contextlib.suppress(SceneError):  # a formula that is a user's function has no name
        table = scene.to_table() | ({RESOLVED: resolved} if resolved else {})
        texts[SCENE_KEY] = json.dumps(table, ensure_ascii=False)
    image = scene.image
    return png.begin(size, bits, texts, SOFTWARE_NAME, image.dpi, image.primaries)


SMALL = 400  # pixels of the longer side of a picture whose colors are looked at
MAX_SEEN = 2**28  # pixels of such a picture before


def read_small(path: str | Path) -> Pixels:
    """Return a small copy of a picture, as uint8 of sRGB, shape (height, width, 3).

    What is transparent shows black. `SceneError`: the file is no picture, damaged or too large.
    """
    import PIL.Image
    import PIL.ImageCms
    import PIL.ImageOps

    label = shown(path)
    try:
        with lifted_limit(), PIL.Image.open(path, formats=WITH_COLORS) as picture:
            if picture.width * picture.height > MAX_SEEN:
                raise SceneError(f"{label}: {picture.width}x{picture.height} pixels are too many")
            picture.draft("RGB", (SMALL, SMALL))  # of a JPEG less is decoded
            profile = picture.info.get("icc_profile")
            whole = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
            whole.thumbnail((SMALL, SMALL), PIL.Image.Resampling.BOX)
            if whole.mode == "RGBA":
                black = PIL.Image.new("RGBA", whole.size, "#000")
                whole = PIL.Image.alpha_composite(black, whole).convert("RGB")
            if profile and picture.mode in ("RGB", "RGBA"):
                with contextlib.suppress(PIL.ImageCms.PyCMSError, OSError):
                    own = PIL.ImageCms.ImageCmsProfile(io.BytesIO(profile))
                    srgb = PIL.ImageCms.createProfile("sRGB")
                    whole = PIL.ImageCms.profileToProfile(whole, own, srgb) or whole
            return np.asarray(whole)
    except SceneError:
        raise
    except Exception as error:  # Pillow raises many types for damaged data
        raise SceneError(f"{label}: the picture is damaged or cut short ({shown(error)})") from None


def _check_open(file: Any) -> None:
    """Raise an `OptionError` for what bytes can't be written to."""
    if not hasattr(file, "write") or isinstance(file, io.TextIOBase):
        raise OptionError(f"{typed(file, 60)}: give the name of a file, or an open binary file")


def format_of(path: str | Path) -> str:
    """Return the type of file that a path's suffix names."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        known = ", ".join(FORMATS)
        said = f"'{path}': unknown type of picture: end the name in {known}{writer_of(suffix)}"
        raise OptionError(said)
    return FORMATS[suffix]


def format_named(name: str) -> str:
    """Return the type of file that a name means, such as "png", ".jpg" or "JPEG".

    >>> format_named("jpg"), format_named(".PNG"), format_named("TIFF")
    ('JPEG', 'PNG', 'TIFF')
    """
    suffix = f".{str(name).lower().removeprefix('.')}"
    if suffix not in FORMATS:
        known = ", ".join(dict.fromkeys(FORMATS.values()))
        raise OptionError(f"unknown type of picture '{shown(name, 40)}': choose one of {known}")
    return FORMATS[suffix]


def check_format(file_format: str, picture: Picture) -> None:
    """Raise an `OptionError` where a type of file can't hold a picture, before it is drawn."""
    size, bits = picture.size, picture.bits
    if picture.hdr and file_format != "PNG":
        raise OptionError(f"{file_format} with hdr=True is not supported: write a .png")
    if picture.gamut != "srgb" and file_format == "PPM":
        raise OptionError(
            "PPM can't say that its colors are of a gamut: give gamut='srgb', or write a .png"
        )
    if file_format == "AVIF":
        from PIL import features

        if not features.check("avif"):
            raise OptionError("this Pillow writes no AVIF: pip install --upgrade pillow")
    if bits == 16 and file_format not in WITH_16_BITS:
        raise OptionError(
            f"{file_format} holds 8 bits per channel: give bits=8, or write a .png or .tif"
        )
    if file_format == "TIFF" and size[0] * size[1] * 3 * bits // 8 > MAX_TIFF:
        raise OptionError(f"TIFF holds at most 4 GiB, not {size[0]}x{size[1]} pixels: write a .png")
    most = LARGEST.get(file_format, max(size))
    if max(size) > most:
        raise OptionError(
            f"{file_format} holds at most {most} pixels a side, and the picture has "
            f"{size[0]}x{size[1]}: write a .png, or give a smaller size="
        )


def lost(file_format: str, scene: Scene) -> str:
    """Return what a type of file doesn't carry of a scene, as a line, or nothing."""
    if isinstance(scene.formula, Formula):
        return f"the picture carries no scene: its formula '{scene.formula.name}' is Python code"
    if file_format in ("PNG", "HTML"):
        return ""
    return _lost_beside(file_format, scene)


def _lost_beside(file_format: str, scene: Scene) -> str:
    """Return what a type of file doesn't carry that writes the scene as EXIF, or none."""
    from fractals.io import exif  # imports Pillow, which a PNG does not need

    dpi = " and no dpi" if scene.image.dpi and file_format not in WITH_DPI else ""
    if file_format == "PPM":
        return f"PPM carries no scene{dpi}: keep a PNG or a .toml to draw it again"
    if not exif.fits(file_format, exif.comment_of(scene), scene):
        most = f"at most {exif.MAX_JPEG} bytes of a scene"
        return f"{file_format} carries {most}, and this one is larger: keep a PNG or a .toml"
    return f"{file_format} carries no dpi" if dpi else ""


def _srgb_of_pq(pixels: Pixels) -> Pixels:
    """Return sRGB pixels of those of high dynamic range: PQ of BT.2020."""
    from fractals.color.palette import GAMUTS, srgb_from_linear
    from fractals.kernels.develop import C1, C2, C3, M1, M2, PQ_NITS, WHITE_NITS

    values = np.arange(65536) / 65535
    power = values ** (1 / M2)
    nits = PQ_NITS * (np.maximum(power - C1, 0) / (C2 - C3 * power)) ** (1 / M1)
    light = (nits / WHITE_NITS)[pixels] @ np.linalg.inv(GAMUTS["bt2020"]).T
    return np.rint(255 * srgb_from_linear(light.clip(0, 1))).astype(np.uint8)
