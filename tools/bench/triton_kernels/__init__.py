# SPDX-License-Identifier: Apache-2.0
"""Plain Triton sources of the operations that tools/bench/kernels.py compares, and their compilation without a GPU."""
