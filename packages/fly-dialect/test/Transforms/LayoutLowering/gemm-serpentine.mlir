// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-canonicalize --fly-layout-lowering | FileCheck %s
//
// The order of the atom calls of a 2x2x2 gemm that turns round at the ends. Strides are chosen so that the offset of an operand
// spells its position: for (m, n, k), d and c lie at 100 m + 10 n, a at 100 m + k, b at 10 n + k.
// The accumulator is c, at another pointer, on the first visit of (m, n), and d afterwards.

!fma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
!c = !fly.memref<f32, register, (1,2,2):(0,100,10)>
!a = !fly.memref<f32, register, (1,2,2):(0,100,1)>
!b = !fly.memref<f32, register, (1,2,2):(0,10,1)>

// CHECK-LABEL: func.func @kmn_serpentine(
// CHECK: %[[PA0:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[A0:.+]] = fly.make_view(%[[PA0]],
// CHECK: %[[PB0:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[B0:.+]] = fly.make_view(%[[PB0]],
// CHECK: %[[PC0:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[C0:.+]] = fly.make_view(%[[PC0]],
// CHECK: %[[PD0:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[D0:.+]] = fly.make_view(%[[PD0]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A0]], %[[B0]], %[[C0]])
// CHECK: %[[PA1:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[A1:.+]] = fly.make_view(%[[PA1]],
// CHECK: %[[PB1:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[B1:.+]] = fly.make_view(%[[PB1]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A1]], %[[B1]], %[[D0]])
// CHECK: %[[PA101:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<101>)
// CHECK: %[[A101:.+]] = fly.make_view(%[[PA101]],
// CHECK: %[[PC100:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[C100:.+]] = fly.make_view(%[[PC100]],
// CHECK: %[[PD100:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[D100:.+]] = fly.make_view(%[[PD100]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A101]], %[[B1]], %[[C100]])
// CHECK: %[[PA100:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[A100:.+]] = fly.make_view(%[[PA100]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A100]], %[[B0]], %[[D100]])
// CHECK: %[[PB10:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[B10:.+]] = fly.make_view(%[[PB10]],
// CHECK: %[[PC110:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[C110:.+]] = fly.make_view(%[[PC110]],
// CHECK: %[[PD110:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[D110:.+]] = fly.make_view(%[[PD110]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A100]], %[[B10]], %[[C110]])
// CHECK: %[[PB11:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<11>)
// CHECK: %[[B11:.+]] = fly.make_view(%[[PB11]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A101]], %[[B11]], %[[D110]])
// CHECK: %[[PC10:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[C10:.+]] = fly.make_view(%[[PC10]],
// CHECK: %[[PD10:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[D10:.+]] = fly.make_view(%[[PD10]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A1]], %[[B11]], %[[C10]])
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A0]], %[[B10]], %[[D10]])
func.func @kmn_serpentine(%pd: !fly.ptr<f32, register>, %pa: !fly.ptr<f32, register>, %pb: !fly.ptr<f32, register>, %pc: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !fma
  %lc = fly.static : !fly.layout<(1,2,2):(0,100,10)>
  %la = fly.static : !fly.layout<(1,2,2):(0,100,1)>
  %lb = fly.static : !fly.layout<(1,2,2):(0,10,1)>
  %d = fly.make_view(%pd, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  %a = fly.make_view(%pa, %la) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,1)>) -> !a
  %b = fly.make_view(%pb, %lb) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,10,1)>) -> !b
  %c = fly.make_view(%pc, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  fly.gemm(%atom, %d, %a, %b, %c) {traversalOrder = #fly<gemm_traversal_order kmn_serpentine>} : (!fma, !c, !a, !b, !c) -> ()
  return
}

// CHECK-LABEL: func.func @knm_serpentine(
// CHECK: %[[PA0:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[A0:.+]] = fly.make_view(%[[PA0]],
// CHECK: %[[PB0:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[B0:.+]] = fly.make_view(%[[PB0]],
// CHECK: %[[PC0:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[C0:.+]] = fly.make_view(%[[PC0]],
// CHECK: %[[PD0:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[D0:.+]] = fly.make_view(%[[PD0]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A0]], %[[B0]], %[[C0]])
// CHECK: %[[PA1:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[A1:.+]] = fly.make_view(%[[PA1]],
// CHECK: %[[PB1:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[B1:.+]] = fly.make_view(%[[PB1]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A1]], %[[B1]], %[[D0]])
// CHECK: %[[PB11:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<11>)
// CHECK: %[[B11:.+]] = fly.make_view(%[[PB11]],
// CHECK: %[[PC10:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[C10:.+]] = fly.make_view(%[[PC10]],
// CHECK: %[[PD10:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[D10:.+]] = fly.make_view(%[[PD10]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A1]], %[[B11]], %[[C10]])
// CHECK: %[[PB10:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[B10:.+]] = fly.make_view(%[[PB10]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A0]], %[[B10]], %[[D10]])
// CHECK: %[[PA100:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[A100:.+]] = fly.make_view(%[[PA100]],
// CHECK: %[[PC110:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[C110:.+]] = fly.make_view(%[[PC110]],
// CHECK: %[[PD110:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[D110:.+]] = fly.make_view(%[[PD110]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A100]], %[[B10]], %[[C110]])
// CHECK: %[[PA101:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<101>)
// CHECK: %[[A101:.+]] = fly.make_view(%[[PA101]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A101]], %[[B11]], %[[D110]])
// CHECK: %[[PC100:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[C100:.+]] = fly.make_view(%[[PC100]],
// CHECK: %[[PD100:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[D100:.+]] = fly.make_view(%[[PD100]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A101]], %[[B1]], %[[C100]])
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A100]], %[[B0]], %[[D100]])
func.func @knm_serpentine(%pd: !fly.ptr<f32, register>, %pa: !fly.ptr<f32, register>, %pb: !fly.ptr<f32, register>, %pc: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !fma
  %lc = fly.static : !fly.layout<(1,2,2):(0,100,10)>
  %la = fly.static : !fly.layout<(1,2,2):(0,100,1)>
  %lb = fly.static : !fly.layout<(1,2,2):(0,10,1)>
  %d = fly.make_view(%pd, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  %a = fly.make_view(%pa, %la) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,1)>) -> !a
  %b = fly.make_view(%pb, %lb) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,10,1)>) -> !b
  %c = fly.make_view(%pc, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  fly.gemm(%atom, %d, %a, %b, %c) {traversalOrder = #fly<gemm_traversal_order knm_serpentine>} : (!fma, !c, !a, !b, !c) -> ()
  return
}

// CHECK-LABEL: func.func @mkn_serpentine(
// CHECK: %[[PA0:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[A0:.+]] = fly.make_view(%[[PA0]],
// CHECK: %[[PB0:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[B0:.+]] = fly.make_view(%[[PB0]],
// CHECK: %[[PC0:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[C0:.+]] = fly.make_view(%[[PC0]],
// CHECK: %[[PD0:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[D0:.+]] = fly.make_view(%[[PD0]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A0]], %[[B0]], %[[C0]])
// CHECK: %[[PA100:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[A100:.+]] = fly.make_view(%[[PA100]],
// CHECK: %[[PC100:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[C100:.+]] = fly.make_view(%[[PC100]],
// CHECK: %[[PD100:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[D100:.+]] = fly.make_view(%[[PD100]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A100]], %[[B0]], %[[C100]])
// CHECK: %[[PA101:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<101>)
// CHECK: %[[A101:.+]] = fly.make_view(%[[PA101]],
// CHECK: %[[PB1:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[B1:.+]] = fly.make_view(%[[PB1]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A101]], %[[B1]], %[[D100]])
// CHECK: %[[PA1:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[A1:.+]] = fly.make_view(%[[PA1]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A1]], %[[B1]], %[[D0]])
// CHECK: %[[PB11:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<11>)
// CHECK: %[[B11:.+]] = fly.make_view(%[[PB11]],
// CHECK: %[[PC10:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[C10:.+]] = fly.make_view(%[[PC10]],
// CHECK: %[[PD10:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[D10:.+]] = fly.make_view(%[[PD10]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A1]], %[[B11]], %[[C10]])
// CHECK: %[[PC110:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[C110:.+]] = fly.make_view(%[[PC110]],
// CHECK: %[[PD110:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[D110:.+]] = fly.make_view(%[[PD110]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A101]], %[[B11]], %[[C110]])
// CHECK: %[[PB10:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[B10:.+]] = fly.make_view(%[[PB10]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A100]], %[[B10]], %[[D110]])
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A0]], %[[B10]], %[[D10]])
func.func @mkn_serpentine(%pd: !fly.ptr<f32, register>, %pa: !fly.ptr<f32, register>, %pb: !fly.ptr<f32, register>, %pc: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !fma
  %lc = fly.static : !fly.layout<(1,2,2):(0,100,10)>
  %la = fly.static : !fly.layout<(1,2,2):(0,100,1)>
  %lb = fly.static : !fly.layout<(1,2,2):(0,10,1)>
  %d = fly.make_view(%pd, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  %a = fly.make_view(%pa, %la) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,1)>) -> !a
  %b = fly.make_view(%pb, %lb) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,10,1)>) -> !b
  %c = fly.make_view(%pc, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  fly.gemm(%atom, %d, %a, %b, %c) {traversalOrder = #fly<gemm_traversal_order mkn_serpentine>} : (!fma, !c, !a, !b, !c) -> ()
  return
}

// CHECK-LABEL: func.func @mnk_serpentine(
// CHECK: %[[PA0:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[A0:.+]] = fly.make_view(%[[PA0]],
// CHECK: %[[PB0:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[B0:.+]] = fly.make_view(%[[PB0]],
// CHECK: %[[PC0:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[C0:.+]] = fly.make_view(%[[PC0]],
// CHECK: %[[PD0:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[D0:.+]] = fly.make_view(%[[PD0]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A0]], %[[B0]], %[[C0]])
// CHECK: %[[PA100:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[A100:.+]] = fly.make_view(%[[PA100]],
// CHECK: %[[PC100:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[C100:.+]] = fly.make_view(%[[PC100]],
// CHECK: %[[PD100:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[D100:.+]] = fly.make_view(%[[PD100]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A100]], %[[B0]], %[[C100]])
// CHECK: %[[PB10:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[B10:.+]] = fly.make_view(%[[PB10]],
// CHECK: %[[PC110:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[C110:.+]] = fly.make_view(%[[PC110]],
// CHECK: %[[PD110:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[D110:.+]] = fly.make_view(%[[PD110]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A100]], %[[B10]], %[[C110]])
// CHECK: %[[PC10:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[C10:.+]] = fly.make_view(%[[PC10]],
// CHECK: %[[PD10:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[D10:.+]] = fly.make_view(%[[PD10]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A0]], %[[B10]], %[[C10]])
// CHECK: %[[PA1:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[A1:.+]] = fly.make_view(%[[PA1]],
// CHECK: %[[PB11:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<11>)
// CHECK: %[[B11:.+]] = fly.make_view(%[[PB11]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A1]], %[[B11]], %[[D10]])
// CHECK: %[[PA101:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<101>)
// CHECK: %[[A101:.+]] = fly.make_view(%[[PA101]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A101]], %[[B11]], %[[D110]])
// CHECK: %[[PB1:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[B1:.+]] = fly.make_view(%[[PB1]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A101]], %[[B1]], %[[D100]])
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A1]], %[[B1]], %[[D0]])
func.func @mnk_serpentine(%pd: !fly.ptr<f32, register>, %pa: !fly.ptr<f32, register>, %pb: !fly.ptr<f32, register>, %pc: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !fma
  %lc = fly.static : !fly.layout<(1,2,2):(0,100,10)>
  %la = fly.static : !fly.layout<(1,2,2):(0,100,1)>
  %lb = fly.static : !fly.layout<(1,2,2):(0,10,1)>
  %d = fly.make_view(%pd, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  %a = fly.make_view(%pa, %la) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,1)>) -> !a
  %b = fly.make_view(%pb, %lb) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,10,1)>) -> !b
  %c = fly.make_view(%pc, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  fly.gemm(%atom, %d, %a, %b, %c) {traversalOrder = #fly<gemm_traversal_order mnk_serpentine>} : (!fma, !c, !a, !b, !c) -> ()
  return
}

// CHECK-LABEL: func.func @nkm_serpentine(
// CHECK: %[[PA0:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[A0:.+]] = fly.make_view(%[[PA0]],
// CHECK: %[[PB0:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[B0:.+]] = fly.make_view(%[[PB0]],
// CHECK: %[[PC0:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[C0:.+]] = fly.make_view(%[[PC0]],
// CHECK: %[[PD0:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[D0:.+]] = fly.make_view(%[[PD0]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A0]], %[[B0]], %[[C0]])
// CHECK: %[[PB10:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[B10:.+]] = fly.make_view(%[[PB10]],
// CHECK: %[[PC10:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[C10:.+]] = fly.make_view(%[[PC10]],
// CHECK: %[[PD10:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[D10:.+]] = fly.make_view(%[[PD10]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A0]], %[[B10]], %[[C10]])
// CHECK: %[[PA1:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[A1:.+]] = fly.make_view(%[[PA1]],
// CHECK: %[[PB11:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<11>)
// CHECK: %[[B11:.+]] = fly.make_view(%[[PB11]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A1]], %[[B11]], %[[D10]])
// CHECK: %[[PB1:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[B1:.+]] = fly.make_view(%[[PB1]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A1]], %[[B1]], %[[D0]])
// CHECK: %[[PA101:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<101>)
// CHECK: %[[A101:.+]] = fly.make_view(%[[PA101]],
// CHECK: %[[PC100:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[C100:.+]] = fly.make_view(%[[PC100]],
// CHECK: %[[PD100:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[D100:.+]] = fly.make_view(%[[PD100]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A101]], %[[B1]], %[[C100]])
// CHECK: %[[PC110:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[C110:.+]] = fly.make_view(%[[PC110]],
// CHECK: %[[PD110:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[D110:.+]] = fly.make_view(%[[PD110]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A101]], %[[B11]], %[[C110]])
// CHECK: %[[PA100:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[A100:.+]] = fly.make_view(%[[PA100]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A100]], %[[B10]], %[[D110]])
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A100]], %[[B0]], %[[D100]])
func.func @nkm_serpentine(%pd: !fly.ptr<f32, register>, %pa: !fly.ptr<f32, register>, %pb: !fly.ptr<f32, register>, %pc: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !fma
  %lc = fly.static : !fly.layout<(1,2,2):(0,100,10)>
  %la = fly.static : !fly.layout<(1,2,2):(0,100,1)>
  %lb = fly.static : !fly.layout<(1,2,2):(0,10,1)>
  %d = fly.make_view(%pd, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  %a = fly.make_view(%pa, %la) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,1)>) -> !a
  %b = fly.make_view(%pb, %lb) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,10,1)>) -> !b
  %c = fly.make_view(%pc, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  fly.gemm(%atom, %d, %a, %b, %c) {traversalOrder = #fly<gemm_traversal_order nkm_serpentine>} : (!fma, !c, !a, !b, !c) -> ()
  return
}

// CHECK-LABEL: func.func @nmk_serpentine(
// CHECK: %[[PA0:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[A0:.+]] = fly.make_view(%[[PA0]],
// CHECK: %[[PB0:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[B0:.+]] = fly.make_view(%[[PB0]],
// CHECK: %[[PC0:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[C0:.+]] = fly.make_view(%[[PC0]],
// CHECK: %[[PD0:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<0>)
// CHECK: %[[D0:.+]] = fly.make_view(%[[PD0]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A0]], %[[B0]], %[[C0]])
// CHECK: %[[PB10:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[B10:.+]] = fly.make_view(%[[PB10]],
// CHECK: %[[PC10:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[C10:.+]] = fly.make_view(%[[PC10]],
// CHECK: %[[PD10:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<10>)
// CHECK: %[[D10:.+]] = fly.make_view(%[[PD10]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A0]], %[[B10]], %[[C10]])
// CHECK: %[[PA100:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[A100:.+]] = fly.make_view(%[[PA100]],
// CHECK: %[[PC110:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[C110:.+]] = fly.make_view(%[[PC110]],
// CHECK: %[[PD110:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<110>)
// CHECK: %[[D110:.+]] = fly.make_view(%[[PD110]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A100]], %[[B10]], %[[C110]])
// CHECK: %[[PC100:.+]] = fly.add_offset(%arg3, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[C100:.+]] = fly.make_view(%[[PC100]],
// CHECK: %[[PD100:.+]] = fly.add_offset(%arg0, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<100>)
// CHECK: %[[D100:.+]] = fly.make_view(%[[PD100]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A100]], %[[B0]], %[[C100]])
// CHECK: %[[PA101:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<101>)
// CHECK: %[[A101:.+]] = fly.make_view(%[[PA101]],
// CHECK: %[[PB1:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[B1:.+]] = fly.make_view(%[[PB1]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D100]], %[[A101]], %[[B1]], %[[D100]])
// CHECK: %[[PB11:.+]] = fly.add_offset(%arg2, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<11>)
// CHECK: %[[B11:.+]] = fly.make_view(%[[PB11]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D110]], %[[A101]], %[[B11]], %[[D110]])
// CHECK: %[[PA1:.+]] = fly.add_offset(%arg1, %{{.+}}) : (!fly.ptr<f32, register>, !fly.int_tuple<1>)
// CHECK: %[[A1:.+]] = fly.make_view(%[[PA1]],
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D10]], %[[A1]], %[[B11]], %[[D10]])
// CHECK: fly.mma_atom_call(%{{.+}}, %[[D0]], %[[A1]], %[[B1]], %[[D0]])
func.func @nmk_serpentine(%pd: !fly.ptr<f32, register>, %pa: !fly.ptr<f32, register>, %pb: !fly.ptr<f32, register>, %pc: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !fma
  %lc = fly.static : !fly.layout<(1,2,2):(0,100,10)>
  %la = fly.static : !fly.layout<(1,2,2):(0,100,1)>
  %lb = fly.static : !fly.layout<(1,2,2):(0,10,1)>
  %d = fly.make_view(%pd, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  %a = fly.make_view(%pa, %la) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,1)>) -> !a
  %b = fly.make_view(%pb, %lb) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,10,1)>) -> !b
  %c = fly.make_view(%pc, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,100,10)>) -> !c
  fly.gemm(%atom, %d, %a, %b, %c) {traversalOrder = #fly<gemm_traversal_order nmk_serpentine>} : (!fma, !c, !a, !b, !c) -> ()
  return
}
