# SPDX-License-Identifier: Apache-2.0
"""Spellings that exist for code which is older than this implementation, in one place.

`builders`: MLIR's raw op builders take values of the language, as that code passes them. `arith`: names of
`flydsl.expr.utils.arith`. `lds`: names of `flydsl.utils.smem_allocator`.
"""
