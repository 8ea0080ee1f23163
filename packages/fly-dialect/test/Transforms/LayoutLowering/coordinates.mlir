// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering | FileCheck %s

// The last mode takes the whole quotient: there is no remainder by 8.
// CHECK-LABEL: func.func @crd2idx(
// CHECK-SAME: %[[X:.+]]: i32
func.func @crd2idx(%x: i32) -> i32 {
  // CHECK-DAG: %[[C4:.+]] = arith.constant 4 : i32
  // CHECK-DAG: %[[C8:.+]] = arith.constant 8 : i32
  // CHECK-DAG: %[[M:.+]] = arith.remsi %[[X]], %[[C4]]
  // CHECK-DAG: %[[N:.+]] = arith.divsi %[[X]], %[[C4]]
  // CHECK: %[[SCALED:.+]] = arith.muli %[[M]], %[[C8]]
  // CHECK: %[[SUM:.+]] = arith.addi %[[SCALED]], %[[N]]
  // CHECK-NOT: fly.
  // CHECK: return %[[SUM]]
  %coord = fly.make_int_tuple(%x) : (i32) -> !fly.int_tuple<?>
  %layout = fly.static : !fly.layout<(4,8):(8,1)>
  %index = fly.crd2idx(%coord, %layout) : (!fly.int_tuple<?>, !fly.layout<(4,8):(8,1)>) -> !fly.int_tuple<?>
  %scalar = fly.get_scalar(%index) : (!fly.int_tuple<?>) -> i32
  return %scalar : i32
}

// CHECK-LABEL: func.func @idx2crd(
// CHECK-SAME: %[[X:.+]]: i32
func.func @idx2crd(%x: i32) -> !fly.int_tuple<(?,?)> {
  // CHECK-DAG: %[[C4:.+]] = arith.constant 4 : i32
  // CHECK-DAG: %[[C8:.+]] = arith.constant 8 : i32
  // CHECK-DAG: %[[M:.+]] = arith.remsi %[[X]], %[[C4]]
  // CHECK-DAG: %[[Q:.+]] = arith.divsi %[[X]], %[[C4]]
  // CHECK: %[[N:.+]] = arith.remsi %[[Q]], %[[C8]]
  // CHECK: fly.make_int_tuple(%[[M]], %[[N]]) : (i32, i32) -> !fly.int_tuple<(?,?)>
  %index = fly.make_int_tuple(%x) : (i32) -> !fly.int_tuple<?>
  %layout = fly.static : !fly.layout<(4,8):(1,4)>
  %coord = fly.idx2crd(%index, %layout) : (!fly.int_tuple<?>, !fly.layout<(4,8):(1,4)>) -> !fly.int_tuple<(?,?)>
  return %coord : !fly.int_tuple<(?,?)>
}

// CHECK-LABEL: func.func @static_index
func.func @static_index() -> i32 {
  // CHECK: %[[C22:.+]] = arith.constant 22 : i32
  // CHECK-NEXT: return %[[C22]]
  %coord = fly.make_int_tuple() : () -> !fly.int_tuple<(2,5)>
  %layout = fly.static : !fly.layout<(4,(2,3)):(1,(12,4))>
  %index = fly.crd2idx(%coord, %layout) : (!fly.int_tuple<(2,5)>, !fly.layout<(4,(2,3)):(1,(12,4))>) -> !fly.int_tuple<22>
  %scalar = fly.get_scalar(%index) : (!fly.int_tuple<22>) -> i32
  return %scalar : i32
}

// A swizzle is an and, a shift and an xor, behind the offset.
// CHECK-LABEL: func.func @swizzled_index(
// CHECK-SAME: %[[X:.+]]: i32
func.func @swizzled_index(%x: i32) -> i32 {
  // CHECK: %[[ROW:.+]] = arith.muli %[[X]], %{{.+}}
  // CHECK: %[[BITS:.+]] = arith.andi %[[SUM:.+]], %{{.+}}
  // CHECK: %[[SHIFTED:.+]] = arith.shrui %[[BITS]], %{{.+}}
  // CHECK: %[[SWIZZLED:.+]] = arith.xori %[[SUM]], %[[SHIFTED]]
  // CHECK: return %[[SWIZZLED]]
  %coord = fly.make_int_tuple(%x) : (i32) -> !fly.int_tuple<(?,3)>
  %layout = fly.static : !fly.composed_layout<S<2,1,3> o 0 o (8,8):(8,1)>
  %index = fly.crd2idx(%coord, %layout) : (!fly.int_tuple<(?,3)>, !fly.composed_layout<S<2,1,3> o 0 o (8,8):(8,1)>) -> !fly.int_tuple<?>
  %scalar = fly.get_scalar(%index) : (!fly.int_tuple<?>) -> i32
  return %scalar : i32
}

// Coordinates through scaled bases keep their scale.
// CHECK-LABEL: func.func @scaled_bases(
// CHECK-SAME: %[[X:.+]]: i32
func.func @scaled_bases(%x: i32) -> !fly.int_tuple<(?{div=2},12)> {
  // CHECK: %[[C2:.+]] = arith.constant 2 : i32
  // CHECK: %[[SCALED:.+]] = arith.muli %[[X]], %[[C2]]
  // CHECK: fly.make_int_tuple(%[[SCALED]]) : (i32) -> !fly.int_tuple<(?{div=2},12)>
  %coord = fly.make_int_tuple(%x) : (i32) -> !fly.int_tuple<(?,3)>
  %layout = fly.static : !fly.layout<(4,8):(2E0,4E1)>
  %index = fly.crd2idx(%coord, %layout) : (!fly.int_tuple<(?,3)>, !fly.layout<(4,8):(2E0,4E1)>) -> !fly.int_tuple<(?{div=2},12)>
  return %index : !fly.int_tuple<(?{div=2},12)>
}

// Leaves of different widths meet in the wider one.
// CHECK-LABEL: func.func @widths(
// CHECK-SAME: %[[X:.+]]: i32, %[[Y:.+]]: i64
func.func @widths(%x: i32, %y: i64) -> i64 {
  // CHECK: %[[WIDE:.+]] = arith.extsi %[[X]] : i32 to i64
  // CHECK: %[[SUM:.+]] = arith.addi %[[WIDE]], %[[Y]] : i64
  // CHECK: return %[[SUM]]
  %a = fly.make_int_tuple(%x) : (i32) -> !fly.int_tuple<?>
  %b = fly.make_int_tuple(%y) : (i64) -> !fly.int_tuple<?{i64}>
  %sum = fly.int_tuple_add(%a, %b) : (!fly.int_tuple<?>, !fly.int_tuple<?{i64}>) -> !fly.int_tuple<?{i64}>
  %scalar = fly.get_scalar(%sum) : (!fly.int_tuple<?{i64}>) -> i64
  return %scalar : i64
}
