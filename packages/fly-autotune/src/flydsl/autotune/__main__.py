# SPDX-License-Identifier: Apache-2.0
"""The commands of `python -m flydsl.autotune`: what was found out, merged, exported and forgotten."""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from . import mirror, variables
from .database import Database, Result, newest
from .facts import facts_of
from .files import canonical_json, read_file
from .fingerprint import toolchain_fingerprint
from .results import BEST, EVALUATED, ROLES


def _entry(result: Result) -> dict[str, Any]:
    """A finding as JSON has it: what it is, and what its key says."""
    said = facts_of(result.key)
    entry = {
        "function": result.function, "config": result.config, "milliseconds": result.milliseconds,
        "measure": result.measure, "found": result.found, "role": result.role, "error": result.error,
        **asdict(said), "shape_class": said.shape_class, "key": list(result.key),
    }  # fmt: skip
    return entry


def _chosen(arguments: argparse.Namespace) -> list[Result]:
    """The findings that the options name, the newest for each key unless all are asked for; in a fixed order."""
    database = _database(arguments)
    roles = ROLES if arguments.evaluated else (BEST,)
    results = database.results(arguments.function, roles) if database.folder.is_dir() else []
    if not arguments.all:
        counting = _that_count(results)
        results = [one for one in results if one.digest in counting]
    if arguments.arch:
        results = [one for one in results if facts_of(one.key).architecture == arguments.arch]
    return sorted(results, key=lambda one: (one.function, one.key, one.found, one.digest))


def _that_count(results: Iterable[Result]) -> set[str]:
    """The newest finding for each key of each function, and of each configuration that was evaluated for it."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for one in results:
        groups.setdefault((one.function, "" if one.role == BEST else canonical_json(one.config)), []).append(one)
    return {one.digest for each in groups.values() for one in newest(each).values()}


def _database(arguments: argparse.Namespace) -> Database:
    return Database(arguments.folder or variables.CACHE_DIR.get())


def _show(arguments: argparse.Namespace) -> int:
    results = _chosen(arguments)
    if arguments.json:
        print(json.dumps([_entry(one) for one in results], indent=2))
        return 0
    if not results:
        print(f"nothing is kept in {_database(arguments).folder}")
        return 0
    rows = [("function", "shape", "dtypes", "device", "milliseconds", "configuration", "found")]
    for one in results:
        said = facts_of(one.key)
        milliseconds = "" if one.milliseconds is None else f"{one.milliseconds:.4g}"
        if one.measure != "device" and milliseconds:
            milliseconds += f" ({one.measure})"
        if one.error:
            milliseconds = f"FAILED: {one.error[:40]}"
        config = " ".join(f"{name}={value!r}" for name, value in one.config.items())
        where = said.device or said.architecture
        rows.append((one.function, said.shape, said.dtypes, where, milliseconds, config, one.found[:19]))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _merge(arguments: argparse.Namespace) -> int:
    target = _database(arguments)
    for source in arguments.sources:
        results = _results_of(source)
        print(f"{source}: {len(results)} results, {target.merge(results)} of them new")
    return 0


def _results_of(source: Path) -> list[Result]:
    """The findings of a cache folder, of a database, of a function's JSON file, or of an export.

    Raises:
        ValueError: it is none of these.
    """
    if source.is_dir() or source.name == "results.sqlite":
        return Database(source if source.is_dir() else source.parent).results(roles=ROLES)
    if source.suffix != ".json":
        raise ValueError(f"{source}: neither a folder with a database nor a JSON file")
    try:
        content = json.loads(read_file(source))
    except (ValueError, RecursionError) as error:
        found = mirror.read(source)  # of a damaged file of a function, what is whole
        if not found:
            raise ValueError(f"{source}: not JSON: {error}") from None
    else:
        if isinstance(content, list):
            return [_result_of(entry, source) for entry in content]
        found = mirror.read(source)
    return [Result(source.stem, key, config) for key, config in found.items()]


def _result_of(entry: Any, source: Path) -> Result:
    try:
        names = ("function", "config", "milliseconds", "measure", "found")
        more = {name: entry[name] for name in ("role", "error") if name in entry}  # version 1 exported neither
        result = Result(key=tuple(entry["key"]), **{name: entry[name] for name in names}, **more)
        if Result.of_row(result.row()) == result:
            return result
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, sqlite3.Error):
        pass
    raise ValueError(f"{source}: an entry is not what `export` writes: {str(entry)[:200]}")


def _export(arguments: argparse.Namespace) -> int:
    text = json.dumps([_entry(one) for one in _chosen(arguments)], indent=2) + "\n"
    if arguments.out is None:
        sys.stdout.write(text)
    else:
        arguments.out.write_text(text, encoding="utf-8")
    return 0


def _prune(arguments: argparse.Namespace) -> int:
    if not (
        arguments.superseded or arguments.evaluated or arguments.older_than is not None or arguments.other_toolchains
    ):
        raise ValueError(
            "prune: say what to forget: --superseded, --evaluated, --older-than DAYS or --other-toolchains"
        )
    evaluated = arguments.evaluated
    database = _database(arguments)
    arguments.all = arguments.evaluated = True
    results = _chosen(arguments)
    forgotten = list(_to_forget(results, arguments, evaluated))
    if not arguments.dry_run:
        database.remove(forgotten)
    print(f"{len(forgotten)} of {len(results)} results{' would be' if arguments.dry_run else ''} forgotten")
    return 0


def _to_forget(results: list[Result], arguments: argparse.Namespace, evaluated: bool) -> Iterable[Result]:
    ours = toolchain_fingerprint()
    counting = _that_count(results)
    oldest = None
    if arguments.older_than is not None:
        oldest = (datetime.now(timezone.utc) - timedelta(days=arguments.older_than)).isoformat(timespec="microseconds")
    for one in results:
        if (
            (arguments.superseded and one.digest not in counting)
            or (evaluated and one.role == EVALUATED)
            or (oldest is not None and one.found < oldest)
            or (arguments.other_toolchains and facts_of(one.key).toolchain != ours)
        ):
            yield one


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m flydsl.autotune", description="What tuning found out.")
    parser.add_argument("--folder", type=Path, help="the cache folder (default: FLYDSL_AUTOTUNE_CACHE_DIR)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Any, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        if name != "merge":
            command.add_argument("function", nargs="?", help="only of this function")
            command.add_argument("--arch", help="only of this architecture")
        if name in ("show", "export"):
            command.add_argument(
                "--evaluated", action="store_true", help="also every configuration that searches tried"
            )
        return command

    command = add("show", _show, "print a table of the results")
    command.add_argument("--all", action="store_true", help="also those that newer ones replaced")
    command.add_argument("--json", action="store_true", help="print JSON")
    command = add("merge", _merge, "add the results of other machines")
    command.add_argument("sources", nargs="+", type=Path, help="cache folders, databases, JSON files, exports")
    command = add("export", _export, "write the results as one JSON file, in a fixed order, for review and for merge")
    command.add_argument("--all", action="store_true", help="also those that newer ones replaced")
    command.add_argument("--out", type=Path, help="the file (default: standard output)")
    command = add("prune", _prune, "forget results")
    command.add_argument("--superseded", action="store_true", help="those that newer ones replaced")
    command.add_argument("--evaluated", action="store_true", help="what searches tried; the best of each stays")
    command.add_argument("--older-than", type=float, metavar="DAYS", help="those found before")
    command.add_argument("--other-toolchains", action="store_true", help="those of another compiler or runtime")
    command.add_argument("--dry-run", action="store_true", help="only say how many")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run one command; returns the exit code (2: it could not be done)."""
    arguments = _parser().parse_args(words)
    try:
        return int(arguments.run(arguments))
    except BrokenPipeError:  # the reader of a pipe has gone (`| head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, ValueError, sqlite3.Error) as error:
        print(f"python -m flydsl.autotune: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
