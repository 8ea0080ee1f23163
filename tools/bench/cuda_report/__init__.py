# SPDX-License-Identifier: Apache-2.0
"""What is written about a run of tools/bench/cuda.py."""
