# SPDX-License-Identifier: Apache-2.0
"""``fly-emu``: run, profile, check, replay, disassemble and describe code objects from the command line."""

from __future__ import annotations

import argparse
import contextlib
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
_FLOATS = {"f32": ctypes.c_float, "f64": ctypes.c_double}


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
        _add_options(command)
        if name == "run":
            command.add_argument("--save", type=Path, help="save the launch into this folder, for fly-emu replay")
    text = "run a saved launch again"
    replay = commands.add_parser("replay", help=text, description=text)
    replay.set_defaults(command=_replay)
    replay.add_argument("launch", type=Path, help="the file (.flylaunch)")
    replay.add_argument("--code", type=Path, help="run this code object instead of the saved one")
    replay.add_argument("--out", type=Path, help="write the memory after the launch into this folder, NAME.npy each")
    replay.add_argument("--profile", action="store_true", help="show the counters")
    _add_options(replay)
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


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--sanitize", default="none", help="memory,race,init,wait,barrier,lint or all")
    command.add_argument("--stop-at-first", action="store_true", help="end at the first finding")
    command.add_argument("--seed", type=int, help="interleaving of waves (0: program order, the default)")
    command.add_argument("--orders", type=int, default=1, help="run under N orders and report outputs that differ")
    command.add_argument("--trace", type=Path, help="write the waves over time as trace events (Perfetto)")
    command.add_argument("--least-bytes", type=int, help="what the algorithm must move, for the roofline")
    command.add_argument("--json", action="store_true", help="print JSON")


def _extents(text: str) -> tuple[int, int, int]:
    values = [int(part, 0) for part in text.split(",")]
    if not 1 <= len(values) <= 3 or any(value < 1 for value in values):
        raise argparse.ArgumentTypeError(f"expected one to three positive numbers, got {text!r}")
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def _argument(text: str) -> tuple[Any, Path | None]:
    """A kernel argument and, for arrays that are written back, the file."""
    import numpy as np

    kind, separator, value = text.partition(":")
    if separator and (kind in _INTEGERS or kind in _FLOATS):
        try:
            return (_FLOATS[kind](float(value)) if kind in _FLOATS else _INTEGERS[kind](int(value, 0))), None
        except ValueError:
            raise ValueError(f"argument {text!r}: {value!r} is no {kind}") from None
    writes = text.startswith("out=")
    path = Path(text[4:] if writes else text)
    if not path.is_file():
        kinds = ", ".join((*_INTEGERS, *_FLOATS))
        raise ValueError(f"argument {text!r}: there is no file {path}; scalars are TYPE:VALUE with one of {kinds}")
    try:
        array = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"argument {text!r}: {path} is no .npy file ({error})") from None
    if array.ndim == 0:
        raise ValueError(f"argument {text!r}: {path} holds a scalar; write TYPE:VALUE")
    return np.ascontiguousarray(array), path if writes else None


def _kernel_of(options: argparse.Namespace, description: dict[str, Any]) -> dict[str, Any]:
    kernels = {kernel["name"]: kernel for kernel in description["kernels"]}
    if options.kernel is None and len(kernels) != 1:
        raise ValueError(f"--kernel is needed: the code object has {', '.join(kernels) or 'no kernels'}")
    name = options.kernel or next(iter(kernels))
    if name not in kernels:
        raise ValueError(f"there is no kernel {name!r}; the code object has {', '.join(kernels) or 'no kernels'}")
    return dict(kernels[name])


def _check(kernel: dict[str, Any], texts: Sequence[str], values: Sequence[Any]) -> None:
    """Number and sizes of the arguments against the kernel's metadata."""
    expected = [one for one in kernel["arguments"] if not one["kind"].startswith("hidden_")]
    if len(expected) != len(values):
        names = ", ".join(f"{one['name'] or '?'} ({one['kind']}, {one['size']} bytes)" for one in expected)
        raise ValueError(f"{kernel['name']} takes {len(expected)} arguments, {len(values)} came: {names or 'none'}")
    for one, text, value in zip(expected, texts, values, strict=True):
        array = not isinstance(value, ctypes._SimpleCData)
        size = 8 if array else ctypes.sizeof(value)
        if array and one["kind"] == "by_value" and one["size"] != 8:
            raise ValueError(f"argument {text!r}: {kernel['name']} takes {one['size']} bytes by value there, no array")
        if size != one["size"]:
            raise ValueError(f"argument {text!r}: {size} bytes, and {kernel['name']} takes {one['size']} there")


def _prepare(options: argparse.Namespace, emulator: Emulator, profiling: bool) -> None:
    emulator.set_sanitizers(options.sanitize)
    emulator.set_report_options(stop_at_first=options.stop_at_first)
    emulator.set_profiling(2 if options.trace else int(profiling))
    if options.orders < 1:
        raise ValueError(f"--orders {options.orders}: at least one")


def _launch(options: argparse.Namespace, emulator: Emulator, seed: int) -> list[tuple[Any, Path | None]]:
    image = options.image.read_bytes()
    description = emulator.describe(image)
    emulator.set_devices(options.arch or description["arch"])
    emulator.set_seed(seed)
    kernel = _kernel_of(options, description)
    arguments = [_argument(text) for text in options.arguments]
    values = [value for value, _ in arguments]
    _check(kernel, options.arguments, values)
    module = emulator.load(image)
    try:
        module.kernel(kernel["name"])(options.grid, options.block, *values, lds=options.lds, names=options.arguments)
    finally:
        module.unload()
    return arguments


def _run(options: argparse.Namespace) -> int:
    return _run_orders(options, profiling=False)


def _profile(options: argparse.Namespace) -> int:
    return _run_orders(options, profiling=True)


def _run_orders(options: argparse.Namespace, profiling: bool) -> int:
    import numpy as np

    emulator = Emulator()
    _prepare(options, emulator, profiling)
    seed = options.seed or 0
    saving = getattr(options, "save", None)
    with _saved(saving):
        first = _launch(options, emulator, seed)
    profile, fidelity = emulator.profile(), emulator.fidelity()
    if options.trace:
        options.trace.write_text(emulator.trace())
    differing: list[str] = []
    for order in range(1, options.orders):
        again = _launch(options, emulator, seed + order)
        for text, (a, _), (b, _) in zip(options.arguments, first, again, strict=True):
            if isinstance(a, np.ndarray) and a.tobytes() != b.tobytes() and text not in differing:
                differing.append(text)
    for value, path in first:
        if path is not None:
            np.save(path, value)
    _show(options, profile if profiling else None, fidelity, differing)
    return 1 if differing else 0


def _replay(options: argparse.Namespace) -> int:
    from flydsl.emulator.launch_file import SavedLaunch, summary

    emulator = Emulator()
    launch = SavedLaunch.load(options.launch)
    if options.code is not None:
        launch = launch.with_code(options.code.read_bytes())
    _prepare(options, emulator, options.profile)
    seed = launch.seed if options.seed is None else options.seed
    first = launch.replay(seed=seed)
    profile, fidelity = emulator.profile(), emulator.fidelity()
    if options.trace:
        options.trace.write_text(emulator.trace())
    differing: list[str] = []
    for order in range(1, options.orders):
        again = launch.replay(seed=seed + order)
        differing += [name for name in first if first[name] != again[name] and name not in differing]
    if options.out is not None:
        _write_arrays(options.out, first)
    if not options.json:
        about = summary(launch)
        print(
            f"{about['kernel']} on emulated {about['arch']}, grid {about['grid']}, block {about['block']}, seed {seed}"
        )
    _show(options, profile if options.profile else None, fidelity, differing)
    return 1 if differing else 0


def _write_arrays(folder: Path, arrays: dict[str, bytes]) -> None:
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    for name, contents in arrays.items():
        safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
        np.save(folder / f"{safe}.npy", np.frombuffer(contents, np.uint8))


def _saved(folder: Path | None) -> contextlib.AbstractContextManager[Any]:
    if folder is None:
        return contextlib.nullcontext()
    from flydsl.emulator.launch_file import save_launches

    return save_launches(folder)


def _show(
    options: argparse.Namespace, profile: dict[str, Any] | None, fidelity: dict[str, Any], differing: list[str]
) -> None:
    """The profile, or that the kernel has run; what the run assumed; outputs that depend on the order."""
    if options.json:
        result = {"fidelity": fidelity, "outputs_that_depend_on_the_order": differing}
        print(json.dumps({**profile, **result} if profile is not None else result))
        return
    if profile is not None:
        from flydsl.emulator.profiling import Profile

        Profile(profile).print(least_bytes=options.least_bytes)
    assumed = ", ".join(fidelity["assumed"]) or "nothing"
    print(f"{fidelity['kernel']}: done (emulated); assumed: {assumed}")
    for text in differing:
        print(f"{text}: depends on the order of waves", file=sys.stderr)


def _disassemble(options: argparse.Namespace) -> int:
    emulator = Emulator()
    image = options.image.read_bytes()
    text = emulator.library.flyemu_disassemble(image, ctypes.c_size_t(len(image)), options.arch.encode())
    if text is None:
        raise EmulatorError(200, "hipErrorInvalidImage", emulator.library.flyemu_last_error().decode())
    print(json.dumps({"code": text.decode()}) if options.json else text.decode())
    return 0


def _info(options: argparse.Namespace) -> int:
    description = Emulator().describe(options.image.read_bytes())
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
