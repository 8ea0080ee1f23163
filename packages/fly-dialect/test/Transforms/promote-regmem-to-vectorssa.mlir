// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --fly-promote-regmem-to-vectorssa | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: gpu.func @slices(
  // CHECK-SAME: %[[ARG0:.+]]: vector<4xf32>, %[[ARG1:.+]]: f32) -> (vector<4xf32>, f32, vector<8xf32>)
  // CHECK: %[[V0:.+]] = ub.poison : vector<8xf32>
  // CHECK: %[[V1:.+]] = vector.insert_strided_slice %[[ARG0]], %[[V0]] {offsets = [4], strides = [1]} : vector<4xf32> into vector<8xf32>
  // CHECK: %[[V2:.+]] = vector.insert %[[ARG1]], %[[V1]] [5] : f32 into vector<8xf32>
  // CHECK: %[[V3:.+]] = vector.extract_strided_slice %[[V2]] {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
  // CHECK: %[[V4:.+]] = vector.extract %[[V2]][4] : f32 from vector<8xf32>
  // CHECK: gpu.return %[[V3]], %[[V4]], %[[V2]] : vector<4xf32>, f32, vector<8xf32>
  gpu.func @slices(%v: vector<4xf32>, %x: f32) -> (vector<4xf32>, f32, vector<8xf32>) {
    %p = fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !fly.ptr<f32, register>
    %c4 = fly.make_int_tuple() : () -> !fly.int_tuple<4>
    %c1 = fly.make_int_tuple() : () -> !fly.int_tuple<1>
    %q = fly.add_offset(%p, %c4) : (!fly.ptr<f32, register>, !fly.int_tuple<4>) -> !fly.ptr<f32, register>
    %r = fly.add_offset(%q, %c1) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
    fly.ptr.store(%v, %q) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
    fly.ptr.store(%x, %r) : (f32, !fly.ptr<f32, register>) -> ()
    %0 = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<4xf32>
    %1 = fly.ptr.load(%q) : (!fly.ptr<f32, register>) -> f32
    %2 = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<8xf32>
    gpu.return %0, %1, %2 : vector<4xf32>, f32, vector<8xf32>
  }
}

// -----

gpu.module @m {
  // An accumulator in a loop; the loop's own value keeps its place.
  // CHECK-LABEL: gpu.func @accumulator(
  // CHECK-SAME: %[[ARG0:.+]]: index, %[[ARG1:.+]]: vector<4xf32>, %[[ARG2:.+]]: i32) -> (i32, vector<4xf32>)
  // CHECK: %[[C0:.+]] = arith.constant 0 : index
  // CHECK: %[[C1:.+]] = arith.constant 1 : index
  // CHECK: %[[V2:.+]]:2 = scf.for %[[ARG3:.+]] = %[[C0]] to %[[ARG0]] step %[[C1]] iter_args(%[[ARG4:.+]] = %[[ARG2]], %[[ARG5:.+]] = %[[ARG1]]) -> (i32, vector<4xf32>) {
  // CHECK: %[[V5:.+]] = arith.addf %[[ARG5]], %[[ARG1]] : vector<4xf32>
  // CHECK: %[[V7:.+]] = arith.addi %[[ARG4]], %[[ARG2]] : i32
  // CHECK: scf.yield %[[V7]], %[[V5]] : i32, vector<4xf32>
  // CHECK: gpu.return %[[V2]]#0, %[[V2]]#1 : i32, vector<4xf32>
  gpu.func @accumulator(%n: index, %v: vector<4xf32>, %i: i32) -> (i32, vector<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
    fly.ptr.store(%v, %p) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%j = %i) -> (i32) {
      %old = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<4xf32>
      %new = arith.addf %old, %v : vector<4xf32>
      fly.ptr.store(%new, %p) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
      %next = arith.addi %j, %i : i32
      scf.yield %next : i32
    }
    %last = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<4xf32>
    gpu.return %r, %last : i32, vector<4xf32>
  }
}

// -----

gpu.module @m {
  // A branch without else, and one in which only one side stores.
  // CHECK-LABEL: gpu.func @branches(
  // CHECK-SAME: %[[ARG0:.+]]: i1, %[[ARG1:.+]]: vector<2xf16>, %[[ARG2:.+]]: vector<2xf16>) -> vector<2xf16>
  // CHECK: %[[V2:.+]] = scf.if %[[ARG0]] -> (vector<2xf16>) {
  // CHECK: scf.yield %[[ARG2]] : vector<2xf16>
  // CHECK: } else {
  // CHECK: scf.yield %[[ARG1]] : vector<2xf16>
  // CHECK: gpu.return %[[V2]] : vector<2xf16>
  gpu.func @branches(%c: i1, %v: vector<2xf16>, %w: vector<2xf16>) -> vector<2xf16> {
    %p = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f16, register>
    fly.ptr.store(%v, %p) : (vector<2xf16>, !fly.ptr<f16, register>) -> ()
    scf.if %c {
      fly.ptr.store(%w, %p) : (vector<2xf16>, !fly.ptr<f16, register>) -> ()
    }
    %0 = fly.ptr.load(%p) : (!fly.ptr<f16, register>) -> vector<2xf16>
    gpu.return %0 : vector<2xf16>
  }
}

// -----

gpu.module @m {
  // CHECK-LABEL: gpu.func @while(
  // CHECK-SAME: %[[ARG0:.+]]: i32, %[[ARG1:.+]]: vector<4xi8>) -> vector<4xi8>
  // CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
  // CHECK: %[[C1_I32:.+]] = arith.constant 1 : i32
  // CHECK: %[[V2:.+]]:2 = scf.while (%[[ARG2:.+]] = %[[C0_I32]], %[[ARG3:.+]] = %[[ARG1]]) : (i32, vector<4xi8>) -> (i32, vector<4xi8>) {
  // CHECK: %[[V4:.+]] = arith.cmpi slt, %[[ARG2]], %[[ARG0]] : i32
  // CHECK: scf.condition(%[[V4]]) %[[ARG2]], %[[ARG3]] : i32, vector<4xi8>
  // CHECK: } do {
  // CHECK: ^bb{{[0-9]+}}(%[[ARG2]]: i32, %[[ARG3]]: vector<4xi8>):
  // CHECK: %[[V4]] = arith.addi %[[ARG2]], %[[C1_I32]] : i32
  // CHECK: %[[V5:.+]] = arith.trunci %[[ARG2]] : i32 to i1
  // CHECK: %[[V6:.+]] = scf.if %[[V5]] -> (vector<4xi8>) {
  // CHECK: %[[V8:.+]] = arith.addi %[[ARG3]], %[[ARG1]] : vector<4xi8>
  // CHECK: scf.yield %[[V8]] : vector<4xi8>
  // CHECK: } else {
  // CHECK: scf.yield %[[ARG3]] : vector<4xi8>
  // CHECK: scf.yield %[[V4]], %[[V6]] : i32, vector<4xi8>
  // CHECK: gpu.return %[[V2]]#1 : vector<4xi8>
  gpu.func @while(%n: i32, %v: vector<4xi8>) -> vector<4xi8> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // Narrow floats are integers.
    %p = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f8E4M3FNUZ, register>
    fly.ptr.store(%v, %p) : (vector<4xi8>, !fly.ptr<f8E4M3FNUZ, register>) -> ()
    %r = scf.while (%i = %c0) : (i32) -> (i32) {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%j: i32):
      %next = arith.addi %j, %c1 : i32
      %odd = arith.trunci %j : i32 to i1
      scf.if %odd {
        %old = fly.ptr.load(%p) : (!fly.ptr<f8E4M3FNUZ, register>) -> vector<4xi8>
        %new = arith.addi %old, %v : vector<4xi8>
        fly.ptr.store(%new, %p) : (vector<4xi8>, !fly.ptr<f8E4M3FNUZ, register>) -> ()
      }
      scf.yield %next : i32
    }
    %last = fly.ptr.load(%p) : (!fly.ptr<f8E4M3FNUZ, register>) -> vector<4xi8>
    gpu.return %last : vector<4xi8>
  }
}

// -----

gpu.module @m {
  // What is allocated in the branch stays there.
  // CHECK-LABEL: gpu.func @local(
  // CHECK-SAME: %[[ARG0:.+]]: i1, %[[ARG1:.+]]: vector<2xf32>, %[[ARG2:.+]]: !fly.ptr<f32, global>)
  // CHECK: scf.if %[[ARG0]] {
  // CHECK: fly.ptr.store(%[[ARG1]], %[[ARG2]]) : (vector<2xf32>, !fly.ptr<f32, global>) -> ()
  // CHECK: gpu.return
  gpu.func @local(%c: i1, %v: vector<2xf32>, %o: !fly.ptr<f32, global>) {
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
