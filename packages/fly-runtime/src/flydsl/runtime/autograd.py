# SPDX-License-Identifier: Apache-2.0
"""torch's autograd computes gradients from values that it has kept; it has to know of writes into them."""

from __future__ import annotations

import sys
from typing import Any

from .errors import refused


def is_seen_to_write(entry: dict[str, Any]) -> bool:
    """Tell whether a program certainly writes a tensor, by the tensor's entry in the note.

    Where the compiler cannot follow an address, `access` is readwrite though nothing may be written; a backward pass
    must not fail for that.
    """
    return entry["kind"] == "tensor" and (entry.get("written") is True or entry.get("access") == "write")


def tell_autograd(where: str, tensor: Any) -> None:
    """Tell autograd that a torch tensor which requires grad is written, or refuse it.

    Its version is counted up, so that a backward pass which needs the old values raises. The result of an operation is
    refused while operations are recorded: gradients would go on to flow back through the operation, though the values
    are not its own any more.

    Raises ValueError, which begins with `where`, for such a result.
    """
    torch = sys.modules["torch"]  # the tensor is one of it
    if not tensor.is_leaf and torch.is_grad_enabled():
        raise refused(
            ValueError(
                f"{where}: expected a tensor that may be written, got one that requires grad and is the result of an "
                "operation: autograd would take the new values for that one's. Use torch.no_grad(), pass t.detach(), "
                "or make an operation with a gradient (torch.autograd.Function, torch.library)"
            )
        )
    torch.autograd.graph.increment_version(tensor)
