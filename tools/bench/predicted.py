#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicted time and issue cycles of our kernels, the peer's code objects and Triton's, on problems of full size.

    tools/dev bench predicted --records records.json --objects folder --triton-venv build/bench-triton
    tools/dev bench predicted --records records.json --objects folder --only softmax --no-page

The problems are those of recorded launches of the peer (the format of `fly-emu predict --records`; records and objects
are not part of the repository), the newest of each kernel that we have too: GEMM with preshuffled B, attention,
softmax, RMSNorm; and products with scales of parts of K, for which it has none (`--only` looks at their names, too).
Ours has the tile of the peer's, or that of our default for the shape (8 and 16 bits) where it is faster; of Triton's
candidates the fastest by prediction counts. All three run on the same model of the same device
(docs/emulator/prediction.md): a sample of their workgroups, tensors of zeros. That results are right is tested
elsewhere. Issue cycles are those of all waves, from the same sample.

The table goes to docs/benchmarks/predicted.md, where a run with --only renews its rows. Nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "benchmarks" / "predicted.md"
DEVICES = {"gfx942": "MI325X", "gfx950": "MI355X"}
_GEMM = re.compile(r"(\d+)x(\d+)x(\d+)_tile(\d+)x(\d+)x(\d+)(_2tg)?$")
_ROWS = re.compile(r"(\d+)x(\d+)$")
_ATTENTION = re.compile(r"B(\d+)S(\d+)H(\d+)Hkv(\d+)D(\d+)_causal$")


_HEAD = """# Predicted time on problems of full size

Written by `tools/bench/predicted.py`; a run with `--only` renews a part. A row is of the kernels and the model of the
commit that wrote its line (`git blame`): compare within a row, not between rows. **Predicted, not measured**: by the
time model, whose errors against published timings [its page](../emulator/prediction.md) has. Microseconds, with the
bound in brackets; beside them millions of issue cycles (all waves, each alone, by LLVM's scheduling model). The
problems are those of the peer's code objects that we have a kernel for, and some with scales of parts of K that it has
none for. Ours has the peer's tile, or that of our default for the shape, which the brackets then name, and without a
peer the best of some; of Triton's candidates the fastest counts. A ratio below 1 says that ours is faster. Where
Triton has no figure, it has no such kernel (its `dot_scaled` takes E2M1, E4M3 and E5M2, but no FP6), or the row is a
second form of ours and the peer's for a problem that has Triton's above.

| device | kernel | problem | ours | issue | peer | issue | Triton | issue | ours / peer | ours / Triton |
|---|---|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Problem:
    """Our launch on a problem, and Triton's candidates for it."""

    run: Callable[[], Any]
    triton: tuple[Any, ...]
    tile: str = ""  # where it is not the peer's


def gemm(record: dict[str, Any], match: re.Match[str]) -> tuple[Problem, ...]:
    """C = A B^T with preshuffled B, for a dtype that we have, by the peer's tile and our default."""
    import torch
    from kernel_cases import gemm as cases
    from kernel_cases.model import float8

    from flydsl.kernels.gemm.config import default_config
    from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm

    if record["dtype"] in ("fp4", "fp6fp4"):
        return mx_gemm(record, match)
    m, n, k, *tile = (int(one) for one in match.groups()[:6])
    dtype, asynchronous = record["dtype"], record["op"] == "gemm_async"
    if dtype not in cases.DTYPES or record["op"] not in ("gemm", "gemm_async"):
        return ()
    if asynchronous and record["arch"] != "gfx950":  # whose loads into LDS are wide enough for ours
        return ()
    kind = {"fp8": float8(record["arch"])[0], "int8": torch.int8, "bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
    options = {"use_async_copy": True, "waves_per_eu": 2} if asynchronous else {}
    a, b = (torch.zeros(rows, k, dtype=torch.uint8 if dtype == "fp8" else kind).view(kind) for rows in (m, n))
    c, empty = torch.zeros(m, n, dtype=torch.bfloat16), torch.empty(0)
    scaled = dtype in ("fp8", "int8")
    scale_a, scale_b = (torch.ones(m), torch.ones(n)) if scaled else (empty, empty)
    arguments = {"a": a, "b": b, "c": c, "scale_a": torch.ones(m), "scale_b": torch.ones(n), "m": m, "n": n, "k": k}
    triton = () if options else cases._triton(arguments, scaled)

    def of_tile(tile_m: int, tile_n: int, tile_k: int, name: str = "") -> Problem:
        launch = compile_preshuffle_gemm(
            N=n, K=k, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, in_dtype=dtype, out_dtype="bf16", **options
        )
        return Problem(lambda: launch(c, a, b, scale_a, scale_b, empty, m, n), triton, name)

    ours = default_config(record["arch"], dtype, m, n, k)
    other = (ours.tile_m, ours.tile_n)
    if options or ours.split_k > 1 or ours.waves is not None or other == (tile[0], tile[1]):
        return (of_tile(tile[0], tile[1], tile[2]),)
    return (
        of_tile(tile[0], tile[1], tile[2]),
        of_tile(*other, ours.tile_k, f", tile {other[0]}x{other[1]}"),
    )


def mx_gemm(record: dict[str, Any], match: re.Match[str]) -> tuple[Problem, ...]:
    """C = A B^T of MXFP4 weights and MXFP4 or MXFP6, in the order of `shuffle_weight` or, of 256 x 256, row-major."""
    import torch
    from kernel_cases.gemm import triton_of_mx

    from flydsl.kernels.gemm.fp4_gemm_4wave import compile_fp4_gemm_4w
    from flydsl.kernels.gemm.scaled_tiles import scaled_tile
    from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_w4

    m, n, k, *tile = (int(one) for one in match.groups()[:6])
    kind = "fp4" if record["dtype"] == "fp4" else "fp6"
    a = torch.zeros(m, k if kind == "fp6" else k // 2, dtype=torch.uint8)
    b = torch.zeros(n, k // 2, dtype=torch.uint8)
    scales = [torch.full((-(-rows // 32) * 32, k // 32), 127, dtype=torch.uint8) for rows in (m, n)]
    c = torch.zeros(m, n, dtype=torch.bfloat16)
    triton = triton_of_mx(m, n, k) if kind == "fp4" else ()
    if record["op"] == "gemm_fp4":
        plain = compile_fp4_gemm_4w(K=k)
        return (Problem(lambda: plain(a, b, c, *scales, m, n), triton),)
    options = {"use_async_copy": True, "waves_per_eu": 2} if record["op"] == "gemm_fp4_async" else {}

    def of_tile(tile_m: int, tile_n: int, tile_k: int, name: str = "") -> Problem:
        launch = compile_preshuffle_gemm_w4(
            N=n, K=k, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, a_dtype=kind, **options
        )
        empty = torch.empty(0, dtype=torch.bfloat16)
        return Problem(lambda: launch(c, a, b, *scales, empty, m, n), triton, name)

    ours = scaled_tile(record["arch"], m, n, k, (kind, "fp4"))
    if options or ours == (tile[0], tile[1]):
        return (of_tile(tile[0], tile[1], tile[2]),)
    return (of_tile(tile[0], tile[1], tile[2]), of_tile(*ours, 256, f", tile {ours[0]}x{ours[1]}"))


def block_scaled(arch: str, m: int, n: int, k: int) -> tuple[Problem, ...]:
    """C = A B^T of fp8 with a scale for 128 of K (and 128 rows of B), B preshuffled, by tiles."""
    import torch
    from kernel_cases.gemm import triton_of_blocks
    from kernel_cases.model import float8

    from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8

    kind = float8(arch)[0]
    a, b = (torch.zeros(rows, k, dtype=torch.uint8).view(kind) for rows in (m, n))
    scales = torch.ones(k // 128 * m), torch.ones(-(-n // 128) * (k // 128))
    c = torch.zeros(m, n, dtype=torch.bfloat16)

    def of_tile(tile: tuple[int, int]) -> Problem:
        launch = compile_preshuffle_gemm_a8(
            M=m, N=n, K=k, tile_m=tile[0], tile_n=tile[1], tile_k=256, scale_mode="blockscale", out_dtype="bf16"
        )
        return Problem(lambda: launch(c, a, b, *scales, m, n), triton_of_blocks(arch, m, n, k))

    return tuple(of_tile(tile) for tile in _TILES if tile[0] <= max(64, m) and (arch == "gfx950" or tile != _TILES[-1]))


def mx_fp8(m: int, n: int, k: int, b_format: str) -> tuple[Problem, ...]:
    """C = A B^T of MXFP8 and MXFP8 (row-major, scales as they come) or MXFP4 (preshuffled, scales in our order)."""
    import torch
    from kernel_cases.gemm import triton_of_mx

    from flydsl.kernels.gemm.mxfp8_gemm_interface import gemm_mxfp8
    from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8

    triton = triton_of_mx(m, n, k, ("e4m3", "e4m3" if b_format == "fp8" else "e2m1"))
    a = torch.zeros(m, k, dtype=torch.uint8)
    if b_format == "fp8":
        kind = torch.float8_e4m3fn
        b = torch.zeros(n, k, dtype=torch.uint8).view(kind)
        plain = [torch.full((rows, k // 32), 127, dtype=torch.uint8) for rows in (m, n)]
        return (Problem(lambda: gemm_mxfp8(a.view(kind), plain[0], b, plain[1]), triton),)
    b = torch.zeros(n, k // 2, dtype=torch.uint8)
    scales = [torch.full((-(-rows // 32) * 32, -(-k // 256) * 8), 127, dtype=torch.uint8) for rows in (m, n)]
    c = torch.zeros(m, n, dtype=torch.bfloat16)

    def of_tile(tile: tuple[int, int]) -> Problem:
        launch = compile_preshuffle_gemm_a8(
            M=m, N=n, K=k, tile_m=tile[0], tile_n=tile[1], tile_k=256, in_dtype="a8w4", out_dtype="bf16"
        )
        return Problem(lambda: launch(c, a, b, *scales, m, n), triton)

    return tuple(of_tile(tile) for tile in _TILES if tile[0] <= max(64, m))


_TILES = ((64, 128), (128, 128), (128, 256), (256, 256))  # of ours where there is no peer's
_SCALED = ((128, 4096, 7168), (4096, 4096, 7168))


def without_peer(arch: str) -> Iterator[tuple[str, str, Callable[[], tuple[Problem, ...]]]]:
    """Name and problem of those that the peer has no code object for, and what makes ours, one for each tile."""
    for m, n, k in _SCALED:
        yield "gemm fp8 block-scaled", f"{m}x{n}x{k}", partial(block_scaled, arch, m, n, k)
        if arch == "gfx950":
            yield "gemm mxfp8", f"{m}x{n}x{k}", partial(mx_fp8, m, n, k, "fp8")
            yield "gemm mxfp8 mxfp4", f"{m}x{n}x{k}", partial(mx_fp8, m, n, k, "fp4")


def rows(record: dict[str, Any], match: re.Match[str]) -> tuple[Problem, ...]:
    """Softmax or RMSNorm over the last extent."""
    import torch
    from kernel_cases import rows as cases
    from kernel_cases.model import TORCH, TritonKernel, power_of_two

    from flydsl.kernels.norm.rmsnorm_kernel import build_rmsnorm_module
    from flydsl.kernels.norm.softmax_kernel import build_softmax_module

    operation, count, columns = record["op"], int(match[1]), int(match[2])
    x, y = (torch.zeros(count, columns, dtype=TORCH[record["dtype"]]) for _ in range(2))
    if operation == "softmax":
        softmax = build_softmax_module(count, columns, record["dtype"])
        inputs, extra, run = {"x": x}, {}, lambda: softmax(x, y, count)
    elif operation == "rmsnorm":
        weight = torch.zeros(columns, dtype=x.dtype)
        rmsnorm = build_rmsnorm_module(columns, record["dtype"])
        inputs, extra, run = {"x": x, "weight": weight}, {"eps": cases.EPS}, lambda: rmsnorm(x, weight, y, count)
    else:
        return ()
    constants = {"COLUMNS": columns, "BLOCK": power_of_two(columns)}
    triton = tuple(
        TritonKernel(operation, {**inputs, "y": y, **extra}, constants, (count, 1, 1), warps) for warps in (4, 8, 16)
    )
    return (Problem(run, triton),)


def attention(record: dict[str, Any], match: re.Match[str]) -> tuple[Problem, ...]:
    """Causal attention, forward."""
    import torch
    from kernel_cases import attention as cases
    from kernel_cases.model import TORCH, TritonKernel

    from flydsl.kernels.attention.config import shape_config
    from flydsl.kernels.attention.flash_attn_kernel import build_dense

    batch, length, heads, kv_heads, head = (int(one) for one in match.groups())
    if record["op"] != "flash_attn":
        return ()
    kind = TORCH[record["dtype"]]
    q, out = (torch.zeros(batch, length, heads, head, dtype=kind) for _ in range(2))
    k, v = (torch.zeros(batch, length, kv_heads, head, dtype=kind) for _ in range(2))
    lse = torch.zeros(batch, heads, length)
    config = shape_config(record["arch"], batch * heads, length, length, head, True)
    launch = build_dense(heads, kv_heads, head, record["dtype"], True, False, None, config)
    arguments = {"q": q, "k": k, "v": v, "out": out, "lse": lse, "queries": length, "keys": length, "scale": head**-0.5}
    constants = {"HEADS": heads, "KV_HEADS": kv_heads, "HEAD": head, "CAUSAL": True}
    triton = tuple(
        TritonKernel("attention", arguments, {**constants, "BLOCK_M": m, "BLOCK_N": n},
                     (-(-length // m), batch * heads, 1), warps)
        for m, n, warps in cases.BLOCKS
    )  # fmt: skip
    return (Problem(lambda: launch(q, k, v, out, lse, batch, length, length), triton),)


def problems_of(record: dict[str, Any]) -> tuple[Problem, ...]:
    """Ours for a record; none for a kernel that we do not have, or not with these settings."""
    for pattern, build in ((_GEMM, gemm), (_ATTENTION, attention), (_ROWS, rows)):
        if match := pattern.match(record["shape"]):
            return build(record, match)
    return ()


def newest(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The last recorded version of each kernel on the devices of `DEVICES`."""
    last = {record["id"].rsplit("__", 1)[0]: record for record in records if record["arch"] in DEVICES}
    yield from last.values()


def figures(*predictions: Any) -> dict[str, Any]:
    """What the table has of the predictions of a call's launches: the sum of their times, the bound of the longest."""
    longest = max(predictions, key=lambda one: float(one.seconds)).data
    return {
        "us": sum(one.data["time_us"] for one in predictions),
        "error": longest["error"],
        "bound": longest["bound"],
        "waves": longest["occupancy"]["waves_per_simd"],
        "issue_cycles": sum(one.data["issue_cycles"] for one in predictions),
    }


def triton_figures(arch: str, candidates: tuple[Any, ...], python: Path) -> dict[str, Any] | None:
    """Those of the fastest candidate; None where none could be built."""
    from kernel_cases import measure
    from row_times import triton_of

    with tempfile.TemporaryDirectory() as folder:
        answers = measure.build_triton(python, [one.request(arch) for one in candidates], Path(folder))
        best = triton_of(arch, SimpleNamespace(triton=candidates), answers)
    return None if best is None else {**figures(best[0]), "choice": best[1]}


def row_of(
    arch: str, name: str, shape: str, problems: tuple[Problem, ...], warm: bool, python: Path | None
) -> dict[str, Any]:
    """A row without the peer's: the fastest of ours, and of Triton's where there is an interpreter for it."""
    from flydsl.emulator.predicting import predict

    ours = []
    for problem in problems:
        with predict(DEVICES[arch], sampled=True, warm=warm) as session:
            problem.run()
        ours.append({**figures(*session.launches), "tile": problem.tile})
    row = {
        "device": DEVICES[arch], "kernel": name, "shape": shape, "ours": min(ours, key=lambda one: float(one["us"])),
    }  # fmt: skip
    if python is not None and problems[0].triton:
        best = triton_figures(arch, problems[0].triton, python)
        row |= {} if best is None else {"triton": best}
    return row


def work(options: argparse.Namespace) -> None:
    """All problems of one architecture (in a process of its own: the architecture is that of a process)."""
    from flydsl.emulator.device import Emulator
    from flydsl.emulator.predicting import Prediction
    from flydsl.emulator.records import is_warm, predict_record

    arch = options.arch[0]
    python = None if options.triton_venv is None else options.triton_venv / "bin" / "python"
    results = []
    for record in newest(json.loads(options.records.read_text())["records"]):
        if record["arch"] != arch or not re.search(options.only, record["id"]):
            continue
        problems = problems_of(record)
        if not problems:
            continue
        name = f"{record['op'].replace('_', ' ')} {record['dtype']}"
        row = row_of(arch, name, record["shape"].replace("_", ", "), problems, is_warm(record), python)
        # The device of the process is one of our architecture: the record's launches run on it, too.
        theirs = Prediction(predict_record(Emulator(), record, options.objects)["launches"][0])
        results.append({**row, "peer": figures(theirs)})
        print(_line(results[-1]), flush=True)
    for name, shape, make in without_peer(arch):
        if re.search(options.only, f"{name} {shape}"):
            results.append(row_of(arch, name, shape, make(), False, python))
            print(_line(results[-1]), flush=True)
    Path(options.worker).write_text(json.dumps(results))


def _cell(one: dict[str, Any] | None) -> str:
    if one is None:
        return " | "
    return f"{one['us']:.4g} ({one['bound']}{one.get('tile', '')}) | {one['issue_cycles'] / 1e6:,.4g}"


def _line(row: dict[str, Any]) -> str:
    others = [row.get("peer"), row.get("triton")]
    cells = [row["device"], row["kernel"], row["shape"], _cell(row["ours"]), *map(_cell, others)]
    ratios = ["" if one is None else f"{row['ours']['us'] / one['us']:.2f}" for one in others]
    return f"| {' | '.join([*cells, *ratios])} |"


def page(lines: list[str]) -> str:
    """The page of the documentation: rows that are there, renewed or followed by these."""
    present = PAGE.read_text().splitlines() if PAGE.exists() else []
    found = [line for line in present if line.startswith(tuple(f"| {name} |" for name in DEVICES.values()))]
    # A row is known by its device, kernel and problem.
    table = {tuple(line.split("|")[1:4]): line for line in [*found, *lines]}
    return _HEAD + "\n".join(table.values()) + "\n"


def main() -> int:
    """A process for each architecture; then the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--records", type=Path, required=True, help="recorded launches of the peer (JSON)")
    parser.add_argument("--objects", type=Path, required=True, help="the folder of their code objects")
    parser.add_argument("--arch", nargs="+", choices=sorted(DEVICES), default=sorted(DEVICES))
    parser.add_argument("--only", default="", metavar="REGEX", help="only records whose id matches")
    parser.add_argument("--triton-venv", type=Path, metavar="DIR", help="environment with Triton; made if missing")
    parser.add_argument("--no-page", action="store_true", help="print only")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options)
        return 0
    if options.triton_venv is not None:
        from kernels import make_triton

        options.triton_venv = options.triton_venv.resolve()
        make_triton(options.triton_venv)
    results: list[dict[str, Any]] = []
    for arch in options.arch:
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "result.json"
            variables = {**os.environ, "ARCH": arch, "FLYDSL_GPU_ARCH": arch, "FLYDSL_EMU_DEVICES": arch}
            command = [sys.executable, str(HERE / "predicted.py"), "--worker", str(result), "--arch", arch]
            command += ["--records", str(options.records), "--objects", str(options.objects), "--only", options.only]
            command += ["--triton-venv", str(options.triton_venv)] if options.triton_venv else []
            subprocess.run(command, env=variables, check=True)
            results += json.loads(result.read_text())
    if not options.no_page:
        PAGE.write_text(page([_line(row) for row in results]))
        print(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
