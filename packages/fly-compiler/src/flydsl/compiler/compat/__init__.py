# SPDX-License-Identifier: Apache-2.0
"""Spellings of the compiler's interface that exist for code written earlier."""
