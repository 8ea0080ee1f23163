# SPDX-License-Identifier: Apache-2.0
"""Control flow under the names by which code that generates kernels calls it."""

from .established.ast_rewriter import *  # noqa: F403
from .established.ast_rewriter import __all__ as __all__
from .established.ast_rewriter import _collect_assigned_vars as _collect_assigned_vars
