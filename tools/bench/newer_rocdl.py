# SPDX-License-Identifier: Apache-2.0
"""The IR of LLVM 22 in the spelling of the newer MLIR that the peer is built with, for tools/bench/pass_times.py.

Upstream's `rocdl` dialect has since turned constant operands into properties: the cache policy of buffer accesses, the
broadcast and permutation of MFMAs, and the mask of scheduling barriers, whose values have names. The program stays the
same. A value is recognised by the name that MLIR's printer gives constants; any other is left, and refused as before.
"""

from __future__ import annotations

import re

_CONSTANT = r"%c(\d+)_i32(?:_\d+)?"
_RULES = (
    (re.compile(rf"(rocdl\.raw\.ptr\.buffer\.[a-z.]+ (?:%[\w#]+, )+){_CONSTANT}(?= : )"), r"\1\2"),
    (re.compile(r"(rocdl\.sched\.barrier) 0\b"), r"\1 none"),
    (
        re.compile(
            rf"(rocdl\.mfma\.[\w.]+ (?:%[\w#]+, ){{3}}){_CONSTANT}, {_CONSTANT}, %c0_i32(?:_\d+)?"
            r"( : \([^\n]*), i32, i32, i32\)"
        ),
        r"\1\2, \3, none\4)",
    ),
)


def respelled(text: str) -> str:
    """Return the module as the newer dialect's parser takes it."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
