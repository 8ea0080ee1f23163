// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s | FileCheck %s

// A last mode of extent 1 says how a layout goes on past its end, but does not decide whether there is
// a composition.

// CHECK-LABEL: func.func @divided(
// CHECK: -> !fly.layout<(6,(4,5)):(4,(1,24))>
func.func @divided(%a: !fly.layout<((5,5,4),1):((1,5,25),5)>, %b: !fly.layout<6:4>) {
  %0 = fly.logical_divide(%a, %b) : (!fly.layout<((5,5,4),1):((1,5,25),5)>, !fly.layout<6:4>) -> !fly.layout<(6,(4,5)):(4,(1,24))>
  return
}

// CHECK-LABEL: func.func @past_the_end(
// CHECK: -> !fly.layout<(4,2):(1,100)>
func.func @past_the_end(%a: !fly.layout<(4,1):(1,100)>, %b: !fly.layout<8:1>) {
  %0 = fly.composition(%a, %b) : (!fly.layout<(4,1):(1,100)>, !fly.layout<8:1>) -> !fly.layout<(4,2):(1,100)>
  return
}
