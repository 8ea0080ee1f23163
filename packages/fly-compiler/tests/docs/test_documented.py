# SPDX-License-Identifier: Apache-2.0
"""Every public name of the compiler and the language has a docstring that names what it takes."""

import enum
import importlib
import inspect

import pytest

MODULES = [
    "flydsl.compiler",
    "flydsl.utils.smem_allocator",
    *(f"flydsl.expr{name}" for name in ("", ".arith", ".math", ".gpu", ".vector", ".coop", ".random", ".buffer_ops")),
    *(f"flydsl.expr{name}" for name in (".utils", ".extern", ".ops.printf", ".ops.memory", ".struct")),
    "flydsl.expr.values.storage",
    *(f"flydsl.expr.rocdl{name}" for name in ("", ".cdna3", ".cdna4", ".cdna5", ".rdna3", ".rdna4", ".cluster")),
    *(f"flydsl.expr.rocdl{name}" for name in (".tdm_ops", ".inline_asm", ".experimental", ".universal")),
]
# What a docstring may call a parameter instead of by its name.
FEW = 3


def documented(name, value):
    """Return what is missing of the documentation of one public object."""
    missing = []
    doc = inspect.getdoc(value) or ""
    if len(doc) < 10:
        missing.append(f"{name}: no docstring")
    if inspect.isclass(value) and not isinstance(value, enum.EnumMeta):
        for member, item in vars(value).items():
            inner = item.__func__ if isinstance(item, (classmethod, staticmethod)) else item
            if member.startswith("_") or not (inspect.isfunction(inner) or isinstance(inner, property)):
                continue
            if not inspect.getdoc(inner):
                missing.append(f"{name}.{member}: no docstring")
    elif inspect.isfunction(value):
        names = [p.name for p in inspect.signature(value).parameters.values() if p.name not in ("self", "fastmath")]
        if len(names) > FEW and "Args:" in doc:
            missing += [f"{name}: '{one}' is not described" for one in names if one not in doc]
    return missing


@pytest.mark.parametrize("path", MODULES)
def test_public_names(path):
    module = importlib.import_module(path)
    assert module.__doc__
    missing = []
    for name in module.__all__:
        value = getattr(module, name)
        if not isinstance(value, (int, str, tuple, float)) and not inspect.ismodule(value):
            missing += documented(name, value)
    assert missing == []
