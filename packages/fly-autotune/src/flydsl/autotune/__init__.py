# SPDX-License-Identifier: Apache-2.0
"""FlyDSL's autotuner: measures the configurations of a function once, and remembers the best.

    @autotune(configs=[Config(BLOCK=64), Config(BLOCK=256)], key=["n"])
    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int]): ...

On an emulated device there is no time to measure: configurations are ranked by the time that the emulator predicts,
which every line that shows it says.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .config import Config
from .decorator import autotune

# What keys and artifacts are made of; see `fingerprint.replaceable`.
from .fingerprint import device_descriptor as _device_descriptor  # noqa: F401
from .fingerprint import device_fingerprint as _device_fingerprint  # noqa: F401
from .fingerprint import env_fingerprint as _env_fingerprint  # noqa: F401
from .fingerprint import toolchain_fingerprint as _toolchain_fingerprint  # noqa: F401
from .search.space import Space
from .search.spec import Search
from .search.sweep import Problem, sweep
from .tensors import normalize_strides as _normalize_strides  # noqa: F401
from .timing import do_bench
from .tuner import Autotuner

__version__ = "0.1.0"

__all__ = ["Autotuner", "Config", "Problem", "Search", "Space", "autotune", "do_bench", "sweep"]


class _Module(ModuleType):
    """This module, which is also the decorator: existing code has `from flydsl import autotune, Config`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return autotune(*args, **kwargs)


sys.modules[__name__].__class__ = _Module
sys.modules["flydsl"].Config = Config  # type: ignore[attr-defined]
