# SPDX-License-Identifier: Apache-2.0
"""The default configuration of every row kernel, by architecture: what `defaults.json` has as "rows".

What length a row has is a matter of the plan (`plan_rows`): it divides short, long and longer rows differently. Why the
defaults are what they are: a thread has 16 elements where 1024 threads suffice, so that a SIMD holds six to eight waves
of any kernel and the loads of one overlap the reductions of others (tools/bench/row_times.py); a quantised output waits
for its scale, so less is held; the backward of norms holds x, dy, gamma and each sum, one row a workgroup, so that
nothing is added up between the rows of one.
"""

from __future__ import annotations

from .arch import architecture
from .checks import chosen_config
from .defaults import defaults
from .row_plan import RowConfig


def row_config(kernel: str, config: RowConfig | None = None) -> RowConfig:
    """`config`, or where it is None the default of a kernel on the target.

    Raises RuntimeError for a target that the library is not written for, TypeError for a `config` of another class.
    """
    return chosen_config(config, RowConfig(**defaults("rows", architecture().name)[kernel]))
