# SPDX-License-Identifier: Apache-2.0
"""Structs and unions of values; storage of them is found here too."""

from .compat.forward import forward
from .values.struct import *  # noqa: F403
from .values.struct import __all__ as __all__
from .values.struct import __doc__ as __doc__

__getattr__ = forward(__name__)
