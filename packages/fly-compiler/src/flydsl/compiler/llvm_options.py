# SPDX-License-Identifier: Apache-2.0
"""LLVM options for the compilations of a block."""

from flydsl.compile.llvm_options import *  # noqa: F403
from flydsl.compile.llvm_options import __all__ as __all__
