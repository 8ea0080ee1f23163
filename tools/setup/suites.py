# SPDX-License-Identifier: Apache-2.0
"""The test suites: what each runs, in which environment, with which of our wheels in it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from . import environments, wheels
from .paths import BUILD, ROOT
from .shell import say

XDIST = ("-n", str(len(os.sched_getaffinity(0))))


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


# Each process that runs tests of the runtime compiles doubles of devices' libraries, which takes longer than they do.
_SERIAL = ("runtime",)


def _of(package: wheels.Package) -> Suite:
    tests = str((package.folder / "tests").relative_to(ROOT))
    return Suite(
        package.short,
        f"test-{package.short}",
        (*package.tested_beside, package.short),
        _pytest(*(() if package.short in _SERIAL else XDIST), tests),
        with_tests=(package.short,),
        architectures=package.tested_on,
    )


ALL = (
    *(replace(_of(one), one_of=(4, 6)) if one.short == "kernels" else _of(one) for one in wheels.ALL.values()),
    # What is written for waves of 32 lanes too; gfx1100 runs the same by hand (CONTRIBUTING.md).
    replace(
        _of(wheels.ALL["kernels"]),
        name="kernels-wave32",
        command=_pytest(*XDIST, *(f"packages/fly-kernels/tests/{one}" for one in ("norm", "quant", "elementwise"))),
        architectures=("gfx1201",),
        one_of=(4,),
    ),
    replace(
        _of(wheels.ALL["kernels"]),
        name="kernels-wmma",
        command=_pytest(
            *XDIST,
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
            *XDIST,
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
        _pytest(*XDIST, "--dist", "loadfile", "tests/integration"),  # what a file's tests share takes long to make
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


def run(suite: Suite, extra: list[str]) -> Counts:
    """Run one suite, or those of its files and folders that `extra` names; its output goes to the terminal."""
    command = suite.command
    if any(_is_test(one) for one in extra):
        command = tuple(one for one in command if not _is_test(one))
    folder = wheels.install(suite.environment, suite.packages, with_tests=suite.with_tests)
    companions = {
        one.variable: str(wheels.install(one.environment, one.packages) / "bin" / "python") for one in suite.companions
    }
    variables = environments.environment_variables()
    # fly-opt is a tool of the build tree and in no wheel.
    programs = [folder / "bin", *([BUILD / "fly-dialect" / "bin"] if "dialect" in suite.packages else [])]
    total = Counts()
    for architecture, one_of in zip(suite.architectures, suite.one_of, strict=True):
        share = {} if extra or one_of == 1 else {"FLYDSL_TEST_ONE_OF": str(one_of)}
        say(f"testing {suite.name}" + (f" on emulated {architecture}" if len(suite.architectures) > 1 else ""))
        report = BUILD / "reports" / f"{suite.name}-{architecture}.xml"
        report.parent.mkdir(parents=True, exist_ok=True)
        report.unlink(missing_ok=True)
        with _scratch() as scratch:
            done = subprocess.run(
                [str(folder / "bin" / suite.command[0]), *command[1:], f"--junitxml={report}", *extra],
                cwd=ROOT,
                env={
                    **scratch,
                    **share,
                    **os.environ,
                    **variables,
                    **companions,
                    "PATH": os.pathsep.join((*map(str, programs), variables["PATH"])),
                    "FLYDSL_GPU_ARCH": architecture,
                },
            )
        counts = _read(report)
        if done.returncode == _NOTHING_COLLECTED and any(map(_is_test, extra)) and total.passed:
            continue  # what was asked for runs on the first architecture only
        if counts.failed == 0 and (done.returncode != 0 or counts.passed == 0):
            say(f"{suite.name}: " + ("no test ran" if counts.passed == 0 else f"exit code {done.returncode}"))
            counts.failed = 1
        total += counts
    return total
