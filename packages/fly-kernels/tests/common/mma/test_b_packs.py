# SPDX-License-Identifier: Apache-2.0
"""Weights in packs of a matrix instruction, LDS chunks that change places, and epilogues over accumulators."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common.buffer_ops import create_buffer_resource
from flydsl.kernels.common.mma import lds_stores
from flydsl.kernels.common.mma.mfma_epilogues import c_shuffle_epilog, default_epilog, mfma_epilog
from flydsl.kernels.common.mma.mfma_preshuffle_pipeline import (
    load_b_pack_k32,
    load_b_raw_w4a16,
    load_b_raw_w4a16_groupwise,
    make_preshuffle_b_layout,
    swizzle_xor16,
    unpack_b_w4a16,
    unpack_b_w4a16_groupwise,
)
from flydsl.kernels.common.shuffle import shuffle_weight

N, K = 32, 128


def launched(body, threads=64):
    """A launcher of one workgroup that runs `body(In, Scale, Out, thread)`."""

    @flyc.kernel(known_block_size=(threads, 1, 1))
    def kernel(In: fx.Tensor, Scale: fx.Tensor, Out: fx.Tensor):
        body(In, Scale, Out, fx.thread_idx.x)

    @flyc.jit
    def launch(In: fx.Tensor, Scale: fx.Tensor, Out: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        kernel(In, Scale, Out).launch(grid=(1,), block=(threads,), stream=stream)

    return launch


def int8_weights(low=-128, high=128):
    return torch.randint(low, high, (N, K), generator=torch.Generator().manual_seed(1), dtype=torch.int8)


def int4_packed(weights):
    """8 neighbours v0 … v7 of the shuffled order: byte j is v[j] | v[j + 4] << 4."""
    eights = (shuffle_weight(weights).view(-1, 8) & 15).to(torch.uint8)
    return (eights[:, :4] | eights[:, 4:] << 4).view(torch.int8).view(N, K // 2)


@pytest.mark.parametrize("int4", [False, True])
def test_packs_feed_a_matrix_instruction(int4, run):
    """C = A B^T of int8, with the permutation of K that packs have in both operands."""

    def body(A, B, C, lane):
        row, quarter = lane % 16, lane // 16
        bytes_of_row = K // 2 if int4 else K
        layout = make_preshuffle_b_layout(None, c_n=N, c_k=bytes_of_row, kpack_bytes=8 if int4 else 16)
        resource = create_buffer_resource(B)
        octets = fx.recast_iter(fx.Int64, A.iter)
        for block in fx.range_constexpr(N // 16):
            sums = fx.Vector.filled(4, 0, fx.Int32)
            for step in fx.range_constexpr(K // 32):
                a = (octets + (row * K + step // 2 * 64 + quarter * 16) // 8 + step % 2).load()
                place = {"n_blk": block, "n_intra": row, "lane_div_16": quarter, "layout_b": layout}
                kind = {"kpack_bytes": 8, "unpack_int4": True} if int4 else {}
                b = load_b_pack_k32(b_rsrc=resource, base_k=step // 2 * 64, ki_step=step % 2, **place, **kind)
                sums = fx.Vector(fx.rocdl.mfma_i32_16x16x32_i8(fx.Int32x4, [a, b, sums, 0, 0, 0]))
            for index in fx.range_constexpr(4):
                C[quarter * 4 + index, block * 16 + row] = sums[index]

    a, b = int8_weights()[:16].clone(), int8_weights(-8, 8) if int4 else int8_weights()
    c = run.empty(a, (16, N), torch.int32)
    run(launched(body), a, int4_packed(b) if int4 else shuffle_weight(b), c, writes=[c], seeds=[0])
    assert torch.equal(c, a.int() @ b.int().t())


def test_packs_of_16_bit_elements(run):
    def body(B, _, Out, lane):
        layout = make_preshuffle_b_layout(None, c_n=N, c_k=K, elem_bytes=2)
        place = {"n_blk": 1, "n_intra": lane % 16, "lane_div_16": lane // 16, "layout_b": layout}
        for step in fx.range_constexpr(4):
            pack = load_b_pack_k32(b_rsrc=create_buffer_resource(B), base_k=32, ki_step=step, elem_bytes=2, **place)
            fx.make_view(fx.recast_iter(fx.Int64, Out.iter) + lane * 4 + step, fx.make_layout(1, 1)).store(
                fx.Vector.from_elements([pack])
            )

    b = int8_weights().bfloat16()
    out = run.empty(b, (64, 4, 4))
    run(launched(body), shuffle_weight(b), b, out, writes=[out], seeds=[0])
    for lane in range(64):
        ours = b[16 + lane % 16, 32:96].view(2, 4, 2, 4)[:, lane // 16].reshape(4, 4)
        assert torch.equal(out[lane], ours)


@pytest.mark.parametrize("scales", [None, "f32", "bf16"])
def test_int4_weights_become_bf16(scales, run):
    """All 8 values of every step of every lane, times the scale of their group of 32."""

    def body(B, Scale, Out, lane):
        layout = make_preshuffle_b_layout(None, c_n=N, c_k=K // 2, kpack_bytes=8)
        for block in fx.range_constexpr(N // 16):
            for step in fx.range_constexpr(K // 32):
                place = {"n_blk": block, "n_intra": lane % 16, "lane_div_16": lane // 16, "layout_b": layout}
                place |= {"b_rsrc": create_buffer_resource(B), "base_k": 0, "ku": step}
                if fx.const_expr(scales is None):
                    halves = unpack_b_w4a16(load_b_raw_w4a16(**place))
                else:
                    kind = {"f32": fx.Float32, "bf16": fx.BFloat16}[scales]
                    groups = {"scale_rsrc": create_buffer_resource(Scale), "N": N, "scale_dtype": kind}
                    halves = unpack_b_w4a16_groupwise(*load_b_raw_w4a16_groupwise(**place, **groups))
                for half in fx.range_constexpr(2):
                    for index in fx.range_constexpr(4):
                        Out[block * 16 + lane % 16, step * 32 + lane // 16 * 8 + half * 4 + index] = halves[half][index]

    b = int8_weights(-8, 8)
    scale = torch.rand(K // 32, N, generator=torch.Generator().manual_seed(2)) + 0.5
    scale = scale.bfloat16() if scales == "bf16" else scale
    pairs = scale.view(K // 64, 2, N).permute(0, 2, 1).contiguous() if scales == "bf16" else scale
    out = run.empty(b, (N, K), torch.bfloat16)
    run(launched(body), int4_packed(b), pairs, out, writes=[out], seeds=[0])
    expected = b.float()
    if scales is not None:
        expected = expected * scale.float().t().repeat_interleave(32, dim=1)
    # The order in Out is (step, lane // 16, value); K has (block of 64, lane // 16, half of the block, value).
    expected = expected.view(N, K // 64, 4, 2, 8).transpose(2, 3).reshape(N, K)
    assert torch.equal(out, expected.bfloat16())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: load_b_pack_k32(**dict.fromkeys(PLACE, 0), kpack_bytes=8), "packs are 16 bytes"),
        (lambda: load_b_pack_k32(**dict.fromkeys(PLACE, 0), elem_bytes=4), "packs are 16 bytes"),
    ],
)
def test_other_packs_are_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


PLACE = ("b_rsrc", "layout_b", "base_k", "ki_step", "n_blk", "n_intra", "lane_div_16")


@pytest.mark.parametrize("size", [4, 8, 16])
def test_chunks_in_lds_change_places(size, run):
    """16 rows of 64 bytes: what is stored at (row, col) lies where `swizzle_xor16` says."""
    per_row = 64 // size

    def body(In, _, Out, thread):
        tile = fx.SharedAllocator().allocate(fx.Array[fx.Int32, 16 * 16 + 4, 16]).peek()
        store = getattr(lds_stores, f"lds_store_{size}b_xor16")
        for part in fx.range_constexpr(16 * per_row // 64):
            piece = thread + part * 64
            row, col = piece // per_row, piece % per_row * size
            value = fx.make_view(In.iter + (row * 64 + col) // 4, fx.make_layout(size // 4, 1)).load()
            store(lds=tile, row=row, col=col, pitch=64, k_blocks16=4, value=value, lds_base=16)
        fx.barrier()
        for part in fx.range_constexpr(4):
            word = thread + part * 64
            row, col = word // 16, word % 16 * 4
            Out[word] = tile[(row * 64 + swizzle_xor16(row, col, 4)) // 4 + 4]

    x = torch.arange(256, dtype=torch.int32)
    out = run.empty(x)
    run(launched(body), x, x, out, writes=[out])
    assert torch.equal(out, x)


TILE_M, TILE_N = 32, 128


def epilogue(use_cshuffle, e_vec=4):
    """Every element of a tile of 4 waves side by side is 1000 · row + column."""

    def body(_, Scale, Out, tx):
        lds = fx.SharedAllocator().allocate(fx.Array[fx.Float32, TILE_M * TILE_N, 16]).peek()
        lane, wave = tx % 64, tx // 64
        row_of = lambda mi, ii: lane // 16 * 4 + ii + mi * 16  # noqa: E731 - what the accumulators hold
        value = lambda mi, ii, ni: (row_of(mi, ii) * 1000 + wave * 32 + ni * 16 + lane % 16).to(fx.Float32)  # noqa: E731

        def body_row(*, mi, ii, row_in_tile, row):
            for ni in fx.range_constexpr(2):
                Out[row, wave * 32 + ni * 16 + lane % 16] = value(mi, ii, ni)

        def write_row_to_lds(*, mi, ii, row_in_tile, row, row_base_lds, col_base_local, num_acc_n, lds_out):
            for ni in fx.range_constexpr(num_acc_n):
                lds_out[row_base_lds + col_base_local + ni * 16] = value(mi, ii, ni)

        def store_pair(*, row_local, row, row_ctx, col_pair0, col_g0, frag):
            for index in fx.range_constexpr(e_vec):
                Out[row, col_g0 + index] = frag[index] * row_ctx

        mfma_epilog(
            use_cshuffle=use_cshuffle,
            arith=None,
            range_constexpr=fx.range_constexpr,
            tile_m=TILE_M,
            tile_n=TILE_N,
            e_vec=e_vec,
            m_repeat=TILE_M // 16,
            num_acc_n=2,
            tx=tx,
            lane_div_16=lane // 16,
            lane_mod_16=lane % 16,
            bx_m=0,
            by_n=0,
            n_tile_base=wave * 32,
            lds_out=lds,
            body_row=body_row,
            write_row_to_lds=write_row_to_lds,
            store_pair=store_pair,
            precompute_row=lambda row_local, row: Scale[row],
        )

    return launched(body, 256)


@pytest.mark.parametrize("use_cshuffle", [False, True])
def test_epilogues(use_cshuffle, run):
    out, scale = run.empty(torch.empty(TILE_M, TILE_N)), torch.arange(TILE_M) % 3 + 1.0
    run(epilogue(use_cshuffle), out.clone(), scale, out, writes=[out])
    expected = 1000.0 * torch.arange(TILE_M)[:, None] + torch.arange(TILE_N)
    assert torch.equal(out, expected * scale[:, None] if use_cshuffle else expected)


def test_what_epilogues_refuse():
    out = torch.empty(TILE_M, TILE_N)
    with pytest.raises(ValueError, match=r"tile_n of 32 \* e_vec = 256, got 32 x 128"):
        epilogue(True, 8)(out, out[:, 0].clone(), out)
    with pytest.raises(TypeError, match="body_row"):
        mfma_epilog(use_cshuffle=False, m_repeat=1, lane_div_16=0, bx_m=0)
    assert default_epilog.__doc__
    assert c_shuffle_epilog.__doc__
