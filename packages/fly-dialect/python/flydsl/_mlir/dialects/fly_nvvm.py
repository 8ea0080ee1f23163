# SPDX-License-Identifier: Apache-2.0
"""The `fly_nvvm` dialect: op classes and the types of NVIDIA's copy and matrix operations."""

from .._mlir_libs._flyNVVMDialect import *  # noqa: F403 (a documented aggregation)
from ._fly_nvvm_ops_gen import *  # noqa: F403 (a documented aggregation)
from ._fly_nvvm_ops_gen import _Dialect as _Dialect
