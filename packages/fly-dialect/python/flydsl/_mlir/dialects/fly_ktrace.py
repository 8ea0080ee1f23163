# SPDX-License-Identifier: Apache-2.0
"""The `fly_ktrace` dialect: op classes of events, and the type of tokens."""

from .._mlir_libs._flyKtraceDialect import *  # noqa: F403 (a documented aggregation)
from ._fly_ktrace_ops_gen import *  # noqa: F403 (a documented aggregation)
from ._fly_ktrace_ops_gen import _Dialect as _Dialect
