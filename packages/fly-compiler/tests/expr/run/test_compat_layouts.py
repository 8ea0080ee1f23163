# SPDX-License-Identifier: Apache-2.0
"""Code written for other implementations of the language: imports and layouts."""

import torch
from launchers import launcher

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.expr import arith, buffer_ops, const_expr, gpu, math, range_constexpr, rocdl, vector
from flydsl.expr.arith import ArithValue
from flydsl.expr.numeric import Float32
from flydsl.expr.typing import T
from flydsl.utils.smem_allocator import SmemAllocator


def test_imports():
    assert Float32 is fx.Float32
    assert const_expr is fx.const_expr
    assert range_constexpr is fx.range_constexpr
    assert all((arith, gpu, buffer_ops, rocdl, vector, math, T, SmemAllocator, CompilationContext, ArithValue))
    assert ir.Context
    from flydsl._mlir import dialects

    assert dialects


def layouts():
    """Return what the page says of layouts; the same inside and outside a trace."""
    shape, stride = fx.make_shape(8, 16), fx.make_stride(1, 8)
    plain = fx.make_layout(shape, stride)
    nested = fx.make_layout(fx.make_shape(9, (4, 8)), fx.make_stride(59, (13, 1)))
    tile = fx.make_layout((4, 8), (8, 1))
    thr, val = fx.make_layout((4, 16), (16, 1)), fx.make_layout((1, 4), (4, 1))
    a, b = fx.make_layout((2, 5), (5, 1)), fx.make_layout((3, 4), (1, 3))
    return {
        "with tuples": fx.make_layout((8, 16), (1, 8)) == plain if not isinstance(plain, fx.Layout) else True,
        "integers": fx.make_layout(7, 1),
        "identity": fx.make_identity_layout((4, 8)),
        "crd2idx": int(fx.crd2idx(fx.make_coord(3, 5), plain)),
        "crd2idx of a tuple": int(fx.crd2idx((3, 5), plain)),
        "idx2crd": fx.idx2crd(43, plain),
        "size": int(fx.size(plain)),
        "cosize": int(fx.cosize(plain)),
        "rank": fx.rank(nested),
        "shape": fx.get_shape(nested),
        "stride": fx.get_stride(nested),
        "get": fx.get((8, 16), 1),
        "composition": fx.composition(fx.make_layout((6, 2), (8, 2)), fx.make_layout((4, 3), (3, 1))),
        "complement": fx.complement(fx.make_layout(4, 1), 24),
        "coalesce": fx.coalesce(fx.make_layout((2, (1, 6)), (1, (6, 2)))),
        "right_inverse": fx.right_inverse(tile),
        "recast_layout": fx.recast_layout(tile, 16, 32),
        "logical_product": fx.logical_product(a, b),
        "raked_product": fx.raked_product(thr, val),
        "block_product": fx.block_product(a, b),
        "blocked_product": fx.blocked_product(a, b),
        "zipped_product": fx.zipped_product(a, b),
        "tiled_product": fx.tiled_product(a, b),
        "flat_product": fx.flat_product(a, b),
        "logical_divide": fx.logical_divide(tile, fx.make_tile(2, 4)),
        "zipped_divide": fx.zipped_divide(tile, (2, 4)),
        "tiled_divide": fx.tiled_divide(tile, (2, 4)),
        "flat_divide": fx.flat_divide(tile, (2, 4)),
        "select": fx.select(fx.make_shape(2, 3, 4), indices=[0, 2]),
        "group": fx.group(fx.make_shape(2, 3, 4), begin=1, end=3),
        "append": fx.append(fx.make_shape(2, 3), 4),
        "prepend": fx.prepend(fx.make_shape(2, 3), 4),
        "zip": fx.zip(fx.make_shape(2, 3), fx.make_shape(4, 5)),
        "slice": fx.slice(tile, (None, 3)),
        "tile of layouts": fx.make_tile(fx.make_layout(4, 1), fx.make_layout(8, 2)),
    }


LAYOUTS = {
    "with tuples": "True",
    "integers": "7:1",
    "identity": "(4,8):(1E0,1E1)",
    "crd2idx": "43",
    "crd2idx of a tuple": "43",
    "idx2crd": "(3,5)",
    "size": "128",
    "cosize": "128",
    "rank": "2",
    "shape": "(9,(4,8))",
    "stride": "(59,(13,1))",
    "get": "16",
    "composition": "((2,2),3):((24,2),8)",
    "complement": "6:4",
    "coalesce": "12:1",
    "right_inverse": "(8,4):(4,1)",
    "recast_layout": "(4,4):(4,1)",
    "logical_product": "((2,5),(3,4)):((5,1),(10,30))",
    "raked_product": "((1,4),(4,16)):((0,16),(64,1))",
    "block_product": "((2,3),(5,4)):((5,10),(1,30))",
    "blocked_product": "((2,3),(5,4)):((5,10),(1,30))",
    "zipped_product": "((2,5),(3,4)):((5,1),(10,30))",
    "tiled_product": "((2,5),3,4):((5,1),10,30)",
    "flat_product": "(2,5,3,4):(5,1,10,30)",
    "logical_divide": "((2,2),(4,2)):((8,16),(1,4))",
    "zipped_divide": "((2,4),(2,2)):((8,1),(16,4))",
    "tiled_divide": "((2,4),2,2):((8,1),16,4)",
    "flat_divide": "(2,4,2,2):(8,1,16,4)",
    "select": "(2,4)",
    "group": "(2,(3,4))",
    "append": "(2,3,4)",
    "prepend": "(4,2,3)",
    "zip": "((2,4),(3,5))",
    "slice": "4:8",
    "tile of layouts": "[4:1|8:2]",
}


def spelled(value):
    """Return the text of a value: of a traced one without its class, of a host one without blanks."""
    text = str(value).replace(" ", "")
    return text[text.index("<") + 1 : -1] if "<" in text and text[0].isupper() else text


def test_layouts_at_the_prompt():
    found = {name: spelled(value) for name, value in layouts().items()}
    assert found == LAYOUTS


def test_layouts_in_a_kernel():
    found = {}

    @flyc.kernel
    def kernel(a: fx.Tensor, b: fx.Tensor):
        found.update({name: spelled(value) for name, value in layouts().items()})

    launcher(kernel)(torch.empty(1), torch.empty(1))
    assert found == LAYOUTS
