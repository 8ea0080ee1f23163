# SPDX-License-Identifier: Apache-2.0
"""What tools/bench/kernels.py writes of its measurements."""
