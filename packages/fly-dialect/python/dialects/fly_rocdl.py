# SPDX-License-Identifier: Apache-2.0
"""The `fly_rocdl` dialect: op classes and the types of AMD's copy and matrix operations."""

from ._fly_rocdl_ops_gen import *
from ._fly_rocdl_ops_gen import _Dialect as _Dialect
