# SPDX-License-Identifier: Apache-2.0
"""Kernels over the rows of a matrix."""
