# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that runs suites, which are written for tensors of the CPU, with tensors on an NVIDIA GPU.

    FLYDSL_DEVICE=cuda python3 -m pytest -p cuda_plugin tests/kernels

What makes a tensor makes it on the GPU, and random numbers are those that the CPU draws, so that a test has the same
inputs everywhere; `numpy()` of a tensor copies it back. A test that ends in one of our refusals that name the target
("... is not supported on sm_90a") is skipped with that text. Assertions are never: a wrong result fails.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

DEVICE = "cuda"

# Functions that draw, of which torch refuses a generator of another device than that of the tensor.
_DRAW = ("rand", "randn", "randint", "randperm")
_REFUSAL = re.compile(r"\b(on|for|of|to) (the target )?sm_90a\b|sm_90a (has|is|lacks)\b")
_REFUSALS = (ValueError, NotImplementedError, TypeError, RuntimeError)


def pytest_configure(config: pytest.Config) -> None:
    """Make tensors on the GPU from here on."""
    move_to(DEVICE)


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
    """The text of a refusal that names the target; None for any other error."""
    text = " ".join(str(error).split())
    # The compiler's errors are of classes of their own, and subclasses of those.
    return text if isinstance(error, _REFUSALS) and _REFUSAL.search(text) else None


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
    """How many tests have to pass, so that refusals do not take the place of results."""
    parser.addoption("--least-passed", type=int, default=0, metavar="N", help="fail where fewer tests pass")


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
