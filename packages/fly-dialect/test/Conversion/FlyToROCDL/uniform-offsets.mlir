// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-split-uniform-offsets --convert-fly-to-rocdl | FileCheck %s

// In kernels, a pointer to global memory is advanced by what all threads share first.
gpu.module @m {
  // CHECK-LABEL: gpu.func @global
  // CHECK-SAME: (%[[P:.+]]: !llvm.ptr<1>, %[[N:.+]]: i32)
  gpu.func @global(%p: !fly.ptr<f32, global>, %n: i32) kernel {
    %tid = gpu.thread_id x
    // CHECK: %[[T:.+]] = arith.index_cast
    %t = arith.index_cast %tid : index to i32
    %bid = gpu.block_id x
    // CHECK: gpu.block_id
    // CHECK: %[[B:.+]] = arith.index_cast
    %b = arith.index_cast %bid : index to i32
    // CHECK: %[[ROW:.+]] = arith.muli %[[B]], %[[N]]
    %row = arith.muli %b, %n : i32
    %partly = arith.addi %row, %t : i32
    %sum = arith.addi %partly, %n : i32
    %offset = fly.make_int_tuple(%sum) : (i32) -> !fly.int_tuple<?>
    // CHECK: %[[SHARED:.+]] = arith.addi %[[ROW]], %[[N]]
    // CHECK: %[[BASE:.+]] = llvm.getelementptr %[[P]][%[[SHARED]]]
    // CHECK: %[[Q:.+]] = llvm.getelementptr %[[BASE]][%[[T]]]
    %q = fly.add_offset(%p, %offset) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
    // CHECK: llvm.load %[[Q]]
    %v = fly.ptr.load(%q) : (!fly.ptr<f32, global>) -> f32
    fly.ptr.store(%v, %p) : (f32, !fly.ptr<f32, global>) -> ()
    gpu.return
  }

  // LDS has no scalar addresses, and what a function is given is not known to be shared.
  // CHECK-LABEL: gpu.func @shared
  // CHECK: %[[SUM:.+]] = arith.addi
  // CHECK: llvm.getelementptr %arg0[%[[SUM]]]
  gpu.func @shared(%p: !fly.ptr<f32, shared>, %n: i32) kernel {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %sum = arith.addi %t, %n : i32
    %offset = fly.make_int_tuple(%sum) : (i32) -> !fly.int_tuple<?>
    %q = fly.add_offset(%p, %offset) : (!fly.ptr<f32, shared>, !fly.int_tuple<?>) -> !fly.ptr<f32, shared>
    %v = fly.ptr.load(%q) : (!fly.ptr<f32, shared>) -> f32
    fly.ptr.store(%v, %p) : (f32, !fly.ptr<f32, shared>) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @function
  // CHECK: %[[SUM:.+]] = arith.addi
  // CHECK: llvm.getelementptr %arg0[%[[SUM]]]
  gpu.func @function(%p: !fly.ptr<f32, global>, %n: i32) {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %sum = arith.addi %t, %n : i32
    %offset = fly.make_int_tuple(%sum) : (i32) -> !fly.int_tuple<?>
    %q = fly.add_offset(%p, %offset) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
    %v = fly.ptr.load(%q) : (!fly.ptr<f32, global>) -> f32
    fly.ptr.store(%v, %p) : (f32, !fly.ptr<f32, global>) -> ()
    gpu.return
  }
}
