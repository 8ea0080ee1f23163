// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --canonicalize --split-input-file | FileCheck %s
// RUN: fly-opt %s --sccp --split-input-file | FileCheck %s --check-prefix=SCCP

// Folders: a result that exists already, or a constant.

// What an op leaves as it is, it hands on.
// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[T:.*]]: !fly.int_tuple<(?,4)>, %[[L:.*]]: !fly.layout<(?,4):(4,1)>, %[[P:.*]]: !fly.ptr<f16, global>)
func.func @identities(%t: !fly.int_tuple<(?,4)>, %l: !fly.layout<(?,4):(4,1)>, %p: !fly.ptr<f16, global>)
    -> (!fly.int_tuple<(?,4)>, !fly.layout<(?,4):(4,1)>, !fly.int_tuple<(?,4)>, !fly.ptr<f16, global>, !fly.ptr<f16, global>, !fly.int_tuple<(?,4)>, !fly.int_tuple<(?,4)>) {
  // CHECK-NEXT: return %[[T]], %[[L]], %[[T]], %[[P]], %[[P]], %[[T]], %[[T]]
  %select = fly.select(%t) {indices = array<i32: 0, 1>} : (!fly.int_tuple<(?,4)>) -> !fly.int_tuple<(?,4)>
  %coalesced = fly.coalesce(%l) : (!fly.layout<(?,4):(4,1)>) -> !fly.layout<(?,4):(4,1)>
  %take = fly.take(%t) {begin = 0 : i32, end = -1 : i32} : (!fly.int_tuple<(?,4)>) -> !fly.int_tuple<(?,4)>
  %recast = fly.recast_iter(%p) : (!fly.ptr<f16, global>) -> !fly.ptr<f16, global>
  %zero = fly.static : !fly.int_tuple<0>
  %moved = fly.add_offset(%p, %zero) : (!fly.ptr<f16, global>, !fly.int_tuple<0>) -> !fly.ptr<f16, global>
  %each = fly.int_tuple_product_each(%t) : (!fly.int_tuple<(?,4)>) -> !fly.int_tuple<(?,4)>
  %assumed = fly.assume(%t, %select) : (!fly.int_tuple<(?,4)>, !fly.int_tuple<(?,4)>) -> !fly.int_tuple<(?,4)>
  return %select, %coalesced, %take, %recast, %moved, %each, %assumed : !fly.int_tuple<(?,4)>, !fly.layout<(?,4):(4,1)>, !fly.int_tuple<(?,4)>, !fly.ptr<f16, global>, !fly.ptr<f16, global>, !fly.int_tuple<(?,4)>, !fly.int_tuple<(?,4)>
}

// -----

// The same type does not make these the same value.
// CHECK-LABEL: func.func @no_identities
func.func @no_identities(%t: !fly.int_tuple<(?,?)>, %l: !fly.layout<(?,?):(1,?)>, %p: !fly.ptr<f16, global>, %n: !fly.int_tuple<?>)
    -> (!fly.int_tuple<(?,?)>, !fly.layout<(?,?):(1,?)>, !fly.ptr<f16, global>, !fly.int_tuple<(?,?)>) {
  // CHECK: fly.select
  %swapped = fly.select(%t) {indices = array<i32: 1, 0>} : (!fly.int_tuple<(?,?)>) -> !fly.int_tuple<(?,?)>
  // CHECK: fly.make_layout_like
  %like = fly.make_layout_like(%l) : (!fly.layout<(?,?):(1,?)>) -> !fly.layout<(?,?):(1,?)>
  // CHECK: fly.add_offset
  %moved = fly.add_offset(%p, %n) : (!fly.ptr<f16, global>, !fly.int_tuple<?>) -> !fly.ptr<f16, global>
  // CHECK: fly.int_tuple_add
  %sum = fly.int_tuple_add(%t, %t) : (!fly.int_tuple<(?,?)>, !fly.int_tuple<(?,?)>) -> !fly.int_tuple<(?,?)>
  return %swapped, %like, %moved, %sum : !fly.int_tuple<(?,?)>, !fly.layout<(?,?):(1,?)>, !fly.ptr<f16, global>, !fly.int_tuple<(?,?)>
}

// -----

// CHECK-LABEL: func.func @comparisons
func.func @comparisons(%a: !fly.int_tuple<(1,2)>, %b: !fly.int_tuple<(4,8)>, %t: !fly.int_tuple<(?,2)>) -> (i1, i1, i1) {
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
  // CHECK: %[[DYNAMIC:.*]] = fly.elem_less
  // CHECK: return %[[TRUE]], %[[FALSE]], %[[DYNAMIC]]
  %0 = fly.elem_less(%a, %b) : (!fly.int_tuple<(1,2)>, !fly.int_tuple<(4,8)>) -> i1
  %1 = fly.equal(%a, %b) : (!fly.int_tuple<(1,2)>, !fly.int_tuple<(4,8)>) -> i1
  %2 = fly.elem_less(%t, %b) : (!fly.int_tuple<(?,2)>, !fly.int_tuple<(4,8)>) -> i1
  return %0, %1, %2 : i1, i1, i1
}

// -----

// CHECK-LABEL: func.func @address
// CHECK-SAME: (%[[A:.*]]: i64)
func.func @address(%a: i64) -> i64 {
  // CHECK-NEXT: return %[[A]]
  %p = fly.inttoptr(%a) : (i64) -> !fly.ptr<f16, global>
  %i = fly.ptrtoint(%p) : (!fly.ptr<f16, global>) -> i64
  return %i : i64
}

// -----

// Integers of static tuples are constants.
// SCCP-LABEL: func.func @integers
func.func @integers(%m: !fly.layout<(2,2):(1,2)>, %t: !fly.int_tuple<(4,(?,8))>) -> (i32, i32, i32, i32) {
  // SCCP-DAG: %[[FOUR:.*]] = arith.constant 4 : i32
  // SCCP: %[[L:.*]]:3 = fly.get_leaves
  // SCCP: return %[[FOUR]], %[[L]]#0, %[[L]]#1, %[[L]]#2
  %0 = fly.size(%m) : (!fly.layout<(2,2):(1,2)>) -> !fly.int_tuple<4>
  %1 = fly.get_scalar(%0) : (!fly.int_tuple<4>) -> i32
  %2:3 = fly.get_leaves(%t) : (!fly.int_tuple<(4,(?,8))>) -> (i32, i32, i32)
  return %1, %2#0, %2#1, %2#2 : i32, i32, i32, i32
}

// -----

// A branch that is decided by a comparison of tuples.
// SCCP-LABEL: func.func @decided
func.func @decided(%a: !fly.int_tuple<(1,2)>, %b: !fly.int_tuple<(4,8)>, %x: i32, %y: i32) -> i32 {
  // SCCP: %[[TRUE:.*]] = arith.constant true
  // SCCP: cf.cond_br %[[TRUE]]
  %0 = fly.elem_less(%a, %b) : (!fly.int_tuple<(1,2)>, !fly.int_tuple<(4,8)>) -> i1
  cf.cond_br %0, ^yes, ^no
^yes:
  return %x : i32
^no:
  return %y : i32
}
