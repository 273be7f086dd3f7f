"""Pictures in which Kalles Fraktaler and XaoS keep their place."""

import io

import PIL.Image
import PIL.PngImagePlugin
import pytest

import fractals
from fractals.errors import SceneError
from fractals.explorer import outside
from fractals.io.load import load_scene

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

KFR = "Re: -0.5\r\nIm: 0.25\r\nZoom: 8\r\nIterations: 300\r\nFractalType: {}\r\nFlat: 1\r\n"
XPF = "(initstate)\n(formula 'mandel3)\n(view 0.1 0.2 3 3)\n"


def png(keyword, text, compressed=False):
    info = PIL.PngImagePlugin.PngInfo()
    info.add_text(keyword, text, zip=compressed)
    file = io.BytesIO()
    PIL.Image.new("RGB", (64, 48)).save(file, "PNG", pnginfo=info)
    return file.getvalue()


def jpeg(comment):
    file = io.BytesIO()
    PIL.Image.new("RGB", (64, 48)).save(file, "JPEG", comment=comment)
    return file.getvalue()


PICTURES = {
    "kf.png": png("Comment", KFR.format(0)),
    "kf-zip.png": png("Comment", KFR.format(0), compressed=True),
    "kf.jpg": jpeg(KFR.format(0).encode()),
    "kf.JPEG": jpeg(KFR.format(0).encode()),
    "xaos.png": png("Metadata", XPF),
}


@pytest.mark.parametrize("name", PICTURES)
def test_the_place_in_a_picture_is_a_scene(name, tmp_path):
    path, lost = tmp_path / name, []
    path.write_bytes(PICTURES[name])
    scene = load_scene(path, lost=lost)
    text = XPF if "xaos" in name else KFR.format(0)
    (tmp_path / ("a.xpf" if "xaos" in name else "a.kfr")).write_text(text)
    alone = load_scene(tmp_path / ("a.xpf" if "xaos" in name else "a.kfr"), size=(64, 48))
    assert scene == alone
    assert lost == ([] if "xaos" in name else [f"{path}: flat colors (Flat: 1)"])
    found = outside.read_upload(name, PICTURES[name])
    assert outside.scene_of(found.table) == scene
    assert len(found.lost) == len(lost)


def test_the_file_of_a_report(data):
    scene = load_scene(data / "formats" / "png" / "made__kf-comment.png")
    assert (scene.view.frame, scene.image.size) == (("0", "4E-50"), (64, 48))


def test_what_is_in_it_may_be_refused(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png("Comment", KFR.format(99)))
    with pytest.raises(SceneError, match="FractalType: the formula of FractalType 99") as caught:
        load_scene(path)
    assert str(caught.value).startswith(f"{path}: line 5")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.png", png("Comment", "Created with a camera")),
        ("a.png", png("Software", KFR)),
        ("a.jpg", jpeg(b"Re-touched")),
        ("a.jpg", jpeg(b"")),
    ],
)
def test_other_pictures_carry_no_scene(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SceneError, match="carries no scene; only pictures drawn by fractals do"):
        load_scene(tmp_path / name)
    with pytest.raises(SceneError, match="this picture carries no scene"):
        outside.read_upload(name, content)


def test_a_gif_is_told_what_to_do(tmp_path):
    (tmp_path / "a.gif").write_bytes(b"GIF89a")
    with pytest.raises(SceneError, match=r"inside GIFs of Fractint are not read: save them"):
        load_scene(tmp_path / "a.gif")


def test_such_a_picture_is_shown_and_drawn(tmp_path, run):
    path = tmp_path / "a.png"
    path.write_bytes(PICTURES["kf.png"])
    assert b'frame = ["0", "0.5"]' in run("show", str(path))[1]
    drawn = fractals.render(path, device="python", max_iterations=9, supersampling=1)
    assert drawn.pixels.shape[:2] == (48, 64)
