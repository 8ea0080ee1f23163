#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CUDA's sanitizers on every kernel of the library that there is for Hopper, and on kernels with a bug on purpose.

    python3 cuda_sanitize.py record LAUNCHES products attention  # keep launches of what `cuda_gemm.py pack products`
                                                # and `cuda_attention.py pack attention` made; tests are recorded by
                                                # `pytest -p cuda_plugin --record-launches LAUNCHES`
    python3 cuda_sanitize.py run LAUNCHES --seconds 240 --out FOLDER

A launch is kept once for each artifact, with small tensors that no tile divides (`cuda_launches.py`), and repeated
under memcheck, racecheck, synccheck and initcheck, in several processes at a time. What is looked at follows from what
the suites and the checks call; `run` fails where a kernel of the library, or an operator, was in none of it
(`NOT_ON_HOPPER` has those that are AMD's), where a launch was not reached in time, and where a tool does not find the
bug that was planted for it (`cuda_planted.py`).
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cuda_launches

PROCESSES = {"racecheck": 6, "memcheck": 4, "initcheck": 3, "synccheck": 3}
"""Of each tool, how many run at a time; together as many as the machine has cores."""
TOOLS = tuple(PROCESSES)
# Memory that each tensor has for itself, and a stretch behind it that belongs to nobody.
_SETTINGS = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1", "PYTHONUNBUFFERED": "1"}
_OPTIONS = {
    "memcheck": ("--padding", "1024"),
    "racecheck": ("--racecheck-num-workers", "2"),
    "synccheck": (),
    "initcheck": (),
}
_FOUND = 9  # the exit status of compute-sanitizer that found something
_SECONDS_OF_PLANTED = 100
_MOST_STARTS = 4  # of one process's share, where launches end it
_BEGINS, _ENDS, _WRONG = "LAUNCH ", "DONE ", "WRONG "

NOT_ON_HOPPER = {
    "attention.flash_attn_kernel:flash_attn_kernel": "hopper_attention is there",
    "attention.split_combine_kernel:split_combine_kernel": "behind attention with splits, which is AMD's",
    "gemm.scale_words_kernel:scale_words_kernel": "scales of blocks",
    "gemm.splitk_reduce:splitk_reduce": "hopper_gemm adds in clusters",
    "gemm.tdm_gemm:tdm_gemm": "hopper_gemm is there",
    "gemm.tile_gemm:tile_gemm": "hopper_gemm is there",
    "quant.mx_quant_kernel:mx_quant_kernel": "formats of gfx950",
}
"""Functions of `flydsl.kernels` that kernels are made of, and no kernel for Hopper."""

# M, N, K of products, and batch, rows, keys and heads of attention, that no tile divides: few and many tiles, short
# and long sums.
_PRODUCTS = ((7, 1032, 2048), (200, 264, 80), (4224, 1032, 96))
_ATTENTION = ((2, 77, 129, 3), (1, 513, 1000, 2), (1, 600, 333, 2))


# -- what there is -----------------------------------------------------------------------------------------------------


def kernel_functions(package: Path) -> set[str]:
    """All functions below a package's folder that `@flyc.kernel` makes kernels of, as "family.module:name"."""
    found = set()
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package).with_suffix("").parts)
        for one in ast.walk(ast.parse(path.read_text())):
            if isinstance(one, ast.FunctionDef) and any(map(_is_kernel, one.decorator_list)):
                found.add(f"{module}:{one.name}")
    return found


def _is_kernel(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(named, ast.Attribute) and named.attr == "kernel" and getattr(named.value, "id", "") == "flyc"


def wanted_functions() -> set[str]:
    """Those of the installed library that have to be looked at on Hopper."""
    spec = importlib.util.find_spec("flydsl.kernels")
    assert spec is not None
    assert spec.origin is not None
    return kernel_functions(Path(spec.origin).parent) - set(NOT_ON_HOPPER)


# -- record ------------------------------------------------------------------------------------------------------------


def record(folder: Path, products: Path, attention: Path) -> int:
    """Keep launches of every artifact of products and attention; each is right against float64, or this fails."""
    import cuda_attention
    import cuda_gemm
    from cuda_timing import in_processes

    names = [path.stem for one in (products, attention) for path in sorted(one.glob("*.so"))]
    assert {*names} >= {*cuda_gemm.names(), *(case.name for case in cuda_attention.cases())}
    shares = [(folder, products, attention, names[first::_RECORDERS]) for first in range(_RECORDERS)]
    in_processes(_record_some, shares)
    print(f"{len(names)} artifacts of products and attention, recorded")
    return 0


_RECORDERS = 8


def _record_some(what: tuple[Path, Path, Path, list[str]]) -> None:
    folder, products, attention, names = what
    cuda_launches.Recorder(folder, most=len(_PRODUCTS)).install()
    import cuda_attention
    import cuda_gemm

    cuda_gemm.CHECKED, cuda_attention.CHECKED = _PRODUCTS, _ATTENTION
    for name in names:
        module, place = (cuda_gemm, products) if name.startswith("gemm-") else (cuda_attention, attention)
        if module.check(place, name, len(_PRODUCTS)):
            raise SystemExit(f"{name} is wrong")


# -- replay, under a tool ----------------------------------------------------------------------------------------------


def replay(paths: Sequence[Path], compare: bool) -> int:
    """Repeat launches; says which one begins, whether it did what it did before, and that it is over."""
    for path in paths:
        print(f"{_BEGINS}{path.name}", flush=True)
        said = cuda_launches.Launch.load(path).run("cuda", compare)
        if said:
            print(f"{_WRONG}{path.name}: {said}", flush=True)
        print(f"{_ENDS}{path.name}", flush=True)
    return 0


# -- run ---------------------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What one process under a tool has said."""

    begun: list[str] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    findings: list[tuple[str, str]] = field(default_factory=list)  # launch, text
    status: int | None = None  # none: it was ended


# What the tool says of itself.
_NO_FINDING = re.compile(r"COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|LEAK SUMMARY|Target application returned")


def read(output: str) -> Seen:
    """What a process's output says: which launches began and ended, and each finding with the launch it came in."""
    seen, text = Seen(), list[str]()

    def close() -> None:
        said = "\n".join(text).strip()
        text.clear()
        if said and not _NO_FINDING.search(said.splitlines()[0]):
            seen.findings.append((seen.begun[-1] if seen.begun else "", said))

    for line in output.splitlines():
        if line.startswith("========="):
            line = line.removeprefix("=========").rstrip()
            # A finding begins next to the margin, and goes on further in.
            if line.strip() and not line.startswith("  "):
                close()
            text.append(line)
            continue
        close()
        if line.startswith(_BEGINS):
            seen.begun.append(line.removeprefix(_BEGINS).strip())
        elif line.startswith(_ENDS):
            seen.done.add(line.removeprefix(_ENDS).strip())
        elif line.startswith(_WRONG):
            seen.findings.append((seen.begun[-1] if seen.begun else "", line))
    close()
    return seen


_ports = iter(range(49_200, 65_000, 16))
_ports_lock = threading.Lock()


def sanitized(tool: str, arguments: Sequence[str], seconds: float, log: Path) -> Seen:
    """Run `replay` of this file with some arguments under a tool; its output goes to the end of a log."""
    with _ports_lock:
        port = next(_ports)
    command = [
        "compute-sanitizer", "--tool", tool, "--error-exitcode", str(_FOUND), "--target-processes", "application-only",
        "--print-limit", "2000", "--launch-timeout", "0", "--port", str(port), "--max-connections", "16",
        *_OPTIONS[tool], sys.executable, str(Path(__file__).resolve()), "replay", *arguments,
    ]  # fmt: skip
    started = log.stat().st_size if log.exists() else 0
    with log.open("ab") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **_SETTINGS}, start_new_session=True
        )
        try:
            status: int | None = process.wait(max(seconds, 1.0))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None
    seen = read(log.read_bytes()[started:].decode(errors="replace"))
    seen.status = status
    return seen


@dataclass
class Result:
    """What a tool said of the launches."""

    tool: str
    done: set[str] = field(default_factory=set)
    findings: list[tuple[str, str]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)  # processes that ended by themselves, or failed with no finding


def look(tool: str, share: int, names: Sequence[str], folder: Path, until: float, out: Path) -> Result:
    """All launches of a share under a tool; where one ends the process, another process goes on behind it."""
    result, left = Result(tool), list(names)
    log = out / f"{tool}-{share}.log"
    for _ in range(_MOST_STARTS):
        if not left or time.monotonic() > until:
            break
        asked = out / f"{tool}-{share}.txt"
        asked.write_text("\n".join(str(folder / name) for name in left))
        options = ["--no-compare"] if tool == "initcheck" else []  # which reads what was not written
        seen = sanitized(tool, [f"@{asked}", *options], until - time.monotonic(), log)
        result.done |= seen.done
        result.findings += seen.findings
        last = seen.begun[-1] if seen.begun else "the first launch"
        if seen.status is None:
            break
        if seen.status not in (0, _FOUND) or not seen.done >= set(left):
            result.broken.append(f"ended with {seen.status} at {last}")
        elif seen.status == _FOUND and not seen.findings:
            result.broken.append("found something that is not understood; see its log")
        left = left[left.index(last) + 1 :] if last in left else []
    return result


def planted(tool: str, folder: Path, names: Sequence[str], out: Path) -> list[str]:
    """The planted kernels that a tool has something to say about; each in a process of its own."""
    found = []
    for name in names:
        seen = sanitized(
            tool, [str(folder / name), "--no-compare"], _SECONDS_OF_PLANTED, out / f"{tool}-planted-{name}.log"
        )
        if any(name in text for _, text in seen.findings):
            found.append(name)
    return found


def _shares(names: Sequence[str]) -> Iterator[tuple[str, int, list[str]]]:
    """(tool, number, launches) of all processes, those of the tools in turns."""
    for share in range(max(PROCESSES.values())):
        for tool, count in PROCESSES.items():
            if share < count:
                yield tool, share, list(names[share::count])


def run(folder: Path, out: Path, seconds: float) -> int:
    """All launches of a folder under all tools; prints what was found, and what is missing."""
    import cuda_planted

    out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    cuda_planted.plant(out / "planted")
    bugs = {tool: (cuda_planted.FINDS[tool], *cuda_planted.TRIED[tool]) for tool in TOOLS}
    paths = cuda_launches.launches(folder)
    names = [path.name for path in paths]
    missing = missing_of(folder)
    print(
        f"{len(names)} launches of {len(cuda_launches.kernel_functions(folder))} functions of the library", flush=True
    )
    for key, why in cuda_launches.left_out(folder).items():
        print(f"not kept: {key}: {why}")
    with ThreadPoolExecutor(2 * sum(PROCESSES.values())) as pool:
        shares = [
            pool.submit(look, tool, share, some, folder, started + seconds, out) for tool, share, some in _shares(names)
        ]
        marks = {tool: pool.submit(planted, tool, out / "planted", bugs[tool], out) for tool in TOOLS}
        results = [one.result() for one in shares]
        found = {tool: one.result() for tool, one in marks.items()}
    failed = bool(missing) or not names
    for what in missing:
        print(f"MISSING: {what} was in no launch")
    for tool in TOOLS:
        failed |= _report(tool, [one for one in results if one.tool == tool], names)
        unseen = [bug for bug in bugs[tool] if bug not in found[tool]]
        print(
            f"{tool} has something to say of {', '.join(found[tool]) or 'nothing'}; not of {', '.join(unseen) or '-'}"
        )
        if cuda_planted.FINDS[tool] not in found[tool]:
            print(f"{tool} does not find {cuda_planted.FINDS[tool]}: what it says of others is worth nothing")
            failed = True
    summary = {
        "launches": len(names), "planted": found,
        "done": {tool: len({*()}.union(*(one.done for one in results if one.tool == tool))) for tool in TOOLS},
        "findings": [(one.tool, *finding) for one in results for finding in one.findings],
        "broken": [(one.tool, text) for one in results for text in one.broken],
        "missing": missing, "left": cuda_launches.left_out(folder), "seconds": time.monotonic() - started,
    }  # fmt: skip
    (out / "summary.json").write_text(json.dumps(summary, indent=1))
    print(f"{time.monotonic() - started:.0f} s", flush=True)
    return 1 if failed else 0


def missing_of(folder: Path) -> list[str]:
    """Functions of kernels, and artifacts that were called, that no launch of the folder is of."""
    seen = {place.removeprefix("flydsl.kernels.") for place in cuda_launches.kernel_functions(folder)}
    return sorted(wanted_functions() - seen)


def _report(tool: str, results: Sequence[Result], names: Sequence[str]) -> bool:
    """Print what a tool said; tells whether that is anything but a clean run of all."""
    done = set[str]().union(*(one.done for one in results))
    findings = [finding for one in results for finding in one.findings]
    broken = [text for one in results for text in one.broken]
    late = [name for name in names if name not in done]
    print(f"== {tool}: {len(done)} of {len(names)} launches, {len(findings)} findings")
    by_launch: dict[str, list[str]] = {}
    for name, text in findings:
        by_launch.setdefault(name, []).append(text)
    for name, texts in sorted(by_launch.items()):
        print(f"{name}: {len(texts)} findings, of which the first:\n{texts[0][:1500]}")
    for text in broken:
        print(f"{tool}: a process {text}")
    if late:
        print(f"{tool}: {len(late)} launches were not reached, as {', '.join(late[:5])}")
    return bool(findings or broken or late)


def main() -> int:
    """Run one of the commands that the top of the file lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recorded = commands.add_parser("record")
    for name in ("folder", "products", "attention"):
        recorded.add_argument(name, type=Path)
    repeated = commands.add_parser("replay", fromfile_prefix_chars="@")
    repeated.add_argument("paths", type=Path, nargs="+")
    repeated.add_argument("--no-compare", action="store_true")
    ran = commands.add_parser("run")
    ran.add_argument("folder", type=Path)
    ran.add_argument("--out", type=Path, required=True, help="a folder for what the tools say")
    ran.add_argument("--seconds", type=float, default=240.0, help="for all launches under all tools")
    options = parser.parse_args()
    if options.command == "record":
        return record(options.folder, options.products, options.attention)
    if options.command == "replay":
        return replay(options.paths, not options.no_compare)
    return run(options.folder, options.out, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
