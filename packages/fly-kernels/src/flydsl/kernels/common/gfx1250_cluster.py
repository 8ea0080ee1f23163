# SPDX-License-Identifier: Apache-2.0
"""Which workgroups of a cluster share the operands of a GEMM (gfx1250)."""

from __future__ import annotations

from typing import Any

__all__ = ["compute_mcast_masks"]


def compute_mcast_masks(local_x: Any, local_y: Any, cluster_m: int, cluster_n: int) -> tuple[Any, Any]:
    """Masks of the workgroups that load the same A and the same B as workgroup (local_x, local_y) of the cluster.

    Bit x + y * cluster_m is workgroup (x, y) of cluster_m by cluster_n. Those of one x share rows of A, those of one y
    share columns of B.

    Args:
        local_x: below cluster_m; a Python int or an integer of the language.
        local_y: below cluster_n; likewise.
        cluster_m: workgroups along M.
        cluster_n: workgroups along N.

    Returns (A mask, B mask).

    Raises:
        ValueError: a cluster without workgroups, or of more than the 16 that the hardware has.
    """
    if cluster_m < 1 or cluster_n < 1 or cluster_m * cluster_n > 16:
        raise ValueError(f"a cluster has 1 to 16 workgroups, not {cluster_m} x {cluster_n}")
    column = sum(1 << (y * cluster_m) for y in range(cluster_n))
    row = (1 << cluster_m) - 1
    return _shifted(column, local_x), _shifted(row, local_y * cluster_m)


def _shifted(mask: int, by: Any) -> Any:
    return mask << by if isinstance(by, int) else type(by)(mask) << by
