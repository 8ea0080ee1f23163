// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics --fly-promote-regmem-to-vectorssa

gpu.module @m {
  gpu.func @used_view() {
    // expected-error @+1 {{register operand/result remain after rmem SSA promotion}}
    %p = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
    %l = fly.static : !fly.layout<2:1>
    %v = fly.make_view(%p, %l) : (!fly.ptr<f32, register>, !fly.layout<2:1>) -> !fly.memref<f32, register, 2:1>
    %0 = fly.memref.load_vec(%v) : (!fly.memref<f32, register, 2:1>) -> vector<2xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @parallel(%n: index, %v: vector<2xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
    // expected-error @+1 {{unsupported region op with register values during rmem SSA}}
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      fly.ptr.store(%v, %p) : (vector<2xf32>, !fly.ptr<f32, register>) -> ()
      scf.reduce
    }
    gpu.return
  }
}
