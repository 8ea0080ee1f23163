# SPDX-License-Identifier: Apache-2.0
"""Mutated IR, and processes that may die of it.

Run `python packages/fly-dialect/tests/mutation.py --minutes 10` to look for crashes, assertions and hangs of the
parser, the verifiers and the passes. What it finds is written to a folder, one file each.
"""

import argparse
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._fly_emit import device_pipeline
from flydsl._mlir.dialects import fly, fly_rocdl  # noqa: F401
from flydsl._mlir.passmanager import PassManager

SUITE = Path(__file__).resolve().parents[1] / "test"
# Of processor time, so that a busy machine makes no findings.
SECONDS_PER_CASE = 20
BATCH = 40
# Of LLVM's ops: a number that is no case becomes a null property, which their verifiers read.
LLVM_ENUMERATIONS = ("ordering", "bin_op", "CConv", "linkage", "unnamed_addr", "visibility_", "TailCallKind")


def _up_to(last: str) -> str:
    """The stages that the compiler runs, up to this one."""
    stages = device_pipeline(chip="gfx950")
    return ",".join(stage.text for stage in stages[: [stage.name for stage in stages].index(last) + 1])


PIPELINES = (
    "",
    "fly-rewrite-func-signature",
    "fly-canonicalize",
    "fly-layout-lowering",
    "fly-int-swizzle-simplify",
    "fly-convert-atom-call-to-ssa-form",
    "fly-promote-regmem-to-vectorssa",
    "convert-fly-to-rocdl",
    "fly-rocdl-expand-ops",
    "fly-expand-arith",
    "convert-fly-ktrace-to-rocdl{chip=gfx950},canonicalize",
    "canonicalize,cse",
    _up_to("convert-gpu-to-rocdl"),
)
NUMBERS = ("0", "1", "-1", "2", "3", "16", "64", "1024", "65536", "2147483647", "-2147483648", "4294967296", "?")
LEAVES = ("?", "*", "?{div=8}", "?{i64}", "?{i64 div=0}", "1E0", "?E1", "0E0E1", "(1,2)", "((2,2),4)", "-7")
TOKEN = re.compile(r"-?\d+|[A-Za-z_][\w.$-]*|%[\w#]+|![\w.]+|->|\?\{[^}]*\}|\s+|.", re.DOTALL)


def seeds() -> list[str]:
    """The inputs of the lit tests, one by one, without comments."""
    found = []
    for path in sorted(SUITE.rglob("*.mlir")):
        text = re.sub(r"^\s*//(?! -----).*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        found += [chunk.strip() for chunk in text.split("// -----") if "fly" in chunk and len(chunk) < 6000]
    return found


class Mutator:
    """Makes cases at random, reproducibly."""

    def __init__(self, seed: int, texts: list[str]) -> None:
        self.random = random.Random(seed)
        self.texts = texts
        self.words = sorted({word for text in texts for word in re.findall(r"[a-z_]\w*(?:\.\w+)*|![\w.]+", text)})

    def case(self) -> "Case":
        """Text, ops or both of an input changed, and passes to run on it."""
        text = self.random.choice(self.texts)
        kind = self.random.randrange(3)
        if kind == 0:
            text = self.change_tokens(text)
        elif kind == 1:
            text = self.change_everywhere(text)
        return Case(text, self.random.choice(PIPELINES), self.random.randrange(1 << 30) if kind else None)

    def change_tokens(self, text: str) -> str:
        """One or two changes of a place, after which most texts don't parse."""
        tokens = TOKEN.findall(text)
        for _ in range(self.random.randint(1, 2)):
            self._change(tokens)
        return "".join(tokens)

    def change_everywhere(self, text: str) -> str:
        """Another number wherever a tuple or layout is spelled: types still agree with each other."""
        spelled = sorted(set(re.findall(r"\([\d,?():{}=divi]+\)(?::[\d(),?]+)?|\d+:\d+", text)))
        if not spelled:
            return text
        old = self.random.choice(spelled)
        numbers = list(re.finditer(r"\d+|\?", old))
        place = self.random.choice(numbers)
        new = old[: place.start()] + self.random.choice(NUMBERS + LEAVES) + old[place.end() :]
        return text.replace(old, new)

    def _change(self, tokens: list[str]) -> None:
        pick = self.random.choice
        position = self.random.randrange(len(tokens))
        numbers = [i for i, token in enumerate(tokens) if token.lstrip("-").isdigit()]
        values = [i for i, token in enumerate(tokens) if token.startswith("%")]
        change = self.random.randrange(9)
        if change <= 2 and numbers:
            tokens[pick(numbers)] = pick(NUMBERS)
        elif change == 3 and numbers:
            tokens[pick(numbers)] = pick(LEAVES)
        elif change == 4 and len(values) > 1:
            tokens[pick(values)] = tokens[pick(values)]
        elif change == 5:
            del tokens[position : position + self.random.randint(1, 4)]
        elif change == 6:
            tokens[position:position] = tokens[position : position + self.random.randint(1, 30)]
        elif change == 7:
            tokens[position] = pick(self.words)
        else:
            depth = pick((3, 40, 3000))
            tokens[position:position] = ["(" * depth + pick(NUMBERS) + ")" * pick((depth, depth - 1))]
        if not tokens:
            tokens.append("module {}")


@dataclass(frozen=True)
class Case:
    """What one run does: parse, change ops if there is a seed for that, and run passes."""

    text: str
    pipeline: str
    seed: int | None = None


def ops_in(module: ir.Module) -> list[ir.Operation]:
    """The ops in functions, before those that they hold."""
    ops: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name not in ("builtin.module", "func.func", "gpu.func", "gpu.module"):
            ops.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return ops


def change_ops(module: ir.Module, seed: int) -> None:
    """Exchange operands of one type, change attributes, copy and erase ops."""
    generator = random.Random(seed)
    for _ in range(generator.randint(1, 4)):
        # Looked up anew each time: what was erased is gone.
        if ops := ops_in(module):
            change_op(generator, generator.choice(ops), [value for op in ops for value in (*op.operands, *op.results)])


def change_op(generator: random.Random, op: ir.Operation, values: list[ir.Value]) -> None:
    """One change of an op; `values` are what its operands may become."""
    change = generator.randrange(4)
    if change == 0 and len(op.operands):
        index = generator.randrange(len(op.operands))
        op.operands[index] = generator.choice([value for value in values if value.type == op.operands[index].type])
    elif change == 1 and len(op.attributes):
        name = generator.choice([named if isinstance(named, str) else named.name for named in op.attributes])
        if name in LLVM_ENUMERATIONS and op.name.startswith("llvm."):
            pass
        elif isinstance(op.attributes[name], ir.IntegerAttr):
            number = generator.choice((-1, 0, 1, 3, 1 << 31, 1 << 40))
            op.attributes[name] = ir.IntegerAttr.get(ir.IntegerAttr(op.attributes[name]).type, number)
        elif op.name.startswith("fly") and generator.random() < 0.3:
            # Only of our ops. Without their flags, upstream's arith.addi, subi, muli, trunci, addf and mulf die when
            # they are printed or folded, llvm.load and llvm.store when they are verified, llvm.func when it is printed.
            del op.attributes[name]
    elif change == 2 and not len(op.regions):
        op.clone(ir.InsertionPoint(op))
    elif change == 3 and not len(op.regions) and all(not list(result.uses) for result in op.results):
        op.erase()


def run_one(case: Case) -> None:
    """Errors are expected; anything else ends the process."""
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        try:
            module = ir.Module.parse(case.text)
            if case.seed is not None:
                change_ops(module, case.seed)
            if module.operation.verify() and case.pipeline:
                PassManager.parse(f"builtin.module({case.pipeline})").run(module.operation)
            str(module)
        except (ir.MLIRError, ValueError):
            pass


def survives(cases: list[Case]) -> str | None:
    """Run cases in a process of their own. What killed it, or nothing."""
    child = os.fork()
    if child == 0:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        try:
            for case in cases:
                signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_CASE)
                run_one(case)
        except BaseException:
            os._exit(77)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status == 0:
        return None
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return "hang" if number == signal.SIGPROF else signal.Signals(number).name
    return f"exit status {os.WEXITSTATUS(status)}"


@dataclass
class Finding:
    """Input that a process died of."""

    why: str
    case: Case


def fuzz(seed: int, seconds: float) -> Iterator[Finding | int]:
    """Yield findings, and now and then the number of cases so far."""
    mutator = Mutator(seed, seeds())
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        cases = [mutator.case() for _ in range(BATCH)]
        if survives(cases) is not None:
            for case in cases:
                if why := survives([case]):
                    yield Finding(why, case)
        count += len(cases)
        yield count


def main() -> int:
    """Fuzz for some minutes and write what is found to a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=None, help="folder for findings (default: a temporary one)")
    options = parser.parse_args()
    folder = options.output or Path(tempfile.mkdtemp(prefix="fly-fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    found, count = 0, 0
    for event in fuzz(options.seed, options.minutes * 60):
        if isinstance(event, int):
            count = event
            continue
        found += 1
        path = folder / f"{found:04}-{event.why}.mlir"
        case = event.case
        path.write_text(f"// pipeline: {case.pipeline}\n// seed: {case.seed}\n{case.text}\n", encoding="utf-8")
        print(f"{event.why}: {path} ({case.pipeline or 'parse'})", flush=True)
    print(f"{count} cases, {found} findings in {folder}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
