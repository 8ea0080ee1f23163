# SPDX-License-Identifier: Apache-2.0
"""Pieces of kernels that multiply matrices: instructions, the main loop, epilogues."""
