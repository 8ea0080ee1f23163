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
NUMPY = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
# What the copy engine has: of which elements, and whether as unsigned integers.
KINDS = [
    *(("add", dtype, False) for dtype in FLOATS),
    *((kind, dtype, False) for kind in ("min", "max") for dtype in (*HALVES, torch.int64)),
    *((kind, torch.int32, unsigned) for kind in NUMPY for unsigned in (False, True)),
    *((kind, torch.int64, True) for kind in NUMPY),
]


@pytest.mark.parametrize(
    ("kind", "dtype", "unsigned"),
    KINDS,
    ids=[f"{kind}-{'u' * unsigned}{str(dtype)[6:]}" for kind, dtype, unsigned in KINDS],
)
@pytest.mark.parametrize("shape", [(5, 16, 16), (9, 37, 40)])
def test_reductions_by_the_copy_engine(shape, kind, dtype, unsigned):
    """Numbers of which every order of summation has the same sum; rows behind the matrix stay what they were."""
    count, rows, columns = shape
    x, start = torch.randint(-9, 9, shape).to(dtype), torch.randint(-9, 9, (rows + 3, columns)).to(dtype)
    y = start.clone()
    kernels.reduce_all(x, y[:rows], count, kind, unsigned=unsigned)
    if dtype.is_floating_point:
        made, wanted, rest = (one.to(torch.float64).numpy() for one in (y, start, x))
    else:
        element = f"{'u' * unsigned}{str(dtype)[6:]}"
        made, wanted, rest = (one.numpy().view(element) for one in (y, start, x))
    wanted = wanted.copy()
    for one in rest:
        wanted[:rows] = NUMPY[kind](wanted[:rows], one)
    np.testing.assert_array_equal(made, wanted)
