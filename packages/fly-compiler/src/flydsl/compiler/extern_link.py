# SPDX-License-Identifier: Apache-2.0
"""External device functions, with what defines them."""

from flydsl.compile.extern_link import *  # noqa: F403
from flydsl.compile.extern_link import __all__ as __all__
