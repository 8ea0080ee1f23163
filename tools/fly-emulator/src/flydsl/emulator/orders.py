# SPDX-License-Identifier: Apache-2.0
"""Run a launch under several orders of its waves, and say what depends on the order.

    from flydsl.emulator import differing_orders

    assert not differing_orders(lambda: launch(x, y), {"y": y}, orders=6)

A correct kernel gives the same bits in every order, unless it adds in floating point with atomics.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flydsl.emulator.device import Emulator


@dataclass(frozen=True)
class Difference:
    """An output whose bits under a seed are not those under seed 0."""

    seed: int
    output: str
    elements: int  # that differ
    first: tuple[int, ...]  # the coordinate of the first that does
    expected: Any
    got: Any

    def __str__(self) -> str:
        return (
            f"{self.output} depends on the order of waves: {self.elements} elements differ under seed {self.seed}, "
            f"the first at {self.first}: {self.got} instead of {self.expected}"
        )


@contextlib.contextmanager
def order(seed: int) -> Iterator[None]:
    """Launches of this process use another interleaving of waves and workgroups while the block runs.

    0 is program order; six seeds in a row hold every kind of order there is (docs/emulator/orders.md).
    """
    emulator = Emulator()
    before = emulator.seed()
    emulator.set_seed(seed)
    try:
        yield
    finally:
        emulator.set_seed(before)


def differing_orders(
    launch: Callable[[], Any], outputs: Mapping[str, Any], *, orders: int = 6, seeds: range | None = None
) -> list[Difference]:
    """Call `launch()` in program order and under `orders` seeds; what differs, the first for each seed and output.

    `outputs` are arrays by name, numpy's or torch's on the CPU, that `launch` writes; each gets the contents back that
    it had before every launch, and keeps those of the last. `seeds` replaces the default, 1 to `orders`.
    """
    if orders < 1:
        raise ValueError(f"orders={orders}: at least one order besides program order")
    views = {name: _bytes(value) for name, value in outputs.items()}
    initial = {name: view.copy() for name, view in views.items()}
    with order(0):
        launch()
    expected = {name: view.copy() for name, view in views.items()}
    found: list[Difference] = []
    for seed in seeds if seeds is not None else range(1, orders + 1):
        for name, view in views.items():
            view[:] = initial[name]
        with order(seed):
            launch()
        for name, view in views.items():
            if view.tobytes() != expected[name].tobytes():
                found.append(_difference(seed, name, outputs[name], expected[name], view))
    return found


def _bytes(value: Any) -> Any:
    """The memory of an array as numpy bytes."""
    import numpy as np

    array = np.asarray(value) if isinstance(value, np.ndarray) else _torch_bytes(value)
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise ValueError("outputs have to be contiguous and writable")
    return array.reshape(-1).view(np.uint8)


def _torch_bytes(value: Any) -> Any:
    if not hasattr(value, "untyped_storage"):
        raise TypeError(f"expected a numpy array or a torch tensor, got {type(value).__name__}")
    if not value.is_contiguous() or value.device.type != "cpu":
        raise ValueError("outputs have to be contiguous tensors on the CPU")
    import numpy as np

    size = int(value.numel() * value.element_size())  # numpy knows fewer types than torch: take the bytes
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(int(value.data_ptr())))


def _difference(seed: int, name: str, value: Any, expected: Any, got: Any) -> Difference:
    import numpy as np

    shape = tuple(int(extent) for extent in value.shape)
    size = max(1, expected.size // max(1, int(np.prod(shape, dtype=np.int64))))
    rows = (expected.reshape(-1, size) != got.reshape(-1, size)).any(axis=1)
    index = int(np.flatnonzero(rows)[0])
    dtype = value.dtype if isinstance(value, np.ndarray) else None

    def element(data: Any) -> Any:
        raw = data[index * size : (index + 1) * size]
        return raw.view(dtype)[0].item() if dtype is not None else "0x" + raw[::-1].tobytes().hex()

    first = tuple(int(i) for i in np.unravel_index(index, shape)) if shape else ()
    return Difference(seed, name, int(rows.sum()), first, element(expected), element(got))
