# SPDX-License-Identifier: Apache-2.0
"""Asynchronous copies by threads, and reductions by the copy engine: on a Hopper GPU, against numpy."""

import hopper_copies as kernels
import numpy as np
import pytest
import torch

from flydsl.runtime.device import get_rocm_arch

pytestmark = pytest.mark.skipif(get_rocm_arch() != "sm_90a", reason="there is no Hopper GPU")

# With columns that make the addresses of rows multiples of the width.
WIDTHS = [(32, torch.float32, 301), (64, torch.float32, 130), (128, torch.float32, 300), (128, torch.float16, 328)]


@pytest.mark.parametrize("by_barrier", [False, True], ids=["groups", "mbarriers"])
@pytest.mark.parametrize("swizzle", [(), (3, 4, 3)], ids=["plain", "swizzled"])
@pytest.mark.parametrize(("bits", "dtype", "columns"), WIDTHS)
@pytest.mark.parametrize("rows", [1, 77])
def test_copies_by_threads(rows, bits, dtype, columns, swizzle, by_barrier):
    x = torch.randint(-100, 100, (rows, columns)).to(dtype)
    whole = [-(-extent // tile) * tile for extent, tile in ((rows, kernels.ROWS), (columns, kernels.COLUMNS))]
    y = torch.full(whole, float("nan"), dtype=dtype)
    kernels.reverse_rows(x, y, rows, columns, bits, swizzle, by_barrier)
    wanted = np.zeros(whole, np.float64)
    wanted[:rows, :columns] = x.double().numpy()
    wanted = wanted.reshape(whole[0], -1, kernels.COLUMNS)[:, :, ::-1].reshape(whole)
    np.testing.assert_array_equal(y.double().numpy(), wanted)


FLOATS, HALVES = (torch.float32, torch.float16, torch.bfloat16), (torch.float16, torch.bfloat16)
INTEGERS = (torch.int32, torch.int64)
NUMPY = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
KINDS = [
    *(("add", dtype) for dtype in (*FLOATS, torch.int32)),
    *((kind, dtype) for kind in ("min", "max") for dtype in (*HALVES, *INTEGERS)),
    *((kind, dtype) for kind in ("and", "or", "xor") for dtype in INTEGERS),
]


@pytest.mark.parametrize(("kind", "dtype"), KINDS, ids=[f"{kind}-{str(dtype)[6:]}" for kind, dtype in KINDS])
@pytest.mark.parametrize("shape", [(5, 16, 16), (9, 37, 40)])
def test_reductions_by_the_copy_engine(shape, kind, dtype):
    """Numbers of which every order of summation has the same sum; rows behind the matrix stay what they were."""
    count, rows, columns = shape
    x, start = torch.randint(-9, 9, shape).to(dtype), torch.randint(-9, 9, (rows + 3, columns)).to(dtype)
    y = start.clone()
    kernels.reduce_all(x, y[:rows], count, kind)
    wide = np.int64 if dtype in INTEGERS else np.float64
    first, rest = (one.to(torch.int64 if wide is np.int64 else torch.float64).numpy() for one in (start, x))
    wanted = first.copy()
    for one in rest:
        wanted[:rows] = NUMPY[kind](wanted[:rows], one)
    np.testing.assert_array_equal(y.to(torch.float64).numpy(), wanted)
