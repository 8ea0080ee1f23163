# SPDX-License-Identifier: Apache-2.0
"""Mistakes of new users, and what they are told."""

import numpy
import pytest
from tracing import kernel

import flydsl.compiler
import flydsl.expr as fx


def test_functions_of_other_libraries():
    with kernel("f32") as k:
        x = fx.Float32(k.args[0])
        for value in (x, x.ir_value(), fx.full(4, x, fx.Float32)):
            with pytest.raises(TypeError, match=r"numpy.exp computes on the host, .*; use fx.exp"):
                numpy.exp(value)
        with pytest.raises(TypeError, match=r"numpy.multiply .*; use operators"):
            numpy.float32(2) * x
        with pytest.raises(TypeError, match=r"numpy.maximum .*; use fx.maximumf"):
            numpy.maximum(x, x)
        torch = pytest.importorskip("torch", reason="the mistake is made with torch")
        with pytest.raises(TypeError, match=r"torch.sqrt computes on the host, .*; use fx.sqrt"):
            torch.sqrt(x)


def test_tensors_are_no_sequences():
    with kernel("!fly.memref<f32, global, (?,8):(8,1)>") as k:
        t = fx.Tensor(k.args[0])
        assert t
        with pytest.raises(TypeError, match=r"fx.rank\(t\) counts its modes"):
            len(t)
        with pytest.raises(TypeError, match="index it in a loop over range"):
            list(t)
        with pytest.raises(TypeError, match="sliced with None"):
            t[0:2, 1]


def test_widths_of_copies():
    for bits in (8, 16, 32, 64, 96, 128, 256):
        fx.UniversalCopy(bits)
    for bits in (0, 48, 24, -8):
        with pytest.raises(ValueError, match="UniversalCopy moves"):
            fx.UniversalCopy(bits)


def test_assumptions():
    with kernel("i32", "i64", "f32") as k:
        n, m = fx.Int32(k.args[0]), fx.Int64(k.args[1])
        rows = fx.assume(n, 8)
        assert str(fx.make_layout((4, rows), (rows, 1))) == "Layout<(4,?{div=8}):(?{div=8},1)>"
        assert str(fx.assume(m, 4)) == "IntTuple<?{i64 div=4}>"
        assert (rows + 1).dtype is fx.Int32
        assert fx.assume(16, 8) == 16
        k.ir()
        with pytest.raises(ValueError, match="12 is no multiple of 8"):
            fx.assume(12, 8)
        with pytest.raises(TypeError, match="about integers, got Float32"):
            fx.assume(fx.Float32(k.args[2]), 8)


def test_what_printf_does_not_print():
    with kernel("!fly.memref<f32, global, 8:1>") as k, pytest.raises(TypeError, match=r"print t\[i\] or t.load\(\)"):
        fx.printf("{}", fx.Tensor(k.args[0]))


def test_fragments_are_in_registers():
    with kernel("!fly.memref<f16, global, 8:1>") as k:
        t, atom = fx.Tensor(k.args[0]), fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
        with pytest.raises(ValueError, match="d is a tensor in global memory, not a fragment in registers"):
            fx.gemm(atom, t, t, t, t)


def test_swizzles_are_not_negative():
    with kernel(), pytest.raises(ValueError, match="not negative, got S<-1,2,3>"):
        fx.SwizzleType.get(-1, 2, 3)


def test_widths_of_shuffles():
    with kernel("f32") as k, pytest.raises(ValueError, match="a shuffle's width is a power of two, not 3"):
        fx.gpu.shuffle_xor(fx.Float32(k.args[0]), 1, 3)


@pytest.mark.parametrize("block", [(64, 1, 1), (16, 8, 1), (256, 1, 1)])
def test_collectives_of_another_workgroup(block):
    with kernel("f32", block=block) as k:
        reduce = fx.coop.BlockReduce[fx.Float32, 128]
        storage = fx.SharedAllocator().allocate(reduce.SharedStorage)
        with pytest.raises(ValueError, match=r"a workgroup of \(128, 1, 1\) threads, but this one has "):
            reduce(fx.Float32(k.args[0]), fx.ReductionOp.ADD, storage=storage)


@pytest.mark.parametrize("name", ["a b\n", "1st", 'quo"te', "é"])
def test_symbols_of_kernels(name):
    with pytest.raises(ValueError, match="made of letters, digits"):
        flydsl.compiler.kernel(name=name)


def test_addresses_have_a_class():
    with pytest.raises(TypeError, match=r"a numeric class such as fx.Float32 as its type, not 'f32'"):
        flydsl.compiler.from_c_void_p("f32", 0)
