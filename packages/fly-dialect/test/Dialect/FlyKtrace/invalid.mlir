// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'fly_ktrace.mark' op needs a name that is not empty}}
fly_ktrace.mark ""

// -----

// expected-error @+1 {{'fly_ktrace.range_push' op needs a name that is not empty}}
fly_ktrace.range_push ""

// -----

func.func @payload(%n: i32) {
  // expected-error @+1 {{'fly_ktrace.mark' op operand #0 must be 64-bit signless integer, but got 'i32'}}
  fly_ktrace.mark "a" payload %n : i32
  return
}

// -----

func.func @token(%n: i64) {
  // expected-error @+1 {{operand #0 must be token of a range, but got 'i64'}}
  fly_ktrace.range_stop %n, "s" : i64
  return
}

// -----

func.func @no_name() {
  // expected-error @+1 {{'fly_ktrace.mark' op requires attribute 'event_name'}}
  "fly_ktrace.mark"() : () -> ()
  return
}
