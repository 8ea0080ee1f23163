// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --pass-pipeline="builtin.module(func.func(fly-check-host-functions))" --split-input-file --verify-diagnostics

!tensor = !fly.memref<f32, global, 4:1>

func.func @reads(%x: !tensor, %i: i32) {
  %c = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  // expected-error @+1 {{a host function cannot read or write the elements of a tensor or pointer: they are in device memory. Do it in a @flyc.kernel that this function launches}}
  %a = fly.memref.load(%x, %c) : (!tensor, !fly.int_tuple<?>) -> f32
  // Only the first is said.
  %b = fly.memref.load(%x, %c) : (!tensor, !fly.int_tuple<?>) -> f32
  return
}

// -----

func.func @writes(%x: !fly.memref<f32, global, 4:1>, %v: vector<4xf32>, %if: i1) {
  scf.if %if {
    // expected-error @+1 {{a host function cannot read or write the elements}}
    fly.memref.store_vec(%v, %x) : (vector<4xf32>, !fly.memref<f32, global, 4:1>) -> ()
  }
  return
}

// -----

func.func @asks() {
  // expected-error @+1 {{this is of a thread or workgroup, and a host function is neither; use it in a @flyc.kernel}}
  %i = gpu.thread_id x
  return
}

// -----

// What a host function does with layouts and arguments, and what a kernel does, is right.
gpu.module @kernels {
  gpu.func @kernel(%x: !fly.memref<f32, global, 4:1>, %v: vector<4xf32>) kernel {
    %i = gpu.thread_id x
    fly.memref.store_vec(%v, %x) : (vector<4xf32>, !fly.memref<f32, global, 4:1>) -> ()
    gpu.return
  }
}
func.func @layouts(%x: !fly.memref<f32, global, (4,?):(1,4)>) {
  %layout = fly.get_layout(%x) : (!fly.memref<f32, global, (4,?):(1,4)>) -> !fly.layout<(4,?):(1,4)>
  return
}
