# SPDX-License-Identifier: Apache-2.0
"""Matrix products, one kernel a file.

`flydsl.kernels.gemm` as an attribute is the operator `operators.gemm.gemm`, also after this package has been imported;
import its modules by their names: `from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm`.
"""
