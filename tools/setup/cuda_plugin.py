# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that runs suites, which are written for tensors of the CPU, with tensors on an NVIDIA GPU.

    FLYDSL_DEVICE=cuda python3 -m pytest -p cuda_plugin tests/kernels

What makes a tensor makes it on the GPU, and random numbers are those that the CPU draws, so that a test has the same
inputs everywhere; `numpy()` of a tensor copies it back. A test that ends in one of our refusals ("... is not supported
on sm_90a", arrays of the host) is skipped with that text. Assertions are never: a wrong result fails. `NOT_HERE` lists
the tests of what only AMD's GPUs have.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

DEVICE = "cuda"

# Functions that draw, of which torch refuses a generator of another device than that of the tensor.
_DRAW = ("rand", "randn", "randint", "randperm")
# What refuses a target, a wave of 64 lanes, memory of the host, or an address, by its words.
_REFUSAL = re.compile(
    r"\bsm_90a\b|does not have the hint|got one on the CPU|lanes of a wave|must begin at a multiple of 16 bytes"
)
_NO_REFUSAL = re.compile(r"cannot generate code")
# Tests of what AMD's GPUs have, by the beginning of their names; they would fail, and one would end the process.
NOT_HERE = {
    "test_unaligned.py::test_a_wide_copy_of_narrow_elements_begins_anywhere": "there are no unaligned accesses",
    "test_strides.py::test_a_wide_copy_is_right_or_refused": "arrays are the host's",
    "test_assert.py::test_in_a_host_function_it_is_one_of_the_call": "arrays are the host's",
    "test_gemm.py::test_operands_that_do_not_fit[a4": "limits of AMD's products",
    "test_gemm.py::test_operands_that_do_not_fit[a5": "limits of AMD's products",
    "test_sliding_window.py::test_builder_refuses": "limits of AMD's attention",
    "test_device_math.py::test_double_precision_rounds_and_refuses_the_rest": "refusals of AMD's functions",
    "test_scaled_gemm.py::": "products with scales of blocks are AMD's",
    "test_rmsnorm_autotune.py::test_a_search": "its configurations have waves_per_eu",
    "test_collectives.py::test_shuffles": "lanes of a wave of 64",
    "test_block_collectives.py::test_waves_reduce_segments_and_batches": "lanes of a wave of 64",
    "test_tiled_reduce.py::test_a_repeated_tile": "threads of a wave of 64",
    "test_device_math_double.py::": "looks at the registers of a code object",
    "test_compat_tools.py::": "looks at what is compiled for gfx942",
}


def pytest_configure(config: pytest.Config) -> None:
    """Make tensors on the GPU from here on, and keep launches where that is asked."""
    move_to(DEVICE)
    folder = config.getoption("--record-launches")
    if folder is not None:
        recorder = importlib.import_module("bench.cuda_launches").Recorder(Path(folder))
        recorder.install()
        recorder.install_sources()


def move_to(device: str) -> None:
    """Make tensors on a device from here on, in this process."""
    torch.set_default_device(device)
    for name in _DRAW:
        setattr(torch, name, _drawn_on_the_cpu(getattr(torch, name), device))
    from_numpy, to_numpy = torch.from_numpy, torch.Tensor.numpy
    torch.from_numpy = lambda array: from_numpy(array).to(device)
    torch.Tensor.numpy = lambda self, **options: to_numpy(self.cpu(), **options)


def _drawn_on_the_cpu(function: Callable[..., Any], device: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def draw(*arguments: Any, **options: Any) -> Any:
        where, wanted = options.pop("device", device), options.pop("requires_grad", False)
        return function(*arguments, device="cpu", **options).to(where).requires_grad_(wanted)

    return draw


def refusal(error: BaseException) -> str | None:
    """The text of a refusal of ours; None for any other error, and for what an assertion says."""
    text = " ".join(str(error).split())
    refuses = _REFUSAL.search(text) and not _NO_REFUSAL.search(text)
    return text if refuses and isinstance(error, Exception) and not isinstance(error, AssertionError) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is for other GPUs."""
    for item in items:
        for name, reason in NOT_HERE.items():
            if name in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Report a test that the target has no kernel for as skipped."""
    outcome: Any = yield
    if call.excinfo is None:
        return
    said = refusal(call.excinfo.value)
    if said is not None:
        report = outcome.get_result()
        report.outcome = "skipped"
        path, line, _ = item.location
        report.longrepr = (path, line or 0, f"Skipped: {said[:200]}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many tests have to pass, so that refusals do not take the place of results; whether launches are kept."""
    parser.addoption("--least-passed", type=int, default=0, metavar="N", help="fail where fewer tests pass")
    parser.addoption(
        "--record-launches", metavar="FOLDER", help="keep a launch of each kernel there (cuda_launches.py)"
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where too few tests passed."""
    least = session.config.getoption("--least-passed")
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(session.config, "workerinput"):
        return
    passed = len(reporter.stats.get("passed", ()))
    if passed < least:
        reporter.write_line(f"{passed} tests passed; at least {least} have to")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
