# SPDX-License-Identifier: Apache-2.0
"""Which tensors count as only read: whatever may write to one, makes it written."""

from __future__ import annotations

import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir.passmanager import PassManager
from flydsl.call.arguments import Dynamic, ScalarSpec, TensorSpec
from flydsl.compile.note import argument_effects
from flydsl.compile.tracing import trace_host
from flydsl.expr import buffer_ops
from flydsl.trace.arch import describe

VECTOR = TensorSpec("float32", (Dynamic(),), (1,), 4)


def verdicts(body):
    """Whether x and y of a kernel are only read."""

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        body(x, y, n)

    @flyc.jit
    def host(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        kernel(x, y, n).launch()

    arguments = [("x", VECTOR), ("y", VECTOR), ("n", ScalarSpec("int32"))]
    compilation, _ = trace_host(host.func, "host", arguments, arch=describe("gfx942"), hints={})
    with compilation.context:
        PassManager.parse("builtin.module(fly-argument-effects)").run(compilation.module.operation)
    return [effect == "read" for effect in argument_effects(compilation.module, "host")[:2]]


def store(x, y, n):
    y[n] = x[n]


def copy(x, y, n):
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    one = fx.make_rmem_tensor(1, fx.Float32)
    tiles = [fx.logical_divide(t, fx.make_layout(1, 1)) for t in (x, y)]
    fx.copy_atom_call(atom, fx.slice(tiles[0], (None, n)), one)
    fx.copy_atom_call(atom, one, fx.slice(tiles[1], (None, n)))


def pointer(x, y, n):
    (y.iter + n).store((x.iter + n).load())


def buffers(x, y, n):
    atom = fx.make_copy_atom(fx.rocdl.BufferCopy32b(), fx.Float32)
    one = fx.make_rmem_tensor(1, fx.Float32)
    from_x, to_y = (fx.logical_divide(fx.rocdl.make_buffer_tensor(t), fx.make_layout(1, 1)) for t in (x, y))
    fx.copy_atom_call(atom, fx.slice(from_x, (None, n)), one)
    fx.copy_atom_call(atom, one, fx.slice(to_y, (None, n)))


def in_control_flow(x, y, n):
    for i in range(n):
        if i > 3:
            y[i] = x[i]


@pytest.mark.parametrize("body", [store, copy, pointer, buffers, in_control_flow])
def test_reads_and_writes_are_told_apart(body):
    assert verdicts(body) == [True, False]


def address(x, y, n):
    fx.ptrtoint(x.iter)
    fx.to_llvm_ptr(y.iter)


def resources(x, y, n):
    buffer_ops.buffer_store(fx.Float32(1.0), buffer_ops.create_buffer_resource(y), n)
    buffer_ops.buffer_store(fx.Float32(1.0), buffer_ops.create_buffer_resource(x), n)


def branches(x, y, n):
    t = x
    if n > 3:
        t = y
    t[n] = fx.Float32(1.0)


@pytest.mark.parametrize("body", [address, resources, branches])
def test_what_cannot_be_followed_counts_as_written(body):
    assert verdicts(body) == [False, False]
