#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attention forward on an NVIDIA Hopper GPU: right against float64, and timed beside torch's SDPA in turns.

    tools/dev bench cuda_attention pack build/cuda/attention       # anywhere: the artifacts (PTX) of all cases
    python3 cuda_attention.py check build/cuda/attention           # on the GPU: awkward shapes, poisoned outputs
    python3 cuda_attention.py run build/cuda/attention out.json    # on the GPU: times

The machine with the GPU needs torch for CUDA and fly-runtime, and no compiler of ours; `cuda_timing.py` lies beside
this file. A time is that of a CUDA graph of calls over rotating operands, by events; the contenders take turns, and
each figure is the median of the rounds, with the least and the most. Peers are torch's `scaled_dot_product_attention`
by cuDNN and by its own flash attention, and FlashAttention-4 where it is installed (`cuda_peers.py`). FLOPs are
4 Sq Skv D of each head, half of it with the causal mask.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cuda_peers
from cuda_timing import (
    SECONDS_OF_A_SAMPLE,
    check_apart,
    graphs_of,
    in_processes,
    rates,
    stream,
    where,
    write_results,
)

_RESIDENT = 256 << 20
TOKENS = 16384  # of all sequences of a timed point
FEW_ROWS = 1024  # up to which causal heads of 64 have a default of their own
TIMED_LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
# Batch, query rows, keys, heads of Q, of K.
CHECKED = (
    (1, 128, 128, 1), (2, 64, 256, 2), (1, 1, 1, 1), (2, 77, 129, 3), (1, 513, 1000, 2), (1, 1000, 513, 2),
    (3, 384, 1025, 2), (1, 2048, 2048, 4), (1, 4100, 4100, 1),
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One artifact; `shape` is what HopperAttentionConfig takes, or none for the default, `few` that for few rows."""

    dtype: str
    head_dim: int
    causal: bool
    group: int = 1
    shape: tuple[int, ...] | None = None
    few: bool = False

    @property
    def name(self) -> str:
        """Of its artifact."""
        default = "few" if self.few else "default"
        shape = default if self.shape is None else "x".join(map(str, self.shape))
        return f"attention-{self.dtype}-{self.head_dim}-{'causal' if self.causal else 'full'}-{self.group}-{shape}"

    @staticmethod
    def of(name: str) -> Case:
        """The case of an artifact."""
        _, dtype, head_dim, mask, group, shape = name.split("-")
        shapes = None if shape in ("default", "few") else tuple(map(int, shape.split("x")))
        return Case(dtype, int(head_dim), mask == "causal", int(group), shapes, shape == "few")

    def stands_for(self, length: int) -> str | None:
        """What it is called where so many rows are timed: the operator's default, or what was tried beside; or none."""
        if self.shape is not None:
            return "x".join(map(str, self.shape))
        return "default" if self.few == (self.head_dim == 64 and self.causal and length <= FEW_ROWS) else None


# Other shapes than the default ones, that were tried.
TUNED: dict[int, tuple[tuple[int, ...], ...]] = {
    64: ((3, 128, 3),),
    128: ((2, 160, 2), (2, 176, 2), (2, 128, 2, 0)),
    192: (),
    256: (),
}


def cases(tuned: bool = False) -> Iterator[Case]:
    """All artifacts."""
    for head_dim in (64, 128, 192, 256):
        for causal in (False, True):
            yield Case("bf16", head_dim, causal)
            if head_dim == 64 and causal:
                yield Case("bf16", head_dim, causal, few=True)
            if tuned:
                for shape in TUNED[head_dim]:
                    yield Case("bf16", head_dim, causal, shape=shape)
    for head_dim, causal, group in ((64, True, 1), (128, False, 1), (128, True, 4)):
        yield Case("f16", head_dim, causal, group)
    yield Case("f16", 64, True, few=True)


def pack(folder: Path, tuned: bool) -> int:
    """Compile every case for the target (sm_90a unless the environment names another) into a folder."""
    os.environ.setdefault("FLYDSL_GPU_ARCH", "sm_90a")
    folder.mkdir(parents=True, exist_ok=True)
    some = [(case, folder / f"{case.name}.so") for case in cases(tuned)]
    in_processes(_compile, some)
    print(f"{len(some)} artifacts")
    return 0


def _compile(what: tuple[Case, Path]) -> None:
    """Compile a case into an artifact."""
    from flydsl.kernels.attention.hopper_config import HopperAttentionConfig, default_hopper_config

    case, path = what
    if case.shape is None:
        config = default_hopper_config(case.head_dim, case.causal, FEW_ROWS if case.few else None)
    else:
        config = HopperAttentionConfig(*case.shape[:3], *map(bool, case.shape[3:]))
    compile_case(case, config, path)


def compile_case(case: Case, config: Any, path: Path) -> None:
    """Compile the artifact of a case in a `HopperAttentionConfig`."""
    import torch

    import flydsl.compiler as flyc
    from flydsl.kernels.attention.hopper_attention import compile_hopper_attention

    launch = compile_hopper_attention(
        dtype=case.dtype, head_dim=case.head_dim, causal=case.causal, heads_per_kv=case.group, return_lse=True,
        config=config,
    )  # fmt: skip
    kind = {"bf16": torch.bfloat16, "f16": torch.float16}[case.dtype]
    q, out = (torch.empty((2, 300, 4 * case.group, case.head_dim), dtype=kind) for _ in range(2))
    k, v = (torch.empty((2, 500, 4, case.head_dim), dtype=kind) for _ in range(2))
    lse = torch.empty((2, 4 * case.group, 300), dtype=torch.float32)
    flyc.compile.only(launch, q, k, v, out, lse, None).export(path)


class Operands:
    """Random operands on the GPU, poisoned results, and what float64 says."""

    def __init__(self, case: Case, batch: int, seq_len: int, seq_len_kv: int, kv_heads: int, seed: int = 0) -> None:
        import torch

        self.case = case
        generator = torch.Generator("cuda").manual_seed(seed + seq_len + 3 * seq_len_kv + 5 * batch)
        kind = {"bf16": torch.bfloat16, "f16": torch.float16}[case.dtype]

        def some(length: int, heads: int) -> Any:
            shape = (batch, length, heads, case.head_dim)
            return torch.randn(shape, generator=generator, device="cuda").to(kind)

        heads = kv_heads * case.group
        self.q, self.k, self.v = some(seq_len, heads), some(seq_len_kv, kv_heads), some(seq_len_kv, kv_heads)
        self.out = torch.full_like(self.q, float("nan"))
        self.lse = torch.full((batch, heads, seq_len), float("nan"), device="cuda")

    def worst(self, say: bool = False) -> tuple[float, float]:
        """The largest errors of output and LSE, in units of what is allowed.

        Of the output: half a unit of its last place, and as much of each weight, of which the sum of weights times
        values' amounts is what it can add up to. Of LSE: 2^-16, and 2^-20 of it.
        """
        import torch

        ulp = {"bf16": 2.0**-8, "f16": 2.0**-11}[self.case.dtype]
        most = [0.0, 0.0]
        batch, seq_len, heads, depth = self.q.shape
        keys = self.k.shape[1]
        for b in range(batch):
            for head in range(heads):
                q = self.q[b, :, head].double()
                k, v = (one[b, :, head // self.case.group].double() for one in (self.k, self.v))
                scores = q @ k.t() * depth**-0.5
                if self.case.causal:
                    row, key = torch.arange(seq_len, device="cuda"), torch.arange(keys, device="cuda")
                    scores.masked_fill_(key[None, :] > row[:, None] + (keys - seq_len), float("-inf"))
                weights = torch.softmax(scores, dim=-1).nan_to_num_(0.0)
                expected = weights @ v
                allowed = ulp * expected.abs() + ulp * (weights @ v.abs()) + 2.0**-20
                result = self.out[b, :, head].double()
                error = (result - expected).abs() / allowed
                lse = torch.logsumexp(scores, dim=-1)
                given = self.lse[b, head].double()
                off = torch.where(given == lse, 0.0, (given - lse).abs() / (2.0**-16 + 2.0**-20 * lse.abs()))
                for which, (name, one, found, wanted) in enumerate(
                    (("output", error, result, expected), ("LSE", off, given, lse))
                ):
                    if not bool((one <= 1.0).all()) and say:
                        print(f"{name}, batch {b}, head {head}: {where(one, 1.0, found, wanted)}")
                        say = False
                    most[which] = max(most[which], float("inf") if one.isnan().any() else one.max().item())
        return most[0], most[1]


def operands(case: Case, batch: int, length: int, kv_heads: int) -> list[Operands]:
    """Sets of operands of as many queries as keys that together are several times the L2."""
    count = max(2, -(-_RESIDENT // (4 * batch * length * kv_heads * case.group * case.head_dim * 2)))
    return [Operands(case, batch, length, length, kv_heads, seed) for seed in range(count)]


def _ours(folder: Path, case: Case) -> Callable[[Operands], Any]:
    from flydsl import runtime

    artifact = runtime.load_artifact(folder / f"{case.name}.so")
    return lambda given: artifact(given.q, given.k, given.v, given.out, given.lse, stream())


def check(folder: Path, only: str | None, most: int) -> int:
    """Every artifact at awkward shapes, each in a process of its own; prints what is wrong."""
    if only is None:
        names = sorted(path.stem for path in folder.glob("attention-*.so"))
        return check_apart(Path(__file__), [str(folder), "--most", str(most)], names)
    import torch

    case = Case.of(only)
    run = _ours(folder, case)
    wrong = 0
    for batch, seq_len, seq_len_kv, kv_heads in CHECKED[:most]:
        print(f"{only} {batch} {seq_len}x{seq_len_kv} heads {kv_heads}: ", end="", flush=True)
        given = Operands(case, batch, seq_len, seq_len_kv, kv_heads)
        run(given)
        torch.cuda.synchronize()
        worst = given.worst(say=True)
        good = max(worst) <= 1.0
        wrong += not good
        print(f"{worst[0]:.3g}, LSE {worst[1]:.3g} of what is allowed{'' if good else ' WRONG'}", flush=True)
    return 1 if wrong else 0


def _sdpa(backend: str, case: Case) -> Callable[[Operands], Any]:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    which = getattr(SDPBackend, backend)

    def run(given: Operands) -> Any:
        q, k, v = (one.transpose(1, 2) for one in (given.q, given.k, given.v))
        with sdpa_kernel(which):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=case.causal, enable_gqa=case.group > 1
            )

    return run


def run(folder: Path, results: Path, lengths: list[int]) -> int:
    """Times of every contender at every point."""
    import torch

    rows: list[dict[str, Any]] = []
    found = [Case.of(path.stem) for path in sorted(folder.glob("attention-*.so"))]
    points = sorted({(c.dtype, c.head_dim, c.causal, c.group) for c in found})
    for dtype, head_dim, causal, group in points:
        ours = [c for c in found if (c.dtype, c.head_dim, c.causal, c.group) == (dtype, head_dim, causal, group)]
        for length in lengths:
            batch, kv_heads = max(1, TOKENS // length), max(1, 2048 // head_dim // group)
            flops = 4.0 * batch * kv_heads * group * length * length * head_dim / (2 if causal else 1)
            sets = operands(ours[0], batch, length, kv_heads)
            contenders: dict[str, Callable[[Operands], Any]] = {
                f"ours {c.stands_for(length)}": _ours(folder, c) for c in ours if c.stands_for(length) is not None
            }
            contenders["cuDNN"] = _sdpa("CUDNN_ATTENTION", ours[0])
            contenders["torch flash"] = _sdpa("FLASH_ATTENTION", ours[0])
            if cuda_peers.has("FlashAttention-4"):
                contenders["FlashAttention-4"] = cuda_peers.attention(head_dim, causal)
            calls = max(2, int(SECONDS_OF_A_SAMPLE * 500e12 / flops))
            graphs = graphs_of(contenders, sets, calls)
            for name, (median, least, most) in rates(graphs, calls, flops).items():
                rows.append(
                    {
                        "dtype": dtype, "head_dim": head_dim, "causal": causal, "group": group, "length": length,
                        "batch": batch, "contender": name, "tflops": median, "least": least, "most": most,
                    }
                )  # fmt: skip
                print(
                    f"{dtype} D {head_dim} {'causal' if causal else 'full'} group {group} {batch}x{length} {name:14} "
                    f"{median:6.1f} TFLOP/s ({least:.1f} to {most:.1f})",
                    flush=True,
                )
            del graphs, sets
            torch.cuda.empty_cache()
    write_results(results, rows)
    return 0


def main() -> int:
    """Run one of the commands that the top of the file lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("pack", "check", "run"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "pack":
            command.add_argument("--tuned", action="store_true", help="other shapes of workgroups too")
        if name == "check":
            command.add_argument("--most", type=int, default=len(CHECKED), help="shapes of each artifact")
            command.add_argument("--only", help="one artifact, in this process")
        if name == "run":
            command.add_argument("results", type=Path)
            command.add_argument("--lengths", type=int, nargs="+", default=list(TIMED_LENGTHS))
    options = parser.parse_args()
    if options.command == "pack":
        return pack(options.folder, options.tuned)
    if options.command == "check":
        return check(options.folder, options.only, options.most)
    return run(options.folder, options.results, options.lengths)


if __name__ == "__main__":
    sys.exit(main())
