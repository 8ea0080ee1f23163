# SPDX-License-Identifier: Apache-2.0
"""Run the example kernels on the emulator, each checked against torch, and print one table.

An example is a file with `CASES` (any values) and `run_case(case) -> dict` with the keys of COLUMNS; it runs once per
architecture, in a process of its own, because the emulated device is chosen when a process starts.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = tuple(ROOT / "packages" / name / "examples" for name in ("fly-compiler", "fly-kernels", "fly-autotune"))
ARCHITECTURES = ("gfx942", "gfx950")
COLUMNS = ("kernel", "shape", "dtype", "arch", "device", "max_error", "tolerance", "passed")


def examples(folders: Sequence[Path]) -> list[Path]:
    """The examples of some folders: files whose names start with a digit."""
    return [path for folder in folders for path in sorted(folder.glob("[0-9]*.py"))]


def load(path: Path) -> ModuleType:
    """Import an example by its path (their names start with digits)."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def work(folders: Sequence[Path]) -> int:
    """One architecture: a line of JSON per case, on standard output."""
    for path in examples(folders):
        try:
            module = load(path)
            cases = list(module.CASES)
        except Exception:
            print(json.dumps({"example": path.name, "error": traceback.format_exc()}), flush=True)
            continue
        for case in cases:
            try:
                row = module.run_case(case)
                print(json.dumps({"example": path.name, **{key: row[key] for key in COLUMNS}}), flush=True)
            except Exception:
                print(
                    json.dumps({"example": path.name, "case": repr(case), "error": traceback.format_exc()}), flush=True
                )
    return 0


def _rows(folders: Sequence[Path], architecture: str, rows: list[dict[str, Any]], arrived: threading.Condition) -> None:
    """Read one worker's rows; a worker that dies is a row of its own."""
    worker = subprocess.Popen(
        [sys.executable, __file__, "--worker", *(f"--examples={folder}" for folder in folders)],
        env={**os.environ, "FLYDSL_GPU_ARCH": architecture, "ARCH": architecture},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    assert worker.stderr is not None
    errors: list[str] = []
    drain = threading.Thread(target=lambda: errors.extend(worker.stderr or ()))
    drain.start()
    for line in worker.stdout:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            print(line, end="", file=sys.stderr)
            continue
        with arrived:
            rows.append({"arch": architecture, **row})
            arrived.notify()
    code = worker.wait()
    drain.join()
    with arrived:
        if code != 0:
            rows.append({"example": "worker", "arch": architecture, "error": f"exit code {code}\n" + "".join(errors)})
        arrived.notify()


def results(folders: Sequence[Path], architectures: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of all architectures as they arrive; the architectures run side by side."""
    rows: list[dict[str, Any]] = []
    arrived = threading.Condition()
    readers = [threading.Thread(target=_rows, args=(folders, name, rows, arrived)) for name in architectures]
    for reader in readers:
        reader.start()
    seen = 0
    while True:
        with arrived:
            if seen == len(rows):
                if not any(reader.is_alive() for reader in readers):
                    return
                arrived.wait(timeout=0.2)
            fresh = rows[seen:]
            seen = len(rows)
        yield from fresh


def main(words: list[str] | None = None) -> int:
    """Print the table; 1 if any row failed."""
    parser = argparse.ArgumentParser(prog="tools/dev demo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--arch", action="append", choices=ARCHITECTURES, help="only this architecture (repeatable)")
    parser.add_argument("--examples", action="append", type=Path, metavar="FOLDER", help="other examples than ours")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    folders = arguments.examples or FOLDERS
    if arguments.worker:
        return work(folders)
    if not examples(folders):
        print(f"demo: no examples in {', '.join(str(folder) for folder in folders)}", file=sys.stderr)
        return 1

    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 150)
    started = time.monotonic()
    architectures = tuple(arguments.arch or ARCHITECTURES)
    table = Table(title="FlyDSL kernels against torch")
    for name in ("kernel", "shape", "dtype", "arch", "device", "max error", "tolerance", "result"):
        table.add_column(name, justify="right" if name in ("max error", "tolerance") else "left", no_wrap=True)
    rows: list[dict[str, Any]] = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("compiling and running", total=None)
        for row in results(folders, architectures):
            rows.append(row)
            label = row.get("kernel", row["example"])
            progress.update(task, advance=1, description=f"{label} {row.get('shape', '')} on {row['arch']}")
    failed = 0
    for row in sorted(rows, key=lambda row: (row["example"], row["arch"])):
        passed = "error" not in row and row["passed"]
        failed += not passed
        verdict = "[green]PASS[/]" if passed else "[red]FAIL[/]"
        if "error" in row:
            table.add_row(row["example"], row.get("case", ""), "", row["arch"], "", "", "", verdict)
        else:
            table.add_row(
                row["kernel"], row["shape"], row["dtype"], row["arch"], row["device"],
                f"{row['max_error']:.3g}", f"{row['tolerance']:.3g}", verdict,
            )  # fmt: skip
    console.print(table)
    for row in rows:
        if "error" in row:
            console.print(f"{row['example']} {row.get('case', '')} on {row['arch']}:\n{row['error']}", markup=False)
    console.print(
        f"{len(rows) - failed} passed, {failed} failed in {time.monotonic() - started:.1f} s. "
        "An emulated device executes the real AMD code object on the CPU: it shows correctness, not speed."
    )
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
