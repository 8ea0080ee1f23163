# SPDX-License-Identifier: Apache-2.0
"""The tables' cases on RDNA (waves of 64 lanes), where LLVM's assembler takes the names that gfx9 has for most opcodes.

`cases` are those of a table that an architecture has, `halves` the forms of 16-bit instructions that name the upper
halves of registers, and `program` makes RDNA's assembly of a batch's.
"""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Callable, Sequence

from .batch import Placed
from .case import INPUT_NAMES, OUTPUT_NAMES, Case

ARCHITECTURES = ("gfx1100", "gfx1201")

_WAVES = "-wavefrontsize32,+wavefrontsize64"
_WHOLE = f"{_WAVES},-real-true16"
HALVES_FLAGS = (f"-mattr={_WAVES},+real-true16",)
WHOLE_FLAGS = (f"-mattr={_WHOLE}",)

# Those whose old names the assembler does not take.
_RENAMED = {
    "v_add_u16": "v_add_nc_u16", "v_sub_u16": "v_sub_nc_u16", "v_add_i16": "v_add_nc_i16", "v_sub_i16": "v_sub_nc_i16",
    "v_addc_co_u32": "v_add_co_ci_u32", "v_subb_co_u32": "v_sub_co_ci_u32", "v_subbrev_co_u32": "v_subrev_co_ci_u32",
}  # fmt: skip

# What the definition of gfx9 is not that of, and why.
_OTHER_MEANING = {
    r"ds_b?permute_b32": "stays in its half of a wave of 64",
    r"v_dot[48]_i32_i[48]": "says by modifiers which source has signs, and without them none has",
    r"[st]?buffer_\w+": "has another descriptor",
}
_OTHER_MEANING_GFX12 = {
    r"v_(pk_)?(min|max|med)\w*_f(16|32|64)": "takes a number before a signalling NaN, too",
    r"ds_(min|max)\w*_f(32|64)": "takes a number before a signalling NaN, too",
}
_MISSING = (
    "instruction not supported on this GPU|not a valid operand|(dpp|e32|sdwa) variant of this instruction is not "
    "supported|invalid operand for instruction|operands are not valid|not supported on this GPU"
)
_ROTATE = "v_alignbit_b32 {x}, {x}, {x}, 16"


def program(text: str, arch: str) -> str:
    """RDNA's assembly of a batch's."""
    new = arch != "gfx1100"
    text = re.sub(r" *\.amdhsa_accum_offset .*\n| *\.agpr_count: .*\n", "", text)
    text = text.replace("next_free_vgpr 512", "next_free_vgpr 256").replace(".vgpr_count: 512", ".vgpr_count: 256")
    text = text.replace(".amdhsa_next_free_sgpr 100", ".amdhsa_next_free_sgpr 100\n  .amdhsa_wavefront_size32 0")
    if new:
        text = re.sub(r" *\.amdhsa_ieee_mode .*\n", "", text).replace("s_mov_b32 s3, s2\n", "s_mov_b32 s3, ttmp9\n")
    return "\n".join(_line(line, new) for line in text.splitlines())


def _line(line: str, new: bool) -> str:
    found = re.match(r"\s*(\w+?)(_e32|_e64|_dpp)?(\s|$)", line)
    if found and found[1] in _RENAMED:
        line = line.replace(found[1], _RENAMED[found[1]], 1)
    line = line.replace("bound_ctrl:0", "bound_ctrl:1").replace(" sc0", " th:TH_ATOMIC_RETURN" if new else " glc")
    if "v_lshl_add_u64 v[92:93], v[92:93], 0, s[16:17]" in line:
        return "  v_add_co_u32 v92, vcc, v92, s16\n  v_add_co_ci_u32_e64 v93, vcc, s17, v93, vcc"
    if re.match(r"\s*s_waitcnt ", line):
        if new:
            waits = [("vmcnt", ("loadcnt", "storecnt")), ("lgkmcnt", ("dscnt", "kmcnt"))]
            return "\n".join(f"  s_wait_{one} 0x0" for what, ones in waits if what in line for one in ones)
        return line + ("\n  s_waitcnt_vscnt null, 0x0" if "vmcnt(0)" in line else "")
    return line


def _refusals(programs: Sequence[str], arch: str, features: str) -> dict[int, str]:
    """What the assembler says first about each of the programs that it refuses."""
    lines = [(line, index) for index, text in enumerate(programs) for line in program(text, arch).splitlines()]
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=null",
               f"-mattr={_WAVES},{features}"]  # fmt: skip
    done = subprocess.run(
        command, input="\n".join(line for line, _ in lines), capture_output=True, text=True, timeout=600
    )
    out: dict[int, str] = {}
    for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", done.stderr, re.M):
        out.setdefault(lines[int(line) - 1][1], message)
    return out


def _adapted(one: Case, arch: str) -> Case | None:
    """The case with RDNA's results; None for one that RDNA has no form of, or another meaning."""
    other = _OTHER_MEANING | (_OTHER_MEANING_GFX12 if arch != "gfx1100" else {})
    if "_sdwa" in one.code or any(re.fullmatch(pattern, one.opcode) for pattern in other):
        return None
    if any(operand.bank == "a" for operand in (*one.inputs, *one.outputs)):
        return None
    masks = "s_mov_b64 {d}, exec\ns_mov_b64 {e}, exec"  # v_cmpx writes EXEC alone
    code = re.sub(r"^(v_cmpx_\w+) \{d\}, (.*)\ns_mov_b64 \{e\}, exec", rf"\1_e64 \2\n{masks}", one.code)
    # A result of 16 bits leaves the other half of its register alone.
    half = bool(one.outputs) and one.outputs[0].bank == "v" and one.outputs[0].kind.half and one.opcode.startswith("v_")
    return one.but(code=code, keep_high=one.keep_high or half, archs=(arch,))


def _text(one: Case) -> str:
    return one.code.format(**Placed(one, 0, 0, 0, 0).registers, i=0)


def cases(table: Callable[[], list[Case]], arch: str) -> list[Case]:
    """The cases of a table that an architecture has; AssertionError where one is refused for another reason."""
    found = [one for one in (_adapted(one, arch) for one in table()) if one is not None]
    refused = _refusals([_text(one) for one in found], arch, "-real-true16")
    strange = [f"{found[i].name}: {why}" for i, why in refused.items() if not re.search(_MISSING, why)]
    assert not strange, strange
    return [one for i, one in enumerate(found) if i not in refused]


def halves(table: Callable[[], list[Case]], arch: str) -> list[Case]:
    """The 16-bit instructions of a table, with every choice of halves for their operands.

    An operand in an upper half is brought there, and a result back, by a rotation around the instruction.
    """
    out: list[Case] = []
    plain = [one for one in (_adapted(one, arch) for one in table()) if one is not None]
    plain = [one for one in plain if re.fullmatch(r"(\{op\}|v_\w+)(_e32|_e64)? .*", one.code)]  # of one instruction
    chosen = [(one, names) for one in plain for names in _vectors(one)]
    refused = _refusals([_text(_with_halves(*both, ())) for both in chosen], arch, "+real-true16")
    seen: set[int] = set()
    for index, (one, names) in enumerate(chosen):
        if index in refused or id(one) in seen:
            continue
        seen.add(id(one))
        for count in range(len(names) + 1):
            out += [_with_halves(one, names, upper) for upper in itertools.combinations(names, count)]
    return out


def _vectors(one: Case) -> list[tuple[str, ...]]:
    """Which operands may be the halves of an instruction: those of 16 bits, all, or some."""
    both = [*zip(INPUT_NAMES, one.inputs, strict=False), *zip(OUTPUT_NAMES, one.outputs, strict=False)]
    vectors = tuple(name for name, operand in both if operand.bank == "v" and operand.kind.rows == 1)
    short = tuple(name for name, operand in both if name in vectors and operand.kind.half)
    some = [each for count in range(1, len(vectors)) for each in itertools.combinations(vectors, count)]
    return list(dict.fromkeys(each for each in (short, vectors, *some) if each))


def _with_halves(one: Case, names: tuple[str, ...], upper: tuple[str, ...]) -> Case:
    code = one.code
    for name in names:
        code = code.replace(f"{{{name}}}", f"{{{name}}}.{'h' if name in upper else 'l'}")
    around = [[_ROTATE.replace("x", name) for name in upper if name in which] for which in (names, OUTPUT_NAMES)]
    label = f"{one.label} upper: {', '.join(upper) or 'none'}".strip()
    keep = one.keep_high or any(name in OUTPUT_NAMES for name in names)
    return one.but(code="\n".join([*around[0], code, *around[1]]), label=label, keep_high=keep)


def names(found: Sequence[Case], arch: str) -> dict[str, str]:
    """The opcodes that cases test, by the names that the architecture has for them, and the cases' own."""
    lines = []
    for one in found:
        own = re.compile(rf"\s*({one.opcode}|{_RENAMED.get(one.opcode, '-')})(_e32|_e64|_dpp)?(\s|$)")
        lines += [(line, one.opcode) for line in program(_text(one), arch).splitlines() if own.match(line)]
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", f"-mattr={_WHOLE}"]
    text = "\n".join(line for line, _ in lines)
    printed = subprocess.run(command, input=text, capture_output=True, text=True, timeout=600, check=True).stdout
    mnemonics = re.findall(r"^\t(\w+?)(?:_e32|_e64|_dpp|_e64_dpp)?(?:[ \n])", printed, re.M)
    assert len(mnemonics) == len(lines), "the assembler gave another number of instructions"
    return {now: opcode for now, (_, opcode) in zip(mnemonics, lines, strict=True)}
