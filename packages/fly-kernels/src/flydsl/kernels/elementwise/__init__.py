# SPDX-License-Identifier: Apache-2.0
"""The cookbook: small kernels, each the pattern of a family of PyTorch operators (docs/kernels/from-pytorch.md)."""
