// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-define-integer-division --split-input-file | FileCheck %s

// A device divides by zero without a trap, but LLVM takes the divisor for another number.
// CHECK-LABEL: gpu.func @kernel
// CHECK-SAME: (%[[A:.+]]: i32, %[[B:.+]]: i32)
// CHECK: %[[ZERO:.+]] = arith.constant 0 : i32
// CHECK: %[[BAD:.+]] = arith.cmpi eq, %[[B]], %[[ZERO]] : i32
// CHECK: %[[ONE:.+]] = arith.constant 1 : i32
// CHECK: %[[SAFE:.+]] = arith.select %[[BAD]], %[[ONE]], %[[B]] : i32
// CHECK: arith.floordivsi %[[A]], %[[SAFE]] : i32
// CHECK: arith.select
// CHECK: arith.remui
gpu.module @kernels {
  gpu.func @kernel(%a: i32, %b: i32) kernel {
    %0 = arith.floordivsi %a, %b : i32
    %1 = arith.remui %a, %b : i32
    gpu.return
  }
}

// -----

// Constants stay, but for those that hold a zero.
// CHECK-LABEL: gpu.func @constants
// CHECK-NOT: arith.select
// CHECK: arith.divsi
// CHECK: arith.ceildivui
// CHECK-NOT: arith.divui
// CHECK: %[[SAFE:.+]] = arith.select %{{.+}}, %{{.+}}, %{{.+}} : vector<2xi1>, vector<2xi32>
// CHECK: arith.divui %{{.+}}, %[[SAFE]]
gpu.module @kernels {
  gpu.func @constants(%a: i32, %v: vector<2xi32>) kernel {
    %minus = arith.constant -1 : i32
    %few = arith.constant dense<[3, 4]> : vector<2xi32>
    %zero = arith.constant dense<[3, 0]> : vector<2xi32>
    %0 = arith.divsi %a, %minus : i32
    %1 = arith.ceildivui %v, %few : vector<2xi32>
    %2 = arith.divui %v, %zero : vector<2xi32>
    gpu.return
  }
}

// -----

// The host traps where the quotient does not fit, too.
// CHECK-LABEL: func.func @host
// CHECK-SAME: (%[[A:.+]]: i64, %[[B:.+]]: i64)
// CHECK-DAG: arith.cmpi eq, %[[B]], %{{.+}} : i64
// CHECK-DAG: arith.constant -9223372036854775808 : i64
// CHECK: %[[OVERFLOWS:.+]] = arith.andi
// CHECK: %[[BAD:.+]] = arith.ori %{{.+}}, %[[OVERFLOWS]] : i1
// CHECK: %[[SAFE:.+]] = arith.select %[[BAD]]
// CHECK: arith.remsi %[[A]], %[[SAFE]] : i64
// CHECK-NOT: arith.ori
// CHECK: arith.divui
func.func @host(%a: i64, %b: i64) -> (i64, i64) {
  %0 = arith.remsi %a, %b : i64
  %1 = arith.divui %a, %b : i64
  return %0, %1 : i64, i64
}
