# SPDX-License-Identifier: Apache-2.0
"""GEMM on NVIDIA Hopper: which tiles, consumers, stages and parts of K there are to choose from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..common.arch import MULTIPROCESSORS
from ..common.mma.mfma_epilogues import Epilogue
from ..common.utils import cdiv
from ..gemm.arguments import ELEMENT_BYTES
from ..gemm.dispatch import dtype_name, multiply
from ..gemm.hopper_config import ROW_BYTES, ROWS, HopperConfig, default_hopper_config, hopper_cuts, hopper_rows
from .device import LAUNCH_CYCLES, LOAD_CYCLES, operands_in_turn, peak, sources_hash

if TYPE_CHECKING:
    from flydsl.autotune import Autotuner, Config, Space

__all__ = [
    "hopper_gemm_arguments", "hopper_gemm_candidates", "hopper_gemm_estimate", "hopper_gemm_space", "hopper_gemm_tuner",
]  # fmt: skip

WIDTHS = (256, 192, 160, 144, 128, 112, 96, 80, 64, 48, 32)
SPLITS = (1, 2, 4)
GROUPS = (16, 8, 32)
_NEAR = 1.4  # of the columns, or bytes, that the busiest multiprocessor has with the best width: what is worth a try
_LEAST_TURNS = 16  # of K, of each part
_TURN_CYCLES = 40.0  # a stage that is waited for, and its products begun
_STORE_CYCLES = 3.0  # of a column of a tile, where nobody multiplies while it is stored


def _columns(m: int, n: int, tile_n: int, splits: int) -> float:
    """Columns of the multiprocessor that has most, in tiles of all of K."""
    tiles = cdiv(m, 2 * ROWS if m > ROWS else ROWS) * cdiv(n, tile_n)
    return float(cdiv(tiles * splits, MULTIPROCESSORS) * tile_n / splits)


@lru_cache(maxsize=256)
def hopper_gemm_candidates(
    m: int, n: int, k_bytes: int, epilogue: Epilogue, out_dtype: str
) -> tuple[HopperConfig, ...]:
    """The configurations that are worth a try for a shape, the default first.

    Rows of a stage are the fewest that hold all rows. K is shared where that leaves each part 16 stages of 128 bytes
    and all workgroups run at once. Of the widths those stay with which the busiest multiprocessor has not much more to
    do than with the best; of stages there are as many as there is room for, or one less; and the order of the tiles
    only varies where there are more rows of them than are walked together.
    """
    default = default_hopper_config(m, n, k_bytes=k_bytes, epilogue=epilogue, out_dtype=out_dtype)
    rows = hopper_rows(m)
    found = [default]
    tiles_m = cdiv(m, 2 * ROWS if rows > ROWS else ROWS)
    splits = [
        (tile_n, parts)
        for tile_n in WIDTHS
        for parts in SPLITS
        if parts == 1
        or (
            not epilogue.residual
            and k_bytes >= parts * _LEAST_TURNS * ROW_BYTES
            and tiles_m * cdiv(n, tile_n) * parts <= MULTIPROCESSORS
        )
    ]
    least = min(_columns(m, n, *one) for one in splits)
    for tile_n, parts in splits:
        if _columns(m, n, tile_n, parts) > _NEAR * least or tile_n >= 2 * max(n, 32):
            continue
        in_turns = (True, False) if rows > ROWS and parts == 1 else (False,)
        for pingpong in in_turns:
            for boxes in (1, 2) if rows <= ROWS else (1,):
                found.extend(
                    hopper_cuts(
                        rows, tile_n, splits=parts, boxes=boxes, pingpong=pingpong, epilogue=epilogue,
                        out_dtype=out_dtype,
                    )
                )  # fmt: skip
    ordered = [
        replace(one, group_m=group) for group in GROUPS if group == default.group_m or group < tiles_m for one in found
    ]
    return tuple(dict.fromkeys([default, *ordered]))


@lru_cache(maxsize=4096)
def hopper_gemm_cycles(
    config: HopperConfig, m: int, n: int, k_bytes: int, element_bytes: int, out_bytes: int, epilogue: Epilogue
) -> float:
    """Cycles by the shape of the work: turns of the multiprocessors, each bound by products or by memory."""
    at = peak()
    tiles = cdiv(m, config.tile_m) * cdiv(n, config.tile_n)
    turns = cdiv(tiles * config.splits, at.units)
    depth = k_bytes / config.splits
    stage = ROW_BYTES * config.boxes
    # Narrow products leave the matrix units waiting for shared memory (docs/kernels/gemm.md, "Which tiles, on Hopper").
    narrow = 1.0 + 3.2 / config.tile_n + (0.2 if config.tile_n <= 64 else 0.0)
    matrix = 2.0 * config.tile_m * config.tile_n * depth / element_bytes / (at.flops * 2 / element_bytes) * narrow
    brought = (min(config.rows, m) + config.tile_n) * depth / (at.hbm / min(at.units, max(tiles * config.splits, 1)))
    few = config.rows <= ROWS
    each = max(matrix, brought) if few else matrix
    each += depth / stage * _TURN_CYCLES * (0.5 if few else 0.1)
    # What is under way at once has to cover the latency of memory.
    under_way = config.stages * stage
    each *= max(1.0, LOAD_CYCLES / max(1.0, under_way / depth * each)) if depth > under_way else 1.0
    stored = config.tile_n * _STORE_CYCLES * (1.0 + (config.store_buffers == 1) * 0.1)
    if not config.pingpong or turns == 1:
        each += stored
    total = turns * each + LOAD_CYCLES + (stored if config.pingpong and turns > 1 else 0.0)
    if config.splits > 1:
        total += LOAD_CYCLES + (config.splits - 1) * config.tile_n * _STORE_CYCLES
    read = (m + n) * k_bytes + m * n * out_bytes * (2 if epilogue.residual else 1)
    return math.hypot(total, read / at.hbm) * (1.0 + 0.002 / config.stages) + LAUNCH_CYCLES


def _config(values: Mapping[str, Any]) -> HopperConfig:
    return HopperConfig(**{name: values[name] for name in HopperConfig.__dataclass_fields__})


def _problem_of(named: Mapping[str, Any]) -> tuple[int, int, int, Epilogue, str]:
    """Rows, columns, bytes of K, epilogue and the results' type of a call."""
    epilogue = Epilogue(named["scaled"], named["biased"], named["activation"], named["added"])
    return named["M"], named["N"], named["K"] * ELEMENT_BYTES[named["in_dtype"]], epilogue, named["out_dtype"]


def hopper_gemm_space() -> Space:
    """The fields of `HopperConfig`; of all their combinations `hopper_gemm_candidates` of the call."""
    from flydsl.autotune import Space

    def is_worth_a_try(
        tile_n: int, stages: int, group_m: int, store_n: int | None, store_buffers: int, rows: int, splits: int,
        boxes: int, pingpong: bool, in_dtype: str, out_dtype: str, M: int, N: int, K: int, scaled: bool, biased: bool,
        activation: str, added: bool,
    ) -> bool:  # fmt: skip
        given = locals()
        return _config(given) in hopper_gemm_candidates(*_problem_of(given))

    def rows_are_the_calls(rows: int, M: int) -> bool:
        return rows == hopper_rows(M)

    def a_part_has_a_consumer(rows: int, splits: int, boxes: int, pingpong: bool) -> bool:
        return (not pingpong or (rows > ROWS and splits == 1)) and (boxes == 1 or rows <= ROWS)

    return Space(
        "hopper_gemm",
        constraints=[rows_are_the_calls, a_part_has_a_consumer, is_worth_a_try],
        rows=[128, 64, 32, 16],
        splits=list(SPLITS),
        boxes=[1, 2],
        pingpong=[False, True],
        tile_n=list(WIDTHS),
        stages=list(range(4, 17)),
        store_n=[None, 64, 32, 16],
        store_buffers=[2, 1],
        group_m=list(GROUPS),
    )


def hopper_gemm_estimate(config: Config, named: Mapping[str, Any]) -> float:
    """Cycles of a configuration; of the default, which is measured first, a little less than the least of all."""
    chosen, (m, n, k_bytes, epilogue, out_dtype) = _config(config.to_dict()), _problem_of(named)
    sizes = (m, n, k_bytes, ELEMENT_BYTES[named["in_dtype"]], ELEMENT_BYTES.get(out_dtype, 4), epilogue)
    candidates = hopper_gemm_candidates(m, n, k_bytes, epilogue, out_dtype)
    if chosen == candidates[0]:
        return 0.999 * min(hopper_gemm_cycles(one, *sizes) for one in candidates)
    return hopper_gemm_cycles(chosen, *sizes)


def hopper_gemm_tuner(*, default: bool = False, **search: Any) -> Autotuner:
    """The product under the tuner; `hopper_gemm_arguments` makes its arguments.

    With `default` a call has the default configuration unless something is known, or FLYDSL_AUTOTUNE=1 asks for a
    search. Offline artifacts have the name "hopper_gemm". `search` is passed to `flydsl.autotune.Search`.
    """
    from flydsl.autotune import Config, Search, autotune

    def hopper_gemm(
        out: Any, operands: list[dict[str, Any]], in_dtype: str, out_dtype: str, M: int, N: int, K: int, scaled: bool,
        biased: bool, activation: str, added: bool, rows: int, splits: int, boxes: int, pingpong: bool, tile_n: int,
        stages: int, store_n: int | None, store_buffers: int, group_m: int, stream: Any = None,
    ) -> None:  # fmt: skip
        config = HopperConfig(tile_n, stages, group_m, store_n, store_buffers, rows, splits, boxes, pingpong)
        multiply(**operands_in_turn(operands), activation=activation, config=config, stream=stream)

    hopper_gemm.source_digest = sources_hash()  # type: ignore[attr-defined]

    def usual(out: Any, operands: Any, *values: Any, stream: Any = None) -> Config:
        names = ("in_dtype", "out_dtype", "M", "N", "K", "scaled", "biased", "activation", "added")
        m, n, k_bytes, epilogue, out_dtype = _problem_of(dict(zip(names, values, strict=True)))
        found = default_hopper_config(m, n, k_bytes=k_bytes, epilogue=epilogue, out_dtype=out_dtype)
        return Config(**vars(found))

    return autotune(
        Search(hopper_gemm_space(), **{"estimate": hopper_gemm_estimate, "method": "halving", **search}),
        key=["in_dtype", "out_dtype", "M", "N", "K", "scaled", "biased", "activation", "added"],
        default=usual if default else None,
        artifact_name="hopper_gemm",
    )(hopper_gemm)


def hopper_gemm_arguments(operands: list[dict[str, Any]], activation: str = "none") -> tuple[Any, ...]:
    """What the tuner's function is called with, for arguments of `multiply` (all tensors) that take turns."""
    first = operands[0]
    a, out = first["a"], first["out"]
    (m, k), n = a.shape, first["b"].shape[0]
    given = {name for name, tensor in first.items() if tensor is not None}
    flags = ("scale_a" in given, "bias" in given, activation, "residual" in given)
    return (out, operands, dtype_name(a.dtype), dtype_name(out.dtype), int(m), int(n), int(k), *flags)
