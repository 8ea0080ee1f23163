# SPDX-License-Identifier: Apache-2.0
"""Reading the text of `!fly` types: the static facts of int-tuples, layouts, tensors and atoms.

A tree of leaves is a Python int, `None` (the `*` leaf), a `Dynamic` or a `BasisLeaf`, or a tuple of trees. Texts are
parsed once and remembered; they belong to no MLIR context.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

__all__ = [
    "BasisLeaf",
    "Dynamic",
    "LayoutText",
    "TensorText",
    "arguments",
    "congruent",
    "depth_of",
    "element_bits",
    "element_bytes",
    "is_static_tree",
    "kind",
    "leaves_of",
    "parse_layout",
    "parse_tensor",
    "parse_tree",
    "print_tree",
    "rank_of",
    "split",
    "weakly_congruent",
]


class Dynamic(NamedTuple):
    """A leaf that is only known when the kernel runs: its width in bits and a number that divides it."""

    width: int = 32
    divisor: int = 1


class BasisLeaf(NamedTuple):
    """A multiple of a unit vector: `value` (int or `Dynamic`) and the mode path, outermost first."""

    value: Any
    path: tuple[int, ...]


class LayoutText(NamedTuple):
    """A layout's shape and stride trees; for a composed layout also the texts of inner and offset."""

    shape: Any
    stride: Any
    inner: str | None = None
    offset: Any = None
    outer: str | None = None


@dataclass(frozen=True)
class TensorText:
    """A memref or pointer: element type, address space, layout text (`None` for a pointer), alignment, swizzle."""

    element: str
    space: str
    layout: str | None
    alignment: int
    swizzle: str | None


def kind(text: str) -> str:
    """Return the mnemonic of a type's text: `layout` for `!fly.layout<...>`."""
    return text[: text.index("<")].removeprefix("!fly.") if "<" in text else text.removeprefix("!fly.")


@lru_cache(maxsize=8192)
def arguments(text: str) -> str:
    """Return what is between the outermost angle brackets of a type's text."""
    return text[text.index("<") + 1 : -1]


def split(text: str, separator: str = ",") -> list[str]:
    """Split at the separators that are inside no bracket; `->` is no bracket."""
    return list(_split(text, separator))


@lru_cache(maxsize=8192)
def _split(text: str, separator: str) -> tuple[str, ...]:
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "(<[{":
            depth += 1
        elif c in ")]}" or (c == ">" and text[i - 1] != "-"):
            depth -= 1
        elif depth == 0 and text.startswith(separator, i):
            parts.append(text[start:i].strip())
            start = i + len(separator)
    parts.append(text[start:].strip())
    return tuple(parts)


@lru_cache(maxsize=8192)
def parse_tree(text: str) -> Any:
    """Parse the text of an int-tuple."""
    text = text.strip()
    if text.startswith("("):
        return tuple(parse_tree(part) for part in split(text[1:-1]))
    head, *path = text.split("E") if "{" not in text else _split_basis(text)
    value = _leaf(head)
    return BasisLeaf(value, tuple(int(p) for p in path)) if path else value


def _split_basis(text: str) -> list[str]:
    close = text.index("}") + 1
    return [text[:close], *text[close:].split("E")[1:]]


def _leaf(text: str) -> Any:
    if text == "*":
        return None
    if not text.startswith("?"):
        return int(text)
    width, divisor = 32, 1
    for word in text[1:].strip("{}").split():
        if word.startswith("div="):
            divisor = int(word[4:])
        elif word.startswith("i"):
            width = int(word[1:])
    return Dynamic(width, divisor)


def print_tree(tree: Any) -> str:
    """Return the canonical text of a tree."""
    kind_ = type(tree)
    if kind_ is int:
        return str(tree)
    if tree is None:
        return "*"
    if kind_ is Dynamic:
        words = (["i64"] if tree.width == 64 else []) + ([f"div={tree.divisor}"] if tree.divisor != 1 else [])
        return "?" + ("{" + " ".join(words) + "}" if words else "")
    if kind_ is BasisLeaf:
        return print_tree(tree.value) + "".join(f"E{p}" for p in tree.path)
    return "(" + ",".join(print_tree(item) for item in tree) + ")"


@lru_cache(maxsize=8192)
def parse_layout(text: str) -> LayoutText:
    """Parse the text of a layout or composed layout; shape and stride are those of the outermost plain layout."""
    text = text.strip()
    parts = split(text, " o ")
    if len(parts) == 1:
        shape, stride = split(text, ":")
        return LayoutText(parse_tree(shape), parse_tree(stride))
    inner, offset, outer = " o ".join(parts[:-2]), parts[-2], parts[-1]
    if outer.startswith("["):
        outer = outer[1:-1]
    plain = parse_layout(outer)
    return LayoutText(plain.shape, plain.stride, inner, parse_tree(offset), outer)


@lru_cache(maxsize=8192)
def parse_tensor(text: str) -> TensorText:
    """Parse the text of `!fly.memref<...>` or `!fly.ptr<...>`."""
    parts = split(arguments(text))
    is_memref = kind(text) == "memref"
    element, space = parts[0], parts[1]
    layout = parts[2] if is_memref else None
    alignment, swizzle = 0, None
    for extra in parts[3 if is_memref else 2 :]:
        if extra.startswith("align<"):
            alignment = int(extra[6:-1])
        else:
            swizzle = extra
    return TensorText(element, space, layout, alignment or element_bytes(element), swizzle)


def element_bits(element: str) -> int:
    """Return the bits of an element type's text: 8 of `f8E4M3FN`, 16 of `bf16`."""
    digits = ""
    for c in element.removeprefix("b").lstrip("sufi"):
        if not c.isdigit():
            break
        digits += c
    return int(digits)


def element_bytes(element: str) -> int:
    """Return the bytes of an element type's text, rounded up."""
    return -(-element_bits(element) // 8)


def is_static_tree(tree: Any) -> bool:
    """Tell whether no leaf is dynamic."""
    if type(tree) is Dynamic:
        return False
    if type(tree) is BasisLeaf:
        return type(tree.value) is not Dynamic
    return all(is_static_tree(item) for item in tree) if isinstance(tree, tuple) else True


def _is_node(tree: Any) -> bool:
    return type(tree) is tuple


def leaves_of(tree: Any) -> list[Any]:
    """Return the leaves, depth first."""
    return [leaf for item in tree for leaf in leaves_of(item)] if _is_node(tree) else [tree]


def rank_of(tree: Any) -> int:
    """Return the number of top-level modes; 1 for a leaf."""
    return len(tree) if _is_node(tree) else 1


def depth_of(tree: Any) -> int:
    """Return the nesting depth; 0 for a leaf."""
    return 1 + max(depth_of(item) for item in tree) if _is_node(tree) else 0


def congruent(a: Any, b: Any) -> bool:
    """Tell whether two trees have the same nesting."""
    if _is_node(a) and _is_node(b):
        return len(a) == len(b) and all(congruent(x, y) for x, y in zip(a, b, strict=True))
    return not _is_node(a) and not _is_node(b)


def weakly_congruent(coordinate: Any, shape: Any) -> bool:
    """Tell whether the nesting of `coordinate` is a prefix of that of `shape`."""
    if not _is_node(coordinate):
        return True
    if not _is_node(shape) or len(coordinate) != len(shape):
        return False
    return all(weakly_congruent(c, s) for c, s in zip(coordinate, shape, strict=True))
