# SPDX-License-Identifier: Apache-2.0
"""The default configuration of every row kernel, by architecture and class of rows: what `defaults.json` has.

"rows" has one for all lengths and types, and the plan (`plan_rows`) divides short, long and longer rows differently.
Why those are what they are: a thread has 16 elements where 1024 threads suffice, so that a SIMD holds six to eight
waves of any kernel and the loads of one overlap the reductions of others (tools/bench/row_times.py); a quantised output
waits for its scale, so less is held; the backward of norms holds x, dy, gamma and each sum, one row a workgroup, so
that nothing is added up between the rows of one. On sm_90a 1024 threads have 64 registers each, half of what they have
on AMD's: kernels that hold more than a row in its own type share it among 512 threads of 128, in which none spills
(tests/integration/test_ptxas.py), and stream what does not fit: the backward of softmax reads rows of more than 28,672
elements twice, argmax and the quantisation of tokens those of more than 49,152; gated kernels, which need no row as a
whole, read all of them once, one vector at a time from 12,289 elements on, or erf's gradient spills. Its backward of
norms has as many workgroups as run at once (512 threads a multiprocessor), since each adds its sums to memory: with one
a row as elsewhere that took up to five times as long as the rows (docs/benchmarks/hopper.md). "row_shapes" has
what was found by predicted time for a class, a kernel with rows of a type's width whose length is the same when rounded
up to a power of two (tools/bench/row_defaults.py), as far as it differs from "rows". A class does not ask how many rows
there are: a row gives the same bits in any batch.
"""

from __future__ import annotations

from .arch import architecture
from .checks import chosen_config, positive_integer
from .defaults import defaults, kernel_defaults, shape_class
from .row_plan import RowConfig


def row_config(kernel: str, columns: int, bits: int, config: RowConfig | None = None) -> RowConfig:
    """`config`, or where it is None the default of a kernel on the target for rows of `columns` elements of `bits`.

    Raises RuntimeError for a target that the library is not written for, ValueError for `columns` that are no positive
    int, TypeError for a `config` of another class.
    """
    arch = architecture().name
    wanted = (kernel, bits, *shape_class(positive_integer("N", columns)))
    found = kernel_defaults("rows", arch, kernel)
    for one in defaults("row_shapes", arch):
        if (one["kernel"], one["bits"], one["columns"]) == wanted:
            found = {**found, **one.get("config", {})}
    return chosen_config(config, RowConfig(**found))
