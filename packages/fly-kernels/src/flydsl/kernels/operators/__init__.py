# SPDX-License-Identifier: Apache-2.0
"""Operators of torch over the kernels: functions that take and return tensors.

Each is an operator of torch in the namespace `flydsl` (`registration`) with a fake kernel, and with autograd where
there is a backward kernel, so `torch.compile(fullgraph=True)` keeps it as one node. Outputs are allocated by the
operator. A kernel is built at the first call with its row length and type, and kept.

This is the only part of the wheel that imports torch.
"""

import importlib.util

if importlib.util.find_spec("torch") is None:
    raise ImportError(
        "the operators of flydsl.kernels take and return torch tensors, and torch is not installed: "
        "pip install 'fly-kernels[torch]'. Builders and exported kernels work without it, on anything with DLPack"
    )
