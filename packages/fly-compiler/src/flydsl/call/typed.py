# SPDX-License-Identifier: Apache-2.0
"""The call of a decorated function, as type checkers and editors see it."""

# mypy: disable-error-code="overload-overlap"
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

if TYPE_CHECKING:
    from .launch import Launcher

__all__ = ["Typed"]

P = ParamSpec("P")
R = TypeVar("R")
Rest = ParamSpec("Rest")
Signature = TypeVar("Signature", covariant=True)
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")
H = TypeVar("H")
M = TypeVar("M")
J = TypeVar("J")
K = TypeVar("K")
L = TypeVar("L")


class Takes(Protocol[Signature]):
    """What is called as a `Callable` is that `Signature` stands for."""

    @property
    def _signature(self) -> Signature: ...


class Typed(Generic[P, R]):
    """A function of which a call takes more than its annotations say: a torch tensor for `fx.Tensor`, an int for
    `fx.Int32`.

    No type of Python's says that, but this much it can say: a call has as many arguments as the function has
    parameters, and none by a name that it has not. So there is a form of the call for each number of arguments that
    come by position: these are of any type, and those by name of the annotated one.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def _signature(self) -> Callable[P, R]: ...

        # fmt: off
        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, Rest], R]],
            a: Any, /, *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, Rest], R]],
            a: Any, b: Any, /, *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, C, Rest], R]],
            a: Any, b: Any, c: Any, /, *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, C, D, Rest], R]],
            a: Any, b: Any, c: Any, d: Any, /, *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, C, D, E, Rest], R]],
            a: Any, b: Any, c: Any, d: Any, e: Any, /, *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, C, D, E, F, Rest], R]],
            a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, /, *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, C, D, E, F, G, Rest], R]],
            a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, /, *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, C, D, E, F, G, H, Rest], R]],
            a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, /,
            *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, C, D, E, F, G, H, M, Rest], R]],
            a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, /,
            *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, C, D, E, F, G, H, M, J, Rest], R]],
            a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, j: Any, /,
            *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, C, D, E, F, G, H, M, J, K, Rest], R]],
            a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, j: Any, k: Any, /,
            *args: Rest.args, **kwargs: Rest.kwargs,
        ) -> R: ...
        # Beyond a dozen nothing is checked.
        @overload
        def __call__(
            self: Takes[Callable[Concatenate[A, B, C, D, E, F, G, H, M, J, K, L, Rest], R]],
            a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, j: Any, k: Any, m: Any, /,
            *args: Any, **kwargs: Any,
        ) -> R: ...
        # The keywords that the call of a kernel has of its own.
        @overload
        def __call__(self: Typed[Rest, Launcher], *args: Any, unit_attrs: Any, **kwargs: Any) -> Launcher: ...
        @overload
        def __call__(self: Typed[Rest, Launcher], *args: Any, value_attrs: Any, **kwargs: Any) -> Launcher: ...
        # As no other self would do for every form, mypy does not see that this one takes the arguments of each.
        def __call__(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[misc]
            """Call the function."""
        # fmt: on
