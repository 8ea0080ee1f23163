# SPDX-License-Identifier: Apache-2.0
"""The operations of the language: arithmetic, memory, copies, matrix products, threads, messages."""
