// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --fly-promote-regmem-to-vectorssa | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: gpu.func @slices
  // CHECK-SAME: %[[V:.*]]: vector<4xf32>, %[[X:.*]]: f32
  gpu.func @slices(%v: vector<4xf32>, %x: f32) -> (vector<4xf32>, f32, vector<8xf32>) {
    // CHECK: %[[POISON:.*]] = ub.poison : vector<8xf32>
    %p = fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !fly.ptr<f32, register>
    %c4 = fly.make_int_tuple() : () -> !fly.int_tuple<4>
    %c1 = fly.make_int_tuple() : () -> !fly.int_tuple<1>
    %q = fly.add_offset(%p, %c4) : (!fly.ptr<f32, register>, !fly.int_tuple<4>) -> !fly.ptr<f32, register>
    %r = fly.add_offset(%q, %c1) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
    // CHECK: %[[A:.*]] = vector.insert_strided_slice %[[V]], %[[POISON]] {offsets = [4], strides = [1]} : vector<4xf32> into vector<8xf32>
    fly.ptr.store(%v, %q) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
    // CHECK: %[[B:.*]] = vector.insert %[[X]], %[[A]] [5] : f32 into vector<8xf32>
    fly.ptr.store(%x, %r) : (f32, !fly.ptr<f32, register>) -> ()
    // CHECK: %[[LOW:.*]] = vector.extract_strided_slice %[[B]] {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
    %0 = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<4xf32>
    // CHECK: %[[ONE:.*]] = vector.extract %[[B]][4] : f32 from vector<8xf32>
    %1 = fly.ptr.load(%q) : (!fly.ptr<f32, register>) -> f32
    %2 = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<8xf32>
    // CHECK-NOT: fly.
    // CHECK: gpu.return %[[LOW]], %[[ONE]], %[[B]]
    gpu.return %0, %1, %2 : vector<4xf32>, f32, vector<8xf32>
  }
}

// -----

gpu.module @m {
  // An accumulator in a loop; the loop's own value keeps its place.
  // CHECK-LABEL: gpu.func @accumulator
  // CHECK-SAME: %[[N:.*]]: index, %[[V:.*]]: vector<4xf32>, %[[I:.*]]: i32
  gpu.func @accumulator(%n: index, %v: vector<4xf32>, %i: i32) -> (i32, vector<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
    fly.ptr.store(%v, %p) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
    // CHECK: %[[R:.*]]:2 = scf.for %{{.*}} = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[J:.*]] = %[[I]], %[[ACC:.*]] = %[[V]]) -> (i32, vector<4xf32>) {
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%j = %i) -> (i32) {
      %old = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<4xf32>
      // CHECK: %[[SUM:.*]] = arith.addf %[[ACC]], %[[V]]
      %new = arith.addf %old, %v : vector<4xf32>
      fly.ptr.store(%new, %p) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
      %next = arith.addi %j, %i : i32
      // CHECK: scf.yield %{{.*}}, %[[SUM]] : i32, vector<4xf32>
      scf.yield %next : i32
    }
    %last = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<4xf32>
    // CHECK: gpu.return %[[R]]#0, %[[R]]#1
    gpu.return %r, %last : i32, vector<4xf32>
  }
}

// -----

gpu.module @m {
  // A branch without else, and one in which only one side stores.
  // CHECK-LABEL: gpu.func @branches
  // CHECK-SAME: %[[C:.*]]: i1, %[[V:.*]]: vector<2xf16>, %[[W:.*]]: vector<2xf16>
  gpu.func @branches(%c: i1, %v: vector<2xf16>, %w: vector<2xf16>) -> vector<2xf16> {
    %p = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f16, register>
    fly.ptr.store(%v, %p) : (vector<2xf16>, !fly.ptr<f16, register>) -> ()
    // CHECK: %[[R:.*]] = scf.if %[[C]] -> (vector<2xf16>) {
    // CHECK:   scf.yield %[[W]]
    // CHECK: } else {
    // CHECK:   scf.yield %[[V]]
    // CHECK: }
    scf.if %c {
      fly.ptr.store(%w, %p) : (vector<2xf16>, !fly.ptr<f16, register>) -> ()
    }
    %0 = fly.ptr.load(%p) : (!fly.ptr<f16, register>) -> vector<2xf16>
    // CHECK: gpu.return %[[R]]
    gpu.return %0 : vector<2xf16>
  }
}

// -----

gpu.module @m {
  // CHECK-LABEL: gpu.func @while
  // CHECK-SAME: %[[N:.*]]: i32, %[[V:.*]]: vector<4xi8>
  gpu.func @while(%n: i32, %v: vector<4xi8>) -> vector<4xi8> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // Narrow floats are integers.
    %p = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f8E4M3FNUZ, register>
    fly.ptr.store(%v, %p) : (vector<4xi8>, !fly.ptr<f8E4M3FNUZ, register>) -> ()
    // CHECK: %[[R:.*]]:2 = scf.while (%[[I:.*]] = %{{.*}}, %[[S:.*]] = %[[V]]) : (i32, vector<4xi8>) -> (i32, vector<4xi8>) {
    %r = scf.while (%i = %c0) : (i32) -> (i32) {
      %more = arith.cmpi slt, %i, %n : i32
      // CHECK: scf.condition(%{{.*}}) %[[I]], %[[S]] : i32, vector<4xi8>
      scf.condition(%more) %i : i32
    } do {
    // CHECK: ^bb0(%[[J:.*]]: i32, %[[T:.*]]: vector<4xi8>):
    ^bb0(%j: i32):
      %next = arith.addi %j, %c1 : i32
      // CHECK: %[[B:.*]] = scf.if
      %odd = arith.trunci %j : i32 to i1
      scf.if %odd {
        %old = fly.ptr.load(%p) : (!fly.ptr<f8E4M3FNUZ, register>) -> vector<4xi8>
        // CHECK: %[[X:.*]] = arith.addi %[[T]], %[[V]]
        // CHECK: scf.yield %[[X]]
        // CHECK: else
        // CHECK: scf.yield %[[T]]
        %new = arith.addi %old, %v : vector<4xi8>
        fly.ptr.store(%new, %p) : (vector<4xi8>, !fly.ptr<f8E4M3FNUZ, register>) -> ()
      }
      // CHECK: scf.yield %{{.*}}, %[[B]] : i32, vector<4xi8>
      scf.yield %next : i32
    }
    %last = fly.ptr.load(%p) : (!fly.ptr<f8E4M3FNUZ, register>) -> vector<4xi8>
    // CHECK: gpu.return %[[R]]#1
    gpu.return %last : vector<4xi8>
  }
}

// -----

gpu.module @m {
  // What is allocated in the branch stays there.
  // CHECK-LABEL: gpu.func @local
  gpu.func @local(%c: i1, %v: vector<2xf32>, %o: !fly.ptr<f32, global>) {
    // CHECK: scf.if %{{.*}} {
    // CHECK-NEXT: fly.ptr.store(%{{.*}}, %{{.*}}) : (vector<2xf32>, !fly.ptr<f32, global>) -> ()
    // CHECK-NEXT: }
    scf.if %c {
      %p = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
      fly.ptr.store(%v, %p) : (vector<2xf32>, !fly.ptr<f32, register>) -> ()
      %0 = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<2xf32>
      fly.ptr.store(%0, %o) : (vector<2xf32>, !fly.ptr<f32, global>) -> ()
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // Dynamic offsets and recast pointers need memory; the other allocation is promoted all the same.
  // CHECK-LABEL: gpu.func @excluded
  gpu.func @excluded(%i: i32, %v: vector<2xf32>) -> (f32, vector<2xf32>, vector<4xi16>) {
    // CHECK-DAG: fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
    // CHECK-DAG: fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f16, register>
    // CHECK-NOT: allocSize = 3
    %p = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
    %q = fly.make_ptr() {dictAttrs = {allocSize = 3 : i64}} : () -> !fly.ptr<f32, register>
    %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f16, register>
    %t = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
    %pi = fly.add_offset(%p, %t) : (!fly.ptr<f32, register>, !fly.int_tuple<?>) -> !fly.ptr<f32, register>
    %ri = fly.recast_iter(%r) : (!fly.ptr<f16, register>) -> !fly.ptr<i16, register>
    fly.ptr.store(%v, %q) : (vector<2xf32>, !fly.ptr<f32, register>) -> ()
    %0 = fly.ptr.load(%pi) : (!fly.ptr<f32, register>) -> f32
    %1 = fly.ptr.load(%q) : (!fly.ptr<f32, register>) -> vector<2xf32>
    %2 = fly.ptr.load(%ri) : (!fly.ptr<i16, register>) -> vector<4xi16>
    gpu.return %0, %1, %2 : f32, vector<2xf32>, vector<4xi16>
  }
}
