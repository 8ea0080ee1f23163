# SPDX-License-Identifier: Apache-2.0
"""Counter-based random numbers, `fx.random`: Philox4x32-10, word for word what Triton gives.

No target has instructions for them, so that the functions are those of `universal`.
"""

from . import universal as universal
from .universal import rand as rand
from .universal import rand4x as rand4x
from .universal import randint as randint
from .universal import randint4x as randint4x
from .universal import randn as randn
from .universal import randn4x as randn4x

__all__ = ["rand", "rand4x", "randint", "randint4x", "randn", "randn4x"]
