// SPDX-License-Identifier: Apache-2.0
// RUN: %isa-gfx942 | FileCheck %s
// RUN: %isa-gfx950 | FileCheck %s

// A loop of three iterations that is annotated not to be unrolled stays a loop; without the annotation it is unrolled.

#rolled = #llvm.loop_annotation<unroll = <disable = true>>

gpu.module @kernels {
  // CHECK-LABEL: kept:
  // CHECK: [[LOOP:.LBB0_[0-9]+]]:
  // CHECK-COUNT-1: global_store_dword
  // CHECK-NOT: global_store_dword
  // CHECK: s_cbranch_scc{{[01]}} [[LOOP]]
  gpu.func @kept(%p: !fly.ptr<f32, global>) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    scf.for %i = %c0 to %c3 step %c1 : i32 {
      %o = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
      %q = fly.add_offset(%p, %o) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
      %v = fly.ptr.load(%q) : (!fly.ptr<f32, global>) -> f32
      %w = arith.mulf %v, %v : f32
      fly.ptr.store(%w, %q) : (f32, !fly.ptr<f32, global>) -> ()
    } {llvm.loop_annotation = #rolled}
    gpu.return
  }

  // CHECK-LABEL: unrolled:
  // CHECK-NOT: s_cbranch
  // CHECK: s_endpgm
  gpu.func @unrolled(%p: !fly.ptr<f32, global>) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    scf.for %i = %c0 to %c3 step %c1 : i32 {
      %o = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
      %q = fly.add_offset(%p, %o) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
      %v = fly.ptr.load(%q) : (!fly.ptr<f32, global>) -> f32
      %w = arith.mulf %v, %v : f32
      fly.ptr.store(%w, %q) : (f32, !fly.ptr<f32, global>) -> ()
    }
    gpu.return
  }
}
