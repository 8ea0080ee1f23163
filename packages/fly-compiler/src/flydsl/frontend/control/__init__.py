# SPDX-License-Identifier: Apache-2.0
"""The operations that rewritten functions call while they are traced (see `flydsl.frontend.rewrite`).

Each looks at the values that it gets. Python values, static scalars included, keep Python's meaning and nothing is
emitted; run-time values build structured control flow (`scf`), with the variables that the regions assign carried in
and out.
"""

import sys as _sys

from ..rewrite.function import register_operations
from .branch import if_, select
from .calls import callee, key
from .checks import asserted, const_expr, own_names, rebound, static_subject, static_test, unused
from .for_loop import for_range
from .logic import and_, compare, not_, or_, running, stopped
from .outside import iterated
from .state_loop import for_state
from .while_loop import while_

__all__ = [
    "and_",
    "asserted",
    "callee",
    "compare",
    "const_expr",
    "for_range",
    "for_state",
    "if_",
    "iterated",
    "key",
    "not_",
    "or_",
    "own_names",
    "rebound",
    "running",
    "select",
    "static_subject",
    "static_test",
    "stopped",
    "unused",
    "while_",
]

register_operations(_sys.modules[__name__])
