# SPDX-License-Identifier: Apache-2.0
"""The `fly` dialect: op classes, enumerations and types."""

from .._mlir_libs._flyDialect import *  # noqa: F403 (a documented aggregation)
from ._fly_enum_gen import *  # noqa: F403 (a documented aggregation)
from ._fly_ops_gen import *  # noqa: F403 (a documented aggregation)
from ._fly_ops_gen import _Dialect as _Dialect
