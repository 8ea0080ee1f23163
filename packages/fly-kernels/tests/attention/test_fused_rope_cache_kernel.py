# SPDX-License-Identifier: Apache-2.0
"""Rotary embedding with cache write against float64."""

import pytest
import torch
from rows import DTYPES, check

from flydsl.kernels.attention.fused_rope_cache_kernel import build_fused_rope_cache_module

POSITIONS, BLOCKS = 64, 8


class Case:
    """Inputs, outputs full of poison, and what they should hold."""

    def __init__(self, run, tokens, q_heads, kv_heads, head_dim, block_size, dtype, **options):
        generator = torch.Generator().manual_seed(tokens + head_dim)
        self.flash, self.reuse = options.get("flash_layout", True), options.get("reuse_freqs_front_part", True)
        self.fp8 = options.pop("fp8", None)
        kind = DTYPES[dtype]

        def random(*shape, dtype=kind):
            return torch.randn(*shape, generator=generator).to(dtype)

        self.q, self.k, self.v = (random(tokens, heads, head_dim) for heads in (q_heads, kv_heads, kv_heads))
        frequencies = head_dim // 2 if self.reuse else head_dim
        self.cos, self.sin = (random(POSITIONS, frequencies, dtype=options.pop(f"{name}_dtype", kind)) for name in "cs")
        self.pos_type = options.pop("pos_type", torch.int32)
        self.positions = torch.randint(0, POSITIONS, (tokens,), generator=generator).to(self.pos_type)
        self.slots = torch.randperm(BLOCKS * block_size, generator=generator)[:tokens]
        if tokens > 2:
            self.slots[1] = -1
        stored = self.fp8 or kind
        if self.flash:
            shapes = [(BLOCKS, block_size, kv_heads, head_dim)] * 2
        else:
            shapes = [
                (BLOCKS, kv_heads, head_dim // 16, block_size, 16),
                (BLOCKS, kv_heads, head_dim, block_size),
            ]
        self.key_cache, self.value_cache = (torch.zeros(shape).to(stored) for shape in shapes)
        self.q_out, self.k_out = run.empty(self.q), run.empty(self.k)
        self.scales = torch.tensor([0.5]), torch.tensor([2.0])
        self.tokens, self.block_size, self.kv_heads, self.head_dim = tokens, block_size, kv_heads, head_dim
        kernel = build_fused_rope_cache_module(
            head_dim,
            -1,
            q_heads,
            kv_heads,
            block_size,
            dtype_str=dtype,
            apply_scale=self.fp8 is not None,
            pos_dtype="i64" if self.pos_type is torch.int64 else "i32",
            **options,
        )
        inputs = (self.q, self.k, self.v, self.positions, self.cos, self.sin, self.slots)
        caches = (self.key_cache, self.value_cache)
        outputs = (self.q_out, self.k_out)
        run(kernel, *inputs, *caches, *outputs, tokens, *self.scales, writes=outputs, updates=caches)

    def rotated(self, x):
        half = self.head_dim // 2
        at = self.positions.long()
        cos, sin = self.cos.double()[at][:, None], self.sin.double()[at][:, None]
        first, second = x.double()[..., :half], x.double()[..., half:]
        cos1, sin1 = cos[..., :half], sin[..., :half]
        cos2, sin2 = (cos1, sin1) if self.reuse else (cos[..., half:], sin[..., half:])
        return torch.cat([first * cos1 - second * sin1, second * cos2 + first * sin2], dim=-1)

    def cached(self, new, scale):
        """What the slots of a cache should hold, (slots, heads, D): zero where nothing was written."""
        kind = self.fp8 or new.dtype
        expected = torch.zeros(BLOCKS * self.block_size, self.kv_heads, self.head_dim)
        written = self.slots >= 0
        values = new[written].float() / (scale if self.fp8 else 1.0)
        expected[self.slots[written]] = values.to(kind).float()
        return expected

    def found(self, cache):
        cache = cache.float()
        if not self.flash:
            cache = cache.permute(0, 3, 1, 2, 4) if cache.dim() == 5 else cache.permute(0, 3, 1, 2)
        return cache.reshape(BLOCKS * self.block_size, self.kv_heads, self.head_dim)

    def check(self, dtype):
        check(self.q_out, self.rotated(self.q), dtype)
        check(self.k_out, self.rotated(self.k), dtype)
        assert torch.equal(self.found(self.key_cache), self.cached(self.k_out, self.scales[0]))
        assert torch.equal(self.found(self.value_cache), self.cached(self.v, self.scales[1]))


@pytest.mark.parametrize(
    ("tokens", "q_heads", "kv_heads", "head_dim", "block_size", "dtype"),
    [
        (1, 8, 1, 64, 16, "bf16"),
        (32, 8, 2, 128, 16, "bf16"),
        (17, 5, 1, 64, 4, "f16"),
        (3, 3, 3, 256, 1, "bf16"),
        (2, 1, 1, 16, 16, "f16"),
        (9, 7, 2, 96, 16, "bf16"),  # six threads a head: heads span waves, of 32 lanes, too
    ],
)
@pytest.mark.parametrize("flash_layout", [True, False])
def test_rotation_and_cache(tokens, q_heads, kv_heads, head_dim, block_size, dtype, flash_layout, run):
    Case(run, tokens, q_heads, kv_heads, head_dim, block_size, dtype, flash_layout=flash_layout).check(dtype)


@pytest.mark.parametrize(
    ("q_heads", "kv_heads", "head_dim"),
    [(32, 8, 128), (64, 8, 128), (28, 4, 128), (64, 8, 64)],
    ids=["Llama 8B", "Llama 70B", "Qwen", "GPT-OSS"],
)
@pytest.mark.parametrize("tokens", [1, 32])
def test_heads_of_models(q_heads, kv_heads, head_dim, tokens, run):
    Case(run, tokens, q_heads, kv_heads, head_dim, 16, "bf16").check("bf16")


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("reuse", [True, False])
def test_rounding_of_each_operation(dtype, reuse, run):
    """The bits of arithmetic in the element type itself, which torch computes so."""
    options = {"reuse_freqs_front_part": reuse, "round_each_operation": True}
    case = Case(run, 32, 8, 2, 64, 16, dtype, **options)
    half, at = 32, case.positions.long()
    cos, sin = case.cos[at][:, None], case.sin[at][:, None]
    other = (cos, sin) if reuse else (cos[..., half:], sin[..., half:])
    for x, found in ((case.q, case.q_out), (case.k, case.k_out)):
        first, second = x[..., :half], x[..., half:]
        low = first * cos[..., :half] - second * sin[..., :half]
        assert torch.equal(found, torch.cat([low, second * other[0] + first * other[1]], dim=-1))


@pytest.mark.parametrize("flash_layout", [True, False])
def test_parts_of_a_fused_projection_and_of_larger_caches(flash_layout, run):
    """Tensors with strides of their own; the same numbers as from contiguous ones, and what is between them stays."""
    tokens, heads, kv_heads, dim, block_size = 5, 4, 2, 64, 4
    generator = torch.Generator().manual_seed(3)
    qkv = torch.randn(tokens, (heads + 2 * kv_heads) * dim, generator=generator).bfloat16()
    q, k, v = (part.unflatten(1, (-1, dim)) for part in qkv.split([heads * dim, kv_heads * dim, kv_heads * dim], 1))
    tables = torch.randn(POSITIONS, dim, generator=generator).bfloat16()
    cos, sin = tables[:, : dim // 2], tables[:, dim // 2 :]
    positions, slots = torch.arange(tokens, dtype=torch.int32), torch.tensor([9, -1, 0, 31, 17])
    shape = (BLOCKS, block_size, kv_heads, dim) if flash_layout else (BLOCKS, kv_heads, dim // 16, block_size, 16)
    other = shape if flash_layout else (BLOCKS, kv_heads, dim, block_size)
    kernel = build_fused_rope_cache_module(dim, -1, heads, kv_heads, block_size, flash_layout=flash_layout)

    def launched(tensors, caches):
        outputs = [run.empty(q), run.empty(k)]
        scales = torch.ones(1), torch.ones(1)
        run(kernel, *tensors, *caches, *outputs, tokens, *scales, writes=outputs, updates=caches)
        return outputs

    inputs = (q, k, v, positions, cos, sin, slots)
    plain = [torch.zeros(shape).bfloat16(), torch.zeros(other).bfloat16()]
    expected = launched([one.contiguous() for one in inputs], plain)
    both = [torch.zeros(2, *one.shape).bfloat16() for one in plain]
    got = launched(inputs, [one.transpose(0, 1)[:, 1] for one in both])
    for one, want in zip([*got, *(cache[1] for cache in both)], [*expected, *plain], strict=True):
        assert torch.equal(one, want)
    assert not any(cache[0].any() for cache in both)
    flat = [one.view(-1) for one in plain]
    again = launched([one.contiguous().view(-1) for one in (q, k, v)] + list(inputs[3:]), flat)
    assert all(torch.equal(one, want) for one, want in zip(again, expected, strict=True))


def test_elements_apart_are_refused():
    kernel = build_fused_rope_cache_module(64, num_q_heads=1)
    q = torch.zeros(2, 64, 1).bfloat16().transpose(1, 2)
    with pytest.raises(ValueError, match="argument 'Q': the elements of the last dimension must be neighbours"):
        kernel(*[q] * 11, 2, q, q, None)


@pytest.mark.parametrize("flash_layout", [True, False])
def test_fp8_cache(flash_layout, arch, run):
    fp8 = torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn
    Case(run, 7, 4, 2, 64, 16, "bf16", flash_layout=flash_layout, fp8=fp8).check("bf16")


def test_frequencies_for_both_halves(run):
    Case(run, 5, 4, 2, 64, 16, "bf16", reuse_freqs_front_part=False).check("bf16")


def test_wide_positions_and_f32_tables(run):
    case = Case(run, 5, 4, 2, 64, 16, "f16", pos_type=torch.int64, c_dtype=torch.float32, s_dtype=torch.float32)
    case.check("f16")


def test_fp8_saturates(arch, run):
    fp8, largest = (torch.float8_e4m3fnuz, 240.0) if arch == "gfx942" else (torch.float8_e4m3fn, 448.0)
    kernel = build_fused_rope_cache_module(16, num_q_heads=1, block_size=1, apply_scale=True)
    q, k, v = (torch.full((1, 1, 16), 1e4).bfloat16() for _ in range(3))
    cos, sin = torch.ones(1, 8).bfloat16(), torch.zeros(1, 8).bfloat16()
    zero, one = torch.zeros(1, dtype=torch.int32), torch.ones(1)
    caches = [torch.zeros(1, 1, 1, 16).to(fp8) for _ in range(2)]
    outputs = [run.empty(q), run.empty(k)]
    run(kernel, q, k, v, zero, cos, sin, zero, *caches, *outputs, 1, one, one, writes=outputs, updates=caches)
    assert all((cache.float() == largest).all() for cache in caches)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dtype_str": "f32"}, "dtype_str 'f32' is not supported"),
        ({"is_neox": False}, "interleaved pairs"),
        ({"rotary_dim": 32}, "rotary_dim 32 is not supported"),
        ({"head_dim": 72}, "head_dim must be a multiple of 16 up to 4096"),
        ({"num_kv_heads": 0}, "num_kv_heads must be a positive integer"),
        ({"pos_dtype": "i16"}, "pos_dtype 'i16' is not supported"),
    ],
)
def test_refusals(options, said):
    with pytest.raises(ValueError, match=said):
        build_fused_rope_cache_module(**options)
