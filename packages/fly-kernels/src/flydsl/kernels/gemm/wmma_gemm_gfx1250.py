# SPDX-License-Identifier: Apache-2.0
"""C = A B^T in f16 or bf16 with WMMA and the tensor data mover, for gfx1250.

Shapes and layouts
    A (M, K), B (N, K), C (M, N), row-major and contiguous. A and B are both "bf16" or both "fp16"; C is f16, bf16 or
    f32. Sums are f32.

Limits
    K is a multiple of tile_k, a power of two from 32 on, with as many steps as there are buffers or more; N a multiple
    of tile_n. M is whatever it is: rows beyond the last arrive as zeros and are not stored.

Algorithm and data movement
    A workgroup of m_warp x n_warp waves of 32 lanes computes a tile; both operands come to `num_buffers` LDS buffers
    with rows padded by 16 bytes (`common/mma/tdm_loop.py`). Results leave by way of LDS, whole rows at once, or
    straight from registers.
"""

from __future__ import annotations

from collections.abc import Callable

from ..common.checks import positive_integer
from ..common.language import flyc, fx
from ..common.mma.instructions import PACK_BYTES, matrix_atom
from ..common.mma.output_tile import output_copy, places_of
from ..common.mma.staging import Staging
from ..common.mma.tdm_loop import MovedOperand, moved_bytes, pipeline_of, tdm_loop
from ..common.mma.tile_plan import TilePlan
from ..common.mma.tiled_loop import TiledLoop
from ..common.utils import cdiv
from .arguments import check_matrix, expect_operand, expect_rows, tile_tensor
from .wmma_gemm import target_of

__all__ = ["compile_wmma_gemm_tdm"]

_OUTPUTS = {"f16": "Float16", "bf16": "BFloat16", "f32": "Float32"}
_LDS = 320 << 10
_MOST_SUMS = 512  # registers of a lane, of 1,024


def compile_wmma_gemm_tdm(
    *,
    M: int = 0,
    N: int = 0,
    K: int,
    tile_m: int = 256,
    tile_n: int = 256,
    tile_k: int = 128,
    m_warp: int = 2,
    n_warp: int = 4,
    in_dtype: str = "fp16",
    out_dtype: str | None = None,
    num_buffers: int = 2,
    waves_per_eu: int | None = None,
    l2_prefetch_distance: int = 2,
    use_tdm_store: bool = True,
    cluster_m: int = 1,
    cluster_n: int = 1,
    inst_prefetch: bool = False,
    wave_specialized_tdm: bool = False,
    expert_sched_mode: bool = False,
) -> Callable[..., None]:
    """Build the launcher of a GEMM; the page's top says what it computes.

    Args:
        M: rows of A; 0, or any number: the launcher takes it.
        N, K: extents; N has to be given.
        tile_m, tile_n, tile_k: of a workgroup; multiples of 16 for each wave.
        m_warp, n_warp: the grid of waves.
        in_dtype: "fp16" or "bf16", of A and B.
        out_dtype: "f16", "bf16" or "f32"; None takes that of A and B.
        num_buffers: 2, 3 or 4.
        waves_per_eu: None; others are not written.
        l2_prefetch_distance: how many steps ahead of a transfer its lines are asked for into L2; 0 for none.
        use_tdm_store: results leave by way of LDS and the tensor data mover.
        cluster_m, cluster_n: 1; others are not written.
        inst_prefetch, wave_specialized_tdm, expert_sched_mode: False; others are not written.

    Returns a `@flyc.jit` function `(C, A, B, M, N, stream)`; its N is that of here.

    Raises:
        RuntimeError: the target is not gfx1250.
        ValueError: a limit is not kept, with the numbers, or an option is not written.
        ImportError: there is no compiler.
    """
    arch = target_of("wmma_gemm_gfx1250", ("gfx1250",))
    _refuse_options(
        waves_per_eu=waves_per_eu, cluster_m=cluster_m - 1, cluster_n=cluster_n - 1, inst_prefetch=inst_prefetch,
        wave_specialized_tdm=wave_specialized_tdm, expert_sched_mode=expert_sched_mode,
    )  # fmt: skip
    if in_dtype not in ("fp16", "bf16"):
        raise ValueError(f"in_dtype {in_dtype!r} is not supported; use fp16 or bf16")
    out = out_dtype or {"fp16": "f16", "bf16": "bf16"}[in_dtype]
    if out not in _OUTPUTS:
        raise ValueError(f"out_dtype {out_dtype!r} is not supported; use one of {', '.join(_OUTPUTS)}")
    numbers = {"N": N, "K": K, "tile_m": tile_m, "tile_n": tile_n, "tile_k": tile_k, "m_warp": m_warp, "n_warp": n_warp}
    for name, value in numbers.items():
        positive_integer(name, value)
    _check_tile(N, K, (tile_m, tile_n, tile_k), (m_warp, n_warp), num_buffers, l2_prefetch_distance)
    pad = PACK_BYTES // 2
    loop = TiledLoop(
        arch, in_dtype, (tile_m, tile_n, tile_k), K // tile_k, (m_warp, n_warp), scheduled=False,
        staging=Staging((pad, pad)),
    )  # fmt: skip
    output = getattr(fx, _OUTPUTS[out])
    out_size = output.width // 8
    bytes_needed = max(moved_bytes(loop, num_buffers), tile_m * tile_n * out_size if use_tdm_store else 0)
    if bytes_needed > _LDS:
        raise ValueError(
            f"{num_buffers} buffers of {tile_m} + {tile_n} rows x {tile_k} take {bytes_needed} bytes of LDS; "
            f"{arch} has {_LDS}: use a smaller tile or fewer buffers"
        )
    atom = matrix_atom(arch, in_dtype)
    assert atom is not None
    plan = TilePlan(
        arch, tile_m, tile_n, 2 * K, 2 * tile_k, num_buffers, atom, (m_warp, n_warp), False, loop_bytes=bytes_needed
    )
    steps_looped = pipeline_of(loop, num_buffers).looped
    waves = m_warp * n_warp

    @flyc.kernel(
        name=f"wmma_gemm_tdm_{in_dtype}_{out}_{N}x{K}_{tile_m}x{tile_n}x{tile_k}x{num_buffers}",
        known_block_size=(loop.threads, 1, 1),
    )
    def tdm_gemm(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, M: fx.Int32, looped: fx.Int32) -> None:
        thread = fx.thread_idx.x
        first_row, first_column = fx.block_idx.x * tile_m, fx.block_idx.y * tile_n
        rows = fx.min(M - first_row, tile_m)
        lds = fx.SharedAllocator().allocate(fx.Array[fx.Int128, bytes_needed // PACK_BYTES]).peek().ptr
        shapes = [
            tile_tensor(matrix, loop.element, first, 2 * K, 2 * K, 0, fx.make_layout((extent, K), (K, 1)))
            for matrix, first, extent in ((A, first_row, tile_m), (B, first_column, tile_n))
        ]
        operands = MovedOperand(A, first_row, M, K), MovedOperand(B, first_column, N, K)
        sums = tdm_loop(loop, operands, (shapes[0], shapes[1]), lds, thread, looped, num_buffers, l2_prefetch_distance)
        results = [sums[key] for key in sorted(sums)]
        if fx.const_expr(use_tdm_store):
            fx.barrier()  # all have read the last step
            pieces = plan.run * out_size // PACK_BYTES
            for result, (column, row) in zip(results, places_of(plan, plan.run, thread, in_turns=True), strict=True):
                words = result.to(output).bitcast(fx.Int32)
                place = (row * tile_n + column) * out_size // PACK_BYTES
                for piece in fx.range_constexpr(pieces):
                    lds[place + piece] = words.shuffle(words, list(range(4 * piece, 4 * piece + 4)))
            fx.barrier()
            mover = fx.rocdl.tdm_ops
            descriptor = mover.make_tensor_descriptor_2d(
                C, lds, (first_row, first_column), (M, N), (N, 1), (tile_m, tile_n), elem_bytes=out_size,
                num_warps=waves, for_store=True,
            )  # fmt: skip
            mover.tensor_store_2d(descriptor)
            mover.tensor_wait(0)
        else:
            access = PACK_BYTES // out_size
            split = [list(range(at, at + access)) for at in range(0, plan.run, access)]
            parts = [result.shuffle(result, part) for result in results for part in split]
            size = ((rows - 1) * N + tile_n) * out_size
            layout = fx.make_layout((tile_n, tile_m), (1, N))
            tile = tile_tensor(C, output, first_row, N * out_size, size, first_column * out_size, layout)
            chain = fx.Epilogue().then(lambda values: values.to(output))
            chain.store(output_copy(plan, output, access, in_turns=True).get_slice(thread), parts, tile)

    @flyc.jit
    def launch_gemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        M: fx.Int32,
        N: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        expect_rows("C", C, output)
        expect_operand("A", A, in_dtype)
        expect_operand("B", B, in_dtype)
        columns = numbers["N"]
        fx.host_assert(M >= 0, "argument 'M': expected a number of rows, got {}", M)
        fx.host_assert(columns == N, f"argument 'N': the kernel is built for {columns}, got {{}}", N)
        check_matrix("C", C, M, columns)
        check_matrix("A", A, M, K)
        check_matrix("B", B, columns, K, all_rows=True)
        tdm_gemm(C, A, B, M, fx.Int32(steps_looped)).launch(
            grid=(cdiv(M, tile_m), columns // tile_n, 1), block=(loop.threads,), stream=stream
        )

    return launch_gemm


def _refuse_options(**options: object) -> None:
    """ValueError, by name, for an option that no kernel here has."""
    for name, value in options.items():
        if value not in (None, 0, False):
            raise ValueError(f"{name} other than its default is not written for gfx1250")


def _check_tile(
    N: int, K: int, tile: tuple[int, int, int], waves: tuple[int, int], buffers: int, distance: int
) -> None:
    """ValueError, with the numbers, for a tile that no kernel is made of."""
    tile_m, tile_n, tile_k = tile
    if buffers not in (2, 3, 4):
        raise ValueError(f"num_buffers = {buffers!r}: use 2, 3 or 4")
    if isinstance(distance, bool) or not isinstance(distance, int) or distance < 0:
        raise ValueError(f"l2_prefetch_distance is a number of steps from 0 on, got {distance!r}")
    count = waves[0] * waves[1]
    if count & (count - 1) or count > 32:
        raise ValueError(f"m_warp * n_warp = {count}: a workgroup has 1, 2, 4, 8, 16 or 32 waves")
    if tile_m % (16 * waves[0]) or tile_n % (16 * waves[1]):
        raise ValueError(f"tile_m = {tile_m}, tile_n = {tile_n}: no multiples of 16 for each of {waves} waves")
    if tile_m * tile_n > 32 * count * _MOST_SUMS:
        raise ValueError(f"tile_m * tile_n = {tile_m} * {tile_n}: more sums than {count} waves have registers for")
    if tile_k < 32 or tile_k & (tile_k - 1) or tile_k > 256:
        raise ValueError(f"tile_k = {tile_k}: use 32, 64, 128 or 256")
    if K % tile_k or K // tile_k < buffers:
        raise ValueError(f"K = {K} has to be {buffers} or more steps of tile_k = {tile_k}: there is no tail along K")
    if N % tile_n:
        raise ValueError(f"N = {N} is no multiple of tile_n = {tile_n}")
