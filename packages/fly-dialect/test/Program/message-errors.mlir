// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-messages-to-llvm --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @prints(%x: i8) kernel {
    // expected-error @+1 {{cannot print a value of type 'i8'; a message has values of i32, i64, f32 and f64}}
    gpu.printf "%d", %x : i8
    gpu.return
  }
}

// -----

func.func @host(%x: f16) {
  // expected-error @+1 {{cannot print a value of type 'f16'; a message has values of i32, i64, f32 and f64}}
  vector.print %x : f16
  return
}
