# SPDX-License-Identifier: Apache-2.0
"""A product of warps in layouts: copies by tensor maps, `LdMatrix`, `MmaSync`, and `StMatrix` for what comes of it.

Four warps, two by two, make 64 x 64 results. It is the shortest program that has all of these atoms on swizzled tiles,
for tests; products that should be fast are `compile_hopper_gemm`'s.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx

ROWS = COLUMNS = 64
THREADS = 128
ROW_BYTES = 128
SWIZZLE = (3, 4, 3)
SHARED_BYTES = 3 * ROWS * ROW_BYTES + 1024
"""At least those of the tiles of A, B and C, and of the barriers."""

# {element of A and B, by the name of its class: the K of the atom}
ATOMS = {"BFloat16": 16, "Float16": 16, "Float8E4M3FN": 32, "Float8E5M2": 32, "Int8": 32, "Float32": 8}
SHORT_ATOMS = {"BFloat16": 8, "Float16": 8, "Int8": 16, "Float32": 4}


def compile_warp_gemm(
    element: str,
    *,
    other: str | None = None,
    accumulator: str | None = None,
    k: int | None = None,
    m_major: bool = False,
    n_major: bool = False,
    m_major_result: bool = False,
) -> Any:
    """Return a launcher `(C, A, B)` of C = A B^T, C (M, N) of BFloat16, A (M, K), B (N, K).

    Args:
        element, other: names of the classes of A's and B's elements; of Float32 tf32 is multiplied.
        accumulator: of the class that sums are made in; Float32, and Int32 of Int8.
        k: of the atom.
        m_major, n_major: A lies in memory as (K, M), B as (K, N), which `A` and `B` are then (16-bit elements).
        m_major_result: C lies as (N, M).
    """
    of_a, of_b = getattr(fx, element), getattr(fx, other or element)
    of_sums = getattr(fx, accumulator or ("Int32" if element == "Int8" else "Float32"))
    out = fx.BFloat16
    tile_k = ROW_BYTES * 8 // of_a.width
    operation = fx.nvgpu.MmaSync(16, 8, k or ATOMS[element], of_a, of_sums, elem_ty_b=of_b, tf32=element == "Float32")
    # Matrices of an atom of A; of B two atoms side by side are one call.
    short = (k or ATOMS[element]) == SHORT_ATOMS.get(element)
    of_atom_a, of_atoms_b = (2, 2) if short else (4, 4)

    def extents(rows: int, columns: int, turned: bool) -> tuple[int, int]:
        return (columns, rows) if turned else (rows, columns)

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def multiply(
        map_a: fx.nvgpu.TensorMap,
        map_b: fx.nvgpu.TensorMap,
        map_c: fx.nvgpu.TensorMap,
        m: fx.Int32,
        n: fx.Int32,
        k: fx.Int32,
    ) -> None:
        shared = fx.SharedAllocator(1024, static=False)

        def tile(rows: int, columns: int, dtype: Any, turned: bool) -> tuple[Any, Any]:
            """A tile as the copy engine moves it, and as (rows, columns)."""
            room = shared.allocate(fx.Array[dtype, rows * columns], 1024).peek()
            pointer = fx.apply_swizzle(room.ptr, fx.static(fx.SwizzleType.get(*SWIZZLE)))
            if turned:
                box = fx.make_view(pointer, fx.make_layout((columns, rows), (rows, 1)))
                return box, fx.make_view(pointer, fx.make_layout((rows, columns), (1, rows)))
            box = fx.make_view(pointer, fx.make_layout((rows, columns), (columns, 1)))
            return box, box

        box_a, tile_a = tile(ROWS, tile_k, of_a, m_major)
        box_b, tile_b = tile(COLUMNS, tile_k, of_b, n_major)
        box_c, tile_c = tile(ROWS, COLUMNS, out, m_major_result)
        room = shared.allocate(fx.Array[fx.Int64, 2], 8).peek()
        ring = fx.nvgpu.AsyncPipeline(room.ptr, 1, map_a.transferred + map_b.transferred, 1)
        row, column = fx.TileWalk(((m + ROWS - 1) // ROWS, (n + COLUMNS - 1) // COLUMNS))(fx.block_idx.x)

        def boxes_of(tensor: Any, rows: Any, columns: Any, size: int, turned: bool, at: Any) -> Any:
            """The boxes of a row of tiles, by the turn."""
            coordinates = tensor.coordinates((columns, rows) if turned else (rows, columns))
            boxes = fx.flat_divide(coordinates, extents(size, tile_k, turned))
            return boxes[None, None, None, at] if turned else boxes[None, None, at, None]

        boxes_a = boxes_of(map_a, m, k, ROWS, m_major, row)
        boxes_b = boxes_of(map_b, n, k, COLUMNS, n_major, column)
        results = fx.flat_divide(
            map_c.coordinates((n, m) if m_major_result else (m, n)), extents(ROWS, COLUMNS, m_major_result)
        )
        thread = fx.Int32(fx.thread_idx.x)
        if thread == 0:
            ring.init()
        fx.barrier()

        # A warp has 16 columns that lie side by side in two atoms, so that one call brings their B.
        tiled = fx.make_tiled_mma(operation, (2, 2, 1), (32, 32, None))
        mine = tiled.get_slice(thread)
        bring_a = fx.make_tiled_copy_A(
            fx.make_copy_atom(fx.nvgpu.LdMatrix(of_atom_a, transposed=m_major), of_a), tiled
        ).get_slice(thread)
        bring_b = fx.make_tiled_copy_B(
            fx.make_copy_atom(fx.nvgpu.LdMatrix(of_atoms_b, transposed=n_major), of_b), tiled
        ).get_slice(thread)
        # The registers of a fragment follow the strides of its tile: the atoms of B and of C that one call moves lie
        # side by side along N, wherever they lie in memory.
        along_n = fx.make_view(box_b.iter, fx.make_layout((COLUMNS, tile_k), (1, COLUMNS)))
        fragment_a, fragment_b = mine.make_fragment_A(tile_a), mine.make_fragment_B(along_n)
        sums = mine.make_fragment_C(fx.make_view(box_c.iter, fx.make_layout((ROWS, COLUMNS), (COLUMNS, 1))))
        sums.fill(0)

        place = ring.start()
        for turn in range((k + tile_k - 1) // tile_k):
            if thread == 0:
                barrier = ring.acquire(place)
                fx.copy(map_a.load_atom().set_value("barrier", barrier), boxes_a[None, None, turn], box_a)
                fx.copy(map_b.load_atom().set_value("barrier", barrier), boxes_b[None, None, turn], box_b)
            ring.wait(place)
            fx.copy(bring_a.tiled_copy, bring_a.partition_S(tile_a), bring_a.retile(fragment_a))
            fx.copy(bring_b.tiled_copy, bring_b.partition_S(tile_b), bring_b.retile(fragment_b))
            fx.gemm(tiled, sums, fragment_a, fragment_b, sums)
            fx.barrier()
            if thread == 0:
                ring.release(place.stage)
            place = place.next()

        put = fx.make_tiled_copy_C(
            fx.make_copy_atom(fx.nvgpu.StMatrix(4, transposed=m_major_result), out), tiled
        ).get_slice(thread)
        rounded = fx.make_fragment_like(sums, out)
        rounded.store(sums.load().to(fx.Float32).to(out))
        fx.copy(put.tiled_copy, put.retile(rounded), put.partition_D(tile_c))
        fx.nvgpu.fence_async_shared()
        fx.barrier()
        if thread == 0:
            first, second = (column, row) if m_major_result else (row, column)
            fx.copy(map_c.store_atom(), box_c, results[None, None, first, second])
            fx.nvgpu.tma_commit()
            fx.nvgpu.tma_wait(read=True)

    @flyc.jit
    def launch(c: fx.Tensor, a: fx.Tensor, b: fx.Tensor) -> None:
        k, m = a.shape.unpack() if m_major else a.shape.unpack()[::-1]
        n = b.shape.unpack()[1 if n_major else 0]
        maps = [
            fx.nvgpu.make_tensor_map(one, extents(rows, columns, turned), SWIZZLE, written=one is c)
            for one, rows, columns, turned in (
                (a, ROWS, tile_k, m_major), (b, COLUMNS, tile_k, n_major), (c, ROWS, COLUMNS, m_major_result),
            )
        ]  # fmt: skip
        tiles = ((fx.Int32(m) + ROWS - 1) // ROWS) * ((fx.Int32(n) + COLUMNS - 1) // COLUMNS)
        multiply(*maps, fx.Int32(m), fx.Int32(n), fx.Int32(k)).launch(grid=(tiles,), block=(THREADS,))

    return launch
