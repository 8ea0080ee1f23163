# SPDX-License-Identifier: Apache-2.0
"""`@autotune`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from .config import Config, Hook
from .tuner import Autotuner, Configs, Measured

__all__ = ["autotune"]


def autotune(
    configs: Configs,
    key: Sequence[str] | None = None,
    warmup: int = 5,
    rep: int = 25,
    prune_configs_by: Callable[[list[Config], dict[str, Any]], Sequence[Config]] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Hook | None = None,
    post_hook: Hook | None = None,
    do_bench: Callable[..., float] | None = None,
    default: Callable[..., Config] | None = None,
    artifact_name: str | None = None,
    validate_hook: Callable[[dict[str, Any]], AbstractContextManager[object]] | None = None,
    select_config: Callable[[list[Measured]], Measured] | None = None,
) -> Callable[[Callable[..., Any]], Autotuner]:
    """Choose the configuration of a function by measuring: written above `@flyc.jit`, or any function.

    The first call of each kind measures all configurations and remembers the fastest, in memory and in
    `FLYDSL_AUTOTUNE_CACHE_DIR`; later ones use it. What kind a call is, its key says: the arguments of `key`, dtypes
    and strides of all tensors, the environment, the toolchain, the source, the device and the compile hints.

    A measured call is, in this order: the `restore_value` tensors get back what they held before tuning, those of
    `reset_to_zero` are zeroed, the configuration's `pre_hook`, `pre_hook`, the function, `post_hook`. After tuning the
    restored tensors are as they were, and the real call zeroes those of `reset_to_zero` again. Hooks are not called
    for real calls.

    Args:
        configs: the configurations, a function of the call's arguments that returns them, or a `Search`.
        key: parameters whose value the choice depends on; of a tensor its shape.
        warmup: calls before measuring.
        rep: calls that are measured.
        prune_configs_by: given the configurations and the call's arguments by name, returns those to measure.
        reset_to_zero: tensors that the function adds to.
        restore_value: tensors that the function changes.
        pre_hook: called with the keyword arguments, those of the configuration among them, before each measured call.
        post_hook: the same after it.
        do_bench: measures instead of `flydsl.autotune.do_bench`: `do_bench(call, warmup=…, rep=…)` in milliseconds.
        default: given the call's arguments, returns the configuration to use where nothing was measured; then only
            `FLYDSL_AUTOTUNE=1` measures.
        artifact_name: the name of offline artifacts, which are used where `FLYDSL_AUTOTUNE_CONFIG_DIR` is set.
        validate_hook: given all arguments by name, makes a context manager around one call that is not measured; what
            it raises rejects the configuration.
        select_config: given the pairs (configuration, milliseconds), returns the one to take instead of the fastest.

    Raises:
        TypeError: something other than a function is decorated, or than configurations is among them.
        ValueError: a name in `key`, `reset_to_zero` or `restore_value` is no parameter; an `artifact_name` that makes
            no file name, or with a key that has a name twice.
    """

    def decorate(fn: Callable[..., Any]) -> Autotuner:
        return Autotuner(
            fn,
            configs,
            key,
            warmup,
            rep,
            prune_configs_by=prune_configs_by,
            reset_to_zero=reset_to_zero,
            restore_value=restore_value,
            pre_hook=pre_hook,
            post_hook=post_hook,
            do_bench_fn=do_bench,
            default=default,
            artifact_name=artifact_name,
            validate_hook=validate_hook,
            select_config=select_config,
        )

    return decorate
