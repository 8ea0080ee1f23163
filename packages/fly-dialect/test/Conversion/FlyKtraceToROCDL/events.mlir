// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-ktrace-to-rocdl --canonicalize --cse --split-input-file | FileCheck %s

// Kinds, types and presence of payloads are in the tags.

// CHECK-LABEL: gpu.func @tags
gpu.module @m [#rocdl.target<chip = "gfx942">] {
  gpu.func @tags(%n: i64, %buffer: !fly.ptr<i8, global>) kernel {
    // CHECK-DAG: %[[MARK:.*]] = arith.constant -2147483647 : i32
    // CHECK-DAG: %[[PUSH:.*]] = arith.constant -1996488703 : i32
    // CHECK-DAG: %[[POP:.*]] = arith.constant -1845493760 : i32
    // CHECK-DAG: %[[START:.*]] = arith.constant -1694498815 : i32
    // CHECK-DAG: %[[STOP:.*]] = arith.constant -1543503871 : i32
    // CHECK-DAG: %[[ABSENT:.*]] = arith.constant 268435457 : i32
    // CHECK: %[[HW:.*]] = llvm.call_intrinsic "llvm.amdgcn.s.getreg"
    // CHECK: %[[XCC:.*]] = llvm.call_intrinsic "llvm.amdgcn.s.getreg"
    // CHECK: vector.from_elements %[[HW]], %[[XCC]], %[[MARK]], %c0_i32
    fly_ktrace.mark "a" payload %n : i64
    // CHECK: vector.from_elements %[[HW]], %[[XCC]], %[[PUSH]], %c0_i32
    fly_ktrace.range_push "a" payload %n : i64 {payload_type = "int64"}
    // CHECK: vector.from_elements %[[HW]], %[[XCC]], %[[POP]], %c0_i32
    fly_ktrace.range_pop payload %n : i64 {payload_type = "float32"}
    // CHECK: vector.from_elements %[[HW]], %[[XCC]], %[[START]], %c0_i32
    // CHECK: %[[TOKEN:.*]] = arith.addi
    %t = fly_ktrace.range_start "a" payload %n : i64 {payload_type = "float64"} -> !fly_ktrace.token
    // CHECK: "llvm.amdgcn.wave.reduce.umax"(%[[TOKEN]]
    // CHECK-NEXT: %[[STARTED:.*]] = rocdl.readfirstlane
    // CHECK: vector.from_elements %[[HW]], %[[XCC]], %[[STOP]], %[[STARTED]]
    fly_ktrace.range_stop %t, "a" payload %n : i64 {payload_type = "bool"} : !fly_ktrace.token
    // CHECK: vector.from_elements %[[HW]], %[[XCC]], %[[ABSENT]], %c0_i32
    fly_ktrace.mark "a" {payload_type = "float32"}
    gpu.return
  }
}

// -----

// An event's slot: the number of events before, cut to what lies behind the wave's slots; the first active lane's payload.

// CHECK-LABEL: gpu.func @slot
// CHECK-SAME: (%[[N:.*]]: i64, %{{.*}}: !fly.ptr<i8, global>)
gpu.module @m [#rocdl.target<chip = "gfx942">] {
  gpu.func @slot(%n: i64, %buffer: !fly.ptr<i8, global>) kernel {
    // CHECK: %[[COUNTER:.*]] = llvm.alloca
    // CHECK: "s_buffer_store_dwordx4
    // CHECK: "s_buffer_store_dwordx4
    // CHECK: %[[MINE:.*]] = llvm.load %[[COUNTER]]
    // CHECK: %[[ALL:.*]] = llvm.call_intrinsic "llvm.amdgcn.wave.reduce.umax"(%[[MINE]]
    // CHECK: %[[COUNT:.*]] = rocdl.readfirstlane %[[ALL]]
    // CHECK: %[[NEXT:.*]] = arith.addi %[[COUNT]], %c1_i32
    // CHECK: llvm.store %[[NEXT]], %[[COUNTER]]
    // CHECK: %[[TIME:.*]] = llvm.call_intrinsic "llvm.amdgcn.s.memrealtime"
    // CHECK: rocdl.readfirstlane %[[N]] : i64
    // CHECK: %[[CUT:.*]] = arith.minui %[[COUNT]], %c255_i32
    // CHECK: %[[SLOT:.*]] = arith.addi %[[CUT]], %c1_i32
    // CHECK: %[[BYTE:.*]] = arith.muli %[[SLOT]], %c32_i32
    // CHECK: s_buffer_store_dwordx4 {{.*}} %[[BYTE]] :
    // CHECK: %[[HALF:.*]] = arith.addi %[[BYTE]], %c16_i32
    // CHECK: s_buffer_store_dwordx4 {{.*}} %[[HALF]] :
    fly_ktrace.mark "a" payload %n : i64
    gpu.return
  }
}

// -----

// Tokens go through loops as numbers. The stop of an inactive one, 0, goes behind the wave's slots and does not count.

// CHECK-LABEL: gpu.func @tokens
gpu.module @m [#rocdl.target<chip = "gfx942">] {
  gpu.func @tokens(%flag: i1, %buffer: !fly.ptr<i8, global>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    // CHECK: %[[COUNTER:.*]] = llvm.alloca
    // CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[OPEN:.*]] = %c0_i32) -> (i32)
    %none = fly_ktrace.inactive_token -> !fly_ktrace.token
    %last = scf.for %i = %c0 to %c8 step %c1 iter_args(%open = %none) -> (!fly_ktrace.token) {
      // CHECK: "llvm.amdgcn.wave.reduce.umax"(%[[OPEN]]
      // CHECK-NEXT: %[[STARTED:.*]] = rocdl.readfirstlane
      // CHECK-NEXT: %[[ACTIVE:.*]] = arith.cmpi ne, %[[STARTED]], %c0_i32
      // CHECK: %[[STEP:.*]] = arith.extui %[[ACTIVE]]
      // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %{{.*}}, %[[STEP]]
      // CHECK-NEXT: llvm.store %[[NEXT]], %[[COUNTER]]
      // CHECK: %[[BYTE:.*]] = arith.select %[[ACTIVE]], %{{.*}}, %c8192_i32
      // CHECK: s_buffer_store_dwordx4 {{.*}} %[[BYTE]] :
      fly_ktrace.range_stop %open, "step" : !fly_ktrace.token
      // CHECK: memrealtime
      // CHECK: scf.yield %{{.*}} : i32
      %next = fly_ktrace.range_start "step" -> !fly_ktrace.token
      scf.yield %next : !fly_ktrace.token
    }
    // Lanes that left the loop early catch up with the others.
    // CHECK: %[[BEHIND:.*]] = llvm.load %[[COUNTER]]
    // CHECK-NEXT: "llvm.amdgcn.wave.reduce.umax"(%[[BEHIND]]
    // CHECK-NEXT: %[[JOINED:.*]] = rocdl.readfirstlane
    // CHECK-NEXT: llvm.store %[[JOINED]], %[[COUNTER]]
    // CHECK: %[[EITHER:.*]] = arith.select %{{.*}}, %[[LAST]], %c0_i32 : i32
    %either = arith.select %flag, %last, %none : !fly_ktrace.token
    // CHECK: "llvm.amdgcn.wave.reduce.umax"(%[[EITHER]]
    fly_ktrace.range_stop %either, "step" : !fly_ktrace.token
    gpu.return
  }
}

// -----

// A wave whose lanes disagree takes both branches: between them, the count is brought up to date.

// CHECK-LABEL: gpu.func @both_branches
// CHECK-SAME: (%[[FLAG:.*]]: i1, %[[V:.*]]: f32
gpu.module @m [#rocdl.target<chip = "gfx942">] {
  gpu.func @both_branches(%flag: i1, %v: f32, %p: !llvm.ptr, %buffer: !fly.ptr<i8, global>) kernel {
    // CHECK: %[[COUNTER:.*]] = llvm.alloca
    // CHECK: %[[FIRST:.*]]:2 = scf.if %[[FLAG]] -> (f32, i32)
    // CHECK: memrealtime
    // CHECK: %[[TWICE:.*]] = arith.addf %[[V]], %[[V]]
    // CHECK: scf.yield %[[TWICE]], %{{.*}} : f32, i32
    // CHECK: else
    // CHECK-NOT: memrealtime
    // CHECK: llvm.store %{{.*}}, %[[COUNTER]]
    // CHECK: %[[SECOND:.*]]:2 = scf.if %[[FLAG]] -> (f32, i32)
    // CHECK-NEXT: scf.yield %[[FIRST]]#0, %[[FIRST]]#1 : f32, i32
    // CHECK: else
    // CHECK: memrealtime
    // CHECK: llvm.store %{{.*}}, %[[COUNTER]]
    // CHECK: llvm.store %[[SECOND]]#0
    %r:2 = scf.if %flag -> (f32, !fly_ktrace.token) {
      %t = fly_ktrace.range_start "yes" -> !fly_ktrace.token
      %w = arith.addf %v, %v : f32
      scf.yield %w, %t : f32, !fly_ktrace.token
    } else {
      %t = fly_ktrace.range_start "no" -> !fly_ktrace.token
      %w = arith.negf %v : f32
      scf.yield %w, %t : f32, !fly_ktrace.token
    }
    llvm.store %r#0, %p : f32, !llvm.ptr
    fly_ktrace.range_stop %r#1, "either" : !fly_ktrace.token
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_branch
  // CHECK: scf.if %{{.*}} {
  // CHECK: memrealtime
  // CHECK: }
  // CHECK-NOT: scf.if
  // CHECK: gpu.return
  gpu.func @one_branch(%flag: i1, %buffer: !fly.ptr<i8, global>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    scf.if %flag {
      fly_ktrace.mark "a"
    }
    gpu.return
  }
}
