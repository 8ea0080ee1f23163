# SPDX-License-Identifier: Apache-2.0
"""Workgroup clusters of gfx1250: positions and barriers."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl.trace.build import build_op, int_attribute

from ..values.numeric.base import wrap
from ..values.numeric.types import Int32
from .availability import check_instruction

__all__ = [
    "CLUSTER_BARRIER_ID",
    "CLUSTER_WAIT_ALL",
    "cluster_barrier",
    "cluster_signal_once_per_wg",
    "cluster_wait",
    "cluster_workgroup_id_x",
    "cluster_workgroup_id_y",
    "cluster_workgroup_id_z",
    "compute_cluster_position",
    "is_wave_leader",
]

CLUSTER_BARRIER_ID = -3
CLUSTER_WAIT_ALL = -3


def _check(what: str) -> None:
    check_instruction("llvm.amdgcn.s.cluster.barrier", what)


def _id(axis: str) -> Any:
    _check(f"cluster_workgroup_id_{axis}")
    from .intrinsic import call_intrinsic

    return wrap(Int32, call_intrinsic(f"llvm.amdgcn.cluster.workgroup.id.{axis}", (), Int32.ir_type))


def cluster_workgroup_id_x() -> Any:
    """Return the workgroup's index in its cluster along x, `Int32`."""
    return _id("x")


def cluster_workgroup_id_y() -> Any:
    """Return the workgroup's index in its cluster along y, `Int32`."""
    return _id("y")


def cluster_workgroup_id_z() -> Any:
    """Return the workgroup's index in its cluster along z, `Int32`."""
    return _id("z")


def compute_cluster_position() -> tuple[Any, Any]:
    """Return the workgroup's row and column in its cluster: its indices along x and y."""
    return _id("x"), _id("y")


def is_wave_leader() -> Any:
    """Tell whether this wave is the first of its workgroup, `Boolean`; the same in all lanes."""
    from .lanes import wave_id

    return wave_id() == 0


def cluster_signal_once_per_wg() -> None:
    """Signal the cluster's barrier, from the first wave of the workgroup only."""
    _check("cluster_signal_once_per_wg")
    branch = build_op("scf.if", (is_wave_leader().ir_value(),), regions=2)
    with ir.InsertionPoint(branch.regions[0].blocks.append()):
        build_op("rocdl.s.barrier.signal", (), (), {"id": int_attribute(CLUSTER_BARRIER_ID, 32)})
        build_op("scf.yield", ())


def cluster_wait() -> None:
    """Wait until every workgroup of the cluster has signalled."""
    _check("cluster_wait")
    build_op("rocdl.s.barrier.wait", (), (), {"id": int_attribute(CLUSTER_WAIT_ALL, 16)})


def cluster_barrier() -> None:
    """Wait for all threads of all workgroups of the cluster."""
    _check("cluster_barrier")
    build_op("gpu.barrier", ())
    cluster_signal_once_per_wg()
    cluster_wait()
