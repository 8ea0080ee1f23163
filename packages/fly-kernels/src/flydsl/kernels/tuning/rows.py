# SPDX-License-Identifier: Apache-2.0
"""Softmax, for the kernels that hold rows in registers: how many threads share a row, and how many rows a workgroup."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..common.arch import architecture
from ..common.row_plan import RowConfig, plan_rows
from ..common.utils import cdiv
from ..norm.softmax_kernel import build_softmax_module
from .device import LAUNCH_CYCLES, LOAD_CYCLES, peak, place_of_operands, sources_hash

if TYPE_CHECKING:
    from flydsl.autotune import Autotuner, Config, Space

__all__ = ["row_estimate", "row_space", "softmax_problem"]

_BITS = {"f32": 32, "f16": 16, "bf16": 16}


def row_space() -> Space:
    """Elements a thread, elements up to which a wave keeps a row, threads; constraints name `columns` and `dtype`."""
    from flydsl.autotune import Space

    def a_plan_is_there(elements: int, wave_limit: int, block: int | None, columns: int, dtype: str) -> bool:
        plan = plan_rows(columns, _BITS[dtype], RowConfig(elements, wave_limit=wave_limit, block=block))
        return plan.block >= 64 and plan.rows >= 1

    def a_limit_is_one(elements: int, wave_limit: int) -> bool:
        return wave_limit >= elements

    return Space(
        "rows",
        constraints=[a_limit_is_one, a_plan_is_there],
        elements=[4, 8, 16, 32, 64],
        wave_limit=[8, 32, 64, 128],
        block=[None, 64, 128, 256, 512, 1024],
    )


def row_estimate(config: Config, named: Mapping[str, Any]) -> float:
    """Cycles by the plan: bytes, rounds of workgroups, and what a row waits for."""
    at, plan = peak(), plan_rows(named["columns"], _BITS[named["dtype"]], RowConfig(**config.to_dict()))
    size = _BITS[named["dtype"]] // 8
    groups = cdiv(named["rows"], plan.rows)
    wave = architecture().wave
    waves = plan.block // wave
    registers = 24 + plan.elements * (1 if plan.in_registers else 0)
    together = min(cdiv(groups, at.units), max(1, 4 * min(512 // wave, 512 // max(registers, 1)) // waves))
    passes = 2 if plan.in_registers else 3
    vector = plan.elements * 18.0 * waves / 4
    wait = LOAD_CYCLES * (1 if plan.in_registers else cdiv(plan.elements, plan.unroll * plan.vector) * 2)
    wait += (60 if plan.threads <= wave else 300) + plan.elements * 20.0
    memory = passes * plan.rows * named["columns"] * size / (at.hbm / at.units)
    rounds = cdiv(groups, at.units * together)
    return float(rounds * max(together * vector, wait, together * memory) + LAUNCH_CYCLES)


@lru_cache(maxsize=64)
def _built(arch: str, columns: int, dtype: str, config: RowConfig) -> Any:
    return build_softmax_module(columns, dtype, config)


def softmax_problem(rows: int, columns: int, dtype: str = "f16", **search: Any) -> tuple[Autotuner, tuple[Any, ...]]:
    """Softmax of (rows, columns); `search` is passed to `flydsl.autotune.Search`."""
    import torch

    from flydsl.autotune import Search, autotune

    def softmax(
        x: Any, y: Any, arch: str, dtype: str, rows: int, columns: int,
        elements: int, wave_limit: int, block: int | None,
    ) -> None:  # fmt: skip
        _built(arch, columns, dtype, RowConfig(elements, wave_limit=wave_limit, block=block))(x, y, rows)

    softmax.source_digest = sources_hash()  # type: ignore[attr-defined]
    kind = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[dtype]
    spec = Search(row_space(), **{"estimate": row_estimate, "sampled": True, **search})
    where = place_of_operands()
    x = torch.randn(rows, columns, generator=torch.Generator(where).manual_seed(0), device=where).to(kind)
    arguments = (x, torch.empty_like(x), architecture().name, dtype, rows, columns)
    return autotune(spec, key=["dtype", "rows", "columns"])(softmax), arguments
