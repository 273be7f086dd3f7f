"""Every solid as compiled code: the bits of plain Python on the CPU, and no float64 on a GPU."""

import numpy as np
import pytest
from test_shapes import CASES, made

import fractals
from fractals.backends.devices import choose, open_backend
from fractals.space import march
from fractals.space.cpu_ray_lists import Tracer
from fractals.space.plan import Seen, make_solid_plan

SIZE = 10, 8
HYBRIDS = [
    ("solid_hybrid", {"formulas": "quaternion+juliabulb+mandelbox"}),
    ("solid_expression", {"step": "x = abs(x) - 1; y = 2*y + x*z; z = 2*z - x*y"}),
]
ALL = [*CASES, *HYBRIDS]


def label(case):
    name, options = case
    return ",".join([name, *(f"{key}={value}" for key, value in options.items())])


def cases():
    often = [CASES[1], *HYBRIDS]
    return [
        pytest.param(case, id=label(case), marks=[] if case in often else pytest.mark.slow)
        for case in ALL
    ]


@pytest.mark.parametrize("case", cases())
def test_lists_of_rays_have_the_bits_of_plain_python(case):
    solid = made(case[0], **case[1])
    scene = fractals.load_scene({"formula": {"name": case[0], **case[1]}}).replace(size=SIZE)
    plan = make_solid_plan(scene, "cpu", 1)
    found = []
    for device in ("cpu", "python"):
        out = np.zeros((SIZE[1], SIZE[0], 2), np.float32)
        camera = plan.shot(Seen.of(-np.ones((2, 2, 2))), np.float32).camera
        space = plan.space(np.float32)
        if device == "cpu":
            Tracer("float32", solid.walk, vectors=1).first(out, camera, space)
        else:
            target = open_backend(choose("python").device, "float32").target
            with np.errstate(all="ignore"):
                body = march.make_first_body(target, solid.walk)
                body(0, 0, 1, 1, out, camera, space)
        found.append(out)
    assert np.array_equal(*found)
    assert (found[0][..., 0] > 0).sum() > 4
