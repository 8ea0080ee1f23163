# SPDX-License-Identifier: Apache-2.0
"""The `fly_rocdl` dialect: op classes and the types of AMD's copy and matrix operations."""

from .._mlir_libs._flyROCDLDialect import *  # noqa: F403 (a documented aggregation)
from ._fly_rocdl_ops_gen import *  # noqa: F403 (a documented aggregation)
from ._fly_rocdl_ops_gen import _Dialect as _Dialect
