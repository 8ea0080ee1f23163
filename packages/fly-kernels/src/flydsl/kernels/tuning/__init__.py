# SPDX-License-Identifier: Apache-2.0
"""What the defaults of this library are found with: for each family of kernels a space, an estimate, and problems.

    from flydsl.kernels.tuning import gemm_problem

    tuned, arguments = gemm_problem(256, 2048, 2048, "bf16", method="halving")
    print(tuned.resolve_config(*arguments))

A problem is `(tuned, arguments)`: an `Autotuner` of fly-autotune (extra `autotune`) and what to call it with; importing
this imports neither that nor torch, which makes the tensors.
"""

from .attention import attention_problem
from .gemm import gemm_problem
from .rows import softmax_problem

__all__ = ["attention_problem", "gemm_problem", "softmax_problem"]
