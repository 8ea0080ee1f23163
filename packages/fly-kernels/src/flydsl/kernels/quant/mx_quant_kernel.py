# SPDX-License-Identifier: Apache-2.0
"""Quantisation to MXFP4 and MXFP8: elements of E2M1 or E4M3FN with one scale of E8M0 for each 32 of a row.

    scale = 2^(b - 127),    q = round(x / scale) to nearest even, and to the largest number of the type beyond it

The byte b comes from the largest magnitude of the 32 by one of three roundings of the exponent (`ROUNDINGS`). With p
the largest number of the type (6 or 448):

    "up"           ceil(log2(amax / p)): nothing is ever beyond p
    "up_floored"   the same of max(amax, 1e-10)
    "nearest"      amax / 4 for E2M1, amax / 448 for E4M3FN, to the nearest power of two, ties (1.5) upward

each at least 2^-127. All are decided by the bits of amax, exactly. Where one of the 32 is NaN or infinite b is 255,
which is NaN, and the elements are zeros.

Two E2M1 share a byte, the first in its lower half. A thread quantises one group of 32: it reads 64 bytes of 16-bit
elements and writes 16 or 32 and a scale. Every element is read and written once. gfx950 only, as the products are
that take these formats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..common.convert import to_fp8
from ..common.dtypes import float_type
from ..common.language import flyc, fx
from ..common.utils import cdiv
from ..gemm.arguments import check_count, expect_bytes, expect_rows, tile_tensor
from ..gemm.mx_gemm import check_mx_target

if TYPE_CHECKING:
    import torch

__all__ = ["ROUNDINGS", "build_mx_quant_module", "per_1x32_mx_quant"]

GROUP = 32
ROUNDINGS = ("up_floored", "up", "nearest")
_THREADS = 256
_INFINITE = 0x7F800000  # bits of f32
_SMALLEST = 0x2EDBE6FF  # 1e-10


@dataclass(frozen=True)
class _Element:
    """An element type: its largest number, bytes of a group, and what rounds the exponent of amax.

    `up` and `nearest` are (what is added to the bits of amax, what is then added to its exponent).
    """

    largest: float
    stored: int
    up: tuple[int, int]
    nearest: tuple[int, int]


# amax = m 2^E. E2M1: amax / 6 = (m / 1.5) 2^(E - 2), a power of two or less up to m = 1.5; amax / 4 = m 2^(E - 2).
# E4M3FN: amax / 448 = (m / 1.75) 2^(E - 8), which is 1.5 2^(E - 9) at m = 1.3125.
_ELEMENTS = {
    "fp4": _Element(6.0, 16, (0x3FFFFF, -2), (0x400000, -2)),
    "fp8": _Element(448.0, 32, (0x1FFFFF, -8), (0x580000, -9)),
}


def build_mx_quant_module(
    dtype_str: str = "bf16", quant_mode: str = "fp4", rounding: str = "up_floored"
) -> Callable[..., None]:
    """Build the launcher `(Input, Output, Scale, groups, stream)` for any number of contiguous groups of 32.

    Input (groups, 32) of `dtype_str` ("f32", "f16", "bf16"), Output (groups, 16 or 32) and Scale (groups) of bytes; all
    contiguous, in any shape of that many elements. `quant_mode` is "fp4" or "fp8", `rounding` one of `ROUNDINGS`.

    Raises:
        RuntimeError: the target is not gfx950.
        ValueError: an unknown name.
    """
    check_mx_target("build_mx_quant_module")
    source = float_type(dtype_str)
    if quant_mode not in _ELEMENTS:
        raise ValueError(f"quant_mode {quant_mode!r} is not supported; use one of {', '.join(_ELEMENTS)}")
    if rounding not in ROUNDINGS:
        raise ValueError(f"rounding {rounding!r} is not supported; use one of {', '.join(ROUNDINGS)}")
    kind = _ELEMENTS[quant_mode]
    added, moved = kind.nearest if rounding == "nearest" else kind.up
    vector = 128 // source.width

    def encode(values: Any) -> Any:
        """32 numbers of f32 within the range up to rounding, as the bytes of the elements in words."""
        limited = [fx.max(fx.min(values[one], kind.largest), -kind.largest) for one in range(GROUP)]
        if quant_mode == "fp8":
            return to_fp8(fx.Vector.from_elements(limited)).bitcast(fx.Int32)
        words = []
        for first in range(0, GROUP, 8):
            word = fx.Int32(0)
            for byte in range(4):
                low, high = limited[first + 2 * byte], limited[first + 2 * byte + 1]
                word = fx.Int32(fx.rocdl.cvt_scalef32_pk_fp4_f32(fx.Int32, word, low, high, fx.Float32(1.0), byte))
            words.append(word)
        return fx.Vector.from_elements(words)

    @flyc.kernel(name=f"mx_quant_{quant_mode}_{dtype_str}_{rounding}", known_block_size=(_THREADS, 1, 1))
    def mx_quant_kernel(Input: fx.Tensor, Output: fx.Tensor, Scale: fx.Tensor, groups: fx.Int32) -> None:
        first, thread = fx.block_idx.x * _THREADS, fx.thread_idx.x
        count = fx.min(groups - first, _THREADS)

        def mine(tensor: fx.Tensor, element: Any, each: int) -> fx.Tensor:
            """The `each` elements of this thread; where its group does not exist, past the end of the resource."""
            width = each * element.width // 8
            layout = fx.make_layout((each, _THREADS), (1, each))
            return tile_tensor(tensor, element, first, width, count * width, 0, layout)[None, thread]

        packs = fx.logical_divide(mine(Input, source, GROUP), fx.make_layout(vector, 1))
        held = fx.make_fragment_like(packs)
        fx.copy(fx.make_copy_atom(fx.rocdl.BufferCopy128b(), source), packs, held)
        values = fx.coalesce(held).load().to(fx.Float32)
        bits = values.bitcast(fx.Int32) & 0x7FFFFFFF
        largest = bits[0]
        for one in range(1, GROUP):
            largest = fx.max(largest, bits[one])
        finite = largest < _INFINITE
        if fx.const_expr(rounding == "up_floored"):
            largest = fx.max(largest, fx.Int32(_SMALLEST))
        byte = fx.max(((largest + added) >> 23) + moved, fx.Int32(0))
        inverse = ((254 - byte) << 23).bitcast(fx.Float32)
        scaled = [finite.select(values[one] * inverse, fx.Float32(0.0)) for one in range(GROUP)]
        words = encode(fx.Vector.from_elements(scaled))
        target = fx.logical_divide(mine(Output, fx.Int32, kind.stored // 4), fx.make_layout(4, 1))
        codes = fx.make_fragment_like(target)
        fx.coalesce(codes).store(words)
        fx.copy(fx.make_copy_atom(fx.rocdl.BufferCopy128b(), fx.Int32), codes, target)
        scale = mine(Scale, fx.Uint8, 1)
        stored = fx.make_fragment_like(scale)
        stored[0] = finite.select(byte, fx.Int32(255)).to(fx.Uint8)
        fx.copy(fx.make_copy_atom(fx.rocdl.BufferCopy(8), fx.Uint8), stored, scale)

    @flyc.jit
    def mx_quant(
        Input: fx.Tensor, Output: fx.Tensor, Scale: fx.Tensor, groups: fx.Int32, stream: fx.Stream = fx.Stream(None)
    ) -> None:
        fx.host_assert(groups >= 0, "argument 'groups': expected a number of groups, got {}", groups)
        expect_rows("Input", Input, source)
        for name, tensor in (("Output", Output), ("Scale", Scale)):
            expect_bytes(name, tensor)
        check_count("Input", Input, fx.Int64(groups) * GROUP, exact=True)
        check_count("Output", Output, fx.Int64(groups) * (kind.stored * 8 // Output.element_type.width), exact=True)
        check_count("Scale", Scale, groups, exact=True)
        mx_quant_kernel(Input, Output, Scale, groups).launch(
            grid=(cdiv(groups, _THREADS),), block=(_THREADS,), stream=stream
        )

    built: Callable[..., None] = mx_quant
    return built


_NAMES = {"torch.float32": "f32", "torch.float16": "f16", "torch.bfloat16": "bf16"}


@lru_cache(maxsize=64)
def _built(arch: str, dtype: str, quant_mode: str, rounding: str) -> Callable[..., None]:
    """`arch` only distinguishes."""
    return build_mx_quant_module(dtype, quant_mode, rounding)


def per_1x32_mx_quant(
    x: torch.Tensor, quant_mode: str = "fp4", stream: int | None = None, *, rounding: str = "up_floored"
) -> tuple[torch.Tensor, torch.Tensor]:
    """(q, scale) of x (..., N): a scale of E8M0 for each 32 of a row, N a multiple of 32.

    q is (..., N / 2) of bytes for "fp4", (..., N) of float8_e4m3fn for "fp8"; scale (..., N / 32) of bytes, in the
    order of rows: `common.scale_shuffle.shuffle_scale` is the order of GEMMs. x is float32, float16 or bfloat16, and
    copied where it is not contiguous.

    Raises:
        RuntimeError: the target is not gfx950.
        ValueError: an N that is no multiple of 32, another type, an unknown mode or rounding.
    """
    import torch

    arch = check_mx_target("per_1x32_mx_quant")
    if x.dim() == 0 or x.shape[-1] % GROUP:
        raise ValueError(f"per_1x32_mx_quant: expected (..., N) with N a multiple of {GROUP}, got {tuple(x.shape)}")
    if str(x.dtype) not in _NAMES:
        raise ValueError(f"per_1x32_mx_quant: x is {x.dtype}; use one of {', '.join(_NAMES)}")
    launch = _built(arch, _NAMES[str(x.dtype)], quant_mode, rounding)
    leading, columns = x.shape[:-1], x.shape[-1]
    stored = _ELEMENTS[quant_mode].stored
    q = torch.empty((*leading, columns // GROUP * stored), dtype=torch.uint8, device=x.device)
    scale = torch.empty((*leading, columns // GROUP), dtype=torch.uint8, device=x.device)
    if x.numel():
        if stream is None and x.is_cuda:
            stream = torch.cuda.current_stream(x.device).cuda_stream
        launch(x.contiguous().view(-1), q.view(-1), scale.view(-1), scale.numel(), stream)
    return (q.view(torch.float8_e4m3fn) if quant_mode == "fp8" else q), scale
