# SPDX-License-Identifier: Apache-2.0
"""The values of the language: numbers, vectors, pointers, tensors, int-tuples, layouts, structs."""
