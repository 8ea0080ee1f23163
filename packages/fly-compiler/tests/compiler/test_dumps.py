# SPDX-License-Identifier: Apache-2.0
"""`FLYDSL_DUMP_IR`: a numbered file per stage, LLVM IR and ISA at the end."""

from __future__ import annotations

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel
def dumped_kernel(x: fx.Tensor, value: fx.Float32):
    x[fx.block_idx.x] = value


@flyc.jit
def dumped(x: fx.Tensor, value: fx.Float32, again: fx.Constexpr[bool]):
    dumped_kernel(x, value).launch(grid=(4,))
    if fx.const_expr(again):
        dumped_kernel(x, value).launch(grid=(4,), block=(64,))


# The stages of the contract, in its order; a pipeline may have more.
STAGES = [
    "fly_rewrite_func_signature",
    "fly_canonicalize",
    "fly_layout_lowering",
    "fly_int_swizzle_simplify",
    "canonicalize",
    "fly_convert_atom_call_to_ssa_form",
    "fly_promote_regmem_to_vectorssa",
    "convert_fly_to_rocdl",
    "canonicalize",
    "convert_gpu_to_rocdl",
    "rocdl_attach_target",
    "convert_scf_to_cf",
    "convert_cf_to_llvm",
    "gpu_to_llvm",
    "convert_vector_to_llvm",
    "convert_arith_to_llvm",
    "convert_func_to_llvm",
    "reconcile_unrealized_casts",
    "gpu_module_to_binary",
]


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path / "dumps"))
    return tmp_path / "dumps"


def test_a_file_per_stage(monkeypatch, folder, capsys, tmp_path):
    monkeypatch.setenv("FLYDSL_DUMP_IR", "1")
    x = torch.zeros(4)
    dumped(x, 2.0, False)
    assert x.tolist() == [2.0] * 4
    inside = folder / "dumped_kernel_0"
    names = sorted(path.name for path in inside.iterdir())
    assert [name[:3] for name in names] == [f"{number:02d}_" for number in range(len(names))]
    assert names[0] == "00_origin.mlir"
    assert [name[3:] for name in names[-2:]] == ["llvm_ir.ll", "final_isa.s"]
    between = iter(name[3:].removesuffix(".mlir") for name in names)
    assert all(stage in between for stage in STAGES)  # a subsequence
    assert "fly.memref.store" in (inside / "00_origin.mlir").read_text()
    assert "define amdgpu_kernel void @dumped_kernel_0" in (inside / names[-2]).read_text()
    assert "s_endpgm" in (inside / names[-1]).read_text()
    assert f"[flydsl.compile] dump origin -> {inside / '00_origin.mlir'}" in capsys.readouterr().out
    assert not (tmp_path / "cache").exists()


def test_only_the_isa(monkeypatch, folder):
    monkeypatch.setenv("FLYDSL_DEBUG_DUMP_ASM", "1")
    x = torch.zeros(4)
    dumped(x, 3.0, True)
    (path,) = (folder / "dumped").iterdir()
    assert path.name.endswith("_final_isa.s")


def test_dumping_and_run_only_exclude_each_other(monkeypatch, folder):
    monkeypatch.setenv("FLYDSL_DUMP_IR", "1")
    monkeypatch.setenv("FLYDSL_RUNTIME_RUN_ONLY", "1")
    with pytest.raises(ValueError, match="nothing to dump"):
        dumped(torch.zeros(5, dtype=torch.float64), 2.0, False)
