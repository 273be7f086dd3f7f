"""What an artist meets: paper of another shape, blend modes, masks of any size."""

from typing import get_args

import numpy as np
from PIL import Image
from support.scenes import scene

import fractals
from fractals.color import trap_image
from fractals.scene.paint import BLENDS, Blend

PLAIN = ("-n", "20", "--supersampling", "1", "--device", "python")
MASKED = '[[color.layers]]\ncoloring = "slopes"\npicture_mask = "{}"\n'


def test_paper_of_another_shape_is_told(run):
    fractals.save_scene(scene(size=(48, 30)), "a.toml")
    told = "the paper is higher than the 48x30 of the scene: more is seen above and below"
    assert told in run("render", "a.toml", *PLAIN, "--size", "A6@5dpi", "-o", "a.png")[2]
    flat = run("render", "a.toml", *PLAIN, "--size", "20x5cm@5dpi", "-o", "b.png")[2]
    assert "the paper is flatter than the 48x30 of the scene: less is seen" in flat
    for size in ("32x20cm@10dpi", "20x20"):  # of the same shape, and no paper
        same = run("render", "a.toml", *PLAIN, "--size", size, "-o", "c.png", "--overwrite")
        assert same[0] == 0
        assert "the paper is" not in same[2]


def test_blend_modes_are_listed(run):
    code, out, _ = run("list", "blends")
    assert code == 0
    assert [line.split()[0] for line in out.decode().splitlines()] == list(BLENDS)
    assert {*BLENDS, "auto"} == {*get_args(Blend)}
    assert run("list", "blend")[1] == out
    assert run("list", "blends", "--preview", "a.png")[0] == 2


def test_a_large_mask_is_made_smaller(run):
    pixels = np.zeros((900, 1200), np.uint8)
    pixels[:, 600:] = 255
    Image.fromarray(pixels).save("mask.png")
    drawn = fractals.load_scene({"color": {"layers": [{"picture_mask": "mask.png"}]}})
    kept = trap_image.decode(drawn.color.layers[0].picture_mask.picture)
    height, width = kept.shape[:2]
    assert trap_image.MAX_PIXELS * 0.98 < width * height <= trap_image.MAX_PIXELS
    assert abs(width / height - 4 / 3) < 0.01
    assert kept[10, 10, 0] == 0
    assert kept[10, -10, 0] == 255


def test_a_mask_that_is_missing_is_told_with_its_place(run):
    with open("bad.toml", "w") as file:
        file.write(MASKED.format("nomask.png"))
    code, _, err = run("render", "bad.toml", *PLAIN, "-o", "a.png")
    assert code == 3
    assert "bad.toml: color.layers.0.picture_mask: nomask.png: no such file" in err
