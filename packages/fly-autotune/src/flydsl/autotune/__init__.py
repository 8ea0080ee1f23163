# SPDX-License-Identifier: Apache-2.0
"""FlyDSL's autotuner: measures the configurations of a function once, and remembers the best.

    @autotune(configs=[Config(BLOCK=64), Config(BLOCK=256)], key=["n"])
    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int]): ...

On an emulated device there is no time to measure: configurations are ranked by the emulator's estimate of issue cycles,
which every line that shows it says.
"""

from __future__ import annotations

from .config import Config
from .decorator import autotune

# What keys and artifacts are made of; see `fingerprint.replaceable`.
from .fingerprint import device_descriptor as _device_descriptor  # noqa: F401
from .fingerprint import device_fingerprint as _device_fingerprint  # noqa: F401
from .fingerprint import env_fingerprint as _env_fingerprint  # noqa: F401
from .fingerprint import toolchain_fingerprint as _toolchain_fingerprint  # noqa: F401
from .tensors import normalize_strides as _normalize_strides  # noqa: F401
from .timing import do_bench
from .tuner import Autotuner

__version__ = "0.1.0"

__all__ = ["Autotuner", "Config", "autotune", "do_bench"]
