# SPDX-License-Identifier: Apache-2.0
"""The host functions of the norms: a dozen launchers that differ in which tensors they take, and in nothing else."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..common.language import flyc, fx


def norm_launcher(name: str, tensors: str, launch: Callable[[SimpleNamespace, Any, Any], None]) -> Callable[..., Any]:
    """A `@flyc.jit` function `name(*tensors, m_in, stream)` that hands its tensors to `launch` by their names.

    `tensors` are the names, with spaces between them. `m_in` is an Int32; `stream` may be left out.
    """

    def launcher(*arguments: Any) -> None:
        *values, m_in, stream = arguments
        launch(SimpleNamespace(**dict(zip(names, values, strict=True))), m_in, stream)

    names = tensors.split()
    typed = {"m_in": fx.Int32, "stream": fx.Stream}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(one, kind) for one in names]
    parameters += [inspect.Parameter(one, kind, annotation=annotation) for one, annotation in typed.items()]
    parameters[-1] = parameters[-1].replace(default=fx.Stream(None))
    launcher.__name__ = launcher.__qualname__ = name
    launcher.__module__ = sys._getframe(1).f_globals["__name__"]  # the builder's, as if it stood there
    launcher.__annotations__ = typed
    launcher.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return flyc.jit(launcher)
