# SPDX-License-Identifier: Apache-2.0
"""``fly-emu``: run, profile, check, replay, extract, disassemble and describe code objects from the command line."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flydsl.emulator import cli_predict
from flydsl.emulator.cli_arguments import check_arguments, read_argument
from flydsl.emulator.code_objects import code_objects_in, is_host_file
from flydsl.emulator.device import Emulator, EmulatorError

_IMAGE = "code object (.hsaco), offload bundle, or artifact of FlyDSL (.so)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code (1: the kernel failed, 2: wrong usage)."""
    options = _parse(arguments)
    try:
        status = int(options.command(options))
        sys.stdout.flush()
        return status
    except EmulatorError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe has gone (`| head`): nothing is left to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        about = f"{error.filename}: {error.strerror}" if error.filename is not None else str(error)
        print(f"fly-emu: {about}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"fly-emu: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"fly-emu: {error.name} is not installed: pip install fly-emulator[cli]", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("fly-emu: interrupted", file=sys.stderr)
        return 130


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; a kernel's arguments may also come behind options."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    unknown = [text for text in rest if text.startswith("-")] if hasattr(options, "arguments") else rest
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if rest:
        options.arguments += rest
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fly-emu", description="Run AMD code objects on the CPU (emulated).")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function, text in (
        ("run", _run, "run a kernel on .npy files and scalars"),
        ("profile", _profile, "run a kernel and show its counters (estimates)"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(command=function)
        command.add_argument("image", type=Path, help=_IMAGE)
        _add_launch(command)
        _add_options(command)
        if name == "run":
            command.add_argument("--save", type=Path, help="save the launch into this folder, for fly-emu replay")
    text = "predict the time of a kernel on a device, or of recorded launches"
    command = commands.add_parser("predict", help=text, description=text)
    command.set_defaults(command=_predict)
    command.add_argument("image", type=Path, nargs="?", help=_IMAGE)
    _add_launch(command)
    cli_predict.add_options(command)
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
        ("check", _check, "check waits and wait states on every path, without running anything"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(command=function)
        command.add_argument("image", type=Path, help="code object (.hsaco), or artifact of FlyDSL (.so)")
        command.add_argument("--arch", default="", help="that of an artifact's; refuse another architecture")
        command.add_argument("--json", action="store_true", help="print JSON")
    text = "write the code objects of an artifact, a .hsaco file for each architecture"
    extract = commands.add_parser("extract", help=text, description=text)
    extract.set_defaults(command=_extract)
    extract.add_argument(
        "image", type=Path, help="an artifact of FlyDSL: what flyc.compile(...).path names, or an export"
    )
    extract.add_argument("--arch", default="", help="only this one")
    extract.add_argument("--out", type=Path, help="the folder (default: that of the artifact)")
    return parser


def _add_launch(command: argparse.ArgumentParser) -> None:
    command.add_argument("arguments", nargs="*", help="x.npy, out=y.npy (written back), or type:value (i32:7)")
    command.add_argument("--kernel", help="name of the kernel (default: the only one)")
    command.add_argument("--grid", type=_extents, default=(1, 1, 1), help="blocks, X[,Y[,Z]]")
    command.add_argument("--block", type=_extents, default=(64, 1, 1), help="threads of a block, X[,Y[,Z]]")
    command.add_argument("--lds", type=_count, default=0, help="dynamic LDS, bytes")
    command.add_argument("--arch", help="architecture (default: the code object's)")


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--sanitize", default="none", help="memory,race,init,wait,barrier,hazard,lint or all")
    command.add_argument("--stop-at-first", action="store_true", help="end at the first finding")
    command.add_argument("--seed", type=_count, help="interleaving of waves (0: program order, the default)")
    command.add_argument("--orders", type=int, default=1, help="run under N orders and report outputs that differ")
    command.add_argument("--trace", type=Path, help="write the waves over time as trace events (Perfetto)")
    command.add_argument("--least-bytes", type=_count, help="what the algorithm must move, for the roofline")
    command.add_argument("--json", action="store_true", help="print JSON")


def _count(text: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if not 0 <= value < 2**63:
        raise argparse.ArgumentTypeError(f"expected a number from 0 on, got {text!r}")
    return value


def _extents(text: str) -> tuple[int, int, int]:
    try:
        values = [int(part, 0) for part in text.split(",")]
    except ValueError:
        values = []
    if not 1 <= len(values) <= 3 or any(not 1 <= value < 2**32 for value in values):
        raise argparse.ArgumentTypeError(f"expected one to three positive numbers, got {text!r}")
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def _kernel_of(options: argparse.Namespace, description: dict[str, Any]) -> dict[str, Any]:
    kernels = {kernel["name"]: kernel for kernel in description["kernels"]}
    if not kernels:
        raise ValueError(f"{options.image}: no kernels; its metadata (note NT_AMDGPU_METADATA) is empty or stripped")
    if options.kernel is None and len(kernels) != 1:
        raise ValueError(f"--kernel is needed: the code object has {', '.join(kernels)}")
    name = options.kernel or next(iter(kernels))
    if name not in kernels:
        raise ValueError(f"there is no kernel {name!r}; the code object has {', '.join(kernels)}")
    return dict(kernels[name])


def _prepare(options: argparse.Namespace, emulator: Emulator, profiling: bool) -> None:
    emulator.set_sanitizers(options.sanitize)
    emulator.set_report_options(stop_at_first=options.stop_at_first)
    emulator.set_profiling(2 if options.trace else int(profiling))
    if options.orders < 1:
        raise ValueError(f"--orders {options.orders}: at least one")


_WHERE_FROM = (
    "compilers write code objects as .hsaco files; `fly-emu extract` takes them out of an artifact of FlyDSL, which "
    "flyc.compile(function, ...).path and .export(...) name"
)


def _read_image(path: Path, emulator: Emulator, arch: str | None) -> bytes:
    """The code object of a file: the file itself, or that of an artifact for the architecture.

    Raises:
        ValueError: the file is of the host and has no code object, or several and `arch` does not say which.
    """
    image = path.read_bytes()
    if not is_host_file(image):
        return image
    found = _code_objects(image, emulator)
    if not found:
        hint = _WHERE_FROM
        if b".hip_fatbin\0" in image:
            hint = f"take its code objects out with llvm-objcopy --dump-section .hip_fatbin=bundle {path}"
        raise ValueError(f"{path}: a program or library of the host without a code object that lies open in it; {hint}")
    wanted = [one for name, one in found if _is_arch(name, arch)]
    if len(wanted) != 1:
        what = f"it has code objects for {', '.join(name for name, _ in found)}"
        raise ValueError(f"{path}: {what}: choose one with --arch, or write them out with `fly-emu extract {path}`")
    return wanted[0]


def _code_objects(image: bytes, emulator: Emulator) -> list[tuple[str, bytes]]:
    """The code objects in a file of the host, with their architectures."""
    return [(str(emulator.describe(one)["arch"]), one) for one in code_objects_in(image)]


def _is_arch(name: str, wanted: str | None) -> bool:
    return not wanted or name.split(":")[0] == wanted.split(":")[0]


def _describe(path: Path, emulator: Emulator, arch: str | None = None) -> tuple[bytes, dict[str, Any]]:
    """The code object of a file, and what is in it."""
    image = _read_image(path, emulator, arch)
    try:
        return image, emulator.describe(image)
    except EmulatorError as error:
        hint = "" if image[:4] == b"\x7fELF" else f"; {_WHERE_FROM}"
        raise ValueError(f"{path}: {error.report}{hint}") from None


def _extract(options: argparse.Namespace) -> int:
    emulator, image = Emulator(), options.image.read_bytes()
    found = _code_objects(image, emulator)
    chosen = [(name, one) for name, one in found if _is_arch(name, options.arch)]
    if not chosen:
        has = f"it has {', '.join(name for name, _ in found)}" if found else f"it has no code object; {_WHERE_FROM}"
        raise ValueError(f"{options.image}: {has}")
    folder = options.out or options.image.parent
    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, one) in enumerate(chosen):
        several = sum(other == name for other, _ in chosen) > 1  # a program of several sources
        ending = f"{name.replace(':', '_')}{f'.{number}' if several else ''}.hsaco"
        path = folder / f"{options.image.stem}.{ending}"
        path.write_bytes(one)
        print(path)
    return 0


def _launch(options: argparse.Namespace, emulator: Emulator, seed: int) -> list[tuple[Any, Path | None]]:
    image, description = _describe(options.image, emulator, options.arch)
    emulator.set_devices(options.arch or description["arch"])
    emulator.set_seed(seed)
    kernel = _kernel_of(options, description)
    arguments = [read_argument(text) for text in options.arguments]
    values = [value for value, _ in arguments]
    check_arguments(kernel, options.arguments, values)
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


def _predict(options: argparse.Namespace) -> int:
    cli_predict.check_options(options)
    if options.records is not None:
        return cli_predict.predict_records(options)
    if options.devices:
        return cli_predict.list_devices(options.json)
    _, description = _describe(options.image, Emulator(), options.arch)
    arch = options.arch or description["arch"]
    return cli_predict.predict_launch(options, arch, lambda emulator: _launch(options, emulator, 0))


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
        launch = launch.with_code(_read_image(options.code, emulator, launch.arch))
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
        result: dict[str, Any] = {"fidelity": fidelity, "outputs_that_depend_on_the_order": differing}
        if profile is not None:
            from flydsl.emulator.profiling import Profile

            line = Profile(profile).roofline(options.least_bytes)
            derived = {name: getattr(line, name) for name in ("ratio", "intensity", "bound")}
            result = {**profile, **result, "roofline": {**dataclasses.asdict(line), **derived}}
        print(json.dumps(result))
        return
    if profile is not None:
        from flydsl.emulator.profiling import Profile

        Profile(profile).print(least_bytes=options.least_bytes)
    print(f"{fidelity['kernel']}: done (emulated)")
    for kind, text in (("within_stated_error", "within their stated error"), ("assumed", "assumed")):
        if fidelity[kind]:
            print(f"  {text}: {', '.join(fidelity[kind])}")
    for part in fidelity["model"]:
        if part["fidelity"] != "exact":
            print(f"  {part['what']}, {part['fidelity']}: {part['how']}")
    for text in differing:
        print(f"{text}: depends on the order of waves", file=sys.stderr)


def _disassemble(options: argparse.Namespace) -> int:
    emulator = Emulator()
    image, _ = _describe(options.image, emulator, options.arch)
    text = emulator.library.flyemu_disassemble(image, ctypes.c_size_t(len(image)), options.arch.encode())
    if text is None:
        raise EmulatorError(200, "hipErrorInvalidImage", emulator.library.flyemu_last_error().decode())
    print(json.dumps({"code": text.decode()}) if options.json else text.decode())
    return 0


def _check(options: argparse.Namespace) -> int:
    """Exit status 1 when something was found."""
    from flydsl.emulator.checking import check_code

    image, _ = _describe(options.image, Emulator(), options.arch)
    kernels = check_code(image, options.arch)
    if options.json:
        print(json.dumps([dataclasses.asdict(kernel) | {"unchecked": kernel.unchecked} for kernel in kernels]))
    else:
        print("\n".join(map(str, kernels)))
    return 1 if any(kernel.findings for kernel in kernels) else 0


def _info(options: argparse.Namespace) -> int:
    _, description = _describe(options.image, Emulator(), options.arch)
    if not _is_arch(description["arch"], options.arch):
        raise ValueError(f"{options.image}: it is for {description['arch']}, not {options.arch}")
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
