# SPDX-License-Identifier: Apache-2.0
"""Single numbers of arguments behind conditions, and arguments that are in registers before the first branch."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common.views import load_arguments, load_number, store_number

LANES = 64


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64], ids=str)
@pytest.mark.parametrize("as_pointer", [False, True])
def test_numbers_behind_conditions(dtype, as_pointer, run):
    """y[i] = 2 x[i] for odd i below 50, from x; elements beyond are neither read nor written."""

    @flyc.kernel(known_block_size=(LANES, 1, 1))
    def doubled_kernel(X: fx.Tensor, Y: fx.Tensor):
        x, y = (fx.get_iter(one) if as_pointer else one for one in (X, Y))
        thread = fx.thread_idx.x
        value = load_number(x, thread, thread < 50)
        store_number(y, thread, value + value, (thread < 50) & (thread % 2 == 1))

    @flyc.jit
    def doubled(X: fx.Tensor, Y: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        doubled_kernel(X, Y).launch(grid=(1,), block=(LANES,), stream=stream)

    x, y = torch.arange(50).to(dtype), torch.full((50,), -7).to(dtype)
    run(doubled, x, y, writes=[], updates=[y])
    expected = torch.full((50,), -7).to(dtype)
    expected[1::2] = 2 * x[1::2]
    assert torch.equal(y, expected)


@pytest.mark.parametrize("early", [False, True])
def test_arguments_are_loaded_before_the_first_branch(early, tmp_path, monkeypatch):
    """One wait for scalar memory; without the call, each argument is loaded in the block that uses it."""
    monkeypatch.setenv("FLYDSL_DUMP_IR", "1")
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path))
    monkeypatch.setenv("FLYDSL_RUNTIME_ENABLE_CACHE", "0")

    @flyc.kernel(known_block_size=(LANES, 1, 1))
    def copy_kernel(X: fx.Tensor, Y: fx.Tensor, rows: fx.Int32):
        if fx.const_expr(early):
            load_arguments(X, Y, rows)
        row = fx.block_idx.x
        if row < rows:
            Y[row, fx.thread_idx.x] = X[row, fx.thread_idx.x]

    @flyc.jit
    def copied(X: fx.Tensor, Y: fx.Tensor, rows: fx.Int32, stream: fx.Stream = fx.Stream(None)):
        copy_kernel(X, Y, rows).launch(grid=(rows,), block=(LANES,), stream=stream)

    x, y = torch.randn(3, 2 * LANES)[:, :LANES], torch.zeros(3, LANES)
    copied(x, y, 3, None)
    assert torch.equal(y, x)
    (listing,) = tmp_path.glob("*/*final_isa.s")
    before, branch, after = listing.read_text().partition("s_cbranch")
    assert branch
    assert "s_load" in before
    assert ("s_load" in after) != early
