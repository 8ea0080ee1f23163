// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' | sed -e 's/\\0A/\n/g' -e 's/\\09/ /g' | FileCheck %s

// A release fence waits for what is outstanding on every path to it, back edges too, before the
// barrier. LLVM's SIInsertWaitcnts alone drops these waits (lib/Emit/MemoryModelWaits.h).

// The store at the end of the loop is waited for on the path that skips the read, too. The second
// barrier of the loop needs no wait of its own: the use of what was read has waited.

// CHECK-LABEL: write_gfx942:
// CHECK:       ds_write_b32
// CHECK-NEXT:  s_waitcnt lgkmcnt(0)
// CHECK:       s_barrier
// CHECK:       .LBB0_1:
// CHECK-NEXT:  s_waitcnt lgkmcnt(0)
// CHECK-NEXT:  s_barrier
// CHECK-NEXT:  ds_read_b32
// CHECK:       s_waitcnt lgkmcnt(0)
// CHECK-NEXT:  v_add
// CHECK-NEXT:  s_barrier
// CHECK-NEXT:  ds_write_b32
// CHECK:       s_endpgm
gpu.module @write_gfx942 [#rocdl.target<chip = "gfx942">] {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4096 x i32>
  llvm.func @write_gfx942(%out: !llvm.ptr<1>, %n: i32, %mask: i32) attributes {gpu.kernel, rocdl.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %p = llvm.getelementptr %lds[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %other = llvm.xor %t, %c64 : i32
    %q = llvm.getelementptr %lds[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %t, %p : i32, !llvm.ptr<3>
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    llvm.br ^loop(%c0, %c0 : i32, i32)
  ^loop(%i: i32, %s: i32):
    %masked = llvm.and %i, %mask : i32
    %sees = llvm.icmp "eq" %masked, %c0 : i32
    llvm.cond_br %sees, ^read, ^join(%s : i32)
  ^read:
    %v = llvm.load %q : !llvm.ptr<3> -> i32
    %sum = llvm.add %s, %v : i32
    llvm.br ^join(%sum : i32)
  ^join(%s0: i32):
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    %v2 = llvm.load %q : !llvm.ptr<3> -> i32
    %s1 = llvm.add %s0, %v2 : i32
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    llvm.store %s1, %p : i32, !llvm.ptr<3>
    %i1 = llvm.add %i, %c1 : i32
    %again = llvm.icmp "slt" %i1, %n : i32
    llvm.cond_br %again, ^loop(%i1, %s1 : i32, i32), ^exit
  ^exit:
    %g = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %s1, %g : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// CHECK-LABEL: write_gfx1201:
// CHECK:       ds_store_b32
// CHECK-NEXT:  s_wait_dscnt 0x0
// CHECK-NEXT:  s_barrier_signal
// CHECK:       .LBB0_1:
// CHECK-NEXT:  s_wait_loadcnt_dscnt 0x0
// CHECK-NEXT:  s_barrier_signal
// CHECK:       ds_store_b32
// CHECK:       s_endpgm
gpu.module @write_gfx1201 [#rocdl.target<chip = "gfx1201">] {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4096 x i32>
  llvm.func @write_gfx1201(%out: !llvm.ptr<1>, %n: i32, %mask: i32) attributes {gpu.kernel, rocdl.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %p = llvm.getelementptr %lds[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %other = llvm.xor %t, %c64 : i32
    %q = llvm.getelementptr %lds[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %t, %p : i32, !llvm.ptr<3>
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    llvm.br ^loop(%c0, %c0 : i32, i32)
  ^loop(%i: i32, %s: i32):
    %masked = llvm.and %i, %mask : i32
    %sees = llvm.icmp "eq" %masked, %c0 : i32
    llvm.cond_br %sees, ^read, ^join(%s : i32)
  ^read:
    %v = llvm.load %q : !llvm.ptr<3> -> i32
    %sum = llvm.add %s, %v : i32
    llvm.br ^join(%sum : i32)
  ^join(%s0: i32):
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    %v2 = llvm.load %q : !llvm.ptr<3> -> i32
    %s1 = llvm.add %s0, %v2 : i32
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    llvm.store %s1, %p : i32, !llvm.ptr<3>
    %i1 = llvm.add %i, %c1 : i32
    %again = llvm.icmp "slt" %i1, %n : i32
    llvm.cond_br %again, ^loop(%i1, %s1 : i32, i32), ^exit
  ^exit:
    %g = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %s1, %g : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// CHECK-LABEL: write_gfx1250:
// CHECK:       ds_store_b32
// CHECK:       s_wait_dscnt 0x0
// CHECK-NEXT:  s_barrier_signal
// CHECK:       .LBB0_1:
// CHECK-NEXT:  s_wait_dscnt 0x0
// CHECK-NEXT:  s_barrier_signal
// CHECK:       ds_load_b32
// CHECK:       s_wait_dscnt 0x0
// CHECK-NOT:   s_wait
// CHECK:       s_barrier_signal
// CHECK:       ds_store_b32
// CHECK:       s_endpgm
gpu.module @write_gfx1250 [#rocdl.target<chip = "gfx1250">] {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4096 x i32>
  llvm.func @write_gfx1250(%out: !llvm.ptr<1>, %n: i32, %mask: i32) attributes {gpu.kernel, rocdl.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %p = llvm.getelementptr %lds[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %other = llvm.xor %t, %c64 : i32
    %q = llvm.getelementptr %lds[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %t, %p : i32, !llvm.ptr<3>
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    llvm.br ^loop(%c0, %c0 : i32, i32)
  ^loop(%i: i32, %s: i32):
    %masked = llvm.and %i, %mask : i32
    %sees = llvm.icmp "eq" %masked, %c0 : i32
    llvm.cond_br %sees, ^read, ^join(%s : i32)
  ^read:
    %v = llvm.load %q : !llvm.ptr<3> -> i32
    %sum = llvm.add %s, %v : i32
    llvm.br ^join(%sum : i32)
  ^join(%s0: i32):
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    %v2 = llvm.load %q : !llvm.ptr<3> -> i32
    %s1 = llvm.add %s0, %v2 : i32
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    llvm.store %s1, %p : i32, !llvm.ptr<3>
    %i1 = llvm.add %i, %c1 : i32
    %again = llvm.icmp "slt" %i1, %n : i32
    llvm.cond_br %again, ^loop(%i1, %s1 : i32, i32), ^exit
  ^exit:
    %g = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %s1, %g : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// A load straight to LDS counts as a write to LDS that the fence before the barrier waits for. What
// was loaded to registers after it stays on its way.

// CHECK-LABEL: load_to_lds:
// CHECK:       .LBB0_1:
// CHECK:       s_waitcnt vmcnt(1)
// CHECK-NEXT:  s_barrier
// CHECK-NEXT:  ds_read_b32
// CHECK:       s_barrier
// CHECK:       global_load_lds_dword
// CHECK:       global_load_dword
// CHECK:       s_cbranch
// CHECK:       s_endpgm
gpu.module @load_to_lds [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4096 x i32>
  llvm.func @load_to_lds(%out: !llvm.ptr<1>, %in: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.br ^loop(%c0, %c0, %c0 : i32, i32, i32)
  ^loop(%i: i32, %s: i32, %w: i32):
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    %at = llvm.xor %t, %i : i32
    %q = llvm.getelementptr %lds[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %q : !llvm.ptr<3> -> i32
    %s0 = llvm.add %s, %v : i32
    %s1 = llvm.add %s0, %w : i32
    llvm.fence syncscope("workgroup") release
    rocdl.s.barrier
    llvm.fence syncscope("workgroup") acquire
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %lds, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    rocdl.sched.barrier 0
    %next = llvm.getelementptr %from[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %w1 = llvm.load %next : !llvm.ptr<1> -> i32
    %i1 = llvm.add %i, %c1 : i32
    %again = llvm.icmp "slt" %i1, %n : i32
    llvm.cond_br %again, ^loop(%i1, %s1, %w1 : i32, i32, i32), ^exit
  ^exit:
    %g = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %s1, %g : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// A barrier without a fence gets no wait: asynchronous pipelines count for themselves.

// CHECK-LABEL: counted_by_hand:
// CHECK:       .LBB0_1:
// CHECK-NEXT:  global_load_lds_dword
// CHECK-NEXT:  global_load_lds_dword
// CHECK-NOT:   s_waitcnt
// CHECK:       s_waitcnt vmcnt(2)
// CHECK-NEXT:  s_barrier
// CHECK-NOT:   s_waitcnt
// CHECK:       s_cbranch
// CHECK:       s_endpgm
gpu.module @counted_by_hand [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global internal @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4096 x i32>
  llvm.func @counted_by_hand(%in: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.br ^loop(%c0 : i32)
  ^loop(%i: i32):
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %lds, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %lds, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    rocdl.s.waitcnt 3954
    rocdl.s.barrier
    %i1 = llvm.add %i, %c1 : i32
    %again = llvm.icmp "slt" %i1, %n : i32
    llvm.cond_br %again, ^loop(%i1 : i32), ^exit
  ^exit:
    llvm.return
  }
}
