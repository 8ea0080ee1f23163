# SPDX-License-Identifier: Apache-2.0
"""Control flow under the names by which code that generates kernels calls it."""

from .compat.ast_rewriter import *  # noqa: F403
from .compat.ast_rewriter import __all__ as __all__
from .compat.ast_rewriter import _collect_assigned_vars as _collect_assigned_vars
