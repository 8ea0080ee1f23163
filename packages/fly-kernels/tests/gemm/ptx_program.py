# SPDX-License-Identifier: Apache-2.0
"""PTX as data: the instructions of a kernel, where branches lead, and where lanes that parted come together.

For `ptx_machine`, which runs it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TRY_WAIT = "mbarrier.try_wait.parity.shared.b64"  # with the loop around it, as one instruction

# As the language emits them: inline assembly of several lines, with names of its own.
_WAIT = re.compile(
    rf"\{{\s*\.reg \.pred\s+P1;\s*LAB_WAIT:\s*{re.escape(TRY_WAIT)} P1, \[([^\]]+)\], ([^,]+), \d+;\s*"
    r"@P1 bra\.uni DONE;\s*bra\.uni\s+LAB_WAIT;\s*DONE:\s*\}"
)
_PRODUCT = re.compile(
    r"\{ \.reg \.pred p; setp\.ne\.b32 p, (%r\d+), 0; "
    r"(wgmma\.mma_async\.\S+) (\{[^}]*\}), (%rd\d+), (%rd\d+), p, (.*); \}"
)
_FRAGMENTS = re.compile(r"\bmma\.sync\.[^;]*;")  # of several lines
_BRANCHES = ("bra", "bra.uni")


class UnknownPtx(Exception):
    """What the interpreter does not know; the message is the text of it."""


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        operation: its name with all its suffixes.
        operands: texts: registers, numbers, `[…]` and `{…}`, in order.
        predicate: the register of `@%p1`, or None.
        negated: whether it is `@!%p1`.
    """

    operation: str
    operands: tuple[str, ...]
    predicate: str | None = None
    negated: bool = False

    def __str__(self) -> str:
        guard = f"@{'!' * self.negated}{self.predicate} " if self.predicate else ""
        return f"{guard}{self.operation} {', '.join(self.operands)}"


@dataclass(frozen=True)
class Program:
    """The body of a kernel.

    Attributes:
        instructions: in order; the number behind the last one is the end.
        labels: the number of the instruction that each names.
        meets: for each conditional branch the first instruction that both its ways come to.
        parameters: names in order.
        threads: of a workgroup.
    """

    instructions: tuple[Instruction, ...]
    labels: dict[str, int]
    meets: dict[int, int]
    parameters: tuple[str, ...]
    threads: int

    @staticmethod
    def read(text: str) -> Program:
        """The program of a module with one kernel. Raises UnknownPtx."""
        text = re.sub(r"(?m)[ \t]*//.*$", "", text.split("\t.section\t.debug")[0])
        head, _, body = text.partition("\n{\n")
        threads = re.search(r"\.maxntid\s+(\d+)", head)
        if threads is None or head.count(".entry") != 1:
            raise UnknownPtx("a module that has not one kernel of a known number of threads")
        body = _WAIT.sub(rf"{TRY_WAIT} [\1], \2;", body)
        body = _FRAGMENTS.sub(lambda found: " ".join(found[0].split()), body)
        body = re.sub(r"(?m)^\s*\.(loc|file|reg)\b.*$", "", body)
        instructions: list[Instruction] = []
        labels: dict[str, int] = {}
        for line in map(str.strip, body.splitlines()):
            if re.fullmatch(r"[$\w]+:", line):
                labels[line[:-1]] = len(instructions)
            elif line not in ("", "}"):
                instructions.append(_instruction(line))
        parameters = tuple(re.findall(r"\.param .*?(\w+)(?:\[\d+\])?,?\n", head))
        meets = _where_lanes_meet(instructions, labels)
        return Program(tuple(instructions), labels, meets, parameters, int(threads[1]))


def _instruction(line: str) -> Instruction:
    product = _PRODUCT.fullmatch(line)
    if product:
        accumulate, operation, sums, a, b, scales = product.groups()
        return Instruction(operation, (sums, a, b, accumulate, scales))
    found = re.fullmatch(r"(?:@(!?)(%\w+)\s+)?([a-z][\w.:]*)\s*(.*?);", line)
    if not found or "{ .reg" in line:
        raise UnknownPtx(line)
    negated, predicate, operation, rest = found.groups()
    operands = re.findall(r"\[[^\]]*\]|\{[^}]*\}|[^,\s]+", rest)
    if predicate and operation not in _BRANCHES:
        raise UnknownPtx(line)
    return Instruction(operation, tuple(operands), predicate, bool(negated))


def _where_lanes_meet(instructions: list[Instruction], labels: dict[str, int]) -> dict[int, int]:
    """The nearest post-dominator of each conditional branch."""
    end = len(instructions)
    ways: list[list[int]] = []
    for number, one in enumerate(instructions):
        if one.operation == "ret":
            ways.append([end])
        elif one.operation in _BRANCHES:
            ways.append([labels[one.operands[0]], *([number + 1] if one.predicate else [])])
        else:
            ways.append([number + 1])
    # Of each instruction, those that every way from it comes by, as bits.
    behind = [(2 << end) - 1] * end + [1 << end]
    changed = True
    while changed:
        changed = False
        for number in range(end - 1, -1, -1):
            common = -1
            for way in ways[number]:
                common &= behind[way]
            common |= 1 << number
            changed |= common != behind[number]
            behind[number] = common
    meets = {}
    for number, one in enumerate(instructions):
        if one.operation in _BRANCHES and one.predicate:
            candidates = [other for other in range(end + 1) if other != number and behind[number] >> other & 1]
            # The nearest has all the others behind it.
            meets[number] = max(candidates, key=lambda other: behind[other].bit_count())
    return meets
