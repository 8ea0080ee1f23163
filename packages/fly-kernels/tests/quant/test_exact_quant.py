# SPDX-License-Identifier: Apache-2.0
"""Quantisation to 8 bits, bit by bit, against codes that NumPy finds by their definition.

scale = f32(amax / largest), quotient = f32(x / scale), and the code is the nearest to that, the even one of two.
"""

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.kernels as fk
from flydsl.kernels.quant.per_block2d_quant_kernel import build_per_block2d_quant_module
from flydsl.kernels.quant.per_block_quant_kernel import build_per_block_quant_module
from flydsl.kernels.quant.per_tensor_quant_kernel import build_per_tensor_quant_module
from flydsl.kernels.quant.per_token_quant_kernel import build_per_token_quant_module

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


class Code:
    """A type of 8 bits: its torch type, largest number, and the bits of quotients."""

    def __init__(self, name, arch):
        self.name, self.fnuz = name, arch == "gfx942"
        self.largest = np.float32(127 if name == "int8" else 240 if self.fnuz else 448)
        fp8 = torch.float8_e4m3fnuz if self.fnuz else torch.float8_e4m3fn
        self.torch = torch.int8 if name == "int8" else fp8

    def table(self):
        """The numbers of the codes 0, 1, … of fp8: 4 bits of exponent, 3 of mantissa."""
        codes = np.arange(128 if self.fnuz else 127)
        exponent, mantissa, bias = codes >> 3, codes & 7, 8 if self.fnuz else 7
        return np.where(exponent > 0, 8 + mantissa, mantissa) * 2.0 ** (np.maximum(exponent, 1) - bias - 3)

    def encode(self, quotients):
        """Codes (uint8) of f32; halfway to the even code, no more than the largest, -0 as the type has it."""
        quotients = quotients.astype(np.float64)
        if self.name == "int8":
            return np.rint(quotients).clip(-128, 127).astype(np.int8).view(np.uint8)
        table = self.table()
        size = np.minimum(np.abs(quotients), table[-1])
        above = np.searchsorted(table, size).clip(1, len(table) - 1)
        low, high = table[above - 1], table[above]
        up = (size - low > high - size) | ((size - low == high - size) & (above % 2 == 0))
        code = np.where(up, above, above - 1)
        sign = np.signbit(quotients) & ~((code == 0) & self.fnuz)  # FNUZ has one zero
        code = np.where(np.isnan(quotients), 0 if self.fnuz else 127, code)
        sign = np.where(np.isnan(quotients), self.fnuz, sign)
        return (code | sign << 7).astype(np.uint8)

    def scale(self, x, axes):
        """f32 scales of |x| over axes, kept."""
        amax = np.abs(x).max(axes, keepdims=True).astype(np.float32)
        return np.where(amax == 0, np.float32(1), np.maximum(amax / self.largest, np.float32(2.0**-126)))

    def reference(self, x, axes):
        """(codes, scales) of x (f32) with a scale over axes."""
        scale = self.scale(x, axes)
        with np.errstate(invalid="ignore"):
            return self.encode((x / scale).astype(np.float32)), scale


@pytest.fixture(params=["fp8", "int8"])
def code(request, arch):
    return Code(request.param, arch)


def values(rows, columns, dtype, seed=0):
    """Numbers of many powers of two, multiples of codes that lie halfway, zeros of both signs."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns)) * np.exp2(rng.integers(-8, 9, (rows, columns)))
    x[:, ::7] = rng.integers(-2000, 2000, x[:, ::7].shape) / 16
    x[:, 1::11], x[:, 2::13] = 0.0, -0.0
    return torch.from_numpy(x).to(DTYPES[dtype])


def same(q, scale, expected, code):
    codes, scales = expected
    assert (scale.numpy().reshape(-1) == scales.reshape(-1)).all()
    got = q.view(torch.uint8).numpy().reshape(-1)
    wrong = np.flatnonzero(got != codes.reshape(-1))
    assert not wrong.size, f"{wrong.size} codes: {got[wrong[:4]]} at {wrong[:4]}, not {codes.reshape(-1)[wrong[:4]]}"


@pytest.mark.parametrize(("shape", "dtype"), [((5, 520), "bf16"), ((3, 257), "f16"), ((7, 130), "f32")])
def test_per_token(run, code, shape, dtype):
    x = values(*shape, dtype)
    q, scale = run.empty(x, dtype=code.torch), run.empty(x, shape[:1], torch.float32)
    kernel = build_per_token_quant_module(shape[1], dtype, code.name)
    run(kernel, x, q, scale, shape[0], writes=[q, scale], seeds=(0, 7919))
    same(q, scale, code.reference(x.float().numpy(), 1), code)


@pytest.mark.parametrize(("shape", "dtype"), [((3, 384), "bf16"), ((2, 300), "f32")])
def test_blocks_of_a_row(run, code, shape, dtype):
    x = values(*shape, dtype)
    blocks = -(-shape[1] // 128)
    q, scale = run.empty(x, dtype=code.torch), run.empty(x, (shape[0], blocks), torch.float32)
    kernel = build_per_block_quant_module(shape[1], dtype, code.name)
    run(kernel, x, q, scale, shape[0], writes=[q, scale], seeds=(0, 7919))
    padded = np.zeros((shape[0], blocks * 128), np.float32)
    padded[:, : shape[1]] = x.float().numpy()
    codes, scales = code.reference(padded.reshape(shape[0], blocks, 128), 2)
    same(q, scale, (codes.reshape(shape[0], -1)[:, : shape[1]], scales), code)


@pytest.mark.parametrize(
    ("shape", "dtype"), [((130, 264), "bf16"), ((1, 8), "f16"), ((257, 128), "f16"), ((70, 132), "f32")]
)
def test_blocks_of_128_rows_and_columns(run, code, shape, dtype):
    x = values(*shape, dtype)
    down, across = (-(-one // 128) for one in shape)
    q, scale = run.empty(x, dtype=code.torch), run.empty(x, (down, across), torch.float32)
    kernel = build_per_block2d_quant_module(shape[1], dtype, code.name)
    run(kernel, x, q, scale, shape[0], writes=[q, scale])
    padded = np.zeros((down * 128, across * 128), np.float32)
    padded[: shape[0], : shape[1]] = x.float().numpy()
    codes, scales = code.reference(padded.reshape(down, 128, across, 128), (1, 3))
    same(q, scale, (codes.reshape(padded.shape)[: shape[0], : shape[1]], scales), code)


@pytest.mark.once
@pytest.mark.parametrize(("dtype", "vectors", "stored"), [("bf16", 8, "v2.b32"), ("f32", 16, "b32")])
def test_blocks_of_128_rows_and_columns_on_hopper(dtype, vectors, stored, monkeypatch):
    """Whole vectors where there are some, by predicates: there are no bounds of buffers."""
    for name in ("ARCH", "FLYDSL_GPU_ARCH"):
        monkeypatch.setenv(name, "sm_90a")
    x = torch.empty(130, 264, dtype={"bf16": torch.bfloat16, "f32": torch.float32}[dtype])
    codes, scale = torch.empty(130, 264, dtype=torch.int8), torch.empty(2, 3)
    compiled = flyc.compile.only(build_per_block2d_quant_module(264, dtype, "int8"), x, codes, scale, 130, None)
    ptx = compiled.ir("isa")
    assert ptx.count("ld.global.v4.b32") == vectors
    assert ptx.count(f"st.global.{stored}") >= vectors


@pytest.mark.parametrize(("shape", "dtype"), [((5, 520), "bf16"), ((1100, 3), "f32"), ((2, 70001), "f16")])
def test_per_tensor(run, code, shape, dtype):
    x = values(*shape, dtype)
    q, scale = run.empty(x, dtype=code.torch), run.empty(x, (1,), torch.float32)
    workspace = run.empty(x, shape[:1], torch.float32)
    kernel = build_per_tensor_quant_module(shape[1], dtype, code.name)
    run(kernel, x, q, scale, workspace, shape[0], writes=[q, scale, workspace], seeds=(0, 7919))
    same(q, scale, code.reference(x.float().numpy(), (0, 1)), code)


def test_a_given_scale_and_what_is_beyond_it(run, code):
    x = values(4, 128, "f32")
    x[0, :6] = torch.tensor([1e30, -1e30, float("inf"), float("-inf"), 3.3, -3.3])
    scale = torch.tensor([0.37])
    q = run.empty(x, dtype=code.torch)
    kernel = build_per_tensor_quant_module(128, "f32", code.name, static_scale=True)
    run(kernel, x, q, scale, 4, writes=[q])
    quotients = (x.numpy() / scale.numpy()).clip(-code.largest, code.largest)
    same(q, scale, (code.encode(quotients), scale.numpy()), code)


@pytest.mark.parametrize("power", [-140, -126, -100, 100])
def test_scales_of_any_size(run, arch, power):
    """Also those whose reciprocal, or which themselves, are no normal numbers."""
    code = Code("fp8", arch)
    x = (torch.randn(3, 64) * 2.0**power).float()
    q, scale = run.empty(x, dtype=code.torch), run.empty(x, (3,), torch.float32)
    run(build_per_token_quant_module(64, "f32", "fp8"), x, q, scale, 3, writes=[q, scale], seeds=(0,))
    same(q, scale, code.reference(x.numpy(), 1), code)


def test_what_is_no_number(run, arch):
    code = Code("fp8", arch)
    x = values(3, 64, "f32")
    x[0, 5], x[1, 7] = float("inf"), float("nan")
    q, scale = run.empty(x, dtype=code.torch), run.empty(x, (3,), torch.float32)
    run(build_per_token_quant_module(64, "f32", "fp8"), x, q, scale, 3, writes=[q, scale], seeds=(0,))
    assert scale[0] == float("inf")
    assert q[0].float().isnan().nonzero().tolist() == [[5]]
    assert q[1].float().isnan().nonzero().tolist() == [[7]]
    rest = [one for one in range(64) if one not in (5,)]
    assert (q[0].float()[rest] == 0).all()
    clean = x.numpy().copy()
    clean[1, 7] = 0
    expected = code.reference(clean[1:], 1)
    expected[0][0, 7] = q.view(torch.uint8)[1, 7]
    same(q[1:], scale[1:], expected, code)


def test_operators(arch):
    x = values(6, 256, "bf16")
    for name, shape in (("per_tensor_quant", (1,)), ("per_block2d_quant", (1, 2)), ("per_token_quant", (6,))):
        q, scale = getattr(fk, name)(x, "int8")
        assert q.dtype == torch.int8
        assert tuple(scale.shape) == shape
    q, scale = fk.per_tensor_quant(x, "fp8", torch.tensor([0.5]))
    assert scale.item() == 0.5
    assert torch.equal(fk.per_tensor_quant(x, "fp8", torch.tensor([[0.5]]))[0].view(torch.uint8), q.view(torch.uint8))
    assert fk.per_tensor_quant(x[:0], "fp8")[1].tolist() == [1.0]
    assert fk.per_block2d_quant(x[:0], "fp8")[1].shape == (0, 2)
    with pytest.raises(ValueError, match=r"scale: expected one torch\.float32"):
        fk.per_tensor_quant(x, "fp8", torch.ones(2))
    with pytest.raises(ValueError, match="expected a matrix"):
        fk.per_block2d_quant(x[None], "fp8")
    with pytest.raises(ValueError, match="N must be a multiple of 8 for bf16, got 100"):
        build_per_block2d_quant_module(100, "bf16")


def test_weights_and_rows_as_the_block_scaled_product_takes_them(arch):
    """The whole way: both quantisers, the operator, and the error that 3 bits of mantissa allow."""
    if arch not in ("gfx942", "gfx950"):
        pytest.skip("there the product with block scales is not written")
    x, w = torch.randn(20, 384).bfloat16(), torch.randn(144, 384).bfloat16()
    (a, a_scale), (b, b_scale) = fk.per_block_quant(x), fk.per_block2d_quant(w)
    got = fk.gemm(a, b, a_scale=a_scale, b_scale=b_scale, block=128)
    left = a.double() * a_scale.double().repeat_interleave(128, 1)
    right = b.double() * b_scale.double().repeat_interleave(128, 0)[:144].repeat_interleave(128, 1)
    exact = left @ right.t()
    assert ((got.double() - exact).abs() <= exact.abs() * 2.0**-7 + exact.abs().max() * 2.0**-12).all()
    assert (got.double() - x.double() @ w.double().t()).norm() <= 0.06 * exact.norm()
