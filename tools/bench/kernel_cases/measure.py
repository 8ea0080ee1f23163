# SPDX-License-Identifier: Apache-2.0
"""Run the kernels of a case on the emulator and record what they do."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isa.code_object import images_in
from isa.statistics import Statistics, of_image

from .model import Case, TritonKernel

_TIMEOUT = 1800
_COUNTERS = ("instructions", "bytes_loaded", "bytes_stored", "transactions", "lds_conflict_cycles", "issue_cycles",
             "flops", "mfma_cycles")  # fmt: skip


def build_triton(python: Path, requests: Sequence[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Compile Triton kernels in the environment that has Triton; one answer a request (`triton_kernels/build.py`)."""
    script = Path(__file__).resolve().parents[1] / "triton_kernels" / "build.py"
    done = subprocess.run(
        [str(python), str(script), str(folder)],
        input=json.dumps(list(requests)),
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIMEOUT,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "TRITON_CACHE_DIR": str(python.parents[1] / "cache"),
            "TRITON_DEFAULT_FP_FUSION": "1",
        },
    )
    if done.returncode:
        raise SystemExit(f"{script.name}: {done.stderr.strip()[-2000:]}")
    answers: list[dict[str, Any]] = json.loads(done.stdout.strip().splitlines()[-1])
    return answers


def static_of(launch: Any, arguments: Sequence[Any]) -> tuple[list[Statistics], bytes]:
    """Compile a launcher anew; the statistics of its kernels, and the code object."""
    import flydsl.compiler as flyc

    compiled = flyc.compile.only(launch, *arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = compiled.export(Path(folder) / "kernel.so")
        image = images_in(Path(path))[0]
    return of_image(image), image


def ours(case: Case) -> dict[str, Any]:
    """Compile and run our kernel: static figures, counters, error."""
    launch = case.build()
    statistics, _ = static_of(launch, case.arguments)
    case.poison()
    launches = _profiled(lambda: launch(*case.arguments))
    return {
        **_counted(launches),
        "error": case.error(),
        "static": [one.to_dict() for one in statistics],
    }


def triton(case: Case, answers: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Run all candidates of a case; the right one with the fewest issue cycles, and how many there were."""
    from flydsl.emulator.device import EmulatorError

    best: dict[str, Any] | None = None
    refused = []
    for candidate, answer in zip(case.triton, answers, strict=True):
        if "error" in answer:
            refused.append(f"{candidate.text()}: {answer['error']}")
            continue
        try:
            figures = _triton_run(case, candidate, answer)
        except EmulatorError as error:  # an instruction that the emulator does not have: not our kernel's
            refused.append(f"{candidate.text()}: {error}")
            continue
        if figures["error"] > 1.0:
            refused.append(f"{candidate.text()}: error {figures['error']:.3g} x the tolerance")
        elif best is None or figures["issue_cycles"] < best["issue_cycles"]:
            best = figures
    if best is not None:
        best["refused"] = refused
    elif refused:
        return {"refused": refused}
    return best


def _triton_run(case: Case, candidate: TritonKernel, answer: dict[str, Any]) -> dict[str, Any]:
    from flydsl.emulator.device import Emulator

    image = Path(answer["image"]).read_bytes()
    statistics = of_image(image)
    emulator = Emulator()
    module = emulator.load(image)
    kernel = module.kernel(answer["name"])
    passed = [*candidate.passed(), *_scratch(len(statistics), image, len(candidate.arguments))]
    case.poison()
    try:
        launches = _profiled(lambda: kernel(candidate.grid, 64 * answer["warps"], *passed, lds=answer["shared"]))
    finally:
        module.unload()
    return {
        **_counted(launches),
        "error": case.error(),
        "choice": candidate.text(),
        "static": [one.to_dict() for one in statistics],
    }


def _scratch(kernels: int, image: bytes, given: int) -> list[bytes]:
    """The pointers that Triton adds behind the parameters: scratch memory that these kernels do not use."""
    import ctypes

    from flydsl.emulator.device import Emulator

    assert kernels == 1
    text = Emulator().library.flyemu_code_object_json(image, ctypes.c_size_t(len(image)))
    arguments = json.loads(text)["kernels"][0]["arguments"]
    shown = [one for one in arguments if not one["kind"].startswith("hidden_")]
    return [bytes(one["size"]) for one in shown[given:]]


def _profiled(run: Any) -> list[Any]:
    from flydsl.emulator import profile

    with profile() as session:
        run()
    return list(session.launches)


def _counted(launches: Sequence[Any]) -> dict[str, Any]:
    """The counters of the launches together."""
    sums = {name: sum(getattr(one.total, name) for one in launches) for name in _COUNTERS}
    sums["estimated_cycles"] = sum(one.estimated_cycles for one in launches)
    return sums
