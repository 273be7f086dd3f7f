"""Fused multiply-adds of sums and products, and texts that are kept for browsers."""

import ctypes
import math
import random
import re
from types import SimpleNamespace

import llvmlite.binding as llvm
import pytest

from fractals.backends import code_cache, machine_code, wasm
from fractals.backends.wasm_fma import with_exact_fma
from fractals.errors import FractalsError
from fractals.kernels.primitives import fma

# fma(a, b, c), and by a product p what it lost, as double-double numbers compute it
TEXT = """
declare {kind} @llvm.fma.{name}({kind}, {kind}, {kind})
define void @compute({kind}* %in, {kind}* %out) {{
%at1 = getelementptr {kind}, {kind}* %in, i64 1
%at2 = getelementptr {kind}, {kind}* %in, i64 2
%a = load {kind}, {kind}* %in
%b = load {kind}, {kind}* %at1
%c = load {kind}, {kind}* %at2
%all = call {kind} @llvm.fma.{name}({kind} %a, {kind} %b, {kind} %c)
%p = tail call {kind} @llvm.fma.{name}({kind} %a, {kind} %b, {kind} {zero})
%n = fneg {kind} %p
%e = tail call {kind} @llvm.fma.{name}({kind} %a, {kind} %b, {kind} %n)
%to1 = getelementptr {kind}, {kind}* %out, i64 1
%to2 = getelementptr {kind}, {kind}* %out, i64 2
store {kind} %all, {kind}* %out
store {kind} %p, {kind}* %to1
store {kind} %e, {kind}* %to2
ret void
}}
"""
KINDS = {"f64": ("double", "0.0", 1), "v2f64": ("<2 x double>", "zeroinitializer", 2)}


def compiled(name):
    """Return a function of numbers that computes each of the three in each lane."""
    kind, zero, lanes = KINDS[name]
    text = with_exact_fma(TEXT.format(kind=kind, zero=zero, name=name))
    assert "llvm.fma" not in text
    assert [text.count(f"call {kind} @{each}.") for each in ("fused", "rounded", "lost")] == [1] * 3
    machine_code.target_machine()
    target = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), target)
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
        engine.get_function_address("compute")
    )
    room = ctypes.c_double * (3 * lanes)

    def compute(a, b, c):
        given = room(*(v for v in (a, b, c) for _ in range(lanes)))
        found = room()
        call(ctypes.addressof(given), ctypes.addressof(found))
        parts = [found[k * lanes : (k + 1) * lanes] for k in range(3)]
        assert all(len({math.copysign(1, v) * v for v in part}) == 1 for part in parts)
        return [part[0] for part in parts]

    compute.engine = engine  # keeps the machine code
    return compute


def numbers(random):
    """Return three numbers of which sums and products cancel, or nearly, more often than not."""
    signs = random.choices((-1, 1), k=2)
    a, b = (math.ldexp(sign * random.uniform(1, 2), random.randint(-9, 9)) for sign in signs)
    k = random.randrange(5)
    p = a * b
    if k == 0:
        return a, b, random.uniform(-9, 9)
    if k == 1:
        return a, b, -p
    if k == 2:
        return a, b, -p + random.randint(-3, 3) * math.ulp(p)
    if k == 3:
        return a, b, random.choice((-1, 1)) * p * 2.0 ** random.randint(-120, 120)
    return float(round(a * 8)), float(round(b * 8)), float(random.randint(-9, 9)) * 2.0**-53


@pytest.mark.parametrize("name", KINDS)
def test_fused_multiply_adds_have_the_bits_of_other_devices(name):
    compute, generator = compiled(name), random.Random(11)
    for _ in range(20_000):
        a, b, c = numbers(generator)
        found = compute(a, b, c)
        p = fma(a, b, 0.0)
        expected = [fma(a, b, c), p, fma(a, b, -p)]
        assert found == expected, (a, b, c)


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        (0.0, -3.0, 0.0),
        (-0.0, 3.0, 0.0),
        (1e200, 1e200, 1.0),
        (2.0, 3.0, math.inf),
        (math.nan, 1.0, 1.0),
        (1.0, 2.0, -2.0),
    ],
)
def test_zeros_and_infinities_are_those_of_other_devices(a, b, c):
    found, expected = compiled("f64")(a, b, c)[0], fma(a, b, c)
    assert found == expected or (math.isnan(found) and math.isnan(expected))
    assert math.isnan(found) or math.copysign(1, found) == math.copysign(1, expected)


def test_equal_names_of_two_functions_are_two_numbers():
    """In the second one %n is no product's negative, so its sum is a fused one."""
    other = """
define double @other(double %a, double %b, double %n) {
%e = call double @llvm.fma.f64(double %a, double %b, double %n)
ret double %e
}
"""
    kind, zero, _ = KINDS["f64"]
    text = TEXT.format(kind=kind, zero=zero, name="f64")
    for whole in (text + other, other + text):
        (body,) = re.findall(r"@other\(.*?^}", with_exact_fma(whole), re.MULTILINE | re.DOTALL)
        assert "call double @fused.f64(double %a, double %b, double %n)" in body


def test_text_of_other_numbers_stays():
    text = "declare float @llvm.fma.f32(float, float, float)\n"
    assert with_exact_fma(text) == text


def test_texts_for_browsers_are_kept_by_what_they_are_compiled_for(monkeypatch):
    kept = {"": b""}
    store = SimpleNamespace(load=lambda key, rebuild: kept.setdefault("key", key) and b"text")
    texts = wasm._Texts(store)
    assert texts.of(("d",), None, "float64", (), {}, 0) == "text"
    assert kept["key"] == f"('d',) for {machine_code.TARGET}"


def text_of(value, declared=""):
    """Return the text of a program that returns a value."""
    begin = 'target datalayout = "e"\ntarget triple = "x"\n'
    return f"{begin}{declared}define double @value() {{\n{value}\n}}"


def test_modules_for_browsers_are_made_once(monkeypatch):
    texts = text_of("ret double 1.0"), text_of("ret double 2.0")
    code_cache.forget_programs()
    first, single = wasm.module_of(texts), wasm.module_of(texts[:1])
    assert len({first, single, wasm.module_of(texts[::-1])}) == 3

    def made_again(*asked):
        raise AssertionError("LLVM makes it again")

    monkeypatch.setattr(wasm, "_made_module", made_again)
    for _ in range(2):
        assert wasm.module_of(texts) == first
        assert wasm.module_of(texts[:1]) == single
        code_cache.forget_programs()  # from the disk now
    with pytest.raises(AssertionError):
        wasm.module_of((text_of("ret double 3.0"),))


def test_a_module_that_browsers_can_not_run_is_refused_each_time():
    call = "%x = call double @erfc(double 1.0)\nret double %x"
    texts = (text_of(call, "declare double @erfc(double)\n"),)
    for _ in range(2):
        with pytest.raises(FractalsError, match="erfc"):
            wasm.module_of(texts)
