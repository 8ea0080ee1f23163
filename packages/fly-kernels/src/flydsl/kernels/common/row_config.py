# SPDX-License-Identifier: Apache-2.0
"""The default configuration of every row kernel, by architecture.

What length a row has is a matter of the plan (`plan_rows`): it divides short, long and longer rows differently.
"""

from __future__ import annotations

from .arch import architecture
from .checks import chosen_config
from .row_plan import RowConfig

# gfx942 and gfx950 have the same waves, workgroups and registers, so one table serves both.
_CDNA3 = {
    "softmax": RowConfig(),
    "softmax_bwd": RowConfig(held=32),  # of y and of dy
    # A row that one wave holds needs no barrier and the fewest instructions; gamma and beta stay beside it.
    "norm": RowConfig(held=32, wave_aim=64, wave_limit=128),
    "quantised_norm": RowConfig(held=28, wave_aim=64, wave_limit=128),  # the output waits for its scale
    # Of x, of dy, of gamma and of each sum; one row a workgroup, so that nothing is added up between the rows of one.
    "norm_bwd": RowConfig(elements=16, held=16, unroll=1, single=True),
    "per_token_quant": RowConfig(),
    "gated": RowConfig(),
    "row_reduce": RowConfig(),
    "argmax": RowConfig(),
}
_DEFAULTS = {"gfx942": _CDNA3, "gfx950": _CDNA3}


def row_config(kernel: str, config: RowConfig | None = None) -> RowConfig:
    """`config`, or where it is None the default of a kernel on the target.

    Raises RuntimeError for a target that the library is not written for, TypeError for a `config` of another class.
    """
    return chosen_config(config, _DEFAULTS[architecture().name][kernel])
