# SPDX-License-Identifier: Apache-2.0
"""What only AMD GPUs have: buffers, waits, lanes, direct matrix instructions."""

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl.expr import buffer_ops, rocdl
from flydsl.expr.rocdl import cdna3, rdna3

TENSOR = "!fly.memref<f16, global, (?,64):(64,1)>"


def test_buffer_descriptors():
    with kernel(TENSOR) as k:
        t = fx.Tensor(k.args[0])
        b = rocdl.make_buffer_tensor(t)
        assert b.layout.rank == 2
        assert b.memspace is rocdl.TargetAddressSpace.BufferDesc
        rocdl.make_buffer_tensor(t, max_size=False)
        rocdl.make_buffer_tensor(t, num_records_bytes=256)
        assert str(rocdl.get_buffer_rsrc(b).type) == "!llvm.ptr<8>"
        text = k.ir()
        with pytest.raises(ValueError, match="global memory, not to register"):
            rocdl.make_buffer_ptr(fx.make_rmem_tensor(4, fx.Float16).iter)
        with pytest.raises(ValueError, match="no plain LLVM pointer"):
            _ = b.iter.llvm_ptr
    assert f"{(7 << 12) | (4 << 15)} : i32" in text
    assert "4294967295 : i64" in text


@pytest.mark.parametrize(
    ("arch", "sized", "flags"),
    [
        ("gfx942", False, 0x27000),
        ("gfx942", True, 0x27000),
        ("gfx1201", False, 0x21027000),
        ("gfx1201", True, 0x31027000),
        ("gfx1250", False, 2),
        ("gfx1250", True, 3),
    ],
)
def test_descriptor_flags(arch, sized, flags):
    from flydsl.expr.rocdl.buffer import resource_flags

    with kernel(arch=arch):
        assert resource_flags(sized) == flags


def test_buffer_ops():
    with kernel(TENSOR, "i32") as k:
        rsrc = buffer_ops.create_buffer_resource(fx.Tensor(k.args[0]), max_size=True)
        i = fx.Int32(k.args[1])
        v = buffer_ops.buffer_load(rsrc, i, vec_width=4)
        assert v.dtype is fx.Float16
        assert v.shape == (4,)
        assert buffer_ops.buffer_load(rsrc, i).dtype is fx.Float16
        assert buffer_ops.buffer_load(rsrc, i, vec_width=4, dtype=fx.Float8E4M3FN).dtype is fx.Float8E4M3FN
        assert buffer_ops.buffer_load(rsrc, i, dtype=fx.T.i32, mask=i < 4).dtype is fx.Int32
        buffer_ops.buffer_store(v, rsrc, i)
        buffer_ops.buffer_store(fx.Float16(1.0), rsrc, i, mask=i < 4)
        with pytest.raises(ValueError, match="not 3 x Float16"):
            buffer_ops.buffer_load(rsrc, i, vec_width=3)
        with pytest.raises(TypeError, match="needs dtype="):
            buffer_ops.buffer_load(rsrc.value, i)
        assert k.count("rocdl.raw.ptr.buffer.load") == 4
        assert k.count("rocdl.raw.ptr.buffer.store") == 2


@pytest.mark.parametrize(
    ("arch", "counts", "encoded"),
    [
        ("gfx942", {"vmcnt": 0}, 0x0F70),
        ("gfx942", {"vmcnt": 63, "lgkmcnt": 0}, 0xC07F),
        ("gfx942", {"vmcnt": 17, "lgkmcnt": 3, "expcnt": 1}, 0x4311),
        ("gfx1100", {"vmcnt": 0}, 0x03F7),
        ("gfx1201", {"lgkmcnt": 0}, 0xFC07),
    ],
)
def test_wait_counts(arch, counts, encoded):
    with kernel(arch=arch) as k:
        rocdl.s_waitcnt(**counts)
        assert f"rocdl.s.waitcnt {encoded}" in k.ir()


def test_wait_counts_are_checked():
    with kernel("i32") as k:
        with pytest.raises(ValueError, match="lgkmcnt is from 0 to 15 on gfx942, got 16"):
            rocdl.s_waitcnt(lgkmcnt=16)
        with pytest.raises(TypeError, match="takes a Python int"):
            rocdl.s_waitcnt(vmcnt=fx.Int32(k.args[0]))
        with pytest.raises(TypeError, match="a bitfield, or one or more of"):
            rocdl.s_waitcnt()
        cdna3.s_waitcnt(vmcnt=0)
        rdna3.s_waitcnt(0x3F7)
        k.ir()
    refused = r"s_waitcnt needs gfx908, .* or gfx1201, but the kernel is compiled for gfx1250; it has s\.wait\.loadcnt"
    with kernel(arch="gfx1250"), pytest.raises(ValueError, match=refused):
        rocdl.s_waitcnt(vmcnt=0)


def test_scheduling():
    with kernel() as k:
        rocdl.sched_barrier("mfma")
        rocdl.sched_barrier(0)
        rocdl.sched_group_barrier(["vmem_read", "ds_read"], 2, 0)
        rocdl.sched_mfma(4)
        rocdl.sched_dsrd(1)
        assert rocdl.mask_dswr == 0x200
        text = k.ir()
        with pytest.raises(ValueError, match="unknown scheduling class 'alu'"):
            rocdl.sched_barrier("alu")
    assert "rocdl.sched.barrier 8" in text
    assert "rocdl.sched.group.barrier 288, 2, 0" in text


def test_interleaving_spreads_evenly():
    some = rocdl.interleave(mfma=32, ds_read=4, ds_write=0, vmem_read=4)
    assert some.groups == (("ds_read", 1), ("mfma", 4)) * 4 + (("vmem_read", 1), ("mfma", 4)) * 4
    few = rocdl.interleave(mfma=2, ds_read=3, vmem_read=2)
    assert few.groups == (("ds_read", 3), ("mfma", 1), ("vmem_read", 2), ("mfma", 1))
    assert rocdl.interleave(mfma=5).groups == (("mfma", 5),)
    for counts in ((7, 3, 2), (1, 9, 0), (64, 16, 8)):
        found = rocdl.interleave(mfma=counts[0], ds_read=counts[1], vmem_read=counts[2])
        assert tuple(found.count(one) for one in ("mfma", "ds_read", "vmem_read")) == counts
    assert (some + few).groups == some.groups + few.groups
    assert (few * 2).count("mfma") == 4


def test_a_schedule_becomes_group_barriers_and_a_fence():
    with kernel() as k:
        rocdl.interleave(mfma=4, ds_read=1, vmem_read=1).apply(2)
        rocdl.Schedule((("valu", 3),)).apply(fence=False)
        lines = [line.strip() for line in k.ir().splitlines() if "rocdl.sched" in line]
    assert [line.split(" loc")[0] for line in lines] == [
        "rocdl.sched.group.barrier 256, 1, 2",
        "rocdl.sched.group.barrier 8, 2, 2",
        "rocdl.sched.group.barrier 32, 1, 2",
        "rocdl.sched.group.barrier 8, 2, 2",
        "rocdl.sched.barrier 0",
        "rocdl.sched.group.barrier 2, 3, 0",
    ]


def test_schedules_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match=r"unknown scheduling class 'lds'; there are .*ds_read"):
        rocdl.interleave(mfma=4, lds=1)
    with pytest.raises(ValueError, match="a number of instructions of class 'ds_read', got -1"):
        rocdl.interleave(mfma=4, ds_read=-1)
    with pytest.raises(ValueError, match="of which there are none"):
        rocdl.interleave(mfma=0, ds_read=1)
    with pytest.raises(ValueError, match="of which there are none"):
        rocdl.interleave()
    with pytest.raises(ValueError, match="1 or more instructions of class 'mfma', got 0"):
        rocdl.Schedule((("mfma", 0),))


def test_direct_matrix_instructions():
    with kernel("vector<4xf16>", "vector<4xf32>", "i64", "vector<4xi32>") as k:
        a, acc, word, iacc = k.args
        raw = rocdl.mfma_f32_16x16x16f16(fx.T.f32x4, [a, a, acc, 0, 0, 0])
        assert str(raw.type) == "vector<4xf32>"
        assert isinstance(rocdl.mfma_f32_16x16x16_f16(a, a, fx.Vector(acc)), fx.Vector)
        rocdl.mfma_f32_16x16x32_fp8(word, word, acc)
        rocdl.mfma_i32_16x16x32i8(word, word, iacc)
        k.ir()
        with pytest.raises(ValueError, match="needs gfx950"):
            rocdl.mfma_f32_16x16x32_f16(a, a, acc)
        with pytest.raises(TypeError, match="takes \\(result_type"):
            rocdl.mfma_f32_16x16x16f16(a, a)
        with pytest.raises(AttributeError, match="no attribute 'mfma_f32_1x1x1f16'"):
            _ = rocdl.mfma_f32_1x1x1f16


@pytest.mark.parametrize(
    ("arch", "name", "message"),
    [
        ("gfx942", "mfma_f32_16x16x32_f16", r"needs gfx950, but .* for gfx942; it has mfma\.f32\.16x16x16f16"),
        ("gfx942", "smfmac_f32_16x16x128_fp8_fp8", r"needs gfx950.*smfmac\.f32\.16x16x64"),
        ("gfx950", "mfma_f32_16x16x8_xf32", r"needs gfx942, but .* for gfx950; it has mfma\.f32\.16x16x4f32"),
        ("gfx1201", "mfma_f32_16x16x16f16", r"needs gfx908, gfx90a.*, but .* for gfx1201; it has wmma"),
    ],
)
def test_a_matrix_instruction_that_the_chip_lacks(arch, name, message):
    with kernel("vector<4xf32>", arch=arch) as k, pytest.raises(ValueError, match=message):
        getattr(rocdl, name)(k.args[0], k.args[0], k.args[0])


def test_lanes():
    with kernel("i32", "f32") as k:
        x, f = fx.Int32(k.args[0]), fx.Float32(k.args[1])
        assert str(rocdl.readfirstlane(fx.T.i32, x).type) == "i32"
        assert rocdl.readfirstlane(f).dtype is fx.Float32
        rocdl.readlane(fx.Int32, x, 3)
        assert str(rocdl.ballot(fx.T.i64, x < 3).type) == "i64"
        rocdl.ds_bpermute(fx.T.i32, x * 4, x)
        assert rocdl.wave_id().dtype is fx.Int32
        assert rocdl.perm_b32(x, x, 0x07060504).dtype is fx.Int32
        assert rocdl.cvt_pk_bf16_f32(f, f).dtype is fx.Int32
        rocdl.cvt_pk_fp8_f32(fx.T.i32, f, f, 0, False)
        rocdl.rcp(fx.T.f32, f)
        rocdl.cvt_off_f32_i4(x, 1)
        rocdl.s_nop(1) if hasattr(rocdl, "s_nop") else None
        k.ir()
        with pytest.raises(ValueError, match=r"wave64\) gives i64, not i32"):
            rocdl.ballot(fx.T.i32, x < 3)


@pytest.mark.parametrize(
    ("arch", "rows", "instructions"),
    [("gfx942", 4, {"ds_bpermute": 4}), ("gfx950", 4, {"permlane32.swap": 1, "permlane16.swap": 2}),
     ("gfx1201", 2, {"ds_bpermute": 2})],
)  # fmt: skip
def test_rows_of_lanes(arch, rows, instructions):
    with kernel("i32", "f32", arch=arch) as k:
        x, f = fx.Int32(k.args[0]), fx.Float32(k.args[1])
        assert [one.dtype for one in rocdl.broadcast_rows(f)] == [fx.Float32] * rows
        text = k.ir()
        assert {name: text.count(f"rocdl.{name} ") for name in instructions} == instructions
        assert [one.dtype for one in rocdl.broadcast_rows(x)] == [fx.Int32] * rows
        with pytest.raises(TypeError, match="a value of 32 bits, not Int64"):
            rocdl.broadcast_rows(fx.Int64(x))


def test_inline_assembly():
    with kernel("i32") as k:
        x = fx.Int32(k.args[0])
        assert rocdl.inline_asm.inline_asm("v_mov_b32 $0, $1", "=v,v", [x], fx.Int32).dtype is fx.Int32
        assert rocdl.inline_asm.inline_asm("s_nop 0", "", []) is None
        a, b = rocdl.inline_asm.inline_asm("; $0 $1 $2", "=v,=v,v", [x], (fx.Int32, fx.Float32))
        assert (a.dtype, b.dtype) == (fx.Int32, fx.Float32)
        k.ir()


def test_atomics():
    with kernel("!fly.ptr<i32, global>", "!fly.ptr<f32, global>") as k:
        p, f = fx.Pointer(k.args[0]), fx.Pointer(k.args[1])
        assert fx.atomic_add(p, 1).dtype is fx.Int32
        assert fx.atomic_max(f, 1.0, syncscope=rocdl.SyncScope.Agent).dtype is fx.Float32
        old, stored = fx.atomic_cas(p, 0, 1, success_ordering=fx.AtomicOrdering.AcqRel)
        assert (old.dtype, stored.dtype) == (fx.Int32, fx.Boolean)
        assert fx.atomic_fmax(f, 1.0).dtype is fx.Float32
        assert fx.atomic_fmin(f, 1.0, is_positive=True).dtype is fx.Float32
        fx.memory_fence(ordering=fx.AtomicOrdering.Acquire, syncscope="agent")
        assert fx.generic_load(f, count=4).shape == (4,)
        fx.generic_store(p, 3, memory_order=fx.AtomicOrdering.Release)
        text = k.ir()
        with pytest.raises(TypeError, match="the value is Float32, the pointer is to Int32"):
            fx.atomic_add(p, fx.Float32(1.0))
        with pytest.raises(TypeError, match="atomic_and is for integers"):
            fx.atomic_and(f, 1.0)
        with pytest.raises(ValueError, match="a load cannot be Release"):
            fx.generic_load(p, memory_order=fx.AtomicOrdering.Release)
        with pytest.raises(ValueError, match="cannot be Acquire"):
            fx.generic_store(p, 1, memory_order=fx.AtomicOrdering.Acquire)
        with pytest.raises(ValueError, match="count is at least 1"):
            fx.generic_load(p, count=0)
    for op in ("llvm.atomicrmw add", "llvm.atomicrmw fmax", "llvm.cmpxchg", "llvm.fence", "llvm.store"):
        assert op in text


def test_printf():
    with kernel("i32") as k:
        x = fx.Int32(k.args[0])
        fx.printf("tid={} n={} t={}", x, 3, fx.Float32)
        fx.printf(x, 2.5)
        text = k.ir()
        with pytest.raises(ValueError, match="has 2 placeholders for 1 values"):
            fx.printf("{} {}", x)
    assert "tid={} n=3 t=Float32" in text
    assert "{} 2.5" in text
