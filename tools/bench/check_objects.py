#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a checker of code objects on every kernel of the library.

    python tools/bench/check_objects.py CHECKER                     # all that is compiled for figures, both targets
    python tools/bench/check_objects.py CHECKER --only 'gfx950 .*256x256' --keep FOLDER
    python tools/bench/check_objects.py CHECKER --objects FOLDER... # what lies there instead: a cache, or objects

CHECKER is a script of Python that is called with the name of a code object, prints what it finds, and ends with a
status that is not 0 where there is something. The kernels are the cases of `kernel_cases` and of
`compile_cases/gemm.py`, each compiled without a cache; nothing is launched. Objects that are the same byte for byte are
checked once, `--jobs` at a time. A cache that the tests have filled holds kernels that they broke on purpose, too.

The exit status is 1 where the checker finds something, takes too long, or a case does not compile.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ARCHES = ("gfx942", "gfx950")
SECONDS = 300  # of one object


@dataclass
class Found:
    """A code object: under which names it was compiled, and what the checker says about it."""

    path: Path
    names: list[str] = field(default_factory=list)
    status: int | None = None  # none: it took too long
    text: str = ""
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        """Whether the checker has nothing to say."""
        return self.status == 0


# -- what is compiled -------------------------------------------------------------------------------------------------
def names_of(arch: str) -> list[str]:
    """The names of the cases for a target."""
    from compile_cases import gemm
    from kernel_cases import all_cases

    return [f"case {one.name}" for one in all_cases(arch)] + [f"tile {name}" for name, _ in gemm.cases(arch)]


def compiled(arch: str, name: str) -> list[bytes]:
    """The code objects of a case; in a process whose target is `arch`."""
    from compile_cases import gemm
    from isa.code_object import images_in
    from kernel_cases import all_cases

    import flydsl.compiler as flyc

    kind, _, rest = name.partition(" ")
    launch: Any
    if kind == "case":
        case = next(one for one in all_cases(arch) if one.name == rest)
        launch, arguments = case.build(), case.arguments
    else:
        launch, arguments = gemm.problem(arch, next(fields for one, fields in gemm.cases(arch) if one == rest))
    with tempfile.TemporaryDirectory() as folder:
        return images_in(Path(flyc.compile.only(launch, *arguments).export(Path(folder) / "kernel.so")))


def _target(arch: str) -> None:
    """Begin a process that compiles for `arch`, and keeps nothing."""
    os.environ |= {"FLYDSL_GPU_ARCH": arch, "ARCH": arch, "FLYDSL_RUNTIME_ENABLE_CACHE": "0"}
    sys.path.insert(0, str(Path(__file__).resolve().parent))


def compile_all(arch: str, only: str, jobs: int) -> Iterator[tuple[str, list[bytes] | Exception]]:
    """(name, code objects or why there are none) of the cases for a target."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, initializer=_target, initargs=(arch,)) as pool:
        wanted = [one for one in pool.submit(names_of, arch).result() if re.search(only, f"{arch} {one}")]
        waiting = {pool.submit(compiled, arch, one): one for one in wanted}
        for done in as_completed(waiting):
            error = done.exception()
            if error is None:
                yield f"{arch} {waiting[done]}", done.result()
            elif isinstance(error, Exception):
                yield f"{arch} {waiting[done]}", error
            else:
                raise error


def lying(folders: list[Path]) -> Iterator[tuple[str, list[bytes] | Exception]]:
    """The same of the files of folders that have code objects inside."""
    from isa.code_object import images_in

    for folder in folders:
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            try:
                yield str(path), images_in(path)
            except ValueError:  # another file
                continue


# -- what is checked --------------------------------------------------------------------------------------------------
def check(checker: Path, one: Found, seconds: float) -> Found:
    """Run the checker on an object."""
    started = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, str(checker), str(one.path)], capture_output=True, text=True, timeout=seconds
        )
        one.status, one.text = done.returncode, (done.stdout + done.stderr).strip()
    except subprocess.TimeoutExpired:
        one.text = f"no answer in {seconds:g} s"
    one.seconds = time.monotonic() - started
    return one


def run(
    checker: Path, sources: Iterator[tuple[str, list[bytes] | Exception]], folder: Path, jobs: int, seconds: float
) -> tuple[list[Found], dict[str, Exception]]:
    """All objects with what the checker says, and the cases that have none; prints what is found as it comes."""
    objects: dict[str, Found] = {}
    failed: dict[str, Exception] = {}
    with ThreadPoolExecutor(jobs) as pool:
        running = []
        for name, images in sources:
            if isinstance(images, Exception):
                failed[name] = images
                print(f"{name}: {type(images).__name__}: {images}", flush=True)
                continue
            for image in images:
                digest = hashlib.sha256(image).hexdigest()[:16]
                if digest not in objects:
                    one = objects[digest] = Found(folder / f"{digest}.hsaco")
                    one.path.write_bytes(image)
                    running.append(pool.submit(check, checker, one, seconds))
                objects[digest].names.append(name)
        for each in as_completed(running):
            one = each.result()
            if not one.sound:
                print(f"{', '.join(one.names)} ({one.path.name}):\n{one.text}", flush=True)
    return list(objects.values()), failed


def main() -> int:
    """Compile and check, print a summary, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checker", type=Path)
    parser.add_argument("--arch", nargs="+", choices=ARCHES, default=ARCHES)
    parser.add_argument("--only", default="", help="pattern that the target and name, `gfx950 tile fp8 128x256`, have")
    parser.add_argument("--objects", nargs="+", type=Path, metavar="FOLDER", help="look at what lies there")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the objects there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that the checker has for an object")
    options = parser.parse_args()
    if not options.checker.is_file():
        parser.error(f"there is no {options.checker}")
    started = time.monotonic()

    def sources() -> Iterator[tuple[str, list[bytes] | Exception]]:
        if options.objects:
            yield from lying(options.objects)
            return
        for arch in options.arch:
            yield from compile_all(arch, options.only, options.jobs)

    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        objects, failed = run(options.checker, sources(), folder, options.jobs, options.seconds)
    late = [one for one in objects if one.status is None]
    wrong = [one for one in objects if not one.sound and one.status is not None]
    slowest = max(objects, key=lambda one: one.seconds, default=None)
    print(
        f"{sum(len(one.names) for one in objects)} kernels in {len(objects)} objects: {len(wrong)} with findings, "
        f"{len(late)} took too long, {len(failed)} not compiled; {time.monotonic() - started:.0f} s"
        + (f", {slowest.seconds:.0f} s the slowest, {slowest.names[0]}" if slowest else "")
    )
    if not objects:
        print("nothing was checked")
    return 1 if wrong or late or failed or not objects else 0


if __name__ == "__main__":
    sys.exit(main())
