# SPDX-License-Identifier: Apache-2.0
"""Operands of matrix instructions from preshuffled weights in memory: 8-bit packs, and 4-bit weights behind bf16.

A lane of a wave is (lane_div_16, n_intra) = (lane // 16, lane mod 16). In the order of `common.shuffle`, the lane holds
of row n = 16 · n_blk + n_intra, of every 64 bytes of K, the pack of 16 bytes number lane_div_16. A pack feeds two
steps of a matrix instruction: step `s` takes its bytes 8 · (s mod 2) to 8 · (s mod 2) + 7, so K is permuted as
(8, 4, 2):(1, 16, 8), and the other operand has to be too.

int4 weights are preshuffled as int8 and then packed: of 8 neighbours v0 … v7, byte j holds v[j] in its lower and
v[j + 4] in its upper half. A pack is then 8 bytes.

All take `buffer_ops`, `arith` and `vector` first, where kernels of before pass these modules; they are not used.
"""

from __future__ import annotations

from typing import Any

from ..buffer_ops import buffer_load
from ..convert import round_to
from ..language import fx
from ..layout_utils import crd2idx

__all__ = [
    "load_b_pack_k32",
    "load_b_raw_w4a16",
    "load_b_raw_w4a16_groupwise",
    "unpack_b_w4a16",
    "unpack_b_w4a16_groupwise",
]

GROUP = 32  # elements along K that share a scale


def load_b_pack_k32(
    buffer_ops: object = None,
    arith: object = None,
    vector: object = None,
    *,
    b_rsrc: Any,
    layout_b: Any,
    base_k: fx.Numeric | int,
    ki_step: int,
    n_blk: fx.Numeric | int,
    n_intra: fx.Numeric | int,
    lane_div_16: fx.Numeric | int,
    elem_type: type[fx.Numeric] | None = None,
    arg_b: Any = None,
    kpack_bytes: int = 16,
    elem_bytes: int = 1,
    unpack_int4: bool = False,
) -> Any:
    """The 8 bytes (Int64) of B that a lane gives to step `ki_step` of 32 bytes of K.

    Args:
        b_rsrc: buffer resource of B.
        layout_b: what `make_preshuffle_b_layout` gives for `kpack_bytes` and `elem_bytes` (of int4: K / 2 bytes).
        base_k: first element of K, a multiple of 64 bytes' worth (of int4: of 64).
        ki_step: steps of 32 elements (8-bit) or 16 (16-bit) from there.
        n_blk: the block of 16 rows; n_intra and lane_div_16: see the page's top.
        elem_type, arg_b: for callers of before; not used.
        kpack_bytes: 16, or 8 with `unpack_int4`.
        elem_bytes: 1 or 2.
        unpack_int4: B holds int4, which become int8.

    Raises:
        ValueError: other sizes.
    """
    if kpack_bytes != (8 if unpack_int4 else 16) or elem_bytes not in ((1,) if unpack_int4 else (1, 2)):
        raise ValueError(
            "load_b_pack_k32: packs are 16 bytes of 1- or 2-byte elements, or with unpack_int4 8 bytes of 1-byte "
            f"elements; got kpack_bytes={kpack_bytes}, elem_bytes={elem_bytes}, unpack_int4={unpack_int4}"
        )
    if unpack_int4:
        word = load_b_raw_w4a16(
            b_rsrc=b_rsrc,
            layout_b=layout_b,
            base_k=base_k,
            ku=ki_step,
            n_blk=n_blk,
            n_intra=n_intra,
            lane_div_16=lane_div_16,
        )
        return fx.Vector.from_elements(_int4_to_int8(word)).bitcast(fx.Int64)[0]
    block = base_k * elem_bytes // 64 + ki_step // 2
    first = ki_step % 2 * (8 // elem_bytes)
    offset = crd2idx((n_blk, block, lane_div_16, n_intra, first), layout_b) * elem_bytes // 4
    return buffer_load(b_rsrc, offset, 2, fx.Int32).bitcast(fx.Int64)[0]


def load_b_raw_w4a16(
    buffer_ops: object = None,
    arith: object = None,
    vector: object = None,
    *,
    b_rsrc: Any,
    layout_b: Any,
    base_k: fx.Numeric | int,
    ku: int,
    n_blk: fx.Numeric | int,
    n_intra: fx.Numeric | int,
    lane_div_16: fx.Numeric | int,
    elem_type: type[fx.Numeric] | None = None,
    arg_b: Any = None,
    kpack_bytes: int = 8,
) -> Any:
    """The 8 int4 (an Int32, packed) of B that a lane gives to step `ku` of 32 elements of K.

    They are elements base_k + 64 · (ku // 2) + 16 · lane_div_16 + 8 · (ku mod 2) and the 7 after it. `layout_b` is
    that of bytes: `make_preshuffle_b_layout(arith, c_n=N, c_k=K // 2, kpack_bytes=8)`. Other arguments as those of
    `load_b_pack_k32`.

    Raises:
        ValueError: another pack.
    """
    if kpack_bytes != 8:
        raise ValueError(f"load_b_raw_w4a16: packs of int4 are 8 bytes, got {kpack_bytes}")
    block = base_k // 64 + ku // 2
    offset = crd2idx((n_blk, block, lane_div_16, n_intra, ku % 2 * 4), layout_b) // 4
    return buffer_load(b_rsrc, offset, 1, fx.Int32)


def load_b_raw_w4a16_groupwise(
    buffer_ops: object = None,
    arith: object = None,
    vector: object = None,
    *,
    b_rsrc: Any,
    layout_b: Any,
    base_k: fx.Numeric | int,
    ku: int,
    n_blk: fx.Numeric | int,
    n_intra: fx.Numeric | int,
    lane_div_16: fx.Numeric | int,
    scale_rsrc: Any,
    N: fx.Numeric | int,
    scale_dtype: type[fx.Numeric] | None = None,
    group_size: int = GROUP,
    elem_type: type[fx.Numeric] | None = None,
    arg_b: Any = None,
    kpack_bytes: int = 8,
) -> tuple[Any, Any]:
    """What `load_b_raw_w4a16` gives, and the scale (Float32) of the group of 32 elements that they belong to.

    Args:
        scale_rsrc: buffer resource of the scales: f32 of (K / 32, N), or bf16 in pairs of (K / 64, N, 2).
        N: rows of B, the extent of the scales.
        scale_dtype: Float32 (the default) or BFloat16.
        group_size: 32.

    Others as those of `load_b_raw_w4a16`.

    Raises:
        ValueError: another group or type of scales.
    """
    kind = fx.Float32 if scale_dtype is None else scale_dtype
    if group_size != GROUP:
        raise ValueError(f"load_b_raw_w4a16_groupwise: a scale belongs to {GROUP} elements, not {group_size}")
    if kind not in (fx.Float32, fx.BFloat16):
        raise ValueError(f"load_b_raw_w4a16_groupwise: scales are Float32 or BFloat16, not {kind!r}")
    packed = load_b_raw_w4a16(
        b_rsrc=b_rsrc,
        layout_b=layout_b,
        base_k=base_k,
        ku=ku,
        n_blk=n_blk,
        n_intra=n_intra,
        lane_div_16=lane_div_16,
        kpack_bytes=kpack_bytes,
    )
    group = base_k // GROUP + ku // 2 * 2 + lane_div_16 // 2
    row = n_blk * 16 + n_intra
    offset = group * N + row if kind is fx.Float32 else (group // 2 * N + row) * 2 + group % 2
    return packed, buffer_load(scale_rsrc, offset, 1, kind).to(fx.Float32)


def unpack_b_w4a16(
    packed32: Any, arith: object = None, vector: object = None, scale_val: Any = None
) -> tuple[Any, Any]:
    """8 packed int4 as two vectors of 4 BFloat16, in the order of K, each times `scale_val` (Float32) if there is one.

    Without a scale the values are exact.
    """
    octets = fx.Vector.from_elements(_int4_to_int8(packed32)).bitcast(fx.Int8)
    values = octets.to(fx.Float32)
    scaled = round_to(values if scale_val is None else values * scale_val, fx.BFloat16)
    return scaled.shuffle(scaled, [0, 1, 2, 3]), scaled.shuffle(scaled, [4, 5, 6, 7])


def unpack_b_w4a16_groupwise(
    packed32: Any, scale_val: Any, arith: object = None, vector: object = None
) -> tuple[Any, Any]:
    """`unpack_b_w4a16` of what `load_b_raw_w4a16_groupwise` gives."""
    return unpack_b_w4a16(packed32, scale_val=scale_val)


def _int4_to_int8(word: Any) -> list[Any]:
    """Two Int32, of four int8 each: the lower and the upper halves of the bytes, their signs extended."""
    word = fx.as_dsl_value(word).bitcast(fx.Uint32)
    halves = []
    for shift in (0, 4):
        nibbles = (word >> shift) & 0x0F0F0F0F
        signs = nibbles & 0x08080808
        halves.append((nibbles | (signs * 0x1E)).bitcast(fx.Int32))  # 0xF0 where bit 3 is set; no byte carries
    return halves
