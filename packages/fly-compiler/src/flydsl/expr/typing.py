# SPDX-License-Identifier: Apache-2.0
"""Annotations of kernel parameters, the namespace `T` of MLIR types, and every type of the language."""

from .compat.forward import forward
from .values.typing import *  # noqa: F403
from .values.typing import __all__ as __all__
from .values.typing import __doc__ as __doc__

__getattr__ = forward(__name__)
