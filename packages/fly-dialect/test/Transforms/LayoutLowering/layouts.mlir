// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering | FileCheck %s

// CHECK-LABEL: func.func @logical_divide(
// CHECK-SAME: %[[ARG0:.+]]: i32) -> !fly.layout<(8,?):(3,24)>
// CHECK: %[[C8_I32:.+]] = arith.constant 8 : i32
// CHECK: %[[V0:.+]] = arith.ceildivsi %[[ARG0]], %[[C8_I32]] : i32
// CHECK: %[[V1:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(3,24)>
// CHECK: %[[V2:.+]] = fly.make_int_tuple(%[[V0]]) : (i32) -> !fly.int_tuple<(8,?)>
// CHECK: %[[V3:.+]] = fly.make_layout(%[[V2]], %[[V1]]) : (!fly.int_tuple<(8,?)>, !fly.int_tuple<(3,24)>) -> !fly.layout<(8,?):(3,24)>
// CHECK: return %[[V3]] : !fly.layout<(8,?):(3,24)>
func.func @logical_divide(%n: i32) -> !fly.layout<(8,?):(3,24)> {
  %shape = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<?>
  %stride = fly.make_int_tuple() : () -> !fly.int_tuple<3>
  %layout = fly.make_layout(%shape, %stride) : (!fly.int_tuple<?>, !fly.int_tuple<3>) -> !fly.layout<?:3>
  %tile = fly.static : !fly.tile<8>
  %divided = fly.logical_divide(%layout, %tile) : (!fly.layout<?:3>, !fly.tile<8>) -> !fly.layout<(8,?):(3,24)>
  return %divided : !fly.layout<(8,?):(3,24)>
}

// CHECK-LABEL: func.func @logical_product(
// CHECK-SAME: %[[N:.+]]: i32
func.func @logical_product(%n: i32) -> !fly.layout<(?,3):(1,?)> {
  %shape = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<?>
  %one = fly.make_int_tuple() : () -> !fly.int_tuple<1>
  %block = fly.make_layout(%shape, %one) : (!fly.int_tuple<?>, !fly.int_tuple<1>) -> !fly.layout<?:1>
  %tiler = fly.static : !fly.layout<3:1>
  // CHECK-DAG: %[[SHAPE:.+]] = fly.make_int_tuple(%[[N]]) : (i32) -> !fly.int_tuple<(?,3)>
  // CHECK-DAG: %[[STRIDE:.+]] = fly.make_int_tuple(%[[N]]) : (i32) -> !fly.int_tuple<(1,?)>
  // CHECK: fly.make_layout(%[[SHAPE]], %[[STRIDE]])
  %product = fly.logical_product(%block, %tiler) : (!fly.layout<?:1>, !fly.layout<3:1>) -> !fly.layout<(?,3):(1,?)>
  return %product : !fly.layout<(?,3):(1,?)>
}

// The algebra acts on the outer layout of a composed one.
// CHECK-LABEL: func.func @composed(
// CHECK-SAME: %[[X:.+]]: i32
func.func @composed(%x: i32) -> !fly.composed_layout<S<2,0,3> o ?{div=8} o 8:1> {
  // CHECK: %[[C8:.+]] = arith.constant 8 : i32
  // CHECK: %[[ROW:.+]] = arith.muli %[[X]], %[[C8]]
  // CHECK: %[[SWIZZLE:.+]] = fly.static : !fly.swizzle<S<2,0,3>>
  // CHECK: %[[OFFSET:.+]] = fly.make_int_tuple(%[[ROW]]) : (i32) -> !fly.int_tuple<?{div=8}>
  // CHECK: %[[OUTER:.+]] = fly.make_layout({{.+}}) : (!fly.int_tuple<8>, !fly.int_tuple<1>)
  // CHECK: fly.make_composed_layout(%[[SWIZZLE]], %[[OFFSET]], %[[OUTER]])
  %layout = fly.static : !fly.composed_layout<S<2,0,3> o 0 o (8,8):(8,1)>
  %coord = fly.make_int_tuple(%x) : (i32) -> !fly.int_tuple<(?,*)>
  %row = fly.slice(%layout, %coord) : (!fly.composed_layout<S<2,0,3> o 0 o (8,8):(8,1)>, !fly.int_tuple<(?,*)>) -> !fly.composed_layout<S<2,0,3> o ?{div=8} o 8:1>
  return %row : !fly.composed_layout<S<2,0,3> o ?{div=8} o 8:1>
}

// A slice of a nested composed layout moves the offset in front of the layout that it cuts.
// CHECK-LABEL: func.func @nested_outer
func.func @nested_outer() -> !fly.composed_layout<S<2,0,3> o 4 o [S<1,0,2> o 26 o 8:1]> {
  // CHECK-DAG: %[[INNER:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<26>
  // CHECK-DAG: %[[OUTER:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
  // CHECK: %[[NESTED:.+]] = fly.make_composed_layout(%{{.+}}, %[[INNER]], %{{.+}})
  // CHECK: fly.make_composed_layout(%{{.+}}, %[[OUTER]], %[[NESTED]])
  %layout = fly.static : !fly.composed_layout<S<2,0,3> o 4 o [S<1,0,2> o 2 o (8,8):(8,1)]>
  %coord = fly.make_int_tuple() : () -> !fly.int_tuple<(3,*)>
  %row = fly.slice(%layout, %coord) : (!fly.composed_layout<S<2,0,3> o 4 o [S<1,0,2> o 2 o (8,8):(8,1)]>, !fly.int_tuple<(3,*)>) -> !fly.composed_layout<S<2,0,3> o 4 o [S<1,0,2> o 26 o 8:1]>
  return %row : !fly.composed_layout<S<2,0,3> o 4 o [S<1,0,2> o 26 o 8:1]>
}
