// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' | sed -e 's/\\0A/\n/g' -e 's/\\09/ /g' | FileCheck %s

// Waits for loads straight to LDS name what the loads write; how many operations stay outstanding is
// counted (lib/Emit/CopyWaits.cpp).

// Straight code: a wait leaves what was issued behind the last load to what it names, stores to
// memory, too. Who waits again has nothing to wait for.

// CHECK-LABEL: straight_gfx942:
// CHECK-COUNT-4: global_load_lds_dword
// CHECK:       global_store_dword
// CHECK-NOT:   s_waitcnt
// CHECK:       s_waitcnt vmcnt(3)
// CHECK-NEXT:  s_barrier
// CHECK-NOT:   s_waitcnt
// CHECK:       s_barrier
// CHECK-NOT:   s_waitcnt
// CHECK:       s_waitcnt vmcnt(1)
// CHECK-NEXT:  s_barrier
// CHECK:       s_endpgm
gpu.module @straight_gfx942 [#rocdl.target<chip = "gfx942">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @straight_gfx942(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %b, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %b, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.store %t, %to : i32, !llvm.ptr<1>
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %b : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.return
  }
}

// -----

// CHECK-LABEL: straight_gfx950:
// CHECK-COUNT-4: global_load_lds_dword
// CHECK:       global_store_dword
// CHECK-NOT:   s_waitcnt
// CHECK:       s_waitcnt vmcnt(3)
// CHECK-NEXT:  s_barrier
// CHECK-NOT:   s_waitcnt
// CHECK:       s_barrier
// CHECK-NOT:   s_waitcnt
// CHECK:       s_waitcnt vmcnt(1)
// CHECK-NEXT:  s_barrier
// CHECK:       s_endpgm
gpu.module @straight_gfx950 [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @straight_gfx950(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %b, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %b, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.store %t, %to : i32, !llvm.ptr<1>
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %b : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.return
  }
}

// -----

// Two buffers in a loop: what the last turn, or the code before the loop, asked for is waited for;
// what this turn asked for stays on its way. After the loop nothing more is asked for.

// CHECK-LABEL: carried_gfx942:
// CHECK-COUNT-2: global_load_lds_dword
// CHECK:       .LBB0_1:
// CHECK-NOT:   s_waitcnt vmcnt
// CHECK-COUNT-2: global_load_lds_dword
// CHECK:       s_waitcnt vmcnt(2)
// CHECK-NEXT:  s_barrier
// CHECK-COUNT-2: global_load_lds_dword
// CHECK:       s_waitcnt vmcnt(2)
// CHECK-NEXT:  s_barrier
// CHECK:       s_cbranch
// CHECK:       s_waitcnt vmcnt(0)
// CHECK-NEXT:  s_barrier
// CHECK:       s_endpgm
gpu.module @carried_gfx942 [#rocdl.target<chip = "gfx942">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @carried_gfx942(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.br ^loop(%c0 : i32)
  ^loop(%i: i32):
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %b, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %b, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %b : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    %i1 = llvm.add %i, %c1 : i32
    %again = llvm.icmp "slt" %i1, %n : i32
    llvm.cond_br %again, ^loop(%i1 : i32), ^exit
  ^exit:
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.return
  }
}

// -----

// CHECK-LABEL: carried_gfx950:
// CHECK-COUNT-2: global_load_lds_dword
// CHECK:       .LBB0_1:
// CHECK-NOT:   s_waitcnt vmcnt
// CHECK-COUNT-2: global_load_lds_dword
// CHECK:       s_waitcnt vmcnt(2)
// CHECK-NEXT:  s_barrier
// CHECK-COUNT-2: global_load_lds_dword
// CHECK:       s_waitcnt vmcnt(2)
// CHECK-NEXT:  s_barrier
// CHECK:       s_cbranch
// CHECK:       s_waitcnt vmcnt(0)
// CHECK-NEXT:  s_barrier
// CHECK:       s_endpgm
gpu.module @carried_gfx950 [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @carried_gfx950(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.br ^loop(%c0 : i32)
  ^loop(%i: i32):
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %b, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %b, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %b : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    %i1 = llvm.add %i, %c1 : i32
    %again = llvm.icmp "slt" %i1, %n : i32
    llvm.cond_br %again, ^loop(%i1 : i32), ^exit
  ^exit:
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.return
  }
}

// -----

// What only some paths ask for behind a load does not count, and a load that only some paths make
// is waited for.

// CHECK-LABEL: branches:
// CHECK-COUNT-2: global_load_lds_dword
// CHECK:       s_cbranch
// CHECK:       global_load_lds_dword
// CHECK:       .LBB0_2:
// CHECK:       s_waitcnt vmcnt(1)
// CHECK-NEXT:  s_barrier
// CHECK:       s_waitcnt vmcnt(0)
// CHECK-NEXT:  s_barrier
// CHECK:       s_endpgm
gpu.module @branches [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @branches(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %b, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    %some = llvm.icmp "slt" %n, %c4 : i32
    llvm.cond_br %some, ^more, ^join
  ^more:
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %b, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.br ^join
  ^join:
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %b : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.return
  }
}

// -----

// A copy to what is not known, here one of two variables, counts for both.

// CHECK-LABEL: unknown:
// CHECK:       s_waitcnt vmcnt(0)
// CHECK-NEXT:  s_barrier
// CHECK:       s_endpgm
gpu.module @unknown [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @unknown(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    %some = llvm.icmp "slt" %n, %c4 : i32
    %either = llvm.select %some, %a, %b : i1, !llvm.ptr<3>
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %either, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.return
  }
}

// -----

// A flat access may be one of LDS, and back before older ones: it does not count.

// CHECK-LABEL: flat:
// CHECK:       global_load_lds_dword
// CHECK:       flat_store_dword
// CHECK:       s_waitcnt vmcnt(0)
// CHECK-NEXT:  s_barrier
// CHECK:       s_endpgm
gpu.module @flat [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @flat(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32, %wide: i64) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    %address = llvm.ptrtoint %in : !llvm.ptr<1> to i64
    %mixed = llvm.xor %address, %wide : i64
    %flat = llvm.inttoptr %mixed : i64 to !llvm.ptr
    llvm.store %t, %flat : i32, !llvm.ptr
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    rocdl.s.barrier
    llvm.return
  }
}
