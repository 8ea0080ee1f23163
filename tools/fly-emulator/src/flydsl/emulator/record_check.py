# SPDX-License-Identifier: Apache-2.0
"""What a record of a timed launch has to have before it can be predicted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

SCALARS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}
"""How a scalar argument of so many bytes is packed."""

# What each kind of argument has beside its kind and offset, and of what type that is.
_ARGUMENTS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "pointer": {"bytes": int},
    "scalar": {"size": int, "value": (int, float)},
    "struct": {"size": int, "hex": str},
}
_RECORD: dict[str, type] = {"arch": str, "device": dict, "launches": list}
_LAUNCH: dict[str, type] = {"object": str, "kernel": str, "grid_workgroups": list, "block": list, "args": list}


class RecordError(ValueError):
    """A record lacks something, or has something else in its place; the message names the field."""


def check_fields(where: str, found: object, fields: Mapping[str, type | tuple[type, ...]]) -> dict[str, Any]:
    """The JSON object that was found there; `RecordError` where it lacks one of the fields, or has another type."""
    if not isinstance(found, dict):
        raise RecordError(f"{where} is {type(found).__name__}, not an object")
    for field, kind in fields.items():
        if field not in found:
            raise RecordError(f"{where} has no field {field!r}")
        if not isinstance(found[field], kind):
            expected = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
            raise RecordError(f"{where}: {field} is {type(found[field]).__name__}, not {expected}")
    return found


def _plain(record: object) -> object:
    """The record without what says nothing and other spellings of what is said: optional fields that are null, features
    behind the architecture's name ("gfx942:xnack-"), a device that is its name alone, extents like 64.0, "torch."
    before a type, "0x" before hexadecimal digits, the descriptor's ".kd" behind a kernel's name, capitals in
    architectures and kinds. What is no record stays as it is, for `check_record`."""
    if not isinstance(record, dict):
        return record
    out = _without_nulls(record, _RECORD)
    if isinstance(out.get("arch"), str):
        out["arch"] = out["arch"].split(":")[0].lower()
    if isinstance(out.get("device"), str):
        out["device"] = {"name": out["device"]}
    if isinstance(out.get("launches"), list):
        out["launches"] = [_plain_launch(one) for one in out["launches"]]
    return out


def _plain_launch(launch: object) -> object:
    if not isinstance(launch, dict):
        return launch
    out = _without_nulls(launch, _LAUNCH)
    if isinstance(out.get("kernel"), str):
        out["kernel"] = out["kernel"].removesuffix(".kd")
    for field in ("grid_workgroups", "block"):
        if isinstance(out.get(field), list):
            out[field] = [int(n) if isinstance(n, float) and n.is_integer() else n for n in out[field]]
    if isinstance(out.get("args"), list):
        out["args"] = [_plain_argument(one) for one in out["args"]]
    return out


def _plain_argument(argument: object) -> object:
    if not isinstance(argument, dict):
        return argument
    out = _without_nulls(argument, {"kind", "offset", *(name for fields in _ARGUMENTS.values() for name in fields)})
    for field, prefix in (("dtype", "torch."), ("hex", "0x")):
        if isinstance(out.get(field), str):
            out[field] = out[field].removeprefix(prefix)
    if isinstance(out.get("kind"), str):
        out["kind"] = out["kind"].lower()
    return out


def _without_nulls(found: dict[str, Any], needed: Collection[str]) -> dict[str, Any]:
    """A copy without the fields that are null; one that is needed stays, to be refused."""
    return {name: value for name, value in found.items() if value is not None or name in needed}


def _check_extents(where: str, extents: list[Any]) -> None:
    if not 1 <= len(extents) <= 3 or not all(isinstance(one, int) and one > 0 for one in extents):
        raise RecordError(f"{where} is {extents}, not one to three positive numbers")


def check_record(record: object) -> dict[str, Any]:
    """The record in the one spelling that predictions read (`_plain`); `RecordError` unless it has what they need.

    Those are `arch`, `device.name`, and of each launch `object`, `kernel`, `grid_workgroups`, `block` and `args`. What
    else a record may have (`shape`, `work`, `timing`, `fill`) is used where it is there.
    """
    fields = check_fields("the record", _plain(record), _RECORD)
    check_fields("device", fields["device"], {"name": str})
    for field in ("work", "timing"):
        check_fields(field, fields.get(field, {}), {})
    if not fields["launches"]:
        raise RecordError("the record has no launches")
    for number, launch in enumerate(fields["launches"]):
        where = f"launch {number}"
        check_fields(where, launch, _LAUNCH)
        check_fields(where, {"dynamic_lds": 0, **launch}, {"dynamic_lds": int})
        if launch.get("dynamic_lds", 0) < 0:
            raise RecordError(f"{where}: dynamic_lds is {launch['dynamic_lds']}, not a number of bytes")
        for field in ("grid_workgroups", "block"):
            _check_extents(f"{where}: {field}", launch[field])
        for index, argument in enumerate(launch["args"]):
            _check_argument(f"{where}, argument {index}", argument)
    return fields


def _check_argument(where: str, argument: object) -> None:
    fields = check_fields(where, argument, {"kind": str, "offset": int})
    kind = fields["kind"]
    if kind not in _ARGUMENTS:
        raise RecordError(f"{where}: its kind is {kind!r}, not one of {', '.join(_ARGUMENTS)}")
    check_fields(where, argument, _ARGUMENTS[kind])
    numbers = [name for name in ("offset", "bytes", "at") if not isinstance(fields.get(name, 0), int)]
    numbers += [name for name in ("offset", "bytes", "at") if name not in numbers and fields.get(name, 0) < 0]
    if numbers:
        raise RecordError(f"{where}: {numbers[0]} is {fields[numbers[0]]!r}, not a number of bytes")
    if kind == "scalar":
        sizes = (4, 8) if isinstance(fields["value"], float) else tuple(SCALARS)
        if fields["size"] not in sizes:
            raise RecordError(f"{where}: a scalar of {fields['size']} bytes with the value {fields['value']!r}")
    if kind == "struct":
        try:
            held = len(bytes.fromhex(fields["hex"]))
        except ValueError as error:
            raise RecordError(f"{where}: hex is no hexadecimal number") from error
        if held != fields["size"]:
            raise RecordError(f"{where}: hex has {held} bytes, size is {fields['size']}")
    if kind == "pointer":
        shape = fields.get("shape")
        if shape is not None and not (isinstance(shape, list) and all(isinstance(one, int) for one in shape)):
            raise RecordError(f"{where}: shape is {shape!r}, not a list of extents")
