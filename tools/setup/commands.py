# SPDX-License-Identifier: Apache-2.0
"""The commands of `tools/dev`."""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from . import cuda_tests, environments, lint, suites, wheels
from .paths import BUILD, ROOT
from .shell import SetupError, say


def _dev_environment() -> dict[str, str]:
    folder = wheels.install("dev", tuple(wheels.ALL), editable=True)
    variables = environments.environment_variables()
    tools = BUILD / "fly-dialect" / "bin"
    return {
        **os.environ,
        **variables,
        "PATH": os.pathsep.join((str(folder / "bin"), str(tools), variables["PATH"])),
        "VIRTUAL_ENV": str(folder),
    }


def _run_in_dev(command: Sequence[str]) -> int:
    env = _dev_environment()
    found = next(
        (str(Path(path, command[0])) for path in env["PATH"].split(os.pathsep) if Path(path, command[0]).is_file()),
        command[0],
    )
    try:
        return subprocess.run([found, *command[1:]], env=env).returncode
    except FileNotFoundError:
        raise SetupError(f"{command[0]}: no such command in the developer environment") from None


def demo(arguments: argparse.Namespace) -> int:
    """Set up, then run the example kernels on the emulator and print one table."""
    return _run_in_dev(["python", str(ROOT / "tools" / "demo.py"), *arguments.rest])


def test(arguments: argparse.Namespace) -> int:
    """Set up, then run all tests, or those of one package; --device cuda: what a machine with an NVIDIA GPU runs."""
    if arguments.device:
        if arguments.package:
            raise SetupError(f"test: --device cuda has tests of its own, and none for {arguments.package!r} alone")
        return cuda_tests.test()
    started = time.monotonic()
    names = [suite.name for suite in suites.ALL]
    chosen = arguments.package.removeprefix("fly-") if arguments.package else None
    if chosen and chosen != "lint" and chosen not in names:
        raise SetupError(f"no tests for {arguments.package!r}; there are: lint, {', '.join(names)}")
    if chosen is None:
        checks, counts = suites.run_all(lint.run)
    else:
        checks = lint.run() if chosen == "lint" else (0, 0)
        counts = {suite.name: suites.run(suite, arguments.rest) for suite in suites.ALL if suite.name == chosen}
    total = sum(counts.values(), suites.Counts(*checks))
    lines = [f"{'lint':12} {checks[0]:6} passed {checks[1]:4} failed"] if chosen in (None, "lint") else []
    lines += [
        f"{name:12} {one.passed:6} passed {one.failed:4} failed {one.skipped:4} skipped" for name, one in counts.items()
    ]
    print("\n".join(("", *lines)))
    print(f"in {time.monotonic() - started:.0f} s", flush=True)
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped", flush=True)
    return 1 if total.failed else 0


def build(arguments: argparse.Namespace) -> int:
    """Build the wheels (into build/wheels); --release: self-contained ones (into build/release)."""
    make: Callable[[wheels.Package], Path] = wheels.release if arguments.release else wheels.build
    if arguments.python:
        make = functools.partial(wheels.release if arguments.release else wheels.build_for, version=arguments.python)
    chosen = [name.removeprefix("fly-") for name in arguments.packages] or list(wheels.ALL)
    for name in chosen:
        if name not in wheels.ALL:
            raise SetupError(f"no package {name!r}; there are: {', '.join(wheels.ALL)}")
        wheel = make(wheels.ALL[name])
        print(f"{wheel}  {wheels.sizes(wheel)}" if arguments.release else wheel)
    return 0


def lint_command(arguments: argparse.Namespace) -> int:
    """Style, types, layers; with --tidy also clang-tidy (minutes)."""
    _, failed = lint.run()
    if arguments.tidy and not lint.tidy():
        failed += 1
    return 1 if failed else 0


def bench(arguments: argparse.Namespace) -> int:
    """Run a benchmark of tools/bench, or list them."""
    folder = ROOT / "tools" / "bench"
    names = sorted(path.stem for path in folder.glob("[a-z]*.py"))
    if not arguments.name:
        print("\n".join(names))
        return 0
    if arguments.name not in names:
        raise SetupError(f"no benchmark {arguments.name!r}; there are: {', '.join(names)}")
    return _run_in_dev(["python", str(folder / f"{arguments.name}.py"), *arguments.rest])


def lock(arguments: argparse.Namespace) -> int:
    """Pin the newest versions of what builds the wheels, with their hashes (tools/setup/locks)."""
    print("\n".join(str(path.relative_to(ROOT)) for path in environments.lock()))
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Run any command inside the developer environment, e.g. `tools/dev run fly-opt --help`."""
    if not arguments.rest:
        raise SetupError("run: which command? For example: tools/dev run python")
    return _run_in_dev(arguments.rest)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/dev", description="Sets this machine up, then runs a task.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, function: object) -> argparse.ArgumentParser:
        summary = (function.__doc__ or "").split("\n")[0]
        command = commands.add_parser(name, help=summary, description=summary)
        command.set_defaults(function=function)
        return command

    add("demo", demo).add_argument("rest", nargs=argparse.REMAINDER, metavar="…")
    command = add("test", test)
    command.add_argument("--device", choices=("cuda",), help="put what a Hopper GPU's machine runs into build/cuda")
    command.add_argument("package", nargs="?", help="lint, " + ", ".join(suite.name for suite in suites.ALL))
    command.add_argument("rest", nargs=argparse.REMAINDER, metavar="…", help="more arguments for pytest")
    command = add("build", build)
    command.add_argument("packages", nargs="*", metavar="PACKAGE")
    command.add_argument("--release", action="store_true", help="as published: nothing of this machine is needed")
    command.add_argument("--python", metavar="3.12", help="for another Python of this machine")
    add("lint", lint_command).add_argument("--tidy", action="store_true", help="also run clang-tidy")
    command = add("bench", bench)
    command.add_argument("name", nargs="?")
    command.add_argument("rest", nargs=argparse.REMAINDER, metavar="…")
    add("lock", lock)
    add("run", run).add_argument("rest", nargs=argparse.REMAINDER, metavar="COMMAND …")

    def show_help(_: argparse.Namespace) -> int:
        """Show this text."""
        parser.print_help()
        return 0

    add("help", show_help)
    return parser


def main(words: list[str]) -> int:
    """Run one command; returns the exit code."""
    arguments = _parser().parse_args(words or ["help"])
    try:
        return int(arguments.function(arguments))
    except SetupError as error:
        say(str(error))
        return 2
    except KeyboardInterrupt:
        print("tools/dev: interrupted", file=sys.stderr)
        return 130
