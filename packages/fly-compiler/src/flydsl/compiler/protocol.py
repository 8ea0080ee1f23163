# SPDX-License-Identifier: Apache-2.0
"""The protocols by which classes of others take part."""

from flydsl.call.protocol import *  # noqa: F403
from flydsl.call.protocol import __all__ as __all__
