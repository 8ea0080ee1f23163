# SPDX-License-Identifier: Apache-2.0
"""Print the reference of the language, made from signatures and docstrings: `make_reference.py > reference.md`."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from typing import Any

from flydsl.layout.atoms import matrix_instructions

ARCHITECTURES = ("gfx942", "gfx950", "gfx1201", "gfx1250")
MODULES = (
    "flydsl.compiler", "flydsl.expr", "flydsl.expr.arith", "flydsl.expr.gpu", "flydsl.expr.coop", "flydsl.expr.random",
    "flydsl.expr.ktrace", "flydsl.expr.buffer_ops", "flydsl.expr.utils", "flydsl.expr.extern", "flydsl.expr.nvgpu",
    "flydsl.expr.rocdl", "flydsl.expr.rocdl.cdna3", "flydsl.expr.rocdl.cdna4", "flydsl.expr.rocdl.cdna5",
    "flydsl.expr.rocdl.rdna3", "flydsl.expr.rocdl.rdna4", "flydsl.expr.rocdl.cluster", "flydsl.expr.rocdl.tdm_ops",
    "flydsl.expr.rocdl.inline_asm", "flydsl.utils.smem_allocator",
)  # fmt: skip


def signature(value: Any) -> str:
    """Return the parameters of a callable as its source has them, without the annotations that say nothing."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [one.replace(annotation=_Shown(one.annotation), default=_shown_default(one.default))
                  for one in found.parameters.values()]  # fmt: skip
    parameters = [one.replace(annotation=one.empty) if str(one.annotation) == "" else one for one in parameters]
    text = str(found.replace(parameters=parameters, return_annotation=_Shown(found.return_annotation)))
    text = re.sub(r"(\w)=", r"\1 = ", text)
    return text.removesuffix(" -> ")


class _Shown(str):
    """What a signature shows for an annotation: its text, with the last parts of dotted names, nothing for `Any`."""

    def __new__(cls, annotation: Any) -> _Shown:
        if annotation is inspect.Parameter.empty:
            return super().__new__(cls)
        text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
        text = text.replace("'", "")
        return super().__new__(cls, "" if text in ("Any", "None", "typing.Any") else text)

    def __repr__(self) -> str:
        return str(self)


class _Default(str):
    def __repr__(self) -> str:
        return str(self)


def _shown_default(value: Any) -> Any:
    """What a signature shows for a default: what one would write for it."""
    if value is inspect.Parameter.empty:
        return value
    if isinstance(value, enum.Enum):
        return _Default(f"{type(value).__name__}.{value.name}")
    if inspect.isclass(value) or inspect.isroutine(value):
        return _Default(value.__name__)
    return _Default("..." if re.search(r" at 0x[0-9a-f]+>", repr(value)) else repr(value))


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


def own(kind: type) -> dict[str, Any]:
    """Return what a class defines, after what its private bases do, which nobody else reads of."""
    private = [base for base in kind.__mro__[1:] if base.__name__.startswith("_") and base.__module__[:6] == "flydsl"]
    return {name: member for one in (*reversed(private), kind) for name, member in vars(one).items()}


def members(kind: type) -> list[str]:
    """Return a line for each public member of a class that it or a private base of it defines."""
    if issubclass(kind, enum.Enum):
        return ["Members: " + ", ".join(f"`{one}`" for one in kind.__members__) + "."]
    lines = []
    for name, member in own(kind).items():
        inner = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        doc = inspect.getdoc(inner)
        if name == "_call" and doc:  # of the collectives: what a specialised class does when it is called
            shown = re.sub(r"\((?:self|cls)(?:, )?", "(", signature(inner))
            lines.insert(0, f"- `{kind.__name__}[...]{shown}`: {' '.join(doc.split(chr(10) * 2)[0].split())}")
            continue
        if name.startswith("_") or not doc or not (callable(inner) or isinstance(inner, property)):
            continue
        if inspect.isclass(inner) and issubclass(inner, enum.Enum):
            lines.append(f"- `.{name}`: `{inner.__name__}`.")
            continue
        shown = "" if isinstance(inner, property) else re.sub(r"\((?:self|cls)(?:, )?", "(", signature(inner))
        lines.append(f"- `.{name}{shown}`: {' '.join(doc.split(chr(10) * 2)[0].split())}")
    return lines


def entry(name: str, value: Any) -> list[str]:
    """Return the lines of one name."""
    doc = inspect.getdoc(value) or ""
    if not (callable(value) or inspect.isclass(value)):
        return [f"### `{name}`", "", f"A `{type(value).__name__}`: `{value!r}`.", ""]
    lines = [f"### `{name}{'' if inspect.isclass(value) and '__init__' not in own(value) else signature(value)}`", ""]
    lines += [indent(doc), ""]
    if inspect.isclass(value):
        listed = members(value)
        lines += [*listed, ""] if listed else []
    return lines


INSTRUCTIONS = """## Matrix instructions

What the hardware has; `MFMA(m, n, k, type of A)` and its relatives name them by shape and types. A layout maps (lane,
value) to the column-major index in (M,K) of A, (N,K) of B and (M,N) of C and D, blocks last; values are numbered
through the registers of a lane. A sparse A has K/2 columns. `fly-layout mma ARCH NAME` draws one. Where the atoms of
the language number K otherwise, they do so for A and B alike, so that the product is the same.
"""
HEADER = """| instruction | MxNxK | blocks | A | B | C, D | lanes | layout of A | of B | of C |
|---|---|---|---|---|---|---|---|---|---|"""


def instructions() -> str:
    """Return the tables of matrix instructions, one for each architecture that is compiled for."""
    lines = [INSTRUCTIONS]
    for arch in ARCHITECTURES:
        lines += [f"### {arch}", "", HEADER]
        for one in matrix_instructions(arch):
            a, b, c, d = one.elem_types
            shape = "x".join(map(str, one.shape_mnk))
            layouts = " | ".join(f"`{layout}`" for layout in (one.layout_A_tv, one.layout_B_tv, one.layout_C_tv))
            row = f"| `{one.mnemonic}` | {shape} | {one.blocks} | {a}{', sparse' if one.sparse else ''} | {b} | "
            lines.append(f"{row}{c if c == d else f'{c}, {d}'} | {one.wave} | {layouts} |")
        lines.append("")
    return "\n".join(lines).rstrip()


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
    print(instructions())


if __name__ == "__main__":
    main()
