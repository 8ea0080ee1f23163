# SPDX-License-Identifier: Apache-2.0
"""Calls of `@flyc.jit` functions and launches of `@flyc.kernel` ones: arguments, keys, dispatch."""
