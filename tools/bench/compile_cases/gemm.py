# SPDX-License-Identifier: Apache-2.0
"""Every GEMM that the defaults can choose.

The kernels are the main loops that defaults.json lists, for each type or format of operands, its tiles for plain
operands by the plan, products of int8 and int4, and of groups, for K of eight steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_EIGHT_BITS = ("fp8", "int8")
_INT4_TILES = ((16, 64), (64, 128), (64, 256), (128, 128), (128, 256))
_COLUMNS, _GROUPS = 4096, 4


def cases(arch: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, fields of `TileGemm`) of each kernel for a target."""
    from flydsl.kernels.common.defaults import defaults

    listed = []
    for form in defaults("tiled_loops", arch):
        loop, waves = form.get("loop", {}), form["waves"] if form.get("given") else None
        for dtype in form["types"]:
            name = _plain_name(dtype, form["tile"], waves, loop)
            fields = {"direct": loop.get("direct", False) and not loop.get("quadrants", False)}
            if waves:
                fields |= {"waves": tuple(waves[:2]), "k_waves": waves[2]}
            if name in listed:  # the first of them is taken
                continue
            listed.append(name)
            yield name, _plain(dtype, form["tile"], form["step_bytes"]) | fields
    table = defaults("gemm", arch)
    for tile in [*table["tiles"], *(tile for _, tile in table["few_rows"])]:
        for dtype in ("fp16", "bf16", *_EIGHT_BITS):
            name = _plain_name(dtype, tile, None, {})
            if name not in listed:
                yield name, _plain(dtype, tile, 512)
    for tile in _INT4_TILES:
        yield _plain_name("int4", tile, None, {}), _plain("int4", tile, 256) | {"shuffled": True}
    for _, tile, order in defaults("grouped_gemm", arch)["tiles"]:
        groups = {"groups": _GROUPS, "xcd_swizzle": order}
        for dtype in ("bf16", "fp8"):
            yield f"groups {_plain_name(dtype, tile, None, {})}", _plain(dtype, tile, 512) | groups
        if arch == "gfx950" and tile[0] * tile[1] <= 128 * 128:
            mixed = _scaled(["fp8", "fp8"], tile, 128, False) | {"unit_scales": True} | groups
            yield f"groups fp8/fp8 {tile[0]}x{tile[1]}", mixed
    for form in defaults("scaled_loops", arch):
        direct = form["loop"].get("direct", False) and not form["loop"].get("quadrants", False)
        for formats in form["formats"]:
            for shuffled in (True, False):
                name = f"{'/'.join(formats)} {form['tile'][0]}x{form['tile'][1]}{' direct' * direct}"
                name += " shuffled" * shuffled
                yield name, _scaled(formats, form["tile"], form["step"], shuffled) | {"direct": direct}
    formats = ["fp4/fp4", "fp6/fp4", "fp8/fp4", "fp8/fp8", "fp8/f32"] if arch == "gfx950" else ["fp8/f32"]
    usual = [[16, 64], [32, 64], [64, 128], [128, 128]]  # of `scaled_tile`
    for tile in usual:
        for one in formats:
            forms = [form for form in defaults("scaled_loops", arch) if form["tile"] == tile]
            if not any(one.split("/") in form["formats"] for form in forms):
                yield f"{one} {tile[0]}x{tile[1]}", _scaled(one.split("/"), tile, 512, False)


def _plain_name(dtype: str, tile: Any, waves: Any, loop: dict[str, Any]) -> str:
    name = f"{dtype} {tile[0]}x{tile[1]}" + (" waves " + "x".join(map(str, waves)) if waves else "")
    return name + " direct" * (loop.get("direct", False) and not loop.get("quadrants", False))


def _plain(dtype: str, tile: Any, step_bytes: int) -> dict[str, Any]:
    size = 1 if dtype in (*_EIGHT_BITS, "int4") else 2
    return {
        "in_dtype": dtype, "tile_m": tile[0], "tile_n": tile[1], "tile_k": step_bytes // size,
        "K": 8 * step_bytes // size, "shuffled": False, "scaled": size == 1,
    }  # fmt: skip


def _scaled(formats: Any, tile: Any, step: int, shuffled: bool) -> dict[str, Any]:
    return {
        "in_dtype": formats[0], "tile_m": tile[0], "tile_n": tile[1], "tile_k": step, "K": 8 * step,
        "shuffled": shuffled, "scaled": False, "block_scaled": formats[1] == "f32",
        "b_mx": "" if formats[1] == "f32" else formats[1],
    }  # fmt: skip


def compile_one(arch: str, fields: dict[str, Any]) -> None:
    """Compile a kernel of `cases`."""
    import flydsl.compiler as flyc

    launch, arguments = problem(arch, fields)
    flyc.compile.only(launch, *arguments)


def problem(arch: str, fields: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """The host function of a kernel of `cases`, and arguments for it."""
    import torch

    from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
    from flydsl.kernels.gemm.tile_spec import TileGemm

    others = {name: value for name, value in fields.items() if name != "scaled"}
    epilogue = Epilogue(scaled=fields["scaled"])
    return launcher(TileGemm(arch=arch, N=_COLUMNS, out_dtype="bf16", epilogue=epilogue, **others), torch)


def launcher(gemm: Any, torch: Any) -> tuple[Any, tuple[Any, ...]]:
    """The host function of a kernel, and arguments for it."""
    import flydsl.compiler as flyc
    import flydsl.expr as fx
    from flydsl.kernels.gemm.tile_gemm import build_tile_gemm

    multiply = build_tile_gemm(gemm, "gemm")
    scaled = bool(gemm.epilogue.scaled or gemm.block_scaled or (gemm.b_mx and not gemm.unit_scales))

    @flyc.jit
    def product(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        group_offs: fx.Tensor,
        M: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        extras = {"scale_a": scale_a, "scale_b": scale_b} if scaled else {}
        if fx.const_expr(gemm.groups > 0):
            extras["group_offs"] = group_offs
        multiply(C, A, B, M, stream, **extras)

    rows, columns = gemm.tile_m, gemm.N * max(1, gemm.groups)
    kinds = {"fp16": torch.float16, "bf16": torch.bfloat16, "int8": torch.int8, "int4": torch.int8}
    a, b = (
        torch.zeros(count * gemm.row_bytes(of_b=of_b), dtype=torch.uint8)
        for count, of_b in ((rows, False), (columns, True))
    )
    if gemm.in_dtype in kinds:
        a, b = a.view(kinds[gemm.in_dtype]), b.view(kinds[gemm.in_dtype])
    if gemm.b_mx and not gemm.unit_scales:
        counts = [-(-count // 32) * 32 * (-(-gemm.K // 256) * 8) for count in (rows, columns)]
        scales = [torch.zeros(count, dtype=torch.uint8) for count in counts]
    elif gemm.block_scaled:
        blocks = gemm.K // 128
        scales = [torch.zeros(count) for count in (blocks * rows, blocks * (columns // 128))]
    else:
        scales = [torch.zeros(count) for count in (rows, columns)]
    c, offsets = torch.empty(rows * gemm.N, dtype=torch.bfloat16), torch.zeros(gemm.groups + 1, dtype=torch.int64)
    return product, (c, a, b, *scales, offsets, rows)
