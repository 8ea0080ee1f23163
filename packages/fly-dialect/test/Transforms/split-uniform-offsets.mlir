// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-split-uniform-offsets | FileCheck %s

// A global pointer is advanced by what all threads of a workgroup share first.

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @split
  // CHECK-SAME: (%[[P:.*]]: !fly.ptr<f16, global, align<16>>, %[[N:.*]]: i32, %[[I:.*]]: i32)
  gpu.func @split(%p: !fly.ptr<f16, global, align<16>>, %n: i32, %i: i32) kernel {
    %bid = gpu.block_id x
    %tid = gpu.thread_id x
    // CHECK: %[[B:.*]] = arith.index_cast %{{.*}} : index to i32
    // CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i32
    %b = arith.index_cast %bid : index to i32
    %t = arith.index_cast %tid : index to i32
    %row = arith.muli %b, %n : i32
    %column = arith.addi %t, %i : i32
    %sum = arith.addi %row, %column : i32
    %offset = fly.make_int_tuple(%sum) : (i32) -> !fly.int_tuple<?{div=8}>
    // CHECK: %[[ROW:.*]] = arith.muli %[[B]], %[[N]]
    // CHECK: %[[SHARED:.*]] = arith.addi %[[ROW]], %[[I]]
    // CHECK: %[[UNIFORM:.*]] = fly.make_int_tuple(%[[SHARED]])
    // CHECK: %[[BASE:.*]] = fly.add_offset(%[[P]], %[[UNIFORM]])
    // CHECK: %[[OWN:.*]] = fly.make_int_tuple(%[[T]])
    // CHECK: %[[MINE:.*]] = fly.add_offset(%[[BASE]], %[[OWN]])
    // The alignment is that of the whole sum.
    // CHECK: fly.recast_iter(%[[MINE]]) : (!fly.ptr<f16, global>) -> !fly.ptr<f16, global, align<16>>
    %q = fly.add_offset(%p, %offset) : (!fly.ptr<f16, global, align<16>>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f16, global, align<16>>
    %v = fly.ptr.load(%q) : (!fly.ptr<f16, global, align<16>>) -> f16
    fly.ptr.store(%v, %q) : (f16, !fly.ptr<f16, global, align<16>>) -> ()
    gpu.return
  }

  // All of it is shared, or none.
  // CHECK-LABEL: gpu.func @whole
  // CHECK-COUNT-2: fly.add_offset
  // CHECK-NOT: fly.add_offset
  gpu.func @whole(%p: !fly.ptr<f16, global>, %n: i32, %i: i32) kernel {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %shared = arith.addi %n, %i : i32
    %own = arith.addi %t, %t : i32
    %a = fly.make_int_tuple(%shared) : (i32) -> !fly.int_tuple<?>
    %b = fly.make_int_tuple(%own) : (i32) -> !fly.int_tuple<?>
    %x = fly.add_offset(%p, %a) : (!fly.ptr<f16, global>, !fly.int_tuple<?>) -> !fly.ptr<f16, global>
    %y = fly.add_offset(%p, %b) : (!fly.ptr<f16, global>, !fly.int_tuple<?>) -> !fly.ptr<f16, global>
    %v = fly.ptr.load(%x) : (!fly.ptr<f16, global>) -> f16
    %w = fly.ptr.load(%y) : (!fly.ptr<f16, global>) -> f16
    fly.ptr.store(%v, %y) : (f16, !fly.ptr<f16, global>) -> ()
    fly.ptr.store(%w, %x) : (f16, !fly.ptr<f16, global>) -> ()
    gpu.return
  }

  // Addresses of LDS are one register; a function that is no kernel does not know who calls it.
  // CHECK-LABEL: gpu.func @elsewhere
  // CHECK-COUNT-2: fly.add_offset
  // CHECK-NOT: fly.add_offset
  gpu.func @elsewhere(%p: !fly.ptr<f16, global>, %s: !fly.ptr<f16, shared>, %n: i32) -> (f16, f16) {
    %tid = gpu.thread_id x
    %t = arith.index_cast %tid : index to i32
    %sum = arith.addi %t, %n : i32
    %a = fly.make_int_tuple(%sum) : (i32) -> !fly.int_tuple<?>
    %x = fly.add_offset(%p, %a) : (!fly.ptr<f16, global>, !fly.int_tuple<?>) -> !fly.ptr<f16, global>
    %y = fly.add_offset(%s, %a) : (!fly.ptr<f16, shared>, !fly.int_tuple<?>) -> !fly.ptr<f16, shared>
    %v = fly.ptr.load(%x) : (!fly.ptr<f16, global>) -> f16
    %w = fly.ptr.load(%y) : (!fly.ptr<f16, shared>) -> f16
    gpu.return %v, %w : f16, f16
  }
}
