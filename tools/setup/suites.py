# SPDX-License-Identifier: Apache-2.0
"""The test suites: what each runs, in which environment, with which of our wheels in it."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from . import environments, progress, wheels
from .paths import BUILD, ROOT
from .shell import say

T = TypeVar("T")

CORES = len(os.sched_getaffinity(0))

_NOTHING_COLLECTED = 5  # an exit code of pytest


@dataclass(frozen=True)
class Companion:
    """A second environment that a suite's tests start processes in; `variable` tells them its Python."""

    variable: str
    environment: str
    packages: tuple[str, ...]


@dataclass(frozen=True)
class Suite:
    """One test command.

    `packages` is all of ours that its environment may hold; those of `with_tests` come with their extra `test`.

    The emulated device is chosen when a process starts, so the command runs once per architecture.
    """

    name: str
    environment: str
    packages: tuple[str, ...]
    command: tuple[str, ...]
    with_tests: tuple[str, ...] = ()
    companions: tuple[Companion, ...] = ()
    architectures: tuple[str, ...] = ("gfx942",)
    one_of: tuple[int, ...] = (1,)
    """Of the cases of a test one in so many runs on each architecture, unless the command line narrows the run."""


def _pytest(*arguments: str) -> tuple[str, ...]:
    return ("python", "-m", "pytest", "-q", "-rs", "--strict-markers", *arguments)


def _of(package: wheels.Package) -> Suite:
    tests = str((package.folder / "tests").relative_to(ROOT))
    return Suite(
        package.short,
        f"test-{package.short}",
        (*package.tested_beside, package.short),
        _pytest(tests),
        with_tests=(package.short,),
        architectures=package.tested_on,
    )


ALL = (
    *(replace(_of(one), one_of=(4, 6)) if one.short == "kernels" else _of(one) for one in wheels.ALL.values()),
    # What is written for waves of 32 lanes too; gfx1100 runs the same by hand (CONTRIBUTING.md).
    replace(
        _of(wheels.ALL["kernels"]),
        name="kernels-wave32",
        command=_pytest(*(f"packages/fly-kernels/tests/{one}" for one in ("norm", "quant", "elementwise"))),
        architectures=("gfx1201",),
        one_of=(4,),
    ),
    replace(
        _of(wheels.ALL["kernels"]),
        name="kernels-wmma",
        command=_pytest(
            "packages/fly-kernels/tests/gemm/test_wmma_gemm.py",
            "packages/fly-kernels/tests/attention/test_flash_attn_wmma.py",
            "packages/fly-kernels/tests/contract/test_wave32_options.py",
        ),
        architectures=("gfx1100", "gfx1201"),
        one_of=(6, 4),
    ),
    replace(
        _of(wheels.ALL["kernels"]),
        name="kernels-gfx1250",
        command=_pytest(
            "packages/fly-kernels/tests/gemm/test_gfx1250_gemm.py",
            "packages/fly-kernels/tests/norm/test_extents.py",
            "packages/fly-kernels/tests/contract/test_wave32_options.py",
        ),
        architectures=("gfx1250",),
    ),
    Suite(
        "integration",
        "integration",
        tuple(wheels.ALL),
        _pytest("--dist", "loadfile", "tests/integration"),  # what a file's tests share takes long to make
        companions=(Companion("FLYDSL_SERVICE_PYTHON", "service", ("runtime", "autotune", "kernels", "emulator")),),
    ),
)


@dataclass
class Counts:
    """What a suite's report says."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


def _read(report: Path) -> Counts:
    """Counts from a JUnit report; a suite that wrote none counts as one failure."""
    if not report.exists():
        return Counts(failed=1)
    counts = Counts()
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        counts += Counts(total - failed - skipped, failed, skipped)
    return counts


def _is_test(argument: str) -> bool:
    """Whether an argument of pytest is a file or folder of tests."""
    return not argument.startswith("-") and "/" in argument and (ROOT / argument.partition("::")[0]).exists()


_IN_MEMORY = Path("/dev/shm")
_ROOM = 6 << 30  # bytes


@contextlib.contextmanager
def _scratch() -> Iterator[dict[str, str]]:
    """Where tests write, as environment variables: memory, if there is enough, for what is written waits for disks.

    Whatever is compiled is synced to the disk before it is renamed, thousands of times in a suite.
    """
    try:
        status = os.statvfs(_IN_MEMORY)
    except OSError:
        status = None
    if (
        status is None
        or status.f_flag & os.ST_NOEXEC  # artifacts are loaded from there
        or status.f_bavail * status.f_frsize < _ROOM
        or "TMPDIR" in os.environ
    ):
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="flydsl-tests-", dir=_IN_MEMORY, ignore_cleanup_errors=True) as folder:
        yield {"TMPDIR": folder, "FLYDSL_RUNTIME_CACHE_DIR": str(Path(folder, "cache"))}


@dataclass(frozen=True)
class Run:
    """One command: a suite on one of its architectures."""

    suite: Suite
    architecture: str
    one_of: int
    """Of the cases of a test one in so many runs."""

    def __str__(self) -> str:
        several = len(self.suite.architectures) > 1
        return self.suite.name + (f" on emulated {self.architecture}" if several else "")


def runs_of(suite: Suite, extra: Sequence[str] = ()) -> list[Run]:
    """The commands of a suite; a command line that narrows it has all cases of what is left."""
    shares = (1,) * len(suite.architectures) if extra else suite.one_of
    return [Run(suite, *both) for both in zip(suite.architectures, shares, strict=True)]


def run(suite: Suite, extra: list[str]) -> Counts:
    """Run one suite, or those of its files and folders that `extra` names; its output goes to the terminal."""
    total = Counts()
    for one in runs_of(suite, extra):
        counts, code = _run(one, extra, CORES, None)
        if code == _NOTHING_COLLECTED and any(map(_is_test, extra)) and total.passed:
            continue  # what was asked for runs on the first architecture only
        total += _judged(one, counts, code)
    return total


# What takes longest begins first, so that the short ones fill what is left of either half in the end.
_LONGEST = ("compiler", "emulator", "kernels", "integration", "dialect")


def run_all(beside: Callable[[], T], cores: int = CORES) -> tuple[T, dict[str, Counts]]:
    """Run all suites whole, and `beside`: two at a time, on half of the cores each.

    What sets a suite up, collects its tests or waits for its last one leaves a core idle, which the other one has. On
    two cores each is one process that imports and makes everything once. The output of each stands together, when it
    has ended; what it says so far is in `build/reports`.

    Returns what `beside` did, and the counts of each suite by its name.
    """
    progress.SIDE_BY_SIDE = True
    rank = {name: number for number, name in enumerate(_LONGEST)}
    ordered = sorted(ALL, key=lambda suite: rank.get(suite.name, len(rank)))
    running: dict[Run, Path] = {}
    lanes = min(2, cores)

    def alone(one: Run) -> Counts:
        log = _report(one).with_suffix(".log")
        running[one] = log
        try:
            counts = _judged(one, *_run(one, [], max(1, cores // lanes), log))
        finally:
            del running[one]
        print(f"\n{one}:\n{log.read_text(errors='replace')}", end="", flush=True)
        return counts

    counts = {suite.name: Counts() for suite in ALL}
    with ThreadPoolExecutor(lanes) as pool:
        commands = [one for suite in ordered for one in runs_of(suite)]
        futures = {pool.submit(alone, one): one for one in commands[:lanes]}
        result = pool.submit(beside)  # behind the first, for it would wait for what that builds
        futures |= {pool.submit(alone, one): one for one in commands[lanes:]}
        left: set[Future[Any]] = {result, *futures}
        try:
            while left:
                done, left = wait(left, timeout=60, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()  # raises what went wrong
                if not done and running:
                    say("testing " + ", ".join(f"{one}{_progress(log)}" for one, log in running.copy().items()))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for ran, one in futures.items():
        counts[one.suite.name] += ran.result()
    return result.result(), counts


def _progress(log: Path) -> str:
    """How far a run is, as pytest says it."""
    found = re.findall(r"\[ *(\d+%)\]", log.read_text(errors="replace")) if log.exists() else []
    return f" ({found[-1]})" if found else ""


def _report(one: Run) -> Path:
    return BUILD / "reports" / f"{one.suite.name}-{one.architecture}.xml"


def _run(one: Run, extra: Sequence[str], workers: int, log: Path | None) -> tuple[Counts, int]:
    """Run a command with so many processes, into a log or onto the terminal; returns its counts and its exit code."""
    suite = one.suite
    command = suite.command
    if any(_is_test(word) for word in extra):
        command = tuple(word for word in command if not _is_test(word))
    folder = wheels.install(suite.environment, suite.packages, with_tests=suite.with_tests)
    companions = {
        other.variable: str(wheels.install(other.environment, other.packages) / "bin" / "python")
        for other in suite.companions
    }
    variables = environments.environment_variables()
    # fly-opt is a tool of the build tree and in no wheel.
    programs = [folder / "bin", *([BUILD / "fly-dialect" / "bin"] if "dialect" in suite.packages else [])]
    share = {} if one.one_of == 1 else {"FLYDSL_TEST_ONE_OF": str(one.one_of)}
    say(f"testing {one}")
    report = _report(one)
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    with _scratch() as scratch, contextlib.nullcontext() if log is None else log.open("w") as output:
        done = subprocess.run(
            [
                str(folder / "bin" / command[0]),
                *command[1:],
                "-n",
                str(workers),
                f"--junitxml={report}",
                *extra,
            ],
            cwd=ROOT,
            env={
                **scratch,
                **share,
                **os.environ,
                **variables,
                **companions,
                "PATH": os.pathsep.join((*map(str, programs), variables["PATH"])),
                "FLYDSL_GPU_ARCH": one.architecture,
            },
            stdout=output,
            stderr=None if output is None else subprocess.STDOUT,
        )
    return _read(report), done.returncode


def _judged(one: Run, counts: Counts, code: int) -> Counts:
    """The counts, with a failure for an exit code that no test explains."""
    if counts.failed == 0 and (code != 0 or counts.passed == 0):
        say(f"{one.suite.name}: " + ("no test ran" if counts.passed == 0 else f"exit code {code}"))
        counts.failed = 1
    return counts
