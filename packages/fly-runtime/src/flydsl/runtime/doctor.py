# SPDX-License-Identifier: Apache-2.0
"""`python -m flydsl.runtime doctor`: what the runtime finds on this machine, and where it looked."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
from typing import Any

from . import _library, device, environment, hardware

WHEELS = ("fly-runtime", "fly-layout", "fly-dialect", "fly-compiler", "fly-kernels", "fly-autotune", "fly-emulator",
          "apache-tvm-ffi", "torch", "numpy")  # fmt: skip
_TERMS = {
    "hip": ("compute units", "waves", "LDS"),
    "cuda": ("multiprocessors", "warps", "shared memory per block"),
}


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in WHEELS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def _settings() -> dict[str, str]:
    """Variables that are set, as text; one that isn't valid shows its error."""
    shown = {}
    for variable in environment.all_variables():
        if variable.is_set():
            try:
                shown[variable.name] = str(variable.get())
            except ValueError as error:
                shown[variable.name] = f"invalid: {error}"
    return shown


def examine() -> dict[str, Any]:
    """Everything that `doctor` shows, as one JSON object. `problems` is empty when kernels can run."""
    problems: list[str] = []
    report: dict[str, Any] = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "wheels": _versions(),
        "settings": _settings(),
    }
    try:
        report["runtime_library"] = str(_library.library_path())
    except FileNotFoundError as error:
        problems.append(str(error))
        return {**report, "problems": problems}
    if importlib.util.find_spec("tvm_ffi") is None:
        problems.append("apache-tvm-ffi is not installed: pip install apache-tvm-ffi")
    try:
        report["device"] = hardware.describe()
        if report["device"]["library"] is None:
            problems.append("no library with a device; pip install fly-emulator to run without a GPU")
    except (ValueError, RuntimeError) as error:
        problems.append(str(error))
    try:
        report["target"] = device.get_rocm_arch()
    except (ValueError, RuntimeError) as error:
        problems.append(str(error))
    report["problems"] = list(dict.fromkeys(problems))
    return report


def render(report: dict[str, Any]) -> str:
    """The report as text for people."""
    lines = [
        f"python   {report['python']} on {report['machine']} ({sys.executable})",
        "wheels   " + ", ".join(f"{name} {version}" for name, version in report["wheels"].items() if version),
        "missing  " + (", ".join(name for name, version in report["wheels"].items() if not version) or "none"),
        f"runtime  {report.get('runtime_library', 'not found')}",
        f"target   {report.get('target', 'unknown')}",
    ]
    lines += [f"setting  {name}={value}" for name, value in report["settings"].items()]
    found = report.get("device")
    if found is not None:
        lines.append("searched for a device library:")
        for attempt in found["attempts"]:
            place = f"{attempt['place']}: " if attempt["place"] else ""
            outcome = attempt["outcome"].removeprefix(place)
            lines.append(f"  {attempt['step']}: {place}{outcome}")
        if found["library"]:
            kinds = {
                "emulator": f"the emulator, version {found['version']}: no AMD GPU is used",
                "hip": "HIP",
                "cuda": f"CUDA's driver, for CUDA {found['version']}",
            }
            lines.append(f"in use   {found['library']} ({kinds[found['kind']]})")
        units, waves, lds = _TERMS["cuda" if found["kind"] == "cuda" else "hip"]
        for entry in found["devices"]:
            lines.append(
                f"device   {entry['index']}: {entry['name']}, {entry['arch']}, {entry['compute_units']} {units}, "
                f"{waves} of {entry['warp_size']}, {entry['memory_bytes'] / 2**30:.1f} GiB, "
                f"{entry['lds_bytes'] // 1024} KiB {lds}{' (emulated)' if found['kind'] == 'emulator' else ''}"
            )
    lines += [f"PROBLEM  {problem}" for problem in report["problems"]] or ["all is well"]
    return "\n".join(lines)
