# SPDX-License-Identifier: Apache-2.0
"""Pieces that kernels share: each exists once."""
