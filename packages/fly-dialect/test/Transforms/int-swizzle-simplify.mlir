// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --fly-int-swizzle-simplify | FileCheck %s

// Mask 448 and shift 3: the swizzle has the period 512.

gpu.module @m {
  // CHECK-LABEL: gpu.func @multiple_of_the_period
  // CHECK-SAME: %[[X:.*]]: i32
  gpu.func @multiple_of_the_period(%x: i32) -> i32 {
    %mask = arith.constant 448 : i32
    %shift = arith.constant 3 : i32
    %c512 = arith.constant 512 : i32
    %sum = arith.addi %x, %c512 : i32
    %a = arith.andi %sum, %mask : i32
    %s = arith.shrui %a, %shift : i32
    %r = arith.xori %sum, %s : i32
    // CHECK: %[[A:.*]] = arith.andi %[[X]], %{{.*}} : i32
    // CHECK: %[[S:.*]] = arith.shrui %[[A]], %{{.*}} : i32
    // CHECK: %[[Y:.*]] = arith.xori %[[X]], %[[S]] : i32
    // CHECK: %[[R:.*]] = arith.addi %[[Y]], %c512_i32 : i32
    // CHECK: gpu.return %[[R]]
    gpu.return %r : i32
  }
}

// -----

gpu.module @m {
  // CHECK-LABEL: gpu.func @all_periodic
  gpu.func @all_periodic() -> i32 {
    %mask = arith.constant 448 : i32
    %shift = arith.constant 3 : i32
    %x = arith.constant 1024 : i32
    %a = arith.andi %x, %mask : i32
    %s = arith.shrui %a, %shift : i32
    %r = arith.xori %x, %s : i32
    // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK: arith.addi %[[ZERO]], %c1024_i32 : i32
    gpu.return %r : i32
  }
}

// -----

gpu.module @m {
  // CHECK-LABEL: gpu.func @misaligned
  // CHECK-SAME: %[[X:.*]]: i32
  gpu.func @misaligned(%x: i32) -> i32 {
    %mask = arith.constant 448 : i32
    %shift = arith.constant 3 : i32
    %c7 = arith.constant 7 : i32
    // CHECK: %[[SUM:.*]] = arith.addi %[[X]], %{{.*}} : i32
    %sum = arith.addi %x, %c7 : i32
    // CHECK: arith.andi %[[SUM]]
    %a = arith.andi %sum, %mask : i32
    %s = arith.shrui %a, %shift : i32
    // CHECK: %[[R:.*]] = arith.xori %[[SUM]]
    %r = arith.xori %sum, %s : i32
    // CHECK: gpu.return %[[R]]
    gpu.return %r : i32
  }
}

// -----

// What the type of a tuple says of its leaf counts, and products do.

gpu.module @m {
  // CHECK-LABEL: gpu.func @known_divisibility
  // CHECK-SAME: %[[X:.*]]: i64, %[[Y:.*]]: i64, %[[Z:.*]]: i64
  gpu.func @known_divisibility(%x: i64, %y: i64, %z: i64) -> i64 {
    %mask = arith.constant 56 : i64
    %shift = arith.constant 3 : i64
    %c16 = arith.constant 16 : i64
    %t = fly.make_int_tuple(%y) : (i64) -> !fly.int_tuple<?{i64 div=4}>
    %big = arith.muli %y, %c16 : i64
    %sum0 = arith.addi %x, %big : i64
    %sum = arith.addi %sum0, %z : i64
    %a = arith.andi %sum, %mask : i64
    %s = arith.shrui %a, %shift : i64
    %r = arith.xori %sum, %s : i64
    // CHECK: %[[BIG:.*]] = arith.muli %[[Y]]
    // CHECK: %[[REST:.*]] = arith.addi %[[X]], %[[Z]] : i64
    // CHECK: %[[SWIZZLED:.*]] = arith.xori %[[REST]], %{{.*}} : i64
    // CHECK: arith.addi %[[SWIZZLED]], %[[BIG]] : i64
    gpu.return %r : i64
  }
}

// -----

// Only kernels have addresses to simplify.

// CHECK-LABEL: func.func @host
func.func @host(%x: i32) -> i32 {
  %mask = arith.constant 448 : i32
  %shift = arith.constant 3 : i32
  %c512 = arith.constant 512 : i32
  // CHECK: %[[SUM:.*]] = arith.addi
  %sum = arith.addi %x, %c512 : i32
  %a = arith.andi %sum, %mask : i32
  %s = arith.shrui %a, %shift : i32
  // CHECK: %[[R:.*]] = arith.xori %[[SUM]]
  // CHECK: return %[[R]]
  %r = arith.xori %sum, %s : i32
  return %r : i32
}
