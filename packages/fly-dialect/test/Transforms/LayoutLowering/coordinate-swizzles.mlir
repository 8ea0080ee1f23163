// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-rewrite-func-signature --fly-canonicalize --fly-layout-lowering | FileCheck %s

// Coordinate swizzles: applied to coordinates, and as the inner map of composed layouts.

// The column 4 is exchanged by the low two bits of the row 3, shifted by one.
// CHECK-LABEL: func.func @static(
// CHECK: return
func.func @static() -> !fly.int_tuple<(3,2)> {
  %s = fly.static : !fly.coord_swizzle<CS<2,0,[0],1,[1]>>
  %c = fly.make_int_tuple() : () -> !fly.int_tuple<(3,4)>
  %r = fly.crd2idx(%c, %s) : (!fly.int_tuple<(3,4)>, !fly.coord_swizzle<CS<2,0,[0],1,[1]>>) -> !fly.int_tuple<(3,2)>
  return %r : !fly.int_tuple<(3,2)>
}

// A mask of no bits changes nothing.
// CHECK-LABEL: func.func @trivial(
// CHECK: return
func.func @trivial() -> !fly.int_tuple<(3,4)> {
  %s = fly.static : !fly.coord_swizzle<CS<0,0,[0],1,[1]>>
  %c = fly.make_int_tuple() : () -> !fly.int_tuple<(3,4)>
  %r = fly.crd2idx(%c, %s) : (!fly.int_tuple<(3,4)>, !fly.coord_swizzle<CS<0,0,[0],1,[1]>>) -> !fly.int_tuple<(3,4)>
  return %r : !fly.int_tuple<(3,4)>
}

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[ARG0:.+]]: i32, %[[ARG1:.+]]: i32
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<packed (i32, i32)>
// CHECK: %[[C3_I32:.+]] = arith.constant 3 : i32
// CHECK: %[[C1_I32:.+]] = arith.constant 1 : i32
// CHECK: %[[V1:.+]] = arith.andi %[[ARG0]], %[[C3_I32]] : i32
// CHECK: %[[V2:.+]] = arith.shli %[[V1]], %[[C1_I32]] : i32
// CHECK: %[[V3:.+]] = arith.xori %[[ARG1]], %[[V2]] : i32
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[ARG0]], %[[V0]][0] : !llvm.struct<packed (i32, i32)>
// CHECK: %[[V5:.+]] = llvm.insertvalue %[[V3]], %[[V4]][1] : !llvm.struct<packed (i32, i32)>
// CHECK: return %[[V5]] : !llvm.struct<packed (i32, i32)>
func.func @dynamic(%i: i32, %j: i32) -> !fly.int_tuple<(?,?)> {
  %s = fly.static : !fly.coord_swizzle<CS<2,0,[0],1,[1]>>
  %c = fly.make_int_tuple(%i, %j) : (i32, i32) -> !fly.int_tuple<(?,?)>
  %r = fly.crd2idx(%c, %s) : (!fly.int_tuple<(?,?)>, !fly.coord_swizzle<CS<2,0,[0],1,[1]>>) -> !fly.int_tuple<(?,?)>
  return %r : !fly.int_tuple<(?,?)>
}

// CHECK-LABEL: func.func @composed(
// CHECK-SAME: %[[ARG0:.+]]: i32, %[[ARG1:.+]]: i32
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<packed (i32, i32)>
// CHECK: %[[C3_I32:.+]] = arith.constant 3 : i32
// CHECK: %[[C1_I32:.+]] = arith.constant 1 : i32
// CHECK: %[[V1:.+]] = arith.andi %[[ARG0]], %[[C3_I32]] : i32
// CHECK: %[[V2:.+]] = arith.shli %[[V1]], %[[C1_I32]] : i32
// CHECK: %[[V3:.+]] = arith.xori %[[ARG1]], %[[V2]] : i32
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[ARG0]], %[[V0]][0] : !llvm.struct<packed (i32, i32)>
// CHECK: %[[V5:.+]] = llvm.insertvalue %[[V3]], %[[V4]][1] : !llvm.struct<packed (i32, i32)>
// CHECK: return %[[V5]] : !llvm.struct<packed (i32, i32)>
func.func @composed(%i: i32, %j: i32) -> !fly.int_tuple<(?,?)> {
  %s = fly.static : !fly.coord_swizzle<CS<2,0,[0],1,[1]>>
  %o = fly.make_int_tuple() : () -> !fly.int_tuple<(0,0)>
  %sh = fly.make_int_tuple() : () -> !fly.int_tuple<(8,8)>
  %id = fly.make_identity_layout(%sh) : (!fly.int_tuple<(8,8)>) -> !fly.layout<(8,8):(1E0,1E1)>
  %l = fly.make_composed_layout(%s, %o, %id) : (!fly.coord_swizzle<CS<2,0,[0],1,[1]>>, !fly.int_tuple<(0,0)>, !fly.layout<(8,8):(1E0,1E1)>) -> !fly.composed_layout<CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)>
  %c = fly.make_int_tuple(%i, %j) : (i32, i32) -> !fly.int_tuple<(?,?)>
  %r = fly.crd2idx(%c, %l) : (!fly.int_tuple<(?,?)>, !fly.composed_layout<CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)>) -> !fly.int_tuple<(?,?)>
  %in = fly.composed_get_inner(%l) : (!fly.composed_layout<CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)>) -> !fly.coord_swizzle<CS<2,0,[0],1,[1]>>
  %of = fly.composed_get_offset(%l) : (!fly.composed_layout<CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)>) -> !fly.int_tuple<(0,0)>
  %ou = fly.composed_get_outer(%l) : (!fly.composed_layout<CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)>) -> !fly.layout<(8,8):(1E0,1E1)>
  return %r : !fly.int_tuple<(?,?)>
}

// The outer layout is applied first, then each inner map.
// CHECK-LABEL: func.func @composed_outer(
// CHECK: return
func.func @composed_outer(%l: !fly.composed_layout<CS<1,0,[0],0,[1]> o (1,0) o [CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)]>) -> !fly.int_tuple<(3,6)> {
  %c = fly.make_int_tuple() : () -> !fly.int_tuple<(2,3)>
  %r = fly.crd2idx(%c, %l) : (!fly.int_tuple<(2,3)>, !fly.composed_layout<CS<1,0,[0],0,[1]> o (1,0) o [CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)]>) -> !fly.int_tuple<(3,6)>
  return %r : !fly.int_tuple<(3,6)>
}

// CHECK-LABEL: func.func @parts(
// CHECK: return
func.func @parts(%l: !fly.composed_layout<CS<1,0,[0],0,[1]> o (1,0) o [CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)]>) -> (!fly.coord_swizzle<CS<1,0,[0],0,[1]>>, !fly.int_tuple<(1,0)>, !fly.composed_layout<CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)>) {
  %a = fly.composed_get_inner(%l) : (!fly.composed_layout<CS<1,0,[0],0,[1]> o (1,0) o [CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)]>) -> !fly.coord_swizzle<CS<1,0,[0],0,[1]>>
  %b = fly.composed_get_offset(%l) : (!fly.composed_layout<CS<1,0,[0],0,[1]> o (1,0) o [CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)]>) -> !fly.int_tuple<(1,0)>
  %d = fly.composed_get_outer(%l) : (!fly.composed_layout<CS<1,0,[0],0,[1]> o (1,0) o [CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)]>) -> !fly.composed_layout<CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)>
  return %a, %b, %d : !fly.coord_swizzle<CS<1,0,[0],0,[1]>>, !fly.int_tuple<(1,0)>, !fly.composed_layout<CS<2,0,[0],1,[1]> o (0,0) o (8,8):(1E0,1E1)>
}
