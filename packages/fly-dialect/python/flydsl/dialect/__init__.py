# SPDX-License-Identifier: Apache-2.0
"""What can be said about this installation of fly-dialect; its bindings are `flydsl._mlir`."""

from .doctor import Report, doctor

__all__ = ["Report", "doctor"]
