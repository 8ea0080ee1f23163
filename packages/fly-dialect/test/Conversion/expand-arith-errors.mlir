// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-expand-arith --split-input-file --verify-diagnostics

func.func @upwards(%x: f32) -> f8E5M2 {
  // expected-error@+1 {{has no lowering from 'f32' to 'f8E5M2' with this rounding; round to nearest even}}
  %0 = arith.truncf %x upward : f32 to f8E5M2
  return %0 : f8E5M2
}
