# SPDX-License-Identifier: Apache-2.0
"""From Python functions to traceable ones: rewriting, and the control flow that rewritten code calls."""

from flydsl.trace.diagnostics import register_adviser

from . import control as control  # registers itself with what stands below it


def _advise(text: str, source: str) -> list[str]:
    from .advice import hints_for, hints_for_line

    return [*hints_for(text), *hints_for_line(text, source)]


register_adviser(_advise)
