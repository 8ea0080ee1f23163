# SPDX-License-Identifier: Apache-2.0
"""Casts between f32 and the floats of a byte and less, against ml_dtypes: every value, and rounding in between."""

import numpy
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

ml_dtypes = pytest.importorskip("ml_dtypes", reason="the formats are compared with ml_dtypes")
KINDS = {
    "Float8E4M3FN": "float8_e4m3fn",
    "Float8E5M2": "float8_e5m2",
    "Float8E4M3FNUZ": "float8_e4m3fnuz",
    "Float8E5M2FNUZ": "float8_e5m2fnuz",
    "Float6E2M3FN": "float6_e2m3fn",
    "Float6E3M2FN": "float6_e3m2fn",
    "Float4E2M1FN": "float4_e2m1fn",
}


def through(kind, x):
    """Return x cast to `kind` and back, as scalars and as vectors of four."""

    @flyc.kernel
    def kernel(source: fx.Tensor, target: fx.Tensor):
        i = fx.thread_idx.x
        four = fx.Vector.from_elements([source[i, j] for j in range(4)])
        again = four.to(kind).to(fx.Float32)
        for j in fx.range_constexpr(4):
            target[0, i, j] = source[i, j].to(kind).to(fx.Float32)
            target[1, i, j] = again[j]

    @flyc.jit
    def launch(source: fx.Tensor, target: fx.Tensor):
        kernel(source, target).launch(grid=(1,), block=(x.shape[0],))

    target = torch.empty(2, *x.shape)
    launch(x, target)
    return target


@pytest.mark.parametrize("name", KINDS)
def test_casts(name):
    kind = getattr(fx, name)
    dtype = numpy.dtype(getattr(ml_dtypes, KINDS[name]))
    info = ml_dtypes.finfo(dtype)
    exact = numpy.arange(1 << kind.width, dtype=numpy.uint8).view(dtype).astype(numpy.float32)
    exact = exact[numpy.isfinite(exact)]
    generator = numpy.random.default_rng(5)
    between = generator.uniform(-1, 1, 512).astype(numpy.float32) * float(info.max)
    small = generator.uniform(-4, 4, 256).astype(numpy.float32) * float(info.smallest_normal)
    x = numpy.concatenate([exact, between, small, -exact])
    x = x[: len(x) // 4 * 4]
    expected = x.astype(dtype).astype(numpy.float32)
    wanted = torch.from_numpy(expected).view(-1, 4)
    for rows, result in zip(torch.from_numpy(x).view(-1, 4).split(256), wanted.split(256), strict=True):
        got = through(kind, rows.contiguous())
        assert torch.equal(got[0], result)
        assert torch.equal(got[1], result)
