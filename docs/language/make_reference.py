# SPDX-License-Identifier: Apache-2.0
"""Print the reference of the language, made from signatures and docstrings: `make_reference.py > reference.md`."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from typing import Any

MODULES = (
    "flydsl.compiler", "flydsl.expr", "flydsl.expr.arith", "flydsl.expr.gpu", "flydsl.expr.coop", "flydsl.expr.random",
    "flydsl.expr.ktrace", "flydsl.expr.buffer_ops", "flydsl.expr.utils", "flydsl.expr.extern", "flydsl.expr.rocdl",
    "flydsl.expr.rocdl.cdna3", "flydsl.expr.rocdl.cdna4", "flydsl.expr.rocdl.cdna5", "flydsl.expr.rocdl.rdna3",
    "flydsl.expr.rocdl.rdna4", "flydsl.expr.rocdl.cluster", "flydsl.expr.rocdl.tdm_ops",
    "flydsl.expr.rocdl.inline_asm", "flydsl.utils.smem_allocator",
)  # fmt: skip


def signature(value: Any) -> str:
    """Return the parameters of a callable, without the annotations that say nothing."""
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""
    text = re.sub(r"<(?:built-in )?function (\w+)(?: at \w+)?>", r"\1", text)
    text = re.sub(r"<(?:class )?'?[\w.]*?(\w+)'?(?:: [^>]*)?>", r"\1", text)
    text = re.sub(r": '?Any'?(?=[,)= ])", "", text).replace("'", "")
    return re.sub(r" -> (?:Any|None)$", "", text)


def indent(text: str) -> str:
    """Return a docstring as Markdown: its sections as lists."""
    lines, section = [], False
    for line in inspect.cleandoc(text).splitlines():
        if re.fullmatch(r"(Args|Raises|Returns):", line):
            section = True
            lines += ["", f"*{line[:-1]}*", ""]
        elif section and re.match(r"    \S", line):
            name, colon, rest = line.strip().partition(": ")
            lines.append(f"- `{name}`: {rest}" if colon and " " not in name else f"- {line.strip()}")
        else:
            section = section and (not line or line.startswith("    "))
            lines.append(line.strip() if section else line)
    return "\n".join(lines).strip()


def members(kind: type) -> list[str]:
    """Return a line for each public member of a class that it defines itself."""
    if issubclass(kind, enum.Enum):
        return ["Members: " + ", ".join(f"`{one}`" for one in kind.__members__) + "."]
    lines = []
    for name, member in vars(kind).items():
        inner = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        doc = inspect.getdoc(inner)
        if name.startswith("_") or not doc or not (callable(inner) or isinstance(inner, property)):
            continue
        shown = "" if isinstance(inner, property) else re.sub(r"\((?:self|cls)(?:, )?", "(", signature(inner))
        lines.append(f"- `.{name}{shown}`: {' '.join(doc.split(chr(10) * 2)[0].split())}")
    return lines


def entry(name: str, value: Any) -> list[str]:
    """Return the lines of one name."""
    doc = inspect.getdoc(value) or ""
    if not (callable(value) or inspect.isclass(value)):
        return [f"### `{name}`", "", f"A `{type(value).__name__}`: `{value!r}`.", ""]
    lines = [f"### `{name}{'' if inspect.isclass(value) and '__init__' not in vars(value) else signature(value)}`", ""]
    lines += [indent(doc), ""]
    if inspect.isclass(value):
        listed = members(value)
        lines += [*listed, ""] if listed else []
    return lines


def main() -> None:
    """Print the page."""
    print("# Reference\n")
    print("Every public name, by the module that it is found in. Made by `make_reference.py`; do not edit.\n")
    seen: set[int] = set()
    for path in MODULES:
        module = importlib.import_module(path)
        print(f"## {path}\n\n{(module.__doc__ or '').strip()}\n")
        elsewhere, aliases = [], []
        for name in sorted(module.__all__, key=str.lower):
            value = getattr(module, name)
            if inspect.ismodule(value):
                continue
            if re.fullmatch(r"\w+x\d+", name):
                aliases.append(name)
            elif id(value) in seen and callable(value):
                elsewhere.append(name)
            else:
                seen.add(id(value))
                print("\n".join(entry(name, value)))
        if aliases:
            print("### Vector types\n\n" + ", ".join(f"`{name}`" for name in aliases) + ".\n")
        if elsewhere:
            print("Described above: " + ", ".join(f"`{name}`" for name in elsewhere) + ".\n")


if __name__ == "__main__":
    main()
