#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Main loops of the GEMMs and of attention on gfx1100, gfx1201 and gfx1250: what they issue, per matrix instruction.

    tools/dev bench wave32_loops --peer-isa peer-isa.json          # writes docs/benchmarks/wave32.md
    tools/dev bench wave32_loops --arch gfx1201 --only fp8 --no-page

Static figures of what the builders compile to with their defaults (and the tiles that `defaults.json` has): nothing
runs, on an emulator or on hardware. The share of the matrix unit is that of one wave alone: a WMMA takes the cycles of
AMD's published rates (gfx1250: of LLVM's model), anything else 1. The peer's shares come from the file of `--peer-isa`.
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
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ARCHITECTURES = ("gfx1100", "gfx1201", "gfx1250")
N = K = 4096
_CLASSES = ("mfma", "ds_read", "ds_write", "vmem_load", "valu", "salu", "waitcnt", "barrier", "nop")
_HEAD = """# Main loops on waves of 32 lanes: static figures

Written by `tools/bench/wave32_loops.py`; run it again with

    tools/dev bench wave32_loops --peer-isa <the peer's figures>

**Nothing here ran, on an emulator or on hardware.** What the builders compile to with their defaults, M = N = K = 4096.
The share is that of the matrix unit in the issue cycles of the main loop, of one wave alone: a WMMA takes the cycles of
AMD's published rates (on gfx1250, of which nothing is published, those of LLVM's model), anything else 1. The other
columns count instructions of one pass over the loop. "At most": the share that the tile could have if nothing but its
products, its accesses to LDS and memory, and its barriers were left. "Bar": what is wanted of main loops of GEMMs,
0.89 on gfx1201 and 0.91 on gfx1100; on gfx1250 the peer's 0.77, and 0.71 of those with E8M0 scales. Shares below it
are bold. "Peer": the share of its code for the same type and tile, where there is one.

Which row is the default: of `gemm`, 16 x 64 up to 16 rows of A, 32 x 64 up to 32, else the largest tile of which there
are as many as compute units, so 128 x 128 for large products (`gemm.config.default_config`); the form of each, waves
and what goes through LDS, is a row of `wmma_loops` in `defaults.json`. fp16 is as bf16. Of the builders for one type it
is 128 x 128, and of fp8 without LDS 32 x 128. The other tiles of gfx1100 are what `rdna3_f16_gemm_autotune.pick_tile`
takes for small products.

What stays below its bar: bf16 in 16 x 64 on gfx1100, where a wave that has the tile alone has 0.88 and takes a
predicted 55 us for 16 x 4096 x 4096 and not 48; the two smallest tiles of `pick_tile` there; and fp8 without LDS in
16 x 128, which is no default. A product of 16 x 16 has fewer others there that share its operands."""
Made = tuple[Any, tuple[Any, ...]]


def cases(arch: str) -> Iterator[tuple[str, str | None, Callable[[], Made]]]:
    """(name, the peer's entry, what makes the launcher and its arguments)."""
    if arch == "gfx1250":
        yield from _gfx1250()
        return
    peer = "rdna_gemm_{}" if arch == "gfx1201" else "rdna3_gemm_{}"
    for kind in ("bf16", "fp16"):
        entry = peer.format({"fp16": "f16"}.get(kind, kind))
        yield f"{kind}, 128 x 128 x 32", entry, lambda kind=kind: _half(arch, kind)
    if arch == "gfx1100":
        yield "bf16, 128 x 128 x 32, sched_hint", peer.format("bf16"), lambda: _half(arch, "bf16", sched_hint=True)
        yield "bf16, 128 x 128 x 32, persistent_wgs=96", None, lambda: _half(arch, "bf16", persistent_wgs=96)
        for tile in ((256, 256, 32), (128, 64, 32), (64, 64, 64), (32, 64, 64), (32, 32, 64)):
            yield f"bf16, {' x '.join(map(str, tile))}", None, lambda tile=tile: _tile(tile)
    else:
        for rows in (16, 32, 64, 128):
            yield f"fp8, {rows} x 128, no LDS", None, lambda rows=rows: _fp8(rows)
    yield "int8, 128 x 128 x 64", None, lambda: _integers("int8")
    yield "int4, 128 x 128 x 128", None, lambda: _integers("int4")
    for kind in ("bf16", "int8", "int4") if arch == "gfx1100" else ("bf16", "int8", "int4", "fp8"):
        for tile_mn in ((16, 64), (32, 64), (64, 64), (64, 128), (128, 128)):
            name = f"`gemm` {kind}, {tile_mn[0]} x {tile_mn[1]}"
            yield name, None, lambda kind=kind, tile_mn=tile_mn: _row_major(kind, tile_mn)
    for head in (64, 96, 128, 192, 256):
        for causal in (False, True):
            name = f"attention, heads of {head}{', causal' * causal}"
            yield name, None, lambda head=head, causal=causal: _attention(head, causal)


def bar(arch: str, name: str) -> float | None:
    """The share that is wanted of a case's main loop."""
    if arch == "gfx1250":
        return 0.71 if "MX" in name or "mxscale" in name else 0.77
    return None if name.startswith("attention") else {"gfx1100": 0.91, "gfx1201": 0.89}[arch]


def _half(arch: str, kind: str, **options: Any) -> Made:
    import torch

    from flydsl.kernels.gemm import rdna3_f16_gemm, rdna_f16_gemm

    builder = (rdna_f16_gemm if arch == "gfx1201" else rdna3_f16_gemm).create_wmma_gemm_module
    dtype = torch.bfloat16 if kind == "bf16" else torch.float16
    made = (torch.empty(rows, columns, dtype=dtype) for rows, columns in ((N, N), (N, K), (N, K)))
    return builder(N, N, K, kind, kind, **options), tuple(made)


def _tile(tile: tuple[int, int, int]) -> Made:
    from flydsl.kernels.gemm.rdna3_f16_gemm_autotune import tile_opts

    return _half("gfx1100", "bf16", **tile_opts(tile))


def _integers(kind: str) -> Made:
    import torch

    from flydsl.kernels.gemm.wmma_integers import create_wmma_integer_gemm_module

    row = K // 2 if kind == "int4" else K
    c, a = torch.empty(N, N, dtype=torch.int32), torch.empty(N, row, dtype=torch.int8)
    return create_wmma_integer_gemm_module(N, N, K, kind)[0], (c, a, torch.empty_like(a))


def _fp8(rows: int) -> Made:
    import torch

    from flydsl.kernels.gemm.rdna_fp8_preshuffle_gemm import compile_fp8_gemm

    a = torch.empty(N, K, dtype=torch.uint8).view(torch.float8_e4m3fn)
    c, scale = torch.empty(N, N, dtype=torch.bfloat16), torch.empty(N)
    return compile_fp8_gemm(M=N, N=N, K=K, tile_m=rows), (c, a, torch.empty_like(a), scale, torch.empty_like(scale))


def _row_major(kind: str, tile: tuple[int, int]) -> Made:
    import torch

    from flydsl.kernels.gemm.config import GemmConfig
    from flydsl.kernels.gemm.row_major_gemm import compile_gemm

    dtype = {"bf16": torch.bfloat16, "int8": torch.int8, "int4": torch.int8, "fp8": torch.float8_e4m3fn}[kind]
    config, held = GemmConfig(tile[0], tile[1], 512 // dtype.itemsize), K // 2 if kind == "int4" else K
    a, c, none = torch.empty(N, held, dtype=dtype), torch.empty(N, N, dtype=torch.bfloat16), torch.empty(0)
    scale = torch.empty(N) if dtype.itemsize == 1 else none
    name = "int4x2" if kind == "int4" else kind
    launch = compile_gemm(N=N, K=held, config=config, in_dtype=name, out_dtype="bf16")
    return launch, (c, a, torch.empty_like(a), scale, torch.empty_like(scale), c[:0, 0], c[:0, 0], none, N)


def _attention(head: int, causal: bool) -> Made:
    import torch

    from flydsl.kernels.attention.flash_attn_generic import build_flash_attn_func_module_primary

    heads, rows = 32, 4096
    launch = build_flash_attn_func_module_primary(heads, head, causal, "bf16")
    q, k, v, out = (torch.empty(1, rows, heads, head, dtype=torch.bfloat16) for _ in range(4))
    none = torch.empty(0, dtype=torch.int32)
    return launch, (q, k, v, out, torch.empty(0), none, none, none, 0, 1, rows, rows)


def _gfx1250() -> Iterator[tuple[str, str | None, Callable[[], Made]]]:
    for kind in ("fp16", "bf16"):
        yield f"{kind}, 256 x 256 x 128", None, lambda kind=kind: _tdm(kind)
    for buffers in (2, 3, 4):
        entry = "gfx1250_a8w8_ptpc_256x256x128" if buffers == 4 else None
        yield f"fp8 (a8w8), 256 x 256 x 128, {buffers} buffers", entry, lambda buffers=buffers: _a8w8(buffers)
    for form in ("fp4", "fp8", "a8w4"):
        yield f"MX {form}, 128 x 128 x 128", None, lambda form=form: _mx(form, (128, 128, 128), 2)
    yield "MX a8w4, 128 x 256 x 256, 3 buffers", None, lambda: _mx("a8w4", (128, 256, 256), 3)
    for depth in (128, 256):
        entry = "gfx1250_a8w4_mx_128x256x128" if depth == 256 else None  # whose step is 256, in spite of its name
        yield f"`launch_gemm_a8w4_mxscale`, 128 x 256 x {depth}, 3 buffers", entry, lambda depth=depth: _a8w4(depth)


def _tdm(kind: str) -> Made:
    import torch

    from flydsl.kernels.gemm.wmma_gemm_gfx1250 import compile_wmma_gemm_tdm

    dtype = torch.bfloat16 if kind == "bf16" else torch.float16
    made = (torch.empty(rows, columns, dtype=dtype) for rows, columns in ((N, N), (N, K), (N, K)))
    return compile_wmma_gemm_tdm(N=N, K=K, in_dtype=kind), (*made, N, N)


def _a8w8(buffers: int) -> Made:
    import torch

    import flydsl.compiler as flyc
    import flydsl.expr as fx
    from flydsl.kernels.gemm.gemm_a8w8_gfx1250 import launch_gemm_a8w8

    held = torch.empty(64)
    pointers = [
        flyc.from_c_void_p(kind, held.data_ptr(), assumed_align=16)
        for kind in (fx.BFloat16, fx.Uint8, fx.Uint8, fx.Float32, fx.Float32)
    ]
    return launch_gemm_a8w8.jit, (*pointers, N, None, N, K, 0, K, N, 256, 256, 128, 2, 2, 0, buffers)


def _a8w4(depth: int) -> Made:
    import torch

    import flydsl.compiler as flyc
    import flydsl.expr as fx
    from flydsl.kernels.gemm.gemm_a8w4_mxscale_gfx1250 import launch_gemm_a8w4_mxscale

    held = torch.empty(64)
    pointers = [
        flyc.from_c_void_p(kind, held.data_ptr(), assumed_align=16)
        for kind in (fx.BFloat16, fx.Uint8, fx.Uint8, fx.Uint8, fx.Uint8)
    ]
    return launch_gemm_a8w4_mxscale.jit, (*pointers, N, None, N, K, K, N, 128, 256, depth, 2, 2, 0, 3, 1, 1)


def _mx(form: str, tile: tuple[int, int, int], buffers: int) -> Made:
    import torch

    from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import DATA_FORMATS, compile_mxscale_gemm

    launch = compile_mxscale_gemm(
        data_format=form, N=N, K=K, tile_m=tile[0], tile_n=tile[1], tile_k=tile[2], num_buffers=buffers,
        out_dtype="bf16",
    )  # fmt: skip
    a, b = (torch.empty(N, K // (2 if one == "fp4" else 1), dtype=torch.uint8) for one in DATA_FORMATS[form])
    scale = torch.empty(N, K // 32, dtype=torch.uint8)
    return launch, (torch.empty(N, N, dtype=torch.bfloat16), a, b, scale, torch.empty_like(scale), N, N)


def work(options: argparse.Namespace) -> None:
    """The cases of one architecture, in the process that is compiled for it."""
    from isa.code_object import images_in
    from isa.statistics import of_image

    import flydsl.compiler as flyc

    arch = options.arch[0]
    for name, peer, make in cases(arch):
        if not re.search(options.only, name):
            continue
        launch, arguments = make()
        with tempfile.TemporaryDirectory() as folder:
            path = flyc.compile.only(launch, *arguments).export(Path(folder) / "kernel.so")
            found = of_image(images_in(Path(path))[0])
        best = max(found, key=lambda one: one.main_loop.matrix_cycles if one.main_loop else 0)
        assert best.main_loop is not None, name
        loop = best.main_loop
        counts = {kind: loop.classes.get(kind, 0) for kind in _CLASSES}
        needed = loop.matrix_cycles + sum(counts[kind] for kind in ("ds_read", "ds_write", "vmem_load", "barrier"))
        entry = {
            "arch": arch, "name": name, "peer": f"{peer}@{arch}" if peer else None, "share": loop.density,
            "most": None if name.startswith("attention") else loop.matrix_cycles / needed,
            "counts": counts, "other": loop.instructions - sum(counts.values()), "vgpr": best.vgpr,
            "spills": best.spills,
        }  # fmt: skip
        print(json.dumps(entry), flush=True)


def page(entries: list[dict[str, Any]], peer: dict[str, Any]) -> str:
    """The page, in Markdown."""
    lines = [_HEAD]
    columns = [*_CLASSES, "other"]
    for arch in dict.fromkeys(one["arch"] for one in entries):
        head = ["kernel, tile", "share", "bar", "at most", "peer"]
        head += ["WMMA" if one == "mfma" else one for one in columns]
        lines += ["", f"## {arch}", "", "| " + " | ".join([*head, "registers", "spilled"]) + " |"]
        lines += ["|" + "---|" * (len(head) + 2)]
        for one in (entry for entry in entries if entry["arch"] == arch):
            theirs = peer.get(one["peer"] or "")
            share = theirs["kernels"][0]["main_loop"]["mfma_density"] if theirs else None
            counts = [one["counts"].get(kind, one["other"]) for kind in columns]
            least = bar(arch, one["name"])
            shown = f"{one['share']:.3f}" if least is None or one["share"] >= least else f"**{one['share']:.3f}**"
            shares = ["" if value is None else f"{value:.3f}" for value in (one["most"], share)]
            cells = [one["name"], shown, "" if least is None else f"{least:.2f}", *shares, *counts]
            lines.append("| " + " | ".join(map(str, [*cells, one["vgpr"], one["spills"]])) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compile, print, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--arch", nargs="+", choices=ARCHITECTURES, default=list(ARCHITECTURES))
    parser.add_argument("--only", default="", metavar="REGEX", help="only cases whose name matches")
    parser.add_argument("--peer-isa", type=Path, metavar="PATH", help="the peer's static figures (JSON)")
    parser.add_argument("--no-page", action="store_true", help="print only, write nothing")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options)
        return
    entries = []
    for arch in options.arch:  # the architecture is that of a process
        command = [sys.executable, str(Path(__file__)), "--worker", "--arch", arch, "--only", options.only]
        variables = {**os.environ, "ARCH": arch, "FLYDSL_GPU_ARCH": arch, "FLYDSL_RUNTIME_ENABLE_CACHE": "0"}
        with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as worker:
            assert worker.stdout is not None
            for line in worker.stdout:
                entry = json.loads(line)
                entries.append(entry)
                print(f"{arch} {entry['name']}: {entry['share']:.3f}, {entry['counts']}, {entry['other']} others, "
                      f"{entry['vgpr']} registers, {entry['spills']} spilled", flush=True)  # fmt: skip
        if worker.returncode:
            raise SystemExit(f"the figures of {arch} failed")
    peer = json.loads(options.peer_isa.read_text()) if options.peer_isa else {}
    if not options.no_page:
        (ROOT / "docs" / "benchmarks" / "wave32.md").write_text(page(entries, peer))


if __name__ == "__main__":
    main()
