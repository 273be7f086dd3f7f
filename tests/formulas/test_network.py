"""Pattern networks: pictures of a network's outputs, from a seed or from given weights."""

import math

import numpy as np
import pytest
from PIL import Image
from support.raw import same

import fractals
from fractals.formulas import networks
from fractals.io.load import load_scene

# One step is enough: the samples that find an automatic limit would take thousands of steps.
SMALL = {"size": (8, 5), "supersampling": 1, "max_iterations": 60}


def outputs(weights, x, y):
    """Return both outputs at a point, layer by layer, with NumPy and the math module."""
    w = np.array(weights)
    first, second = w[:20].reshape(5, 4), w[20:44].reshape(4, 6)
    bell = {"gauss": lambda v: math.exp(-v * v), "sin": math.sin, "tanh": math.tanh}
    hidden = [x, y, math.hypot(x, y), 1]
    for layer, names in ((first, networks.FIRST), (second, networks.SECOND)):
        sums = layer @ hidden
        hidden = [*(bell[name](v) for name, v in zip(names, sums, strict=True)), 1]
    return w[44:].reshape(2, 4) @ hidden[:4]


@pytest.mark.many
@pytest.mark.parametrize("seed", [1, 9])
def test_a_step_is_the_network(seed):
    formula = networks.network(seed=seed)
    for x, y in ((0.0, 0.0), (-1.2, 0.7), (0.3, -2.0)):
        s, t = outputs(networks.random_weights(seed), x, y)
        z = complex(*formula.step(x, y, 5.0, 6.0))
        assert abs(z) == pytest.approx(math.exp(14 + 2 * math.tanh(s)))
        turns = math.atan2(z.imag, z.real) / (2 * math.pi)
        assert (turns - t + 0.5) % 1 == pytest.approx(0.5, abs=1e-9)


def test_weights_of_a_seed_are_those_of_every_version():
    assert networks.WEIGHTS == 52
    assert networks.random_weights(1)[:3] == (2.038330078125, -1.8094482421875, 1.47454833984375)
    assert len({networks.random_weights(seed) for seed in range(50)}) == 50


def test_each_sample_ends_after_one_step_and_the_output_is_its_color():
    scene = load_scene(formula={"name": "network", "seed": 9}, palette="ink", density=1, **SMALL)
    assert scene.make_formula().coloring == "final_angle"
    raw = fractals.compute(scene, device="python")
    assert (raw.count == 1).all()
    picture = fractals.recolor(raw, device="python")
    assert len(np.unique(picture.pixels)) > 10
    found = fractals.compute(scene, device="simulator")  # the CPU's: in test_other_formulas.py
    assert same(found, raw)
    drawn = fractals.recolor(found, device="python").pixels
    assert drawn.tobytes() == picture.pixels.tobytes()


def test_given_weights_take_the_place_of_the_seeds(run, tmp_path):
    values = networks.random_weights(9)
    (tmp_path / "weights.txt").write_text(",\n".join(map(repr, values)))
    picture = ("--size", "4x3", "--supersampling", "1", "--max-iterations", "60")
    picture = (*picture, "--device", "python")
    assert run("render", "--network", "weights.txt", *picture, "-o", "file.png")[0] == 0
    assert run("render", "--network", "9", *picture)[0] == 0
    file, seed = (load_scene(str(tmp_path / name)) for name in ("file.png", "network-9.png"))
    assert seed.make_formula().parameters == {"seed": 9, "weights": ""}
    assert networks.parse_weights(file.make_formula().parameters["weights"]) == values
    drawn = [np.asarray(Image.open(tmp_path / name)) for name in ("file.png", "network-9.png")]
    assert (drawn[0] == drawn[1]).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--network", "nowhere"), "'nowhere' is neither a seed, such as 7, nor a file"),
        (("--network", "7", "--formula", "sine"), "--formula and --network are both given"),
        (("--network", "99999999999"), "seed is a whole number from 0 to 4294967295"),
        (("--network", "short.txt"), "weights are 52 numbers from -1000 to 1000"),
        (("--network", "large.txt"), "is larger than 10000 characters"),
        (("--network", "strong.txt"), "weights are 52 numbers"),
    ],
)
def test_what_is_wrong_is_said(run, tmp_path, words, message):
    (tmp_path / "short.txt").write_text("1 2 3")
    (tmp_path / "large.txt").write_text("1 " * 6000)
    (tmp_path / "strong.txt").write_text("1e9 " * 52)
    code, _, err = run("render", *words, "--size", "16x9", "--device", "python")
    assert code in (2, 3)
    assert message in err
    assert err.count("\n") == 1
