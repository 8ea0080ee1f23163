# SPDX-License-Identifier: Apache-2.0
"""Turn the tables in `data/` into IR that type inference must accept or refuse.

Each row becomes one function, separated by `// -----`, whose op declares the result of the row: inference refuses
any other. A row with an error expects that text, or, where the table says only `error`, any. Run with
`--split-input-file --verify-diagnostics`.
"""

import argparse
import re
import sys
from pathlib import Path

# Not inferred: what they compute is only known at run time.
NOT_INFERRED = {"elem_less", "equal"}

TILED_COPY = (
    "!fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<{bits}>, 16>, !fly.layout<((2,4),4):((16,1),4)>, "
    "!fly.tile<[4|8]>>"
)
TILED_MMA = (
    "!fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, "
    "!fly.layout<({m},{n},{k}):(1,{m},{mn})>{permutation}>"
)
FMA = "!fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>>"
# Types that a table writes without `!fly.`.
WRITTEN_TYPES = ("memref<", "ptr<", "coord_tensor<", "swizzle<", "coord_swizzle<")


def spell_type(text: str) -> str:
    """The MLIR type of a value as the tables write it."""
    if match := re.fullmatch(r"TC(\d+)", text):
        return TILED_COPY.format(bits=match[1])
    if match := re.fullmatch(r"TM(\d)(\d)(\d)(?: perm (.*))?", text):
        m, n, k = (int(digit) for digit in match.groups()[:3])
        permutation = f", !fly.tile<{match[4]}>" if match[4] else ""
        return TILED_MMA.format(m=m, n=n, k=k, mn=m * n, permutation=permutation)
    if text == "FM":
        return FMA
    if text.startswith("!") or re.fullmatch(r"[if]\d+|vector<.*>", text):
        return text
    if text.startswith(WRITTEN_TYPES):
        return f"!fly.{text}"
    if text.startswith(("tile ", "[")):
        return f"!fly.tile<{text.removeprefix('tile ')}>"
    if " o " in text:
        return f"!fly.composed_layout<{text}>"
    if text.startswith("S<"):
        return f"!fly.swizzle<{text}>"
    if text.startswith("CS<"):
        return f"!fly.coord_swizzle<{text}>"
    return f"!fly.{'layout' if ':' in text else 'int_tuple'}<{text}>"


def spell_attribute(name: str, value: str) -> str:
    """The MLIR spelling of an attribute."""
    if name == "operand_id":
        return f"{name} = #fly<mma_operand {value}>"
    if value.startswith("["):
        elements = value.strip("[]")
        return f"{name} = array<i32{': ' if elements else ''}{elements}>"
    if value in ("true", "false"):
        return f"{name} = {value}"
    return f"{name} = {value} : i32"


def spell_op(name: str, operands: list[str], attributes: dict[str, str]) -> str:
    """The op in its syntax, up to the colon."""
    attributes = dict(attributes)
    rank = ""
    arguments = list(operands)
    if name in ("append", "prepend"):
        rank = f"<{attributes.pop('n')}> " if "n" in attributes else " "
    if name == "make_fragment_like" and "dtype" in attributes:
        arguments.append(attributes.pop("dtype"))
    if name in ("tiled_mma.partition", "mma.make_fragment"):
        arguments.insert(0, attributes.pop("operand_id"))
    if name == "mma.make_fragment" and "stages" in attributes:
        arguments.append(f"stages = {attributes.pop('stages')}")
    spelled = ", ".join(spell_attribute(key, value) for key, value in attributes.items())
    return f"fly.{name}{rank}({', '.join(arguments)})" + (f" {{{spelled}}}" if spelled else "")


def spell_expectation(text: str) -> str:
    """What `--verify-diagnostics` has to see for the line that follows."""
    message = text.removeprefix("error").removeprefix(": ")
    if not message:
        return "  // expected-error-re@+1 {{{{.+}}}}\n"
    message = re.sub(r"'(int_tuple|memref|layout)<", r"'!fly.\1<", message)
    return f"  // expected-error@+2 {{{{{message}}}}}\n  // expected-error@+1 {{{{failed to infer returned types}}}}\n"


def convert_row(name: str, row: str) -> str:
    """One row as a function."""
    operands_text, _, result = row.partition(" =>")
    result = result.strip()
    attributes: dict[str, str] = {}
    if match := re.search(r" \{([^{}]*)\}$", operands_text):
        attributes = dict(re.findall(r"(\w+)=(\[[^\]]*\]|\S+)", match[1]))
        operands_text = operands_text[: match.start()]
    types = [spell_type(text) for text in operands_text.split(" ; ")]
    values = [f"%{index}" for index in range(len(types))]
    is_error = result.startswith("error")
    # What an op that must fail declares does not matter, as long as it is of the right kind.
    declared = (
        [ERROR_RESULTS.get(name, types[0])] if is_error else [spell_type(text) for text in result.split(" , ") if text]
    )
    arguments = ", ".join(f"{value}: {type_}" for value, type_ in zip(values, types, strict=True))
    results = f"%r:{len(declared)} = " if declared else ""
    body = f"{results}{spell_op(name, values, attributes)} : ({', '.join(types)}) -> ({', '.join(declared)})"
    expectation = spell_expectation(result) if is_error else ""
    return f"func.func @row({arguments}) {{\n{expectation}  {body}\n  return\n}}\n"


TUPLE = "!fly.int_tuple<0>"
LAYOUT = "!fly.layout<1:0>"
MEMREF = "!fly.memref<f32, register, 1:0>"
ERROR_RESULTS = {
    "get_scalar": "i32",
    "make_fragment_layout_like": LAYOUT,
    "make_fragment_like": MEMREF,
    "mma.make_fragment": MEMREF,
    "coprofile": TUPLE,
    "coshape": TUPLE,
    "cosize": TUPLE,
    "crd2idx": TUPLE,
    "idx2crd": TUPLE,
    "memref.load_vec": "vector<1xf32>",
    "ptrtoint": "i64",
    "to_llvm_ptr": "!llvm.ptr<1>",
    "dice": LAYOUT,
    "complement": LAYOUT,
}


def convert_table(path: Path) -> list[str]:
    """All rows of a table."""
    rows = path.read_text(encoding="utf-8").splitlines()
    return [convert_row(path.stem, row) for row in rows if row and not row.startswith("#")]


def main() -> int:
    """Print the tables of a folder, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="a table, or a folder of them")
    path = parser.parse_args().path
    tables = sorted(path.glob("*.txt")) if path.is_dir() else [path]
    chunks = [chunk for table in tables if table.stem not in NOT_INFERRED for chunk in convert_table(table)]
    if not chunks:
        print(f"no rows in {path}", file=sys.stderr)
        return 1
    print("// -----\n".join(chunks), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
