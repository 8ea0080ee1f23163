// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering | FileCheck %s

// What is assumed of a tuple shows in what is computed from it.

// CHECK-LABEL: func.func @divisible
// CHECK-SAME: (%[[N:.*]]: i32)
func.func @divisible(%n: i32) -> !fly.int_tuple<?{div=32}> {
  // CHECK: %[[C4:.*]] = arith.constant 4 : i32
  // CHECK: %[[P:.*]] = arith.muli %[[N]], %[[C4]] : i32
  // CHECK: fly.make_int_tuple(%[[P]]) : (i32) -> !fly.int_tuple<?{div=32}>
  %src = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<?>
  %dst = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<?{div=8}>
  %a = fly.assume(%dst, %src) : (!fly.int_tuple<?{div=8}>, !fly.int_tuple<?>) -> !fly.int_tuple<?{div=8}>
  %four = fly.make_int_tuple() : () -> !fly.int_tuple<4>
  %p = fly.int_tuple_mul(%a, %four) : (!fly.int_tuple<?{div=8}>, !fly.int_tuple<4>) -> !fly.int_tuple<?{div=32}>
  return %p : !fly.int_tuple<?{div=32}>
}

// CHECK-LABEL: func.func @nested
// CHECK-SAME: (%[[M:.*]]: i32, %[[N:.*]]: i64)
func.func @nested(%m: i32, %n: i64) -> !fly.int_tuple<(16,(?{i64 div=2},3))> {
  // CHECK: fly.make_int_tuple(%[[N]]) : (i64) -> !fly.int_tuple<(16,(?{i64 div=2},3))>
  %src = fly.make_int_tuple(%m, %n) : (i32, i64) -> !fly.int_tuple<(?,(?{i64},3))>
  %dst = fly.make_int_tuple(%n) : (i64) -> !fly.int_tuple<(16,(?{i64 div=2},3))>
  %a = fly.assume(%dst, %src) : (!fly.int_tuple<(16,(?{i64 div=2},3))>, !fly.int_tuple<(?,(?{i64},3))>) -> !fly.int_tuple<(16,(?{i64 div=2},3))>
  return %a : !fly.int_tuple<(16,(?{i64 div=2},3))>
}

// Other values and other structures stay, and are refused later.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-2: fly.assume
func.func @stays(%m: i32, %n: i64) -> (i32, !fly.int_tuple<?>) {
  %src = fly.make_int_tuple(%n) : (i64) -> !fly.int_tuple<?{i64}>
  %dst = fly.make_int_tuple(%m) : (i32) -> !fly.int_tuple<?>
  %a = fly.assume(%m, %m) : (i32, i32) -> i32
  %b = fly.assume(%dst, %src) : (!fly.int_tuple<?>, !fly.int_tuple<?{i64}>) -> !fly.int_tuple<?>
  return %a, %b : i32, !fly.int_tuple<?>
}
