// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-ktrace-to-rocdl --canonicalize --cse --split-input-file | FileCheck %s

// What a wave does at its start: it counts the launch, claims slots and describes itself.

// CHECK-LABEL: gpu.func @claims
// CHECK-SAME: (%[[BUFFER:.*]]: !fly.ptr<i8, global>)
gpu.module @m [#rocdl.target<chip = "gfx942">] {
  gpu.func @claims(%buffer: !fly.ptr<i8, global>) kernel {
    // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK-DAG: %[[PIECES:.*]] = arith.constant 8192 : i32
    // CHECK-DAG: %[[DATA:.*]] = arith.constant 2097136 : i32
    // CHECK-DAG: %[[PIECE:.*]] = arith.constant 256 : i32
    // CHECK-DAG: %[[HWID:.*]] = llvm.mlir.constant(63492 : i32)
    // CHECK-DAG: %[[XCCID:.*]] = llvm.mlir.constant(6164 : i32)
    // CHECK-DAG: %[[WORD3:.*]] = arith.constant 159744 : i32
    // CHECK: %[[PTR:.*]] = fly.to_llvm_ptr(%[[BUFFER]])
    // CHECK: %[[COUNTER:.*]] = llvm.alloca
    // CHECK: llvm.store %[[ZERO]], %[[COUNTER]]
    // CHECK: "llvm.amdgcn.s.getreg"(%[[HWID]])
    // CHECK: "llvm.amdgcn.s.getreg"(%[[XCCID]])
    // CHECK: "llvm.amdgcn.dispatch.id"()

    // CHECK: scf.if
    // CHECK-NEXT: %[[LAUNCHES:.*]] = llvm.getelementptr %[[PTR]][4]
    // CHECK-NEXT: llvm.atomicrmw add %[[LAUNCHES]], %[[ONE]] monotonic

    // CHECK: %[[LANE:.*]] = gpu.lane_id
    // CHECK: %[[CLAIM:.*]] = scf.if
    // CHECK-NEXT: %[[WAVES:.*]] = llvm.getelementptr %[[PTR]][256]
    // CHECK-NEXT: llvm.atomicrmw add %[[WAVES]], %[[ONE]] monotonic
    // CHECK: %[[MINE:.*]] = rocdl.readfirstlane %[[CLAIM]]
    // CHECK: %[[CUT:.*]] = arith.minui %[[MINE]], %[[PIECES]]
    // CHECK: %[[START:.*]] = arith.muli %[[CUT]], %[[PIECE]]
    // CHECK: %[[LEFT:.*]] = arith.subi %[[DATA]], %[[START]]
    // CHECK: %[[SLOTS:.*]] = arith.minui %[[LEFT]], %[[PIECE]]
    // CHECK: %[[THERE:.*]] = arith.cmpi ult, %[[CUT]], %[[PIECES]]
    // CHECK: arith.select %[[THERE]], %[[SLOTS]], %[[ZERO]]
    // CHECK: vector.from_elements {{.*}}, %[[WORD3]] : vector<4xi32>

    // CHECK: "llvm.amdgcn.queue.ptr"()
    // CHECK-COUNT-2: "s_buffer_store_dwordx4 $0, $1, $2", "s,s,s"
    // CHECK: "llvm.amdgcn.s.memrealtime"()
    // CHECK-COUNT-2: "s_buffer_store_dwordx4 $0, $1, $2", "s,s,s"
    fly_ktrace.mark "a"
    // CHECK: %[[COUNT:.*]] = rocdl.readfirstlane
    // CHECK: "s_buffer_store_dword $0, $1, $2", "s,s,s" %[[COUNT]]
    // CHECK-NEXT: "llvm.amdgcn.s.dcache.wb"()
    // CHECK-NEXT: gpu.return
    gpu.return
  }
}

// -----

// The buffer holds one slot more than the attribute says; what is left for the last wave may be less than a whole run.

// CHECK-LABEL: gpu.func @capacity
module attributes {fly_ktrace.capacity_slots = 5000 : i64} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @capacity(%buffer: !fly.ptr<i8, global>) kernel {
      // CHECK-DAG: arith.constant 4985 : i32
      // CHECK-DAG: arith.constant 20 : i32
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// Four counters, of which a wave takes one by its number in the grid and the launch.

// CHECK-LABEL: gpu.func @partitions
module attributes {fly_ktrace.partitions = 4 : i32} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @partitions(%buffer: !fly.ptr<i8, global>) kernel {
      // CHECK-DAG: %[[FIRST:.*]] = arith.constant 40 : i32
      // CHECK-DAG: %[[MASK:.*]] = arith.constant 3 : i32
      // CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
      // CHECK-DAG: arith.constant 2097112 : i32
      // CHECK: %[[P:.*]] = arith.andi %{{.*}}, %[[MASK]] : i32
      // CHECK: %[[CLAIM:.*]] = scf.if
      // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[P]]
      // CHECK-NEXT: %[[BYTE:.*]] = arith.muli %[[NEXT]]
      // CHECK-NEXT: llvm.getelementptr %{{.*}}[%[[BYTE]]]
      // CHECK: rocdl.readfirstlane %[[CLAIM]]
      // CHECK: %[[ROUND:.*]] = arith.muli %{{.*}}, %[[FOUR]] : i32
      // CHECK-NEXT: arith.addi %[[ROUND]], %[[P]] : i32
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// Of other blocks, no wave claims slots.

// CHECK-LABEL: gpu.func @one_block
module attributes {fly_ktrace.blocks = "1, 2, 3"} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @one_block(%buffer: !fly.ptr<i8, global>) kernel {
      // CHECK: gpu.lane_id
      // CHECK: arith.cmpi eq, %{{.*}}, %c1_i32
      // CHECK: arith.cmpi eq, %{{.*}}, %c2_i32
      // CHECK: arith.cmpi eq, %{{.*}}, %c3_i32
      // CHECK: %[[RECORDS:.*]] = arith.andi
      // CHECK-NEXT: %[[CLAIMS:.*]] = arith.andi %{{.*}}, %[[RECORDS]]
      // CHECK-NEXT: scf.if %[[CLAIMS]]
      // CHECK: %[[THERE:.*]] = arith.andi %{{.*}}, %[[RECORDS]]
      // CHECK-NEXT: arith.select %[[THERE]]
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// CHECK-LABEL: gpu.func @one_xcc
module attributes {fly_ktrace.blocks = "xcc:5"} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @one_xcc(%buffer: !fly.ptr<i8, global>) kernel {
      // CHECK: %[[FIVE:.*]] = arith.constant 5 : i32
      // CHECK: "llvm.amdgcn.s.getreg"
      // CHECK: %[[XCC:.*]] = llvm.call_intrinsic "llvm.amdgcn.s.getreg"
      // CHECK: arith.cmpi eq, %[[XCC]], %[[FIVE]]
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// A block size that the kernel states is not loaded.

// CHECK-LABEL: gpu.func @known_block
gpu.module @m [#rocdl.target<chip = "gfx942">] {
  gpu.func @known_block(%buffer: !fly.ptr<i8, global>) kernel attributes {known_block_size = array<i32: 64, 2, 1>} {
    // CHECK-NOT: implicitarg
    fly_ktrace.mark "a"
    gpu.return
  }
}
