# SPDX-License-Identifier: Apache-2.0
"""From Python functions to traceable ones: rewriting, and the control flow that rewritten code calls."""

# Both register themselves with what stands below them.
from . import advice as advice
from . import control as control
