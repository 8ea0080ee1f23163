# SPDX-License-Identifier: Apache-2.0
"""A tile that does not divide a tensor is never silent: a copy of it without a predicate is warned of, at its line."""

import warnings

import pytest
from tracing import kernel

import flydsl.expr as fx

STATIC = "!fly.memref<f32, global, (10,8):(8,1)>"
DYNAMIC = "!fly.memref<f32, global, (?,8):(8,1)>"


def copy_of_a_tile(argument, tile, divide=fx.zipped_divide, **options):
    tiles = divide(argument, tile)
    part = tiles[None, (2, 1)] if divide is fx.zipped_divide else tiles[None, None, 2, 1]
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    mine = fx.make_tiled_copy_tv(atom, fx.make_layout((2, 2), (2, 1)), fx.make_layout((2, 2), (2, 1))).get_slice(0)
    source = mine.partition_S(part)
    fragment = fx.make_fragment_like(source)
    fx.copy(atom, fragment, fragment)
    fx.copy(atom, source, fragment, **options)


@pytest.mark.parametrize("divide", [fx.zipped_divide, fx.flat_divide])
def test_an_edge_without_a_predicate(divide):
    text = r"the tile \(4, 4\) does not divide the shape \(10,8\) of this tensor.*no predicate. Give it pred="
    with kernel(STATIC) as k, pytest.warns(UserWarning, match=text) as caught:
        copy_of_a_tile(fx.Tensor(k.args[0]), (4, 4), divide)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("case", ["divides", "extent of the run", "predicate", "buffer"])
def test_what_is_not_warned_of(case):
    with kernel(DYNAMIC if case == "extent of the run" else STATIC) as k, warnings.catch_warnings():
        warnings.simplefilter("error")
        tensor, options = fx.Tensor(k.args[0]), {}
        if case == "predicate":
            options["pred"] = fx.make_rmem_tensor((1, 1, 1), fx.Boolean)
        if case == "buffer":
            tensor = fx.rocdl.make_buffer_tensor(tensor, max_size=False)
        tile = (5, 4) if case == "divides" else (4, 4)
        if case == "divides":
            fx.zipped_divide(tensor, tile)
        else:
            copy_of_a_tile(tensor, tile, **options)
