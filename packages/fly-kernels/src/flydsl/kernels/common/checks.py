# SPDX-License-Identifier: Apache-2.0
"""The checks of numbers and configurations that builders are given."""

from __future__ import annotations

from typing import Any, TypeVar

Config = TypeVar("Config")

MOST = 2**30  # of elements of a row and of whatever else is counted in 32 bits with room for what comes on top


def positive_integer(name: str, value: Any, most: int = MOST) -> int:
    """`value`; ValueError, with the name, for what is no integer from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    if value > most:
        raise ValueError(f"{name} must be {most} or less, got {value}")
    return value


def chosen_config(config: Any, default: Config) -> Config:
    """`config`, or where it is None `default`; TypeError for one of another class."""
    if config is None:
        return default
    if not isinstance(config, type(default)):
        raise TypeError(f"config must be a {type(default).__name__} or None, got {type(config).__name__}")
    return config
