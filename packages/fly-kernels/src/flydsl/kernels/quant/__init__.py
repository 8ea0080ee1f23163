# SPDX-License-Identifier: Apache-2.0
"""Quantisation to 8 bits: per row (token), and per block of a row."""
