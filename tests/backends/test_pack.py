"""Packs: each lane computes what a single number would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.extending import intrinsic, register_jitable
from support.scenes import slow_but

import fractals.backends.cpu.target  # noqa: F401 - what the functions of formulas are for single numbers
from fractals.backends import machine_code
from fractals.backends.cpu.simd.control import by_vectors, flush_denormals, restore_mode
from fractals.backends.cpu.simd.elementary import larger_part
from fractals.backends.cpu.simd.memory import (
    compress_rows,
    compress_store,
    load,
    load_rows,
    masked_store,
    select_each,
    store,
    store_rows,
)
from fractals.backends.cpu.simd.pack import (
    any_lane,
    count_under,
    everywhere,
    first_lanes,
    indices,
    lane_count,
    least,
    splat,
    truncate,
)
from fractals.kernels.primitives import fma, number, select

VECTORS = 3
OTHER_CPU = "NUMBA_CPU_FEATURES" in os.environ
SPECIAL = [0.0, -0.0, 1.0, -1.5, 3e38, 1e-39, np.inf, -np.inf, np.nan]

real = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def arithmetic(a, b, c):
    """Everything that a formula may do."""
    return (
        a + b,
        a - b,
        a * b,
        a / b,
        -a,
        abs(a),
        fma(a, b, c),
        select(a < b, a, c),
        select(a <= b, a, c),
        select(a > b, a, c),
        select(a >= b, a, c),
        select(a == b, a, c),
        select(a != b, a, c),
        select((a < b) & (b < c), a, c),
        select((a < b) | (b < c), a, c),
        select(~(a < b), a, c),
        a + number(2, a),
        a * number(0.1, a),
    )


RESULTS = 18


def same_bits(found, expected):
    """Tell whether two arrays are equal; what a NaN's bits are is not defined."""
    return np.array_equal(
        found.view(f"i{found.itemsize}"), expected.view(f"i{found.itemsize}")
    ) or (
        np.array_equal(np.isnan(found), np.isnan(expected))
        and np.array_equal(np.nan_to_num(found), np.nan_to_num(expected))
        and np.array_equal(
            np.signbit(found), np.signbit(expected) | np.isnan(found) & np.signbit(found)
        )
    )


@real
def test_arithmetic_is_that_of_single_numbers(dtype):
    step = numba.njit(error_model="numpy")(arithmetic)

    @numba.njit(error_model="numpy")
    def in_packs(out, a, b, c):
        like = splat(a[0], VECTORS)
        lanes = lane_count(like)
        for i in range(0, a.size, lanes):
            found = step(load(a, i, like), load(b, i, like), load(c, i, like))
            store_rows(out, i, a.size, found)
        return lanes

    @numba.njit(error_model="numpy")
    def one_by_one(out, a, b, c):
        for i in range(a.size):
            found = step(a[i], b[i], c[i])
            for k in range(RESULTS):
                out[k * a.size + i] = found[k]

    chance = np.random.default_rng(0)
    count = VECTORS * 16 * 20  # a multiple of the lanes of every width
    a, b, c = chance.normal(size=(3, count)).astype(dtype)
    for column in (a, b, c):
        column[:200] = chance.choice(np.array(SPECIAL, dtype), 200)
    found, expected = np.empty(RESULTS * count, dtype), np.empty(RESULTS * count, dtype)
    lanes = in_packs(found, a, b, c)
    one_by_one(expected, a, b, c)
    assert lanes == VECTORS * machine_code.REGISTER // np.dtype(dtype).itemsize
    for k in range(RESULTS):
        part = slice(k * count, (k + 1) * count)
        assert same_bits(found[part], expected[part]), f"result {k} of arithmetic()"


def test_single_numbers_stand_beside_packs_of_float64():
    @numba.njit
    def add(out):
        store(out, 0, 2 * splat(out[0], 1) + 0.5)

    out = np.full(64, 3.0)
    add(out)
    assert out[0] == 6.5
    with pytest.raises(numba.TypingError):  # in scalar code this would be float64
        add(np.full(64, 3, np.float32))


@real
@pytest.mark.parametrize("chosen", ["none", "all", "some"])
def test_lists_are_closed_up(dtype, chosen):
    @numba.njit
    def compress(out, rows, a, max_iterations, room):
        like = splat(a[0], VECTORS)
        end, seen = 0, 0
        for i in range(0, a.size - room, lane_count(like)):
            pack = load(a, i, like)
            mask = pack < number(max_iterations, pack)
            compress_rows(rows, end, a.size, mask, (pack, -pack))
            end = compress_store(out, end, mask, indices(i, like))
            seen += any_lane(mask)
        return end, seen

    lanes = VECTORS * machine_code.REGISTER // np.dtype(dtype).itemsize
    count = 10 * lanes
    a = np.random.default_rng(1).normal(size=count + lanes).astype(dtype)
    limit = {"none": -1e9, "all": 1e9, "some": 0.3}[chosen]
    wanted = np.flatnonzero(a[:count] < limit)
    out = np.empty(count + lanes, f"i{a.itemsize}")
    rows = np.empty(2 * (count + lanes), dtype)
    end, seen = compress(out, rows, a, limit, lanes)
    assert end == len(wanted)
    assert seen == sum((a[i : i + lanes] < limit).any() for i in range(0, count, lanes))
    assert (out[:end] == wanted).all()
    assert (rows[:end] == a[wanted]).all()
    assert (rows[a.size : a.size + end] == -a[wanted]).all()


@real
def test_memory_beyond_a_mask_stays(dtype):
    @numba.njit
    def write(out, whole, values, n):
        like = splat(values[0], VECTORS)
        pack, mask = load(values, 0, like), first_lanes(n, like)
        masked_store(out, 1, mask, pack)
        masked_store(whole, 1, mask, truncate(pack))
        return lane_count(like)

    values = np.arange(3.7, 300, dtype=dtype)
    lanes = VECTORS * machine_code.REGISTER // values.itemsize
    for n in (0, 1, lanes - 1, lanes, lanes + 1):
        out, whole = np.full(300, -1, dtype), np.full(300, -1, np.int32)
        write(out, whole, values, n)
        n = min(n, lanes)
        assert (out[1 : n + 1] == values[:n]).all()
        assert (whole[1 : n + 1] == values[:n].astype(int)).all()
        assert (out[n + 1 :] == -1).all()
        assert (whole[n + 1 :] == -1).all()
        assert out[0] == whole[0] == -1


@real
def test_steps_are_counted_under_a_mask(dtype):
    @numba.njit
    def count(out, short, a, most):
        like = load(a, 0, splat(a[0], VECTORS))
        n = everywhere(most, like)
        for k in range(8):
            n = count_under(like < number(k, like), n)
        store(out, 0, n)
        store(short, 0, truncate(n))
        return lane_count(like)

    a = np.random.default_rng(3).uniform(0, 8, 64 * VECTORS).astype(dtype)
    out, short = np.zeros(len(a), f"i{a.itemsize}"), np.zeros(len(a), np.int32)
    lanes = count(out, short, a, 2**31 - 20)
    expected = 2**31 - 20 + (a[:, None] < np.arange(8)).sum(1)
    assert (out[:lanes] == expected[:lanes]).all()
    assert (short[:lanes] == expected[:lanes]).all()
    assert not short[lanes:].any()


@real
def test_a_function_of_one_vector_is_applied_to_each(dtype):
    @register_jitable
    def clamp(pair, most, values, small):
        x, y = pair
        kept = small & (x < most)
        return (select(kept, fma(x, y, y), x), y + number(values[1], y)), kept

    def compute(out, a, whole):
        like = splat(a[0], VECTORS)
        pair, most = (load(a, 0, like), load(a, 200, like)), splat(a[1], VECTORS)
        small = load(a, 400, like) < most
        if whole:
            (x, y), kept = clamp(pair, most, a, small)
        else:
            (x, y), kept = by_vectors(clamp, (pair, most, a, small))
        store_rows(out, 0, 200, (x, y, select(kept, x, y)))

    a, outs = np.random.default_rng(4).normal(size=800).astype(dtype), np.zeros((2, 800), dtype)
    run = numba.njit(compute)
    for whole in (0, 1):
        run(outs[whole], a, whole)
    assert outs[0].any()
    assert same_bits(*outs)


@pytest.mark.parametrize(("longer", "widths"), [(False, {2, 1}), (True, {1})])
def test_short_functions_are_applied_to_two_vectors_at_a_time(longer, widths):
    seen = []

    @intrinsic
    def note(context, value):
        def generate(context, builder, signature, args):
            seen.append(value.vectors)
            return args[0]

        return value(value), generate

    def short(x, y):
        return note(fma(x, y, x)), x + y

    def long(x, y):
        s = note(fma(x, y, x))
        return abs(s + x) * abs(s + y), x + y

    turn = long if longer else short

    def compute(out, a, whole):
        like = splat(a[0], VECTORS)
        x, y = load(a, 0, like), load(a, 200, like)
        store_rows(out, 0, 200, turn(x, y) if whole else by_vectors(turn, (x, y)))

    register_jitable(turn)
    a, outs = np.random.default_rng(6).normal(size=400), np.zeros((2, 400))
    run = numba.njit(compute)
    for whole in (0, 1):
        run(outs[whole], a, whole)
    assert set(seen) == {VECTORS} | widths
    assert outs[0].any()
    assert same_bits(*outs)


def test_rows_are_a_tuple_of_packs():
    @numba.njit
    def swap(out, a, max_iterations):
        like = splat(a[0], VECTORS)
        x, y = load_rows(a, 0, 100, like, 2)
        store_rows(out, 0, 100, select_each(x < number(max_iterations, x), (x, y), (y, x)))

    a, out = np.random.default_rng(2).normal(size=(2, 200))
    swap(out, a, 0.5)
    lanes = VECTORS * machine_code.REGISTER // 8
    x, y = a[:lanes], a[100 : 100 + lanes]
    assert (out[:lanes] == np.where(x < 0.5, x, y)).all()
    assert (out[100 : 100 + lanes] == np.where(x < 0.5, y, x)).all()


@real
def test_the_size_of_complex_lanes(dtype):
    @numba.njit
    def measure(out, x, y):
        like = splat(x[0], VECTORS)
        size = larger_part(load(x, 0, like), load(y, 0, like))
        store(out, 0, size)
        return least(size), least(-size)

    lanes = VECTORS * machine_code.REGISTER // np.dtype(dtype).itemsize
    numbers = np.array([0, -0.0, 1, -1.5, 1e37, 1e-30, np.inf, -np.inf], dtype)
    chance, out = np.random.default_rng(5), np.empty(lanes, dtype)
    for _ in range(20):
        x, y = chance.choice(numbers, (2, lanes)) * chance.normal(size=lanes).astype(dtype)
        smallest, largest = measure(out, x, y)
        assert same_bits(out, np.maximum(abs(x), abs(y)))
        assert smallest == out.min()
        assert largest == -out.max()


def test_register_widths():
    assert machine_code.register_bytes({"sse2", "avx2", "avx512f", "avx512vl"}) == 64
    assert machine_code.register_bytes({"sse2", "avx2", "avx512f"}) == 32
    assert machine_code.register_bytes({"sse2"}) == 16
    assert machine_code.register_bytes({"neon"}) == 16


def test_features_are_those_that_numba_compiles_for(monkeypatch):
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+sse2,-avx2,+fma")
    assert machine_code.own_flags() == "+sse2,-avx2,+fma"
    monkeypatch.delenv("NUMBA_CPU_FEATURES")
    monkeypatch.setenv("NUMBA_ENABLE_AVX", "0")
    assert not any(flag.startswith("+avx") for flag in machine_code.own_flags().split(","))


@pytest.mark.skipif("sse2" not in machine_code.FEATURES, reason="only x86's mode is known")
def test_denormals_are_flushed_and_the_mode_comes_back():
    @numba.njit
    def halve(numbers, flush):
        mode = flush_denormals() if flush else numba.int32(0)
        for k in range(numbers.size):
            numbers[k] = numbers[k] * 0.5
        if flush:
            restore_mode(mode)

    smallest = np.finfo(np.float64).smallest_normal
    for flush, expected in ((True, 0), (False, smallest / 2)):
        numbers = np.full(8, smallest)
        halve(numbers, flush)
        assert (numbers == expected).all()


HASWELL = "+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+bmi,+bmi2,+fma,+f16c,+lzcnt"


@pytest.mark.skipif(
    machine_code.REGISTER < 64 or OTHER_CPU, reason="needs AVX-512, to do without it"
)
@pytest.mark.parametrize(
    ("features", "but", "least"),
    slow_but(
        [(HASWELL, "float32", 12)],
        [(HASWELL, "float32", 12), (HASWELL, "nothing", 19), ("+sse2", "nothing", 17)],
    ),
    ids=["avx2 but float32", "avx2", "sse2"],
)
def test_on_other_cpus(features, but, least):
    """Compile for a CPU with less: with AVX2, and where packs can't be fused."""
    home = Path(__file__).parent
    chosen = "lanes or arithmetic or lists or memory or rows or infinities or mask or vector"
    chosen += " or False-False-float64"  # random views, with the programs of those of infinities
    files = ["test_pack.py"] + ["test_direct.py"] * ("fma" in features)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts="]
    command += ["-k", f"({chosen}) and not {but}"]
    done = subprocess.run(
        [*command, *(str(home / name) for name in files)],
        env={**os.environ, "NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": features},
        cwd=home.parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    # A test that has another name is not chosen.
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= least
