# SPDX-License-Identifier: Apache-2.0
"""The kernel behind the GEMMs of gfx1250, and its launch: operands by the tensor data mover (`common/mma/tdm_loop.py`).

What is public checks what is its own, fills in a `TdmGemm` and gives it the signature that its users know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flydsl.runtime.chips import CHIPS

from ..common.checks import positive_integer
from ..common.language import flyc, fx
from ..common.mma.instructions import PACK_BYTES
from ..common.mma.mfma_epilogues import Epilogue, element_functions
from ..common.mma.output_tile import output_copy, places_of
from ..common.mma.tdm_loop import FORMATS, TdmLoop, tdm_loop
from ..common.mma.tdm_transfers import MovedOperand
from ..common.mma.tile_plan import TilePlan
from ..common.utils import cdiv
from ..common.views import start_of
from .arguments import check_count, check_matrix, expect_bytes, expect_operand, expect_rows, row_strides, tile_tensor
from .splitk_reduce import build_splitk_reduce

__all__ = ["TDM_OUTPUTS", "TdmGemm", "build_tdm_gemm", "check_apart"]

TDM_OUTPUTS = {"f16": "Float16", "bf16": "BFloat16", "f32": "Float32"}
_LDS = CHIPS["gfx1250"].lds_bytes
_MOST_SUMS = 512  # registers of a lane, of 1,024
_MOST_WAVES = 32
_MOST_CLUSTER = 16
_BUFFERS = (2, 3, 4)


@dataclass(frozen=True)
class TdmGemm:
    """One GEMM: C = A B^T with C (M, N), A (M, K), B (N, K), sums in f32.

    Attributes:
        N, K: extents; M is an argument of the launch.
        formats: of A and of B, of `FORMATS`.
        out: "f16", "bf16" or "f32".
        tile: rows, columns and K of a step of a workgroup.
        waves: their grid, (along M, along N).
        buffers: LDS buffers.
        scaled: A and B have scales of E8M0, one for 32 of K, in the order of `shuffle_scale_32x4`.
        tiles: B lies in tiles of 16 rows by 16 bytes.
        prefetched: how many steps ahead of a transfer its lines are asked for into L2; 0 for none.
        moved_store: results leave by way of LDS and the tensor data mover.
        specialized: one wave brings each operand, instead of every wave a part of it.
        cluster: workgroups along M and along N that share what they load.
        split_k: into how many parts K is cut, which add themselves to an f32 C.
        row_scaled: sums are multiplied by scale_a (M) of their row and scale_b (N) of their column, in f32.
    """

    N: int
    K: int
    formats: tuple[str, str]
    out: str
    tile: tuple[int, int, int]
    waves: tuple[int, int]
    buffers: int
    scaled: bool = False
    tiles: bool = False
    prefetched: int = 0
    moved_store: bool = True
    specialized: bool = False
    cluster: tuple[int, int] = (1, 1)
    split_k: int = 1
    row_scaled: bool = False

    @property
    def loop(self) -> TdmLoop:
        """The main loop of a workgroup."""
        return TdmLoop(
            self.formats, self.tile, self.K // (self.split_k * self.tile[2]), self.waves, self.buffers, self.scaled,
            self.tiles, self.prefetched, self.specialized, self.cluster,
        )  # fmt: skip

    @property
    def lds_bytes(self) -> int:
        """LDS of a workgroup."""
        size = getattr(fx, TDM_OUTPUTS[self.out]).width // 8
        return max(self.loop.lds_bytes, self.tile[0] * self.tile[1] * size if self.moved_store else 0)

    @property
    def name(self) -> str:
        """What distinguishes the kernel, for its symbol."""
        types, tile = "_".join(dict.fromkeys(self.formats)), "x".join(map(str, (*self.tile, self.buffers)))
        return f"{types}_{self.out}_{self.N}x{self.K}_{tile}" + (f"_split{self.split_k}" if self.split_k > 1 else "")

    def units(self, which: int) -> int:
        """Units of memory that a row of A (0) or B (1) has."""
        return self.K // self.loop.depth * FORMATS[self.formats[which]].depth

    def check(self) -> None:
        """ValueError, with the numbers, for what no kernel is made of."""
        (tile_m, tile_n, tile_k), (along_m, along_n) = self.tile, self.waves
        names = ("N", "K", "tile_m", "tile_n", "tile_k", "m_warp", "n_warp", "cluster_m", "cluster_n", "split_k")
        values = (self.N, self.K, *self.tile, *self.waves, *self.cluster, self.split_k)
        for name, value in zip(names, values, strict=True):
            positive_integer(name, value)
        if self.out not in TDM_OUTPUTS:
            raise ValueError(f"out_dtype {self.out!r} is not supported; use one of {', '.join(TDM_OUTPUTS)}")
        if self.buffers not in _BUFFERS:
            raise ValueError(f"num_buffers = {self.buffers!r}: use 2, 3 or 4")
        if isinstance(self.prefetched, bool) or not isinstance(self.prefetched, int) or self.prefetched < 0:
            raise ValueError(f"l2_prefetch_distance is a number of steps from 0 on, got {self.prefetched!r}")
        count, rows = along_m * along_n, 32 if self.scaled else 16
        if count & (count - 1) or count > _MOST_WAVES:
            raise ValueError(f"m_warp * n_warp = {count}: a workgroup has 1, 2, 4, 8, 16 or 32 waves")
        if tile_m % (16 * along_m) or tile_n % (16 * along_n) or tile_m % rows or tile_n % rows:
            more = f", and of {rows}, the rows of a block of scales" if self.scaled else ""
            raise ValueError(
                f"tile_m = {tile_m}, tile_n = {tile_n}: no multiples of 16 for each of {self.waves} waves{more}"
            )
        if tile_m * tile_n > 32 * count * _MOST_SUMS:
            raise ValueError(f"tile_m * tile_n = {tile_m} * {tile_n}: more sums than {count} waves have registers for")
        usual = (128, 256, 512) if self.loop.depth == 128 else (32, 64, 128, 256)
        if tile_k not in usual:
            raise ValueError(f"tile_k = {tile_k}: use {', '.join(map(str, usual[:-1]))} or {usual[-1]}")
        if self.K % (self.split_k * tile_k) or self.loop.steps < self.buffers:
            parts = f" in each of {self.split_k} parts" if self.split_k > 1 else ""
            raise ValueError(
                f"K = {self.K} has to be {self.buffers} or more steps of tile_k = {tile_k}{parts}: there is no tail "
                "along K"
            )
        if self.N % (tile_n * self.cluster[1]):
            clusters = f" * cluster_n = {tile_n} * {self.cluster[1]}" if self.cluster[1] > 1 else f" = {tile_n}"
            raise ValueError(f"N = {self.N} is no multiple of tile_n{clusters}")
        if self.cluster[0] * self.cluster[1] > _MOST_CLUSTER:
            raise ValueError(f"cluster_m * cluster_n = {self.cluster[0]} * {self.cluster[1]}: 16 is the most")
        if self.split_k > 1 and (self.moved_store or self.out != "f32"):
            raise ValueError(
                f"split_k = {self.split_k} adds its parts to C: it needs use_tdm_store=False and out_dtype 'f32'"
            )
        wanted = len(self.loop.boxes)
        if self.specialized and count < wanted:
            raise ValueError(f"wave_specialized_tdm needs a wave for each of {wanted} operands, and there are {count}")
        if self.lds_bytes > _LDS:
            raise ValueError(
                f"{self.buffers} buffers of {tile_m} + {tile_n} rows x {tile_k} take {self.lds_bytes} bytes of LDS; "
                f"gfx1250 has {_LDS}: use a smaller tile or fewer buffers"
            )


@lru_cache(maxsize=256)
def build_tdm_gemm(gemm: TdmGemm, name: str) -> Callable[..., None]:
    """Return the function that a `@flyc.jit` body calls to check its tensors and launch the GEMM.

    It takes `(C, A, B, M, stream, *, scale_a, scale_b, apart)`: the scales where there are some, of either kind;
    `apart`, by "A", "B" and "C", has the elements from one row to the next of those that come as pointers and are not
    contiguous. With split K, C is set to zero first.
    """
    gemm.check()
    loop, (tile_m, tile_n, _) = gemm.loop, gemm.tile
    output = getattr(fx, TDM_OUTPUTS[gemm.out])
    out_size, chunks = output.width // 8, -(-gemm.lds_bytes // PACK_BYTES)
    usual = {"A": gemm.units(0), "B": gemm.units(1) * (16 if gemm.tiles else 1), "C": gemm.N}
    scale_words = gemm.K // 128 * 32  # of 32 rows
    row_bytes = gemm.units(0) * FORMATS[gemm.formats[0]].unit_bytes
    plan = TilePlan(
        "gfx1250", tile_m, tile_n, row_bytes, row_bytes // (gemm.K // gemm.tile[2]), gemm.buffers, loop.atom,
        gemm.waves, False, loop_bytes=gemm.lds_bytes,
    )  # fmt: skip
    begin = None
    if gemm.split_k > 1:
        begin = build_splitk_reduce(N=gemm.N, split_k=0, output="Float32", epilogue=Epilogue(), name=f"{name}_begin")

    @flyc.kernel(name=f"{name}_{gemm.name}", known_block_size=(loop.threads, 1, 1))
    def tdm_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scales: Any, apart: Any, M: fx.Int32, looped: fx.Int32
    ) -> None:
        thread = fx.thread_idx.x
        first_row, first_column = fx.block_idx.x * tile_m, fx.block_idx.y * tile_n
        rows = fx.max(fx.min(M - first_row, tile_m), 0)
        lds = fx.SharedAllocator().allocate(fx.Array[fx.Int128, chunks]).peek().ptr
        strides = {one: apart.get(one, usual[one]) for one in usual}
        operands = [MovedOperand(A, first_row, M, strides["A"]), MovedOperand(B, first_column, gemm.N, strides["B"])]
        if fx.const_expr(gemm.scaled):
            for one, first, extent in (("scale_a", first_row, M), ("scale_b", first_column, gemm.N)):
                operands.append(MovedOperand(scales[one], first, extent, scale_words))
        first_step = fx.block_idx.z * loop.steps if gemm.split_k > 1 else 0
        sums = tdm_loop(loop, operands, lds, thread, looped, first_step)
        access = PACK_BYTES // out_size
        split = [list(range(at, at + access)) for at in range(0, plan.run, access)]
        results = [sums[key].shuffle(sums[key], part) for key in sorted(sums) for part in split]
        mine = output_copy(plan, output, access).get_slice(thread)
        places = places_of(plan, mine, len(results))
        chain, shape = fx.Epilogue(), (tile_n, tile_m)
        read = {}
        if fx.const_expr(gemm.row_scaled):
            for one, first, count, stride in (
                ("scale_a", first_row, rows, (0, 1)), ("scale_b", first_column, tile_n, (1, 0))
            ):  # fmt: skip
                layout = fx.make_layout(shape, stride)
                read[one] = tile_tensor(scales[one], fx.Float32, first, 4, count * 4, 0, layout)
        for function, names in element_functions(Epilogue(scaled=gemm.row_scaled), output):
            chain = chain.then(function, *[read[one] for one in names])
        if fx.const_expr(gemm.split_k > 1):
            start = start_of(C)
            for number, values in chain.finished(mine, results):
                column, row = places[number]
                if row < rows:
                    at = fx.Int64(first_row + row) * fx.Int64(strides["C"]) + (first_column + column)
                    for step in fx.range_constexpr(access):
                        fx.atomic_add(start + (at + step), values[step])
        elif fx.const_expr(gemm.moved_store):
            fx.barrier()  # all have read the last step
            for number, values in chain.finished(mine, results):
                column, row = places[number]
                lds[(row * tile_n + column) * out_size // PACK_BYTES] = values.bitcast(fx.Int32)
            fx.barrier()
            mover = fx.rocdl.tdm_ops
            descriptor = mover.make_tensor_descriptor_2d(
                C, lds, (first_row, first_column), (M, gemm.N), (strides["C"], 1), (tile_m, tile_n),
                elem_bytes=out_size, num_warps=loop.threads // 32, for_store=True,
            )  # fmt: skip
            mover.tensor_store_2d(descriptor)
            mover.tensor_wait(0)
        else:
            stride = strides["C"]
            size = fx.max(((rows - 1) * stride + tile_n) * out_size, 0)
            layout = fx.make_layout(shape, (1, stride))
            chain.store(
                mine,
                results,
                tile_tensor(C, output, first_row, stride * out_size, size, first_column * out_size, layout),
            )

    def launch(
        C: Any, A: Any, B: Any, M: Any, stream: Any, *, apart: dict[str, Any] | None = None, **scales: Any
    ) -> None:
        expect_rows("C", C, output)
        for which, (one, tensor) in enumerate((("A", A), ("B", B))):
            expect_operand(one, tensor, gemm.formats[which])
        fx.host_assert(M >= 0, "argument 'M': expected a number of rows, got {}", M)
        check_matrix("C", C, M, gemm.N)
        check_matrix("A", A, M, gemm.units(0))
        if gemm.tiles:
            check_count("B", B, gemm.N * gemm.units(1), exact=True)
        else:
            check_matrix("B", B, gemm.N, gemm.units(1), all_rows=True)
        for one, rows in (("scale_a", fx.Int64(M)), ("scale_b", fx.Int64(gemm.N))) if gemm.scaled else ():
            expect_bytes(one, scales[one])
            held = scales[one].element_type.width // 8
            check_count(one, scales[one], cdiv(rows, 32) * (4 * scale_words // held))
        for one, rows in (("scale_a", fx.Int64(M)), ("scale_b", fx.Int64(gemm.N))) if gemm.row_scaled else ():
            expect_rows(one, scales[one], fx.Float32)
            check_count(one, scales[one], rows)
        matrices = {"A": A, "C": C} | ({} if gemm.tiles else {"B": B})
        strides = row_strides(matrices, usual, max(tile_m, tile_n)) | (apart or {})
        if begin is not None:
            begin(C, None, M, stream)
        row_tiles = cdiv(cdiv(M, tile_m), gemm.cluster[0]) * gemm.cluster[0]
        tdm_gemm(C, A, B, scales, strides, M, fx.Int32(loop.pipeline.looped)).launch(
            grid=(row_tiles, gemm.N // tile_n, gemm.split_k), block=(loop.threads,), stream=stream,
            cluster=None if gemm.cluster == (1, 1) else (*gemm.cluster, 1),
        )  # fmt: skip

    return launch


def check_apart(**distances: tuple[fx.Int32, int, int]) -> None:
    """Have the launcher check distances of rows: by name (distance, least, what it is a multiple of), in elements."""
    for name, (apart, least, pieces) in distances.items():
        fx.host_assert(
            (apart >= least) & (apart % pieces == 0),
            f"argument {name!r}: {least} elements or more, a multiple of {pieces}, got {{}}", apart,
        )  # fmt: skip
