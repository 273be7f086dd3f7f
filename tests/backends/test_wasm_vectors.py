"""Texts for browsers: vectors of loops, and operations of relaxed SIMD, with the bits of before."""

import ctypes
import math
import random

import llvmlite.binding as llvm
import pytest

from fractals.backends import machine_code
from fractals.backends.wasm_vectors import in_vectors, with_held, with_relaxed

COUNT = 64
LOOP = """
target triple = "x86_64-unknown-linux-gnu"
declare double @llvm.fma.f64(double, double, double)
define void @compute(double* noalias %from, double* noalias %to) #0 {{
head:
  br label %body
body:
  %k = phi i64 [ 0, %head ], [ %next, %body ]
  %at = getelementptr double, double* %from, i64 %k
  %v = load double, double* %at
{body}
  %there = getelementptr double, double* %to, i64 %k
  store double %made, double* %there
  %next = add nuw nsw i64 %k, 1
  %more = icmp ult i64 %next, 64
  br i1 %more, label %body, label %end
end:
  ret void
}}
attributes #0 = {{ nounwind }}
"""
FRACTION = """
  %whole = fptosi double %v to i64
  %back = sitofp i64 %whole to double
  %made = fsub double %v, %back
"""
# The whole number is needed, too
BOTH = """
  %whole = fptosi double %v to i64
  %back = sitofp i64 %whole to double
  %rest = fsub double %v, %back
  %odd = and i64 %whole, 1
  %one = sitofp i64 %odd to double
  %made = fadd double %rest, %one
"""
EXPONENT = """
  %bits = bitcast double %v to i64
  %high = lshr i64 %bits, 52
  %biased = and i64 %high, 2047
  %large = fcmp ogt double %v, 1.5
  %bias = select i1 %large, i64 -1022, i64 -1023
  %exponent = add nsw i64 %bias, %biased
  %made = sitofp i64 %exponent to double
"""
LARGE = """
  %bits = bitcast double %v to i64
  %made = sitofp i64 %bits to double
"""
# What the relaxed operations do where they are fused
EMULATED = """
declare <2 x double> @llvm.fma.v2f64(<2 x double>, <2 x double>, <2 x double>)
define <2 x double> @emulated.madd.v2f64(<2 x double> %a, <2 x double> %b, <2 x double> %c) {
%r = call <2 x double> @llvm.fma.v2f64(<2 x double> %a, <2 x double> %b, <2 x double> %c)
ret <2 x double> %r
}
define <2 x double> @emulated.nmadd.v2f64(<2 x double> %a, <2 x double> %b, <2 x double> %c) {
%n = fneg <2 x double> %a
%r = call <2 x double> @llvm.fma.v2f64(<2 x double> %n, <2 x double> %b, <2 x double> %c)
ret <2 x double> %r
}
define <2 x i64> @emulated.laneselect.v2i64(<2 x i64> %a, <2 x i64> %b, <2 x i64> %m) {
%n = xor <2 x i64> %m, <i64 -1, i64 -1>
%x = and <2 x i64> %a, %m
%y = and <2 x i64> %b, %n
%r = or <2 x i64> %x, %y
ret <2 x i64> %r
}
"""
# Orbits of z**2 + c until they leave, with masks of all ones, and a choice by signs of numbers
ORBITS = """
declare <2 x double> @llvm.fma.v2f64(<2 x double>, <2 x double>, <2 x double>)
define void @compute(<2 x double>* %from, <2 x double>* %to) {
head:
  %c = load <2 x double>, <2 x double>* %from, align 8
  %second = getelementptr <2 x double>, <2 x double>* %from, i64 1
  %bits = load <2 x double>, <2 x double>* %second, align 8
  %signs = bitcast <2 x double> %bits to <2 x i64>
  br label %body
body:
  %k = phi i64 [ 0, %head ], [ %next, %body ]
  %z = phi <2 x double> [ zeroinitializer, %head ], [ %kept, %body ]
  %alive = phi <2 x i64> [ <i64 -1, i64 -1>, %head ], [ %both, %body ]
  %minus = fneg <2 x double> %z
  %square = tail call <2 x double> @llvm.fma.v2f64(FACTORS, <2 x double> %c)
  %near = fcmp olt <2 x double> %square, <double 4.0, double 4.0>
  %under = icmp slt <2 x i64> %alive, zeroinitializer
  %kept = select <2 x i1> %under, <2 x double> %square, <2 x double> %z
  %wide = sext <2 x i1> %near to <2 x i64>
  %both = and <2 x i64> %alive, %wide
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, 5
  br i1 %more, label %body, label %end
end:
  %negative = icmp slt <2 x i64> %signs, zeroinitializer
  %chosen = select <2 x i1> %negative, <2 x double> %kept, <2 x double> <double 7.0, double 7.0>
  store <2 x double> %chosen, <2 x double>* %to, align 8
  ret void
}
""".replace("FACTORS", "<2 x double> %minus, <2 x double> %z")


def run(text, given, count):
    """Return what a text computes on this machine."""
    machine_code.target_machine()
    target = llvm.Target.from_default_triple().create_target_machine()
    part = llvm.parse_assembly(text)
    part.triple = llvm.get_process_triple()
    engine = llvm.create_mcjit_compiler(part, target)
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    found = (ctypes.c_double * count)()
    call(engine.get_function_address("compute"))(ctypes.addressof(given), ctypes.addressof(found))
    return [(value, math.copysign(1, value)) for value in found]


def numbers():
    chance = random.Random(3)
    edges = [0.0, -0.0, -0.5, 0.5, 1.5, -1.5, 2**52 + 0.5, -(2.0**60), 1e-300, 1e300 % 7]
    some = [chance.uniform(-1, 1) * 2 ** chance.randint(-40, 60) for _ in range(COUNT)]
    return (ctypes.c_double * COUNT)(*(edges + some)[:COUNT])


@pytest.mark.parametrize("body", [FRACTION, BOTH, EXPONENT, LARGE])
def test_loops_become_vectors_of_the_same_bits(body):
    text = LOOP.format(body=body)
    made = in_vectors(text)
    assert run(made, numbers(), COUNT) == run(text, numbers(), COUNT)
    if body == LARGE:  # of any size, so it needs all 64 bits
        assert "sitofp" in made
        assert "to <2 x i32>" not in made
    else:
        assert "<2 x double>" in made
        assert body == BOTH or "fptosi" not in made
        assert "sitofp i64" not in made
        assert "sitofp <2 x i64>" not in made


@pytest.mark.parametrize("body", [FRACTION, BOTH, EXPONENT])
@pytest.mark.parametrize("vectors", [2, 4])
def test_vectors_side_by_side_have_the_same_bits(body, vectors):
    text = LOOP.format(body=body)
    made = in_vectors(text, vectors)
    assert run(made, numbers(), COUNT) == run(text, numbers(), COUNT)
    first = made.index("store <2 x double>")
    assert made.count("load <2 x double>", 0, first) == vectors  # before any result is stored
    assert made.count("store <2 x double>") % vectors == 0


@pytest.mark.parametrize("body", [BOTH, EXPONENT])
def test_constants_are_made_once_with_the_same_bits(body):
    text = LOOP.format(body=body)
    made = with_held(in_vectors(text, 4))
    assert run(made, numbers(), COUNT) == run(text, numbers(), COUNT)
    constants = [line for line in made.splitlines() if "splat (" in line]
    held = [line for line in constants if " = freeze " in line]
    assert held
    assert len(set(held)) == len(held)
    assert all(line in held or "lshr" in line for line in constants)  # a browser shifts by a number


@pytest.mark.parametrize("c", [(0.3, -3.5), (-0.7, 1.9), (9.0, 0.0)])
@pytest.mark.parametrize("signs", [(5, -5), (-1, 0), (-(2**62), 2**62)])
def test_relaxed_operations_give_the_same_bits(c, signs):
    given = (ctypes.c_double * 4)(*c)
    for k, value in enumerate(signs):
        ctypes.c_int64.from_address(ctypes.addressof(given) + 16 + 8 * k).value = value
    made = with_relaxed(ORBITS)
    assert "@llvm.fma" not in made
    lines = [line for line in made.splitlines() if not line.startswith("declare")]
    emulated = "\n".join(lines).replace("@llvm.wasm.relaxed.", "@emulated.") + EMULATED
    assert run(emulated, given, 2) == run(ORBITS, given, 2)


def test_masks_are_known_and_negations_are_part_of_multiply_adds():
    made = with_relaxed(ORBITS)
    assert "@own.nmadd.2xdouble(<2 x double> %z, <2 x double> %z, <2 x double> %c)" in made
    (kept, chosen) = [line for line in made.splitlines() if "call <2 x i64> @own.lane" in line]
    assert "<2 x i64> %alive)" in kept  # all of its bits are equal in a lane
    assert "%signs" not in chosen
