# SPDX-License-Identifier: Apache-2.0
"""Offline artifacts: the best configuration of one call on one device, in a file that is shipped.

`<config folder>/<name>-<sha256>.json` holds `version`, `identity` (name, the values of the key, the device) and
`config`; the hash is that of the identity's canonical JSON. Forced tuning writes them, other calls read them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import variables
from .config import Config
from .files import canonical_json, faithful, read_file, write_json
from .parameters import Parameters
from .tensors import is_tensor, shape_of, unwrapped

__all__ = ["VERSION", "Reference", "check_name", "enabled", "load", "make_reference", "save"]

VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_log = logging.getLogger("flydsl")


@dataclass(frozen=True)
class Reference:
    """The artifact of one call: where it is, and whose it is."""

    path: Path
    identity: dict[str, Any]

    @property
    def key_part(self) -> tuple[Any, ...]:
        """What the key of the call has of it."""
        return (VERSION, self.identity["name"], tuple(sorted(self.identity["device"].items())))


def check_name(name: str, key: Sequence[str], parameters: Parameters) -> None:
    """Refuse a name that makes no file, or a key that does not identify a call.

    Raises:
        TypeError: the name is no text.
        ValueError: it has other characters than letters, digits, `.`, `_`, `-`, or not 1 to 64 of them; the key has a
            name twice, or one that is no parameter.
    """
    if not isinstance(name, str):
        raise TypeError(f"autotune: artifact_name is a text, got {type(name).__name__}")
    if not _NAME.fullmatch(name):
        raise ValueError(f"artifact_name must use 1-64 letters, digits, '.', '_' or '-', got {name!r}")
    if len(set(key)) != len(key) or not set(key) <= set(parameters.names):
        raise ValueError(
            f"artifact keys must be unique kernel parameter names, got {list(key)!r} for {parameters.function_name}"
            f"({', '.join(parameters.names)})"
        )


def enabled() -> bool:
    """Whether the environment names a folder of artifacts."""
    return bool(variables.CONFIG_DIR.get())


def make_reference(
    name: str, key: Iterable[str], complete: Mapping[str, Any], device: Mapping[str, Any] | None
) -> Reference:
    """The artifact of a call with these arguments on this device (`device_descriptor`).

    Raises:
        ValueError: there is no device, or a value of the key has no place in JSON.
    """
    if device is None:
        raise ValueError("there is no device that the configuration could be for")
    values = {}
    for one in key:
        value = unwrapped(complete.get(one))
        values[one] = list(shape_of(value)) if is_tensor(value) else _plain(one, value)
    identity = {"name": name, "key": values, "device": dict(device)}
    digest = hashlib.sha256(canonical_json(identity).encode()).hexdigest()
    return Reference(Path(variables.CONFIG_DIR.get()).expanduser() / f"{name}-{digest}.json", identity)


def _plain(name: str, value: Any) -> Any:
    """A value of the key as JSON has it; dtypes are their text."""
    if isinstance(value, tuple):
        return [_plain(name, one) for one in value]
    if faithful(value):
        return value
    if "dtype" in type(value).__name__.lower():
        return str(value)
    raise ValueError(f"the value of key '{name}' is a {type(value).__name__}, which JSON does not preserve")


def save(reference: Reference, config: Config, given: Mapping[str, Any]) -> None:
    """Write an artifact.

    Raises:
        ValueError: the configuration has a hook, has values that JSON does not preserve, or names an argument that the
            caller gave.
        OSError: the folder cannot be written.
    """
    if config.pre_hook is not None:
        raise ValueError(f"offline configs cannot serialize Config.pre_hook: {config!r}")
    entry = config.to_dict()
    if not faithful(entry):
        raise ValueError(f"offline config values must preserve their types in JSON: {config!r}")
    _refuse_overrides(config, given)
    write_json(reference.path, {"version": VERSION, "identity": reference.identity, "config": entry})


def load(reference: Reference, parameters: Parameters, given: Mapping[str, Any]) -> Config | None:
    """The configuration of an artifact; None when there is no file.

    A file of another version or for something else, or whose configuration does not fit the call, is ignored with a
    warning in the log.
    """
    try:
        text = read_file(reference.path).decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        _log.warning("autotune: offline config %s is ignored: %s", reference.path, error)
        return None
    try:
        return _decoded(text, reference, parameters, given)
    except (TypeError, ValueError, RecursionError) as error:
        _log.warning("autotune: offline config %s is ignored: %s", reference.path, error)
        return None


def _decoded(text: str, reference: Reference, parameters: Parameters, given: Mapping[str, Any]) -> Config:
    body = json.loads(text)
    if not isinstance(body, dict):
        raise ValueError("it is no JSON object")
    if type(body.get("version")) is not int or body["version"] != VERSION:
        raise ValueError(f"its version is {body.get('version')!r}, expected {VERSION}")
    try:
        same = canonical_json(body.get("identity")) == canonical_json(reference.identity)
    except (TypeError, ValueError):
        same = False
    if not same:
        raise ValueError(f"it is for {body.get('identity')!r}, this call is {reference.identity!r}")
    if not faithful(body.get("config")):  # a NaN, say: Python reads it, and no call could do anything with it
        raise ValueError(f"its configuration is {body.get('config')!r}, which is not JSON")
    config = Config.from_dict(body.get("config"))  # type: ignore[arg-type]  # it says what else it got
    for name in config.kwargs:
        if not parameters.accepts(name):
            raise ValueError(f"its configuration has {name!r}, which is no parameter of {parameters.function_name}()")
    _refuse_overrides(config, given)
    return config


def _refuse_overrides(config: Config, given: Mapping[str, Any]) -> None:
    taken = sorted(set(config.all_kwargs()) & set(given))
    if taken:
        raise ValueError(f"offline configs must not override call arguments: {', '.join(taken)} in {config!r}")
