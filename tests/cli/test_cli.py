"""The command line, in this process where that is the same and in its own where it is not."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from support.command_line import SMALL, one_line
from support.scenes import slow_but

import fractals
from fractals import catalog
from fractals.backends import probe
from fractals.backends.cuda import gpus
from fractals.cli.verbs import COMMANDS
from fractals.errors import to_install
from fractals.rendering import forecast
from fractals.tools.sheet import turn


@pytest.mark.parametrize("verb", [(), *((verb,) for verb in COMMANDS)])
def test_help_ends_with_three_examples(run, verb):
    code, out, _ = run(*verb, "--help")
    examples = out.decode().split("Examples:")[1].strip().splitlines()
    assert code == 0
    assert len(examples) == 3
    assert all(line.strip().startswith("fractals ") for line in examples)


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom fractals.cli import main\n"
        "try:\n    main(['render', '--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numba', 'numpy', 'rich', 'PIL'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_render_writes_a_picture_and_one_line(run):
    code, out, err = run("render", *SMALL)
    assert (code, out) == (0, b"")
    assert one_line(err)
    for word in ("mandelbrot.png", "32x18", "cpu", "float64", "iterate", "encode"):
        assert word in err
    with PIL.Image.open("mandelbrot.png") as picture:
        assert picture.size == (32, 18)


def test_a_picture_is_a_scene_byte_for_byte(run):
    run("render", "seahorse", *SMALL, "--palette", "ember", "--precision", "float32", "-o", "a.png")
    assert run("render", "a.png", "--cpu", "-o", "b.png")[0] == 0
    assert Path("a.png").read_bytes() == Path("b.png").read_bytes()
    assert run("render", "a.png", "--cpu", "--size", "300%", "-o", "c.png")[0] == 0
    with PIL.Image.open("c.png") as picture:
        assert picture.size == (96, 54)


def test_a_short_option_takes_its_value_behind_a_sign_and_sizes_have_the_times_sign(run):
    """As ``--output=a.png`` is read; ``-o=a.png`` wrote the file ``=a.png``."""
    code, _, err = run("render", "--size", "32×18", "-n=50", "--supersampling", "1", "-o=a.png")
    assert code == 0, err
    assert os.listdir() == ["a.png"]
    with PIL.Image.open("a.png") as picture:
        assert picture.size == (32, 18)
    assert run("render", *SMALL, "-o", "=b.png")[0] == 0
    assert sorted(os.listdir()) == ["=b.png", "a.png"]


def test_json_on_stdout(run):
    code, out, err = run("render", *SMALL, "--json")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert facts["size"] == [32, 18]
    assert set(facts["timings"]) == {"compile", "reference", "iterate", "color", "copy", "encode"}


def test_picture_on_stdout(run):
    code, out, _ = run("render", *SMALL, "-o", "-")
    assert code == 0
    assert out.startswith(b"\x89PNG")
    assert os.listdir() == []


def test_dry_run_writes_nothing(run):
    code, out, _ = run("render", "--dry-run", "--json")
    assert code == 0
    assert json.loads(out)["max_iterations"] >= 1000
    assert {"method", "precision", "tiles", "seconds", "memory"} <= set(json.loads(out))
    assert b"direct" in run("render", "--dry-run")[1]
    assert os.listdir() == []


def test_gpu_without_one_is_simulated_and_says_so(run, monkeypatch):
    monkeypatch.setattr(gpus, "found", lambda: ([], "the driver sees no CUDA GPU"))
    monkeypatch.delattr(forecast, "mean_count")  # one message is not worth thousands of calls
    code, _, err = run("render", "--size", "32x18", "--gpu", "-o", "a.png")
    first, second = err.splitlines()
    assert code == 0
    for words in ("no CUDA GPU", "the driver sees", "simulator", "expect about", "--cpu is faster"):
        assert words in first
    assert "simulator" in second
    run("render", *SMALL, "-o", "b.png")
    assert Path("a.png").read_bytes() == Path("b.png").read_bytes()


def gpu(problem="", index=0):
    return probe.Device(kind="cuda", name="Toy", index=index, problem=problem, driver="13.0")


def test_a_dry_run_starts_no_gpu(run, monkeypatch):
    """The CPU finds the same limit of iterations sooner."""
    monkeypatch.setattr(gpus, "found", lambda: ([gpu()], ""))
    monkeypatch.setitem(sys.modules, "fractals.backends.cuda.backend", None)
    found = [
        json.loads(run("render", "--dry-run", "--json", "--device", name, "--size", "9x5")[1])
        for name in ("cuda", "cpu")
    ]
    assert [table["device"] for table in found] == ["cuda", "cpu"]
    assert found[0]["max_iterations"] == found[1]["max_iterations"]


@pytest.mark.parametrize(
    ("found", "request_", "code", "words"),
    [
        ([], "cuda", 4, "no CUDA GPU for 'cuda'"),
        ([gpu()], "cuda:1", 4, "there are 1, numbered from 0"),
        ([gpu("pip install something")], "cuda", 4, "pip install something"),
        ([], "tpu", 2, "unknown device 'tpu'"),
        ([], "cuda:x", 2, "unknown device 'cuda:x'"),
        ([gpu()], "CUDA", 2, "did you mean 'cuda'?"),
        ([gpu()], "cuda:" + "9" * 5000, 2, "unknown device 'cuda:99999"),
    ],
)
def test_device_that_is_missing(run, monkeypatch, found, request_, code, words):
    reason = found[0].problem if found else "no NVIDIA driver"
    monkeypatch.setattr(gpus, "found", lambda: (found, reason))
    given = run("render", "--device", request_)
    assert given[0] == code
    assert one_line(given[2])
    assert words in given[2]


def test_gpu_that_cannot_be_used_is_not_passed_over_in_silence(run, monkeypatch):
    problem = f"numba-cuda is not installed: {to_install('gpu')}"
    monkeypatch.setattr(gpus, "found", lambda: ([gpu(problem)], problem))
    code, _, err = run("render", "--size", "32x18")
    assert code == 0
    assert problem in err.splitlines()[0]
    assert "drawing on the CPU" in err.splitlines()[0]


@pytest.mark.parametrize("reason", sorted(gpus.BROKEN))
def test_a_driver_that_has_failed_is_not_passed_over_in_silence(run, monkeypatch, reason):
    """Of a machine that has no GPU nothing is said."""
    small = ("--size", "32x18", "--max-iterations", "50")
    monkeypatch.setattr(gpus, "found", lambda: ([], reason))
    code, _, err = run("render", *small, "-o", "a.png")
    assert code == 0
    said = f"fractals: the GPU is not used ({reason}); drawing on the CPU"
    assert err.splitlines()[0] == said
    monkeypatch.setattr(gpus, "found", lambda: ([], "the driver sees no CUDA GPU"))
    assert "GPU" not in run("render", *small, "-o", "b.png")[2]


def test_a_small_memory_is_shown_in_mebibytes(run, monkeypatch):
    small = replace(gpu(), memory=512 * 2**20)
    monkeypatch.setattr(gpus, "found", lambda: ([small, replace(small, index=1, memory=2**33)], ""))
    lines = run("devices")[1].decode().splitlines()
    found = [line.split(", ")[2] for line in lines if line.startswith("cuda:")]
    assert found == ["512 MiB", "8 GiB"]


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda"), reason="numba-cuda is installed")
@pytest.mark.parametrize(
    ("request_", "code", "words"),
    [
        ("cuda", 4, to_install("gpu")),
        ("auto", 0, "drawing on the CPU"),
        ("gpu", 0, "drawing in the simulator"),
    ],
)
def test_driver_without_toolkit(run, monkeypatch, request_, code, words):
    # What is found out only when numba.cuda is imported.
    monkeypatch.setattr(gpus, "found", lambda: ([gpu()], ""))
    given, _, err = run("render", "--size", "32x18", "--device", request_)
    assert given == code
    assert err.startswith("fractals: a GPU is there but numba.cuda can't use it")
    assert words in err.splitlines()[0]


BAD = [
    (("render", "--formula", "mandelbrt"), 2, "did you mean 'mandelbrot'"),
    (("render", "--formula", "multibrot,power=99"), 2, "power is a whole number from 2 to 8"),
    (("render", "mandelbrot,power=3"), 2, "it is a formula: --formula mandelbrot,power=3"),
    (("render", "--formula", "mandelbrot,power=3"), 2, "an option of halley, multibrot, newton"),
    (("render", "--formula", "multibrot,powr=3"), 2, "known options: 'power'"),
    (("render", "--formula", "Burning Ship"), 2, "did you mean 'burning_ship'"),
    (("render", "--formula", "BURNING_SHIP"), 2, "did you mean 'burning_ship'"),
    (("render", "https://example.com/a.png"), 3, "a.png: addresses of the web are not opened"),
    (("render", ""), 3, "fractals: '': no scene of the gallery"),
    (("version",), 2, "did you mean '--version'?"),
    (("render", "SEAHORSE"), 2, "did you mean 'seahorse'"),
    (("render", "--palette", "embr"), 2, "did you mean 'ember'"),
    (("render", "--palette", "none.map"), 3, "none.map: no such file"),
    (("list", "formulas", "--preview", "a.png"), 2, "no sheet of formulas"),
    (("list", "palettes", "--preview", "a.jpg"), 2, "does not end in .png"),
    (("render", "--coloring", "smoth"), 2, "did you mean 'smooth'"),
    (("render", "--size", "0x5"), 2, "--size: 0x5: each side has 1 to 200000 pixels"),
    (("render", "--size=-4x5"), 2, "--size: -4x5: each side has 1 to"),
    (("render", "--size", "10x10furlong@300dpi"), 2, "unknown unit 'furlong'"),
    (("render", "--size", "big"), 2, "1920x1080"),
    (
        ("render", "-q", "--size", "200000x200000", "--supersampling", "1", "-o", "a.ppm"),
        2,
        "or write a .png",
    ),
    (("render", "--size", "70000x5", "-o", "a.jpg"), 2, "JPEG holds at most 65500 pixels a side"),
    (("render", "--bits", "12"), 2, "--bits: '12' is not 8 or 16"),
    (("render", "--bits", "16", "-o", "a.jpg"), 2, "JPEG holds 8 bits per channel"),
    (("render", "--dpi", "0"), 2, "--dpi: 0 is not from 1 to 65535"),
    (("render", "--dpi", "70000"), 2, "--dpi: 70000 is not from 1 to 65535"),
    (("render", "--dpi", "inf"), 2, "--dpi: 'inf' is not a finite number"),
    (("render", "--dpi", "fine"), 2, "--dpi: 'fine' is not a finite number"),
    (("render", "--compression", "tiny"), 2, "--compression: 'tiny' is not 'fast' or 'small'"),
    (("render", "--size", "300000x5"), 2, "200000"),
    (("render", "--width", "0"), 2, "not greater than 0"),
    (("render", "--width=-1"), 2, "not greater than 0"),
    (("render", "--width", "abc"), 2, "not a decimal number"),
    (("render", "--width", "nan"), 2, "not a decimal number"),
    (("render", "--center", "inf,0"), 2, "not a decimal number"),
    (("render", "--center", "1"), 2, "not two numbers"),
    (("render", f"--center={'1' * 1_000_000},0"), 2, "at most 150000 digits"),
    (("render", "--zoom", "1e30", "--precision", "float32"), 2, "too deep"),
    (("render", "--zoom", "1e1000000"), 2, "--force"),
    (("render", "--width", "1", "--zoom", "1"), 2, "give one of them"),
    (("render", "--max-iterations", "0"), 2, "whole number from 1"),
    (("render", "--precision", "float16"), 2, "is not 'auto', 'float64', 'float32' or 'double-dou"),
    (("render", "--density", "nan"), 2, "--density: 'nan' is not a finite number"),
    (("render", "--inside", "reddish"), 2, "not a color"),
    (("render", "--cpu", "--gpu"), 2, "contradict"),
    (("render", "nosuch"), 2, "unknown scene 'nosuch'"),
    (("render", "nosuch.toml"), 3, "no such file"),
    (("render", "nosuch.png"), 3, "no such file"),
    (("render", "seahorse", "a.png"), 2, "a.png: no such file; to write it, type -o a.png"),
    (("render", "seahorse", "sea horse.JPG"), 2, "type -o 'sea horse.JPG'"),
    (("render", "seahorse", "views/"), 2, "views/: no such folder; to write it, type -o views/"),
    (("render", "seahorse", "a.toml"), 3, "a.toml: no such file"),  # render writes no scene
    (("render", "seahorse", "a.png", "-o", "b.png"), 3, "a.png: no such file"),
    (("render", "seahorse", "a.par#b.png"), 3, "a.par: no such file"),
    (("compute", "seahorse", "sea.fz"), 2, "type -o sea.fz"),
    (("compute", "seahorse", "sea.npz"), 2, "type -o sea.npz"),
    (("recolor", "sea.fz", "a.png"), 2, "type -o a.png"),
    (("find", "nucleus", "seahorse", "mini.toml"), 2, "type -o mini.toml"),
    (("find", "interesting", "seahorse", "views/"), 2, "type -o views/"),
    (("film", "seahorse", "dive.mp4"), 2, "type -o dive.mp4"),
    (("film", "seahorse", "frame%05d.png"), 2, "type -o frame%05d.png"),
    (("film", "dive.mp4"), 3, "type -o dive.mp4"),
    (("sheet", "seahorse", "a.png"), 2, "type -o a.png"),
    (("surprise", "seahorse", "a.png"), 2, "type -o a.png"),
    (("gallery", "seahorse", "views/"), 2, "type -o views/"),
    (("gpu", "divergence", "seahorse", "map.png"), 2, "type -o map.png"),
    (("render", "foo.bar"), 3, "no scene of the gallery, and no file that ends in"),
    (("render", "-o", "missing/a.png"), 1, "does not exist"),
    (("render", "-o", "a.xyz"), 2, "unknown type of picture"),
    (("render", "--siz", "4"), 2, "did you mean '--size'?"),
    (("rendr",), 2, "did you mean 'render'"),
    (("compute", "-o", "a.png"), 2, ".npz, .exr; for .png there is 'fractals render'"),
    (("compute", "-o", "a.MP4"), 2, "; for .mp4 there is 'fractals film'"),
    (("render", "-o", "a.exr"), 2, ".html; for .exr there is 'fractals compute'"),
    (("render", "-o", "a.toml"), 2, "; for .toml there is 'fractals convert'"),
    (("render", "menger", "-o", "a.fz"), 2, "; for .fz there is 'fractals compute'"),
    (("film", "--to", "1e-3", "-o", "a.npz"), 2, "; for .npz there is 'fractals compute'"),
    (("render", "-", "-"), 2, "'-' is given twice: stdin holds one scene"),
    (("film", "seahorse", "--cycle", "4", "--still", "1", "--dry-run"), 2, "leave --dry-run out"),
    (("film", "seahorse", "--cycle", "4", "--still", "1", "--audio", "a.wav"), 2, "--audio out"),
    (("film", "seahorse", "--cycle", "4", "--still", "1", "-o", "-"), 2, "unknown type of pict"),
    (("render", "a/x.toml", "b/x.toml", "-o", "c/"), 2, "'c/x.png' would be written twice"),
    (("recolor", "a.fz", "-o", "-", "--json"), 2, "both write to stdout"),
    (("film", "--to", "1e-3", "--still", "1", "-o", "a.svg"), 2, "for .svg there is 'fractals tr"),
    (("trace", "-o", "a.png"), 2, "an .svg; for .png there is 'fractals render'"),
    (("convert", "seahorse", "a.gif"), 2, "; for .gif there is 'fractals film'"),
    (("find", "nucleus", "seahorse", "-o", "a.jpg"), 2, "; for .jpg there is 'fractals render'"),
    (("recolor", "nosuch.npz"), 3, "no such file"),
    (("recolor", "seahorse"), 3, "'fractals compute seahorse' computes them, and then"),
    (("show", "nosuch"), 2, "unknown scene"),
    (("convert", "seahorse", "b.txt"), 2, "ends in .toml .json"),
    (
        ("list", "foo"),
        2,
        "choose formulas, attractors, solids, variations, colorings, palettes, scenes, "
        "formats or blends",
    ),
    (("gallery", "nosuch"), 2, "unknown scene"),
    (("verify", "nosuch.png"), 3, "no such file"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), BAD, ids=lambda x: str(x)[:50])
def test_bad_input_is_one_line_and_writes_nothing(run, arguments, code, words):
    given, out, err = run(*arguments)
    assert (given, out) == (code, b"")
    assert one_line(err)
    assert words in err
    assert len(err) < 400
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.toml", b'formula = "mandel', "a.toml: "),
        ("a.toml", b"[view]\nwidht = 3", "view.widht: unknown key; did you mean 'width'?"),
        ("a.toml", b'title = "a"\ntitle = "b"', "a.toml: a key or a table is given twice (at "),
        ("a.toml", b"[view]\n[view]\n", "a key or a table is given twice (at line 2, column 6)"),
        ("a.toml", b'palette = "ember"', "belongs in the table [color]"),
        ("a.toml", b"\xff\xfe", "a.toml: "),
        ("a.json", b'{"version": 9}', "a scene of version 9"),
        ("a.json", b"[1]", "a table of keys"),
        ("a.json", b"[" * 100_000, "a.json: "),
        ("a.png", b"", "not a PNG"),
        ("a.png", b"junk", "not a PNG"),
        ("a.npz", b"junk", "not raw numbers"),
    ],
)
def test_bad_files(run, name, content, words):
    Path(name).write_bytes(content)
    verb = "recolor" if name.endswith("npz") else "render"
    code, _, err = run(verb, name, "-o", "out.png")
    assert code == 3
    assert one_line(err)
    assert words in err
    assert os.listdir() == [name]


def test_all_errors_of_a_file_at_once(run):
    Path("bad.toml").write_text('[view]\nwidth = "x"\nwidht = 1\n[image]\nsize = [0, 5]\n')
    code, _, err = run("render", "bad.toml")
    assert code == 3
    assert [line.split(": ")[2] for line in err.splitlines()] == [
        "view.width",
        "view.widht",
        "image.size.0",
    ]


def test_pictures_cut_short_or_without_a_scene(run):
    run("render", *SMALL, "-o", "whole.png")
    whole = Path("whole.png").read_bytes()
    for keep in (20, 300, len(whole) - 30):
        Path("cut.png").write_bytes(whole[:keep])
        code, _, err = run("render", "cut.png", "-o", "out.png")
        assert code == 3
        assert "damaged or cut short" in err
    PIL.Image.new("RGB", (4, 4)).save("plain.png")
    code, _, err = run("render", "plain.png", "-o", "out.png")
    assert code == 3
    assert "carries no scene" in err
    assert not Path("out.png").exists()


def test_16_bits_dpi_and_compression_are_drawn_again(run):
    how = ("--bits", "16", "--dpi", "300", "--compression", "small", "--max-iterations", "100")
    run("render", *SMALL, *how, "-o", "a.png")
    assert run("render", "a.png", "--cpu", "-o", "b.png")[0] == 0
    assert Path("a.png").read_bytes() == Path("b.png").read_bytes()
    assert run("render", "a.png", "--cpu", "-o", "-")[1] == Path("a.png").read_bytes()
    picture = fractals.load_scene("b.png").image
    assert (picture.bits, picture.dpi, picture.compression) == (16, 300, "small")
    assert "5 of 5 pixels right" in run("verify", "a.png", "--pixels", "5")[2]
    Path("a.png").write_bytes(
        Path("a.png").read_bytes().replace(b'"max_iterations": 100', b'"max_iterations": 010')
    )
    assert run("verify", "a.png")[0] == 3

    run("compute", *SMALL, *how[-2:], "-o", "a.npz")
    assert run("recolor", "a.npz", "--cpu", *how[:-2], "-o", "c.png")[0] == 0
    assert Path("c.png").read_bytes() == Path("b.png").read_bytes()
    assert run("recolor", "a.npz", "--cpu", *how[:-2], "-o", "-")[1] == Path("c.png").read_bytes()
    assert not Path("-").exists()


def test_physical_size_is_in_the_file(run):
    small = ("--supersampling", "1", "--max-iterations", "50", "--cpu")
    for name in ("a.png", "a.jpg", "a.tif", "a.ppm"):
        code, _, err = run("render", "--size", "10x5mm@150dpi", *small, "-o", name)
        assert code == 0
        with PIL.Image.open(name) as picture:
            assert picture.size == (59, 30)
            dpi = picture.info.get("dpi", (0, 0))
        assert dpi == pytest.approx((0, 0) if name == "a.ppm" else (150, 150), abs=0.02)
        assert ("no scene and no dpi" in err) == (name == "a.ppm")
    run("render", "a.png", "--dpi", "72", "--cpu", "-o", "b.png")
    assert fractals.load_scene("b.png").image.dpi == 72
    run("render", "--size", "10x5mm@150dpi", "--dpi", "72", *small, "-o", "c.png")
    assert fractals.load_scene("c.png").image.dpi == 72


def test_dry_run_of_a_picture_larger_than_memory(run):
    words = ["render", "--size", "60000x60000", "--max-iterations", "99", "--dry-run", "--json"]
    facts = [json.loads(run(*words, "-o", name)[1]) for name in ("a.png", "a.jpg")]
    assert facts[0]["memory"] < 2**30 < 20 * 2**30 < facts[1]["memory"]


def test_existing_output_is_kept_unless_asked(run):
    Path("a.png").write_bytes(b"precious")
    code, _, err = run("render", *SMALL, "-o", "a.png")
    assert code == 1
    assert one_line(err)
    assert "--overwrite" in err
    assert Path("a.png").read_bytes() == b"precious"
    assert run("render", *SMALL, "-o", "a.png", "--overwrite")[0] == 0
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert os.listdir() == ["a.png"]


def test_full_disk_leaves_no_half_file(run, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = run("render", *SMALL, "-o", "a.png")
    assert code == 1
    assert one_line(err)
    assert "No space left on device" in err
    assert os.listdir() == []


def test_read_only_folder(run, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    code, _, err = run("render", *SMALL)
    assert code == 1
    assert "can't be written to" in err


def test_gpu_out_of_memory_is_one_line(run, monkeypatch):
    from fractals.backends.cuda.backend import SimulatedSlot

    def empty(self, shape, dtype):
        raise RuntimeError("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY")

    monkeypatch.setattr(SimulatedSlot, "empty", empty)
    code, _, err = run("render", "--device", "simulator")
    assert code == 1
    assert one_line(err)
    assert "out of memory" in err
    assert os.listdir() == []


def test_compute_then_recolor_is_render(run):
    run("render", "seahorse", *SMALL, "-o", "a.png")
    assert run("compute", "seahorse", *SMALL, "-o", "a.npz")[0] == 0
    assert run("recolor", "a.npz", "--cpu", "-o", "b.png")[0] == 0
    assert Path("a.png").read_bytes() == Path("b.png").read_bytes()
    assert run("recolor", "a.npz", "--cpu", "--palette", "ink", "-o", "c.png")[0] == 0
    assert Path("c.png").read_bytes() != Path("a.png").read_bytes()
    code, _, err = run("recolor", "a.npz", "--coloring", "distance", "-o", "d.png")
    assert code == 2
    assert "needs dz" in err


def test_show_and_convert(run):
    run("render", "seahorse", *SMALL, "-o", "a.png")
    assert run("convert", "a.png", "a.toml")[0] == 0
    assert run("convert", "a.toml", "a.json")[0] == 0
    scenes = [fractals.load_scene(f"a.{suffix}") for suffix in ("png", "toml", "json")]
    assert scenes[0] == scenes[1] == scenes[2]
    assert run("show", "a.png")[1].startswith(Path("a.toml").read_bytes())
    shown = json.loads(run("show", "--json", "a.png")[1])
    assert shown.pop("resolved")["transfer"] == "log"
    assert shown == json.loads(Path("a.json").read_text())
    assert "properties" in json.loads(run("show", "--schema")[1])


def test_verify_tells_right_from_wrong(run):
    run("render", "seahorse", "--size", "16x9", "--cpu", "--max-iterations", "300", "-o", "a.png")
    code, out, err = run("verify", "a.png", "--exact", "--pixels", "5")
    assert (code, out) == (0, b"")
    assert "5 of 5 pixels right" in err

    image = fractals.render("a.png", device="cpu")
    image.pixels[:] = 255 - image.pixels
    image.save("a.png", overwrite=True)
    code, out, err = run("verify", "a.png", "--pixels", "5", "--json")
    assert code == 5
    assert len(json.loads(out)["wrong"]) == 5


def numbers(colors):
    """Return the colors of a picture, each as one number."""
    red, green, blue = np.moveaxis(np.asarray(colors, np.int32), -1, 0)
    return red << 16 | green << 8 | blue


def test_sheet_of_palettes(run):
    Path("sheet.png").touch()
    assert run("list", "palettes", "--preview", "sheet.png")[0] == 1
    code, out, err = run("list", "palettes", "--preview", "sheet.png", "--overwrite", "--json")
    names = catalog.names("palette")
    assert (code, set(json.loads(out))) == (0, set(names))
    assert err == f"fractals: sheet.png: {len(names)} palettes\n"
    seen = np.zeros(2**24, bool)  # np.isin would sort all colors of the sheet for each name
    with PIL.Image.open("sheet.png") as picture:
        seen[numbers(picture.convert("RGB"))] = True
    for name in names:  # of each, the colors of a turn, in its strip
        assert seen[numbers(turn(name, 256))].all(), name


def test_palette_files(run):
    Path("a.ugr").write_text("A {\ngradient:\n index=0 color=255 index=200 color=0\n}\nB {\n}\n")
    code, _, err = run("render", *SMALL, "--palette", "a.ugr", "-o", "a.png")
    assert code == 0
    assert err.splitlines()[0].startswith(
        "fractals: a.ugr: the first of 2 entries is read; 'fractals show FILE'"
    )
    Path("a.toml").write_text('[color]\npalette = "a.ugr"')
    code, _, err = run("render", "a.toml", *SMALL, "-o", "c.png")
    assert code == 0
    assert err.splitlines()[0].startswith(
        "fractals: a.ugr: the first of 2 entries is read; 'fractals show FILE'"
    )
    Path("a.ugr").unlink()
    assert fractals.load_scene("a.png").color.palette.stops == ((0, "#ff0000"), (0.5, "#000000"))
    assert run("render", "a.png", "--cpu", "-o", "b.png")[0] == 0
    assert Path("b.png").read_bytes() == Path("a.png").read_bytes()
    Path("bad.map").write_text("1 2 3\nx\n")
    code, _, err = run("render", *SMALL, "--palette", "bad.map", "-o", "d.png")
    assert (code, err) == (
        3,
        "fractals: bad.map: line 2: 'x' is not three numbers from 0 to 255\n",
    )
    Path("bad.toml").write_text('[color]\npalette = "bad.map"')
    code, _, err = run("render", "bad.toml", *SMALL, "-o", "d.png")
    assert code == 3
    assert one_line(err)
    assert "bad.map: not a palette that can be read" in err


def test_lists_and_devices(run):
    assert set(json.loads(run("list", "formulas", "--json")[1])) >= {"mandelbrot", "tricorn"}
    assert b"ember" in run("list", "palettes")[1]
    assert set(json.loads(run("list", "palettes", "--json")[1])) == set(catalog.names("palette"))
    found = json.loads(run("devices", "--json")[1])["devices"]
    assert {"cpu", "simulator"} <= {device["kind"] for device in found}
    assert sum(device["auto"] for device in found) == 1
    assert b"<- auto" in run("devices")[1]


@pytest.mark.parametrize(
    ("kept", "unset", "why"),
    [
        ("pyc", True, ""),
        ("pyc", False, "(PYTHONDONTWRITEBYTECODE is set)"),
        ("file/pyc", True, "can't be written)"),
    ],
)
def test_devices_tells_where_no_bytecode_is_kept(kept, unset, why, tmp_path):
    """It costs more than all that a small picture does."""
    (tmp_path / "file").write_text("in place of a folder")
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / kept)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "" if unset else "1"}
    done = subprocess.run(
        [sys.executable, "-m", "fractals", "devices", "--json"],
        env=environment,
        check=True,
        capture_output=True,
    )
    note = json.loads(done.stdout)["no_bytecode"]
    assert why in note
    assert bool(why) == note.startswith("Python keeps no bytecode of fractals")


def test_the_environment_sets_device_and_threads_alone(run, monkeypatch):
    monkeypatch.setenv("FRACTALS_SIZE", "20x10")
    monkeypatch.setenv("FRACTALS_DEVICE", "python")
    facts = json.loads(run("render", "--dry-run", "--json")[1])
    assert (facts["size"], facts["device"]) == ([1920, 1080], "python")
    assert json.loads(run("render", "--dry-run", "--json", "--cpu")[1])["device"] == "cpu"
    monkeypatch.setenv("FRACTALS_DEVICE", "tpu")
    code, _, err = run("render", "--dry-run")
    assert (code, err) == (2, "fractals: FRACTALS_DEVICE: unknown device 'tpu'\n")
    monkeypatch.setenv("FRACTALS_DEVICE", "")
    monkeypatch.setenv("FRACTALS_THREADS", "none")
    code, _, err = run("render", "--dry-run")
    assert code == 2
    assert one_line(err)
    assert "FRACTALS_THREADS" in err


def test_scenes_merge_from_left_to_right_and_options_come_last(run):
    Path("a.toml").write_text('[view]\nwidth = "1"\n[color]\npalette = "ember"\n')
    Path("b.toml").write_text('[view]\nzoom = "10"\n')
    run("render", "a.toml", "b.toml", *SMALL, "--inside", "#fff", "-o", "c.png")
    scene = fractals.load_scene("c.png")
    assert (scene.view.width, scene.view.zoom) == (None, "10")
    assert (scene.color.palette, scene.color.inside) == ("ember", "#fff")


def test_gallery_draws_and_writes_its_page(run):
    assert run("gallery", "seahorse", "-o", "g", "--size", "32x", "--cpu")[0] == 0
    assert os.listdir("g") == ["seahorse.webp"]
    with PIL.Image.open("g/seahorse.webp") as picture:
        assert picture.size == (32, 18)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion(run, shell):
    assert b"_FRACTALS_COMPLETE" in run("completion", shell)[1]


@pytest.mark.parametrize(
    ("words", "incomplete", "found"),
    [
        ("ren", "ren", ["render"]),
        ("render\n--palette", "", ["dusk", "ember"]),
        ("render\n--palette\n'emb", "'emb", ["ember"]),
        ("render\nno_such.to", "no_such.to", []),  # PowerShell completes files by itself
    ],
)
def test_completion_in_powershell(words, incomplete, found):
    variables = {"FRACTALS_WORDS": words, "_FRACTALS_COMPLETE": "powershell_complete"}
    variables |= {"FRACTALS_INCOMPLETE": incomplete} if incomplete else {}
    done = subprocess.run(
        [sys.executable, "-c", "from fractals.cli import run; run()"],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert set(found) <= set(done.stdout.split())
    assert bool(found) == bool(done.stdout.split())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("device", slow_but(["cpu"], ["cpu", "simulator", "python"]))
def test_ctrl_c_ends_at_once_without_a_file(tmp_path, device):
    command = [sys.executable, "-c", "from fractals.cli import run; run()", "render"]
    heavy = [
        "--no-interior-shortcuts",
        "--max-iterations",
        "2000000000",
        "--center=-0.1,0",
        "--width",
        "0.01",
        *("--threads", "1"),
    ]
    process = subprocess.Popen(
        [*command, *heavy, "--device", device, "-o", "a.png"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(1.5)  # it would go on for years
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.decode().splitlines()[-1] == "fractals: interrupted"
    assert time.monotonic() - begun < 25  # a second, but the machine may be busy
    assert os.listdir(tmp_path) == []
