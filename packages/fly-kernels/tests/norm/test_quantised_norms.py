# SPDX-License-Identifier: Apache-2.0
"""Norms with int8 output: the scale of each row, and codes within one step of the float64 ones."""

import pytest
import torch
from rows import check, layernorm, rmsnorm, row, rows

from flydsl.kernels.norm import layernorm_kernel, rmsnorm_kernel

CASES = [(3, 512, "bf16"), (2, 1021, "f16"), (5, 250, "f32"), (2, 41000, "f32")]


def check_codes(q, scale, y):
    """int8 codes cut off towards zero, and max |y| / 127."""
    expected = y.abs().amax(-1) / 127
    expected[expected == 0] = 1
    check(scale, expected, "f32", slack=4.0)
    exact = y / expected[:, None]
    # A value within the error of f32 of the next code may be cut off on the other side of it.
    wrong = (q.double() - exact.trunc()).abs() > ((exact - exact.round()).abs() < 1e-3).double()
    assert not wrong.any(), f"{wrong.sum()} codes"
    assert q.abs().max() <= 127


@pytest.mark.parametrize(("m", "n", "dtype"), CASES)
@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_quantised(m, n, dtype, smooth, centred, run):
    x, gamma, beta, xscale = rows(m, n, dtype), row(n, dtype), row(n, dtype, seed=2), row(n, dtype, seed=3)
    q, scale = run.empty(x, dtype=torch.int8), run.empty(x, (m,), torch.float32)
    family, name = (layernorm_kernel, "layernorm") if centred else (rmsnorm_kernel, "rmsnorm")
    build = getattr(family, f"build_{name}_{'smooth' if smooth else 'dynamic'}quant_module")
    weights = [gamma, *([beta] if centred else []), *([xscale] if smooth else [])]
    run(build(n, dtype), x, *weights, q, scale, m, writes=[q, scale])
    y = layernorm(x, gamma, beta)[0] if centred else rmsnorm(x, gamma)[0]
    check_codes(q, scale, y * xscale.double() if smooth else y)


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_quantised_behind_a_residual_addition(smooth, centred, run):
    m, n, dtype = 3, 1000, "bf16"
    x, residual = rows(m, n, dtype), rows(m, n, dtype, seed=1)
    gamma, beta, xscale = row(n, dtype), row(n, dtype, seed=2), row(n, dtype, seed=3)
    q, added, scale = run.empty(x, dtype=torch.int8), run.empty(x), run.empty(x, (m,), torch.float32)
    family, name = (layernorm_kernel, "layernorm") if centred else (rmsnorm_kernel, "rmsnorm")
    build = getattr(family, f"build_fused_add_{name}_{'smooth' if smooth else 'dynamic'}quant_module")
    weights = [gamma, *([beta] if centred else []), *([xscale] if smooth else [])]
    run(build(n, dtype, "int8"), x, residual, *weights, q, added, scale, m, writes=[q, added, scale])
    assert torch.equal(added, (x.double() + residual.double()).to(x.dtype))
    y = layernorm(added, gamma, beta)[0] if centred else rmsnorm(added, gamma)[0]
    check_codes(q, scale, y * xscale.double() if smooth else y)


def test_a_row_of_zeros_has_the_scale_1(run):
    x, gamma = torch.zeros(2, 64), row(64, "f32")
    q, scale = run.empty(x, dtype=torch.int8), run.empty(x, (2,))
    run(rmsnorm_kernel.build_rmsnorm_dynamicquant_module(64, "f32"), x, gamma, q, scale, 2, writes=[q, scale])
    assert (q == 0).all()
    assert (scale == 1).all()


@pytest.mark.parametrize("family", ["rmsnorm", "layernorm"])
def test_other_codes_are_refused(family):
    module = {"rmsnorm": rmsnorm_kernel, "layernorm": layernorm_kernel}[family]
    for build in ("", "fused_add_"):
        for kind in ("dynamic", "smooth"):
            with pytest.raises(ValueError, match="quant_dtype_str 'fp8' is not supported; use 'i8' or 'int8'"):
                getattr(module, f"build_{build}{family}_{kind}quant_module")(64, "f32", "fp8")
