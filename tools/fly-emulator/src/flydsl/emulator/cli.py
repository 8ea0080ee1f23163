# SPDX-License-Identifier: Apache-2.0
"""``fly-emu``: run, profile, check, disassemble and describe code objects from the command line."""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flydsl.emulator.device import Emulator, EmulatorError

_INTEGERS = {
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code (1: the kernel failed, 2: wrong usage)."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except EmulatorError as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"fly-emu: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fly-emu", description="Run AMD code objects on the CPU (emulated).")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function, text in (
        ("run", _run, "run a kernel on .npy files and scalars"),
        ("profile", _profile, "run a kernel and show its counters (estimates)"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(command=function)
        command.add_argument("image", type=Path, help="the code object (HSACO) or offload bundle")
        command.add_argument("arguments", nargs="*", help="x.npy, out=y.npy (written back), or type:value (i32:7)")
        command.add_argument("--kernel", help="name of the kernel (default: the only one)")
        command.add_argument("--grid", type=_extents, default=(1, 1, 1), help="blocks, X[,Y[,Z]]")
        command.add_argument("--block", type=_extents, default=(64, 1, 1), help="threads of a block, X[,Y[,Z]]")
        command.add_argument("--lds", type=int, default=0, help="dynamic LDS, bytes")
        command.add_argument("--arch", help="architecture (default: the code object's)")
        command.add_argument("--sanitize", default="none", help="memory,race,init,wait,barrier or all")
        command.add_argument("--seed", type=int, default=0, help="interleaving of waves")
        command.add_argument("--orders", type=int, default=1, help="run under N orders and report outputs that differ")
        command.add_argument("--json", action="store_true", help="print JSON")
    for name, function, text in (
        ("disasm", _disassemble, "print the code with source lines"),
        ("info", _info, "print the kernels, their resources and arguments"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(command=function)
        command.add_argument("image", type=Path, help="the code object (HSACO)")
        command.add_argument("--arch", default="", help="refuse another architecture")
        command.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _extents(text: str) -> tuple[int, int, int]:
    values = [int(part, 0) for part in text.split(",")]
    if not 1 <= len(values) <= 3 or any(value < 1 for value in values):
        raise argparse.ArgumentTypeError(f"expected one to three positive numbers, got {text!r}")
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def _describe(emulator: Emulator, image: bytes) -> dict[str, Any]:
    text = emulator.library.flyemu_code_object_json(image, ctypes.c_size_t(len(image)))
    if text is None:
        raise EmulatorError(200, "hipErrorInvalidImage", emulator.library.flyemu_last_error().decode())
    value: dict[str, Any] = json.loads(text)
    return value


def _argument(text: str) -> tuple[Any, Path | None]:
    """A kernel argument and, for arrays that are written back, the file."""
    import numpy as np

    kind, separator, value = text.partition(":")
    if separator and (kind in _INTEGERS or kind in ("f32", "f64")):
        if kind.startswith("f"):
            return (ctypes.c_float if kind == "f32" else ctypes.c_double)(float(value)), None
        return _INTEGERS[kind](int(value, 0)), None
    writes = text.startswith("out=")
    path = Path(text[4:] if writes else text)
    array = np.load(path)
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    return array, path if writes else None


def _launch(options: argparse.Namespace, emulator: Emulator, seed: int) -> list[tuple[Any, Path | None]]:
    image = options.image.read_bytes()
    description = _describe(emulator, image)
    emulator.set_devices(options.arch or description["arch"])
    emulator.set_sanitizers(options.sanitize)
    emulator.set_seed(seed)
    names = [kernel["name"] for kernel in description["kernels"]]
    if options.kernel is None and len(names) != 1:
        raise ValueError(f"--kernel is needed: the code object has {', '.join(names) or 'no kernels'}")
    arguments = [_argument(text) for text in options.arguments]
    module = emulator.load(image)
    try:
        kernel = module.kernel(options.kernel or names[0])
        values = [value for value, _ in arguments]
        kernel(options.grid, options.block, *values, lds=options.lds, names=options.arguments)
    finally:
        module.unload()
    return arguments


def _run(options: argparse.Namespace) -> int:
    import numpy as np

    emulator = Emulator()
    first = _launch(options, emulator, options.seed)
    differing: list[str] = []
    for order in range(1, options.orders):
        again = _launch(options, emulator, options.seed + order)
        for text, (a, _), (b, _) in zip(options.arguments, first, again, strict=True):
            if isinstance(a, np.ndarray) and a.tobytes() != b.tobytes() and text not in differing:
                differing.append(text)
    for value, path in first:
        if path is not None:
            np.save(path, value)
    fidelity = emulator.fidelity()
    if options.json:
        print(json.dumps({"fidelity": fidelity, "outputs_that_depend_on_the_order": differing}))
    else:
        assumed = ", ".join(fidelity["assumed"]) or "nothing"
        print(f"{fidelity['kernel']}: done (emulated); assumed: {assumed}")
        for text in differing:
            print(f"{text}: depends on the order of waves", file=sys.stderr)
    return 1 if differing else 0


def _profile(options: argparse.Namespace) -> int:
    emulator = Emulator()
    emulator.set_profiling(True)
    _launch(options, emulator, options.seed)
    profile = emulator.profile()
    if options.json:
        print(json.dumps(profile))
    else:
        _print_profile(profile)
    return 0


def _print_profile(profile: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    columns = ("instructions", "bytes_loaded", "bytes_stored", "transactions", "lds_conflict_cycles", "issue_cycles")
    console.print(f"{profile['kernel']} on the emulated {profile['arch']}; cycles and transactions are estimates")
    for title, key in (("by class", "classes"), ("by source line", "lines")):
        table = Table(title=title)
        table.add_column(key[:-1] if key == "lines" else "class")
        for column in columns:
            table.add_column(column.replace("_", " "), justify="right")
        rows = sorted(profile[key].items(), key=lambda item: -item[1]["issue_cycles"])
        for name, counters in rows[:25]:
            table.add_row(name, *(f"{counters[column]:,}" for column in columns))
        console.print(table)


def _disassemble(options: argparse.Namespace) -> int:
    emulator = Emulator()
    image = options.image.read_bytes()
    text = emulator.library.flyemu_disassemble(image, ctypes.c_size_t(len(image)), options.arch.encode())
    if text is None:
        raise EmulatorError(200, "hipErrorInvalidImage", emulator.library.flyemu_last_error().decode())
    print(json.dumps({"code": text.decode()}) if options.json else text.decode())
    return 0


def _info(options: argparse.Namespace) -> int:
    description = _describe(Emulator(), options.image.read_bytes())
    if options.json:
        print(json.dumps(description))
        return 0
    print(f"{description['arch']}, code object version {description['version']}")
    for kernel in description["kernels"]:
        print(
            f"{kernel['name']}: {kernel['vgpr']} VGPRs, {kernel['agpr']} AGPRs, {kernel['sgpr']} SGPRs, "
            f"{kernel['lds_bytes']} bytes LDS, {kernel['scratch_bytes']} bytes scratch"
        )
        for argument in kernel["arguments"]:
            if not argument["kind"].startswith("hidden_"):
                print(f"  {argument['offset']:4} {argument['size']:3} {argument['kind']} {argument['name']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
