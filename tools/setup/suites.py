# SPDX-License-Identifier: Apache-2.0
"""The test suites: what each runs, in which environment, with which of our wheels in it."""

from __future__ import annotations

import os
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from . import hatch, wheels
from .paths import BUILD, ROOT
from .shell import say

XDIST = ("-n", str(len(os.sched_getaffinity(0))))


@dataclass(frozen=True)
class Companion:
    """A second environment that a suite's tests start processes in; `variable` tells them its Python."""

    variable: str
    environment: str
    packages: tuple[str, ...]


@dataclass(frozen=True)
class Suite:
    """One test command. `packages` is all of ours that its environment may hold: an upward import must fail there."""

    name: str
    environment: str
    packages: tuple[str, ...]
    command: tuple[str, ...]
    companions: tuple[Companion, ...] = ()


def _pytest(*arguments: str) -> tuple[str, ...]:
    return ("python", "-m", "pytest", "-q", "-rs", "--strict-markers", *arguments)


ALL = (
    Suite("layout", "test-layout", ("layout",), _pytest(*XDIST, "packages/fly-layout/tests")),
    Suite("runtime", "test-runtime", ("runtime", "emulator"), _pytest("packages/fly-runtime/tests")),
    Suite("emulator", "test-emulator", ("emulator",), _pytest(*XDIST, "tools/fly-emulator/tests")),
    Suite("dialect", "test-dialect", ("dialect",), _pytest(*XDIST, "packages/fly-dialect/tests")),
    Suite(
        "compiler",
        "test-compiler",
        ("layout", "runtime", "dialect", "compiler", "emulator"),
        _pytest(*XDIST, "packages/fly-compiler/tests"),
    ),
    Suite(
        "kernels",
        "test-kernels",
        ("layout", "runtime", "dialect", "compiler", "kernels", "emulator"),
        _pytest(*XDIST, "packages/fly-kernels/tests"),
    ),
    Suite(
        "integration",
        "integration",
        ("layout", "runtime", "dialect", "compiler", "kernels", "emulator"),
        _pytest("tests/integration"),
        (Companion("FLYDSL_SERVICE_PYTHON", "service", ("runtime", "kernels", "emulator")),),
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


def run(suite: Suite, extra: list[str]) -> Counts:
    """Run one suite; its output goes to the terminal."""
    folder = wheels.install(suite.environment, suite.packages)
    companions = {
        one.variable: str(wheels.install(one.environment, one.packages) / "bin" / "python") for one in suite.companions
    }
    report = BUILD / "reports" / f"{suite.name}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    say(f"testing {suite.name}")
    variables = hatch.environment_variables()
    done = subprocess.run(
        [str(folder / "bin" / suite.command[0]), *suite.command[1:], f"--junitxml={report}", *extra],
        cwd=ROOT,
        env={
            **os.environ,
            **variables,
            "PATH": f"{folder / 'bin'}{os.pathsep}{variables['PATH']}",
            **companions,
        },
    )
    counts = _read(report)
    if done.returncode != 0 and counts.failed == 0:
        counts.failed = 1
    if counts.passed + counts.failed == 0:
        say(f"{suite.name}: no test ran")
        counts.failed = 1
    return counts
