# SPDX-License-Identifier: Apache-2.0
"""External device functions together with what defines them: bitcode to link, and code to run once it is loaded.

    square = link_extern(ffi("square", ["float32"], "float32"), bitcode_path="/path/square.bc")

Calling `square(x)` in a kernel declares the function, emits the call, and has the bitcode linked into the code object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from flydsl.expr.ops.extern import ExternFunction as FfiFunction

from .tracing import active

__all__ = [
    "BoundExternFunction",
    "ExternFunction",
    "LinkedExternFunction",
    "checked_path",
    "link_extern",
    "register_extern_resolver",
]

Resolver = Callable[[str, "str | None", "Callable[[Any], Any] | None"], "tuple[str | None, Any]"]

_resolvers: list[Resolver] = []
# Paths travel inside the options of a pass, whose syntax these characters belong to.
_UNSAFE = re.compile(r"""[\s,{}"']""")


def register_extern_resolver(resolver: Resolver) -> Resolver:
    """Register `resolver(symbol, bitcode_path, module_init_fn) -> (bitcode_path, module_init_fn)`.

    Resolvers run in order of registration when a `BoundExternFunction` is made; each sees what the one before returned.
    """
    _resolvers.append(resolver)
    return resolver


def checked_path(path: Any) -> str:
    """Return a bitcode path as text.

    Raises:
        ValueError: it holds white space, a comma, a brace or a quote.
    """
    text = str(path)
    if not text or _UNSAFE.search(text):
        raise ValueError(
            f"the bitcode path {text!r} cannot be used: it is empty, or holds white space, a comma, a brace or a "
            "quote. Copy the file to a path without them"
        )
    return text


class LinkedExternFunction:
    """An external function that brings what defines it.

    Attributes:
        extern: the function as `flydsl.expr.extern.ffi` makes it.
        bitcode_path: LLVM bitcode to link into the code object, or `None`.
        module_init_fn: called with the loaded device module (HIP's `hipModule_t`, as an integer), or `None`.
    """

    def __init__(
        self,
        extern: FfiFunction,
        *,
        bitcode_path: str | None = None,
        module_init_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        if not isinstance(extern, FfiFunction):
            raise TypeError(f"link_extern takes what flydsl.expr.extern.ffi returns, not {type(extern).__name__}")
        if module_init_fn is not None and not callable(module_init_fn):
            raise TypeError(f"module_init_fn is a function of the module, not {type(module_init_fn).__name__}")
        self.extern = extern
        self.bitcode_path = None if bitcode_path is None else checked_path(bitcode_path)
        self.module_init_fn = module_init_fn

    @property
    def symbol(self) -> str:
        """The function's name."""
        return self.extern.symbol

    def __call__(self, *args: Any) -> Any:
        """Call it in a kernel, and have the compilation link what it needs; see `flydsl.expr.extern.ffi`."""
        result = self.extern(*args)
        compilation = active()
        if compilation is not None:
            if self.symbol not in compilation.externals:
                compilation.externals.append(self.symbol)
            if self.bitcode_path is not None:
                compilation.add_link_lib(self.bitcode_path)
            if self.module_init_fn is not None and self.module_init_fn not in compilation.module_inits:
                compilation.module_inits.append(self.module_init_fn)
        return result

    def __repr__(self) -> str:
        return f"<external function {self.symbol} from {self.bitcode_path or 'elsewhere'}>"


def link_extern(
    extern: FfiFunction, *, bitcode_path: str | None = None, module_init_fn: Callable[[Any], Any] | None = None
) -> LinkedExternFunction:
    """Attach to an external function what defines it.

    Args:
        extern: what `flydsl.expr.extern.ffi` returns.
        bitcode_path: LLVM bitcode for `amdgcn-amd-amdhsa`; linked once, in the order of first use.
        module_init_fn: called with the handle of the device module when the compiled function is loaded.

    Raises:
        TypeError: `extern` is none, or `module_init_fn` cannot be called.
        ValueError: a path that a pass option cannot hold.
    """
    return LinkedExternFunction(extern, bitcode_path=bitcode_path, module_init_fn=module_init_fn)


class BoundExternFunction(LinkedExternFunction):
    """An external function declared and linked in one, after the registered resolvers had their say."""

    def __init__(
        self,
        symbol: str,
        arg_types: Sequence[str],
        ret_type: str,
        is_pure: bool = False,
        bitcode_path: str | None = None,
        module_init_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        for resolver in _resolvers:
            bitcode_path, module_init_fn = resolver(symbol, bitcode_path, module_init_fn)
        super().__init__(
            FfiFunction(symbol, arg_types, ret_type, is_pure), bitcode_path=bitcode_path, module_init_fn=module_init_fn
        )


ExternFunction = BoundExternFunction
