# SPDX-License-Identifier: Apache-2.0
"""The functions that the pointwise kernels apply; they stand in `flydsl.kernels.common.functions`."""

from ..common.functions import BINARY as BINARY
from ..common.functions import GRADIENTS as GRADIENTS
from ..common.functions import UNARY as UNARY
from ..common.functions import function as function
