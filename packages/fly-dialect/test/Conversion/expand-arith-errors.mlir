// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-expand-arith --split-input-file --verify-diagnostics

func.func @double(%x: f64) -> f8E4M3FN {
  // expected-error@+1 {{has no lowering from 'f64' to 'f8E4M3FN'; convert by way of f32, rounding to nearest even}}
  %0 = arith.truncf %x : f64 to f8E4M3FN
  return %0 : f8E4M3FN
}

// -----

func.func @upwards(%x: f32) -> f8E5M2 {
  // expected-error@+1 {{has no lowering from 'f32' to 'f8E5M2'}}
  %0 = arith.truncf %x upward : f32 to f8E5M2
  return %0 : f8E5M2
}
