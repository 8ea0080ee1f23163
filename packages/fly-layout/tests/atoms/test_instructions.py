# SPDX-License-Identifier: Apache-2.0
"""Every matrix instruction's layouts against the published formulas, and against LLVM's assembler."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from atoms.calculator import backward, forward, load, operands

from flydsl.layout import LayoutError
from flydsl.layout.atoms import architectures, matrix_instruction, matrix_instructions

FORMULAS = load()

# Formulas that contradict the other direction of the same source and cannot be right, with the reason.
MISPRINTS = {
    **{
        (f"gfx942 v_smfmac_f32_{shape}_{t} 64", operand, direction): reason
        for shape in ("16x16x32", "32x32x16")
        for t in ("f16", "bf16")
        for operand, direction, reason in (
            ("A", "backward", "leaves the lane out of k"),
            ("B", "forward", "puts two k into one register half"),
        )
    },
    ("gfx942 v_mfma_f64_16x16x4_f64 64", "C", "backward"): "leaves the lane out of i",
    ("gfx12 v_wmma_i32_16x16x16_iu4 64", "A", "backward"): "gives k >= K for lanes 32 to 63, which are ignored",
    ("gfx12 v_wmma_i32_16x16x16_iu4 64", "B", "backward"): "gives k >= K for lanes 32 to 63, which are ignored",
}


@pytest.mark.parametrize("key", FORMULAS)
def test_layouts_are_the_published_formulas(key):
    arch, mnemonic, wave = key.split()
    instruction = matrix_instruction(arch, mnemonic, int(wave))
    entry = FORMULAS[key]
    assert [*instruction.shape_mnk, instruction.blocks] == entry["shape"]
    assert instruction.sparse == entry["sparse"]
    assert instruction.source == "calculator"
    for o in operands(entry):
        layout = instruction.layout_tv(o.name)
        checked = 0
        for name, evaluate in (("forward", forward), ("backward", backward)):
            if (key, o.name, name) in MISPRINTS:
                with pytest.raises((AssertionError, ValueError)):
                    assert_same(evaluate(o), layout)
                continue
            assert_same(evaluate(o), layout)
            checked += 1
        assert checked >= 1
        assert layout.size() == o.lanes * o.per_lane
        assert {layout(i) for i in range(layout.size())} == set(range(o.rows * o.columns * o.blocks))


def assert_same(mapping, layout):
    for (lane, value), element in mapping.items():
        assert layout(lane, value) == element


def test_all_published_instructions_are_in_the_table():
    published = set(FORMULAS)
    table = {f"{i.arch} {i.mnemonic} {i.wave}" for i in matrix_instructions() if i.source == "calculator"}
    assert {k for k in table if not k.startswith("gfx950")} == published
    assert architectures() == ("gfx942", "gfx11", "gfx12", "gfx950", "gfx1250")


@pytest.mark.parametrize("instruction", matrix_instructions(), ids=str)
def test_every_element_is_held(instruction):
    for operand in "ABCD":
        layout = instruction.layout_tv(operand)
        rows, columns = instruction.operand_shape(operand)
        assert layout[0].size() == instruction.wave
        if "provisional" in instruction.source and operand in "CD":
            continue  # the contract's 32-row C layout is marked as not checked against hardware
        elements = {layout(i) for i in range(layout.size())}
        assert elements == set(range(rows * columns * instruction.blocks))


@pytest.mark.parametrize("instruction", [i for i in matrix_instructions() if not i.sparse], ids=str)
def test_a_and_b_number_k_alike(instruction):
    """The lanes and values of A and B that hold one k are the same, so that any K order gives the same product."""
    m, n, _ = instruction.shape_mnk
    if m != n:
        pytest.skip("A has more rows than B")
    assert instruction.layout_A_tv == instruction.layout_B_tv


@pytest.mark.parametrize("arch", ["gfx950", "gfx1250"])
def test_k_grows_within_the_lane_group(arch):
    """Not published by the calculator: each lane group holds runs of K, and the groups together all of K in order."""
    for i in matrix_instructions(arch):
        if i.source == "calculator" or "provisional" in i.source:
            continue
        m, _, k = i.shape_mnk
        layout, groups = i.layout_B_tv, i.wave // m
        values = layout[1].size()
        assert values * groups == k
        for g in range(groups):
            ks = [layout(g * m, v) // m for v in range(values)]
            assert ks == sorted(ks)
            if arch == "gfx950":
                assert ks == list(range(g * values, (g + 1) * values))


class TestLookUp:
    def test_processors_of_a_family(self):
        assert matrix_instructions("gfx1201") == matrix_instructions("gfx12")
        assert matrix_instruction("gfx1100", "wmma_f32_16x16x16_f16", wave=64).wave == 64

    def test_errors(self):
        with pytest.raises(LayoutError, match="known are gfx942"):
            matrix_instructions("gfx906")
        with pytest.raises(LayoutError, match=r"similar: .*v_mfma_f32_16x16x16_f16"):
            matrix_instruction("gfx942", "v_mfma_f32_16x16x32_f16")
        with pytest.raises(LayoutError, match="one block"):
            matrix_instruction("gfx942", "v_mfma_f32_4x4x1_16b_f32").as_atom()
        with pytest.raises(LayoutError, match="A, B, C and D"):
            matrix_instruction("gfx942", "v_mfma_f32_16x16x16_f16").layout_tv("E")


# -- LLVM as an oracle: it assembles each instruction with the registers that our layouts need ------------------------
LLVM_MC = next(filter(None, map(shutil.which, ("llvm-mc-22", "llvm-mc-23", "llvm-mc"))), None)
PROCESSOR = {"gfx11": "gfx1100", "gfx12": "gfx1200"}
ELEMENT_BITS = {"f64": 64, "f32": 32, "xf32": 32, "i32": 32, "f16": 16, "bf16": 16, "iu4": 4, "fp4": 4}


def registers(instruction, operand):
    bits = ELEMENT_BITS.get(instruction.elem_types["ABCD".index(operand)], 8)
    values = instruction.layout_tv(operand)[1].size()
    if instruction.arch == "gfx11" and operand in "CD":
        bits = 32  # 16-bit results take one register each
    return max(1, values * bits // 32)


def assembly(i):
    at = 0
    texts = []
    for operand in "DABC":
        if operand == "C" and i.elem_types[2] == i.elem_types[3]:
            texts.append(texts[0])
            continue
        n = registers(i, operand)
        texts.append(f"v[{at}:{at + n - 1}]" if n > 1 else f"v{at}")
        at += n + n % 2
    if i.sparse:
        return f"{i.mnemonic} {texts[0]}, {texts[1]}, {texts[2]}, " + ("v[100:101]" if wide_index(i) else "v100")
    return f"{i.mnemonic} {', '.join(texts)}"


def wide_index(i):
    """gfx1250's sparse 8-bit instructions take a pair of index registers."""
    return i.arch == "gfx1250" and i.shape_mnk[2] == 128


def assembles(i):
    """Leaves out scaled forms (more operands), and the bf16f32 sparse form, whose D is narrower than its C."""
    return "scale" not in i.mnemonic and "swmmac_bf16f32" not in i.mnemonic


@pytest.mark.skipif(LLVM_MC is None, reason="llvm-mc is not installed")
@pytest.mark.parametrize("arch", architectures())
@pytest.mark.parametrize("wave", [32, 64])
def test_llvm_takes_each_instruction_with_these_registers(arch, wave):
    chosen = [i for i in matrix_instructions(arch) if i.wave == wave and assembles(i)]
    if not chosen:
        pytest.skip(f"{arch} has none for wave{wave}")
    text = "\n".join(map(assembly, chosen)) + "\n"
    attributes = [f"-mattr=+wavefrontsize{wave}"] if arch.startswith("gfx1") else []
    processor = f"-mcpu={PROCESSOR.get(arch, arch)}"
    command = [LLVM_MC, "-triple=amdgcn-amd-amdhsa", processor, *attributes, "-filetype=null"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[:3000]
