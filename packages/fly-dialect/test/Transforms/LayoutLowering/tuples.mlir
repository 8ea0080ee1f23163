// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering | FileCheck %s

// CHECK-LABEL: func.func @extractors(
// CHECK-SAME: %[[N:.+]]: i32
func.func @extractors(%n: i32) -> (!fly.int_tuple<(4,?)>, !fly.int_tuple<(?,1)>) {
  %shape = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<(4,?)>
  %stride = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<(?,1)>
  %layout = fly.make_layout(%shape, %stride) : (!fly.int_tuple<(4,?)>, !fly.int_tuple<(?,1)>) -> !fly.layout<(4,?):(?,1)>
  // CHECK-DAG: %[[SHAPE:.+]] = fly.make_int_tuple(%[[N]]) : (i32) -> !fly.int_tuple<(4,?)>
  // CHECK-DAG: %[[STRIDE:.+]] = fly.make_int_tuple(%[[N]]) : (i32) -> !fly.int_tuple<(?,1)>
  // CHECK-NOT: fly.get
  %s = fly.get_shape(%layout) : (!fly.layout<(4,?):(?,1)>) -> !fly.int_tuple<(4,?)>
  %d = fly.get_stride(%layout) : (!fly.layout<(4,?):(?,1)>) -> !fly.int_tuple<(?,1)>
  // CHECK: return %[[SHAPE]], %[[STRIDE]]
  return %s, %d : !fly.int_tuple<(4,?)>, !fly.int_tuple<(?,1)>
}

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[N:.+]]: i32
func.func @scalars(%n: i32) -> (i32, i32, i32) {
  // CHECK: %[[C7:.+]] = arith.constant 7 : i32
  %static = fly.make_int_tuple() : () -> !fly.int_tuple<7>
  %a = fly.get_scalar(%static) : (!fly.int_tuple<7>) -> i32
  %dynamic = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<?>
  %b = fly.get_scalar(%dynamic) : (!fly.int_tuple<?>) -> i32
  %nested = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<((?))>
  %c = fly.get_scalar(%nested) : (!fly.int_tuple<((?))>) -> i32
  // CHECK-NOT: fly.
  // CHECK: return %[[C7]], %[[N]], %[[N]]
  return %a, %b, %c : i32, i32, i32
}

// CHECK-LABEL: func.func @leaves(
// CHECK-SAME: %[[N:.+]]: i32, %[[M:.+]]: i64
func.func @leaves(%n: i32, %m: i64) -> (i32, i32, i64, i64) {
  // CHECK: %[[C3:.+]] = arith.constant 3 : i32
  %tuple = fly.make_int_tuple(%n, %m) : (i32, i64) -> !fly.int_tuple<(?,(3,?{i64}))>
  %all:3 = fly.get_leaves(%tuple) : (!fly.int_tuple<(?,(3,?{i64}))>) -> (i32, i32, i64)
  %dynamic:2 = fly.get_leaves(%tuple) {dynamicOnly = true} : (!fly.int_tuple<(?,(3,?{i64}))>) -> (i32, i64)
  // CHECK: return %[[N]], %[[C3]], %[[M]], %[[M]]
  return %all#0, %all#1, %all#2, %dynamic#1 : i32, i32, i64, i64
}

// Only what is not decided statically is compared at run time.
// CHECK-LABEL: func.func @comparisons(
// CHECK-SAME: %[[N:.+]]: i32
func.func @comparisons(%n: i32) -> (i1, i1, i1, i1) {
  // CHECK-DAG: %[[FALSE:.+]] = arith.constant false
  // CHECK-DAG: %[[C5:.+]] = arith.constant 5 : i32
  %five = fly.make_int_tuple() : () -> !fly.int_tuple<(5,3)>
  %less = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<(?,2)>
  %same = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<(?,3)>
  // CHECK-DAG: %[[LESS:.+]] = arith.cmpi slt, %[[N]], %[[C5]]
  %0 = fly.elem_less(%less, %five) : (!fly.int_tuple<(?,2)>, !fly.int_tuple<(5,3)>) -> i1
  %1 = fly.elem_less(%same, %five) : (!fly.int_tuple<(?,3)>, !fly.int_tuple<(5,3)>) -> i1
  // CHECK-DAG: %[[EQUAL:.+]] = arith.cmpi eq, %[[N]], %[[C5]]
  %2 = fly.equal(%same, %five) : (!fly.int_tuple<(?,3)>, !fly.int_tuple<(5,3)>) -> i1
  %3 = fly.equal(%less, %five) : (!fly.int_tuple<(?,2)>, !fly.int_tuple<(5,3)>) -> i1
  // CHECK: return %[[LESS]], %[[FALSE]], %[[EQUAL]], %[[FALSE]]
  return %0, %1, %2, %3 : i1, i1, i1, i1
}

// CHECK-LABEL: func.func @arithmetic(
// CHECK-SAME: %[[N:.+]]: i32
func.func @arithmetic(%n: i32) -> (i32, i32, i32) {
  %x = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<?{div=8}>
  %four = fly.make_int_tuple() : () -> !fly.int_tuple<4>
  // CHECK: %[[C4:.+]] = arith.constant 4 : i32
  // CHECK: %[[PRODUCT:.+]] = arith.muli %[[N]], %[[C4]]
  %product = fly.int_tuple_mul(%x, %four) : (!fly.int_tuple<?{div=8}>, !fly.int_tuple<4>) -> !fly.int_tuple<?{div=32}>
  // CHECK: %[[QUOTIENT:.+]] = arith.ceildivsi %[[N]], %[[C4]]
  %quotient = fly.ceil_div(%x, %four) : (!fly.int_tuple<?{div=8}>, !fly.int_tuple<4>) -> !fly.int_tuple<?>
  // CHECK: %[[REST:.+]] = arith.remsi %[[N]], %[[C4]]
  %rest = fly.int_tuple_mod(%x, %four) : (!fly.int_tuple<?{div=8}>, !fly.int_tuple<4>) -> !fly.int_tuple<?{div=4}>
  %0 = fly.get_scalar(%product) : (!fly.int_tuple<?{div=32}>) -> i32
  %1 = fly.get_scalar(%quotient) : (!fly.int_tuple<?>) -> i32
  %2 = fly.get_scalar(%rest) : (!fly.int_tuple<?{div=4}>) -> i32
  // CHECK: return %[[PRODUCT]], %[[QUOTIENT]], %[[REST]]
  return %0, %1, %2 : i32, i32, i32
}

// What is not in normal form stays.
// CHECK-LABEL: func.func @not_normal(
func.func @not_normal(%layout: !fly.layout<(4,?):(1,4)>) -> !fly.int_tuple<?{div=4}> {
  // CHECK: fly.size
  %size = fly.size(%layout) : (!fly.layout<(4,?):(1,4)>) -> !fly.int_tuple<?{div=4}>
  return %size : !fly.int_tuple<?{div=4}>
}
