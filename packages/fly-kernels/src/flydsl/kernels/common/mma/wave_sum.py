# SPDX-License-Identifier: Apache-2.0
"""The sum over the waves that share K: each writes its sums to LDS and adds up a part of the columns of all.

Afterwards columns are divided among the waves along K as they are among those along N (`TilePlan.column_parts`), so
what follows sees a grid of (waves along M, waves along N * parts). What waves have is added in the order of K: the
result does not depend on who comes first.
"""

from __future__ import annotations

from typing import Any

from ..language import fx
from .tile_plan import WAVE, TilePlan

__all__ = ["sum_over_waves"]

Sums = dict[tuple[int, int], Any]


def sum_over_waves(plan: TilePlan, sums: Sums, lds: Any, thread: fx.Numeric | int) -> Sums:
    """The sums of `tiled_loop` over all waves along K, for (row block, column block) of the wave's own part.

    Args:
        plan: the geometry.
        sums: of this wave.
        lds: pointer to `plan.sum_chunks` chunks of 16 bytes, of which nobody but late readers of A has need.
        thread: index in the workgroup.
    """
    if plan.k_waves == 1:
        return {key: plan.product.exact(value) for key, value in sums.items()}
    waves, parts, kind = plan.k_waves, plan.column_parts, plan.product.accumulator
    own = plan.column_blocks // parts
    blocks = [(m, n) for m in range(plan.row_blocks) for n in range(own)]
    at_once = plan.sum_chunks // (parts * plan.threads)
    lane, along_k, group = thread % WAVE, thread // WAVE % waves, thread // (WAVE * waves)
    # LDS as (sums of a lane, (lane, wave along K, other waves), part of the columns, block of the part).
    threads = WAVE, waves, plan.threads // (WAVE * waves)
    layout = fx.make_layout(
        (4, threads, parts, at_once), (1, (4, 4 * WAVE, 4 * WAVE * waves), 4 * plan.threads, 4 * plan.threads * parts)
    )
    exchanged = fx.make_view(fx.recast_iter(kind, lds), layout)  # the room of the loop's operands
    through_lds = fx.make_copy_atom(fx.UniversalCopy128b(), kind)
    result: Sums = {}
    for start in range(0, len(blocks), at_once):
        fx.barrier()
        some = blocks[start : start + at_once]
        for slot, (m, n) in enumerate(some):
            for owner in range(parts):
                held = fx.make_rmem_tensor(4, kind)
                held.store(sums[m, owner * own + n])
                fx.copy(through_lds, held, exchanged[None, (lane, along_k, group), owner, slot])
        fx.barrier()
        for slot, (m, n) in enumerate(some):
            values = fx.make_rmem_tensor((4, waves), kind)
            fx.copy(through_lds, exchanged[None, (lane, None, group), along_k % parts, slot], values)
            total = values[None, 0].load()
            for one in range(1, waves):
                total = total + values[None, one].load()
            result[m, n] = plan.product.exact(total)
    return result
