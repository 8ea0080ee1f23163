# SPDX-License-Identifier: Apache-2.0
"""The commands of `python -m flydsl.runtime`."""

from __future__ import annotations

import argparse
import json
import sys

from . import doctor, environment
from .errors import ArtifactError
from .note import read_note


def _doctor(arguments: argparse.Namespace) -> int:
    report = doctor.examine()
    print(json.dumps(report, indent=2) if arguments.json else doctor.render(report))
    return 1 if report["problems"] else 0


def _note(arguments: argparse.Namespace) -> int:
    try:
        print(json.dumps(read_note(arguments.artifact), indent=2))
    except ArtifactError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _env(arguments: argparse.Namespace) -> int:
    print("\n".join(environment.group(name).help() for name in environment.groups()))
    return 0


def main(words: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m flydsl.runtime")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("doctor", help="what is installed, which device is used, and where it was looked for")
    command.add_argument("--json", action="store_true", help="as one JSON object")
    command.set_defaults(run=_doctor)
    command = commands.add_parser("note", help="print an artifact's JSON note, without loading the artifact")
    command.add_argument("artifact")
    command.set_defaults(run=_note)
    command = commands.add_parser("env", help="the environment variables of this layer")
    command.set_defaults(run=_env)
    arguments = parser.parse_args(words)
    return int(arguments.run(arguments))


if __name__ == "__main__":
    sys.exit(main())
