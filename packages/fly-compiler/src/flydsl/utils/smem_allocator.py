# SPDX-License-Identifier: Apache-2.0
"""`SmemAllocator`: shared memory by byte offsets, for code written earlier."""

from flydsl.expr.compat.smem_allocator import *  # noqa: F403
from flydsl.expr.compat.smem_allocator import __all__ as __all__
from flydsl.expr.compat.smem_allocator import __doc__ as __doc__
