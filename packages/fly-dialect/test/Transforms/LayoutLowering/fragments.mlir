// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-rewrite-func-signature --fly-canonicalize --fly-layout-lowering | FileCheck %s

// Fragments of a tiled matrix operation, and slices of nested composed layouts.

// CHECK-LABEL: func.func @fragment(
// CHECK-SAME: %[[ARG0:.+]]: !fly.ptr<f16, global>
// CHECK: %[[V0:.+]] = fly.make_ptr() {dictAttrs = {allocSize = 32 : i64}} : () -> !fly.ptr<f16, register>
// CHECK: %[[V1:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V2:.+]] = fly.add_offset(%[[V0]], %[[V1]]) : (!fly.ptr<f16, register>, !fly.int_tuple<0>) -> !fly.ptr<f16, register>
// CHECK: %[[V3:.+]] = fly.ptr.load(%[[V2]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<16>
// CHECK: %[[V5:.+]] = fly.add_offset(%[[V0]], %[[V4]]) : (!fly.ptr<f16, register>, !fly.int_tuple<16>) -> !fly.ptr<f16, register>
// CHECK: %[[V6:.+]] = fly.ptr.load(%[[V5]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V7:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
// CHECK: %[[V8:.+]] = fly.add_offset(%[[V0]], %[[V7]]) : (!fly.ptr<f16, register>, !fly.int_tuple<4>) -> !fly.ptr<f16, register>
// CHECK: %[[V9:.+]] = fly.ptr.load(%[[V8]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V10:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<20>
// CHECK: %[[V11:.+]] = fly.add_offset(%[[V0]], %[[V10]]) : (!fly.ptr<f16, register>, !fly.int_tuple<20>) -> !fly.ptr<f16, register>
// CHECK: %[[V12:.+]] = fly.ptr.load(%[[V11]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V13:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<8>
// CHECK: %[[V14:.+]] = fly.add_offset(%[[V0]], %[[V13]]) : (!fly.ptr<f16, register>, !fly.int_tuple<8>) -> !fly.ptr<f16, register>
// CHECK: %[[V15:.+]] = fly.ptr.load(%[[V14]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V16:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<24>
// CHECK: %[[V17:.+]] = fly.add_offset(%[[V0]], %[[V16]]) : (!fly.ptr<f16, register>, !fly.int_tuple<24>) -> !fly.ptr<f16, register>
// CHECK: %[[V18:.+]] = fly.ptr.load(%[[V17]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V19:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<12>
// CHECK: %[[V20:.+]] = fly.add_offset(%[[V0]], %[[V19]]) : (!fly.ptr<f16, register>, !fly.int_tuple<12>) -> !fly.ptr<f16, register>
// CHECK: %[[V21:.+]] = fly.ptr.load(%[[V20]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V22:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<28>
// CHECK: %[[V23:.+]] = fly.add_offset(%[[V0]], %[[V22]]) : (!fly.ptr<f16, register>, !fly.int_tuple<28>) -> !fly.ptr<f16, register>
// CHECK: %[[V24:.+]] = fly.ptr.load(%[[V23]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: return
func.func @fragment(%m: !fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, !fly.layout<(2,2,1):(1,2,4)>>, %g: !fly.memref<f16, global, (64,64):(64,1)>) {
  %r = fly.mma.make_fragment(a, %m, %g) : (!fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, !fly.layout<(2,2,1):(1,2,4)>>, !fly.memref<f16, global, (64,64):(64,1)>) -> !fly.memref<f16, register, (4,2,4):(1,16,4)>
  %v = fly.memref.load_vec(%r) : (!fly.memref<f16, register, (4,2,4):(1,16,4)>) -> vector<32xf16>
  return
}

// Stages are a mode behind the others.
// CHECK-LABEL: func.func @stages(
// CHECK-SAME: %[[ARG0:.+]]: !fly.ptr<f16, global>
// CHECK: %[[V0:.+]] = fly.make_ptr() {dictAttrs = {allocSize = 96 : i64}} : () -> !fly.ptr<f16, register>
// CHECK: %[[V1:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V2:.+]] = fly.add_offset(%[[V0]], %[[V1]]) : (!fly.ptr<f16, register>, !fly.int_tuple<0>) -> !fly.ptr<f16, register>
// CHECK: %[[V3:.+]] = fly.ptr.load(%[[V2]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<16>
// CHECK: %[[V5:.+]] = fly.add_offset(%[[V0]], %[[V4]]) : (!fly.ptr<f16, register>, !fly.int_tuple<16>) -> !fly.ptr<f16, register>
// CHECK: %[[V6:.+]] = fly.ptr.load(%[[V5]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V7:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
// CHECK: %[[V8:.+]] = fly.add_offset(%[[V0]], %[[V7]]) : (!fly.ptr<f16, register>, !fly.int_tuple<4>) -> !fly.ptr<f16, register>
// CHECK: %[[V9:.+]] = fly.ptr.load(%[[V8]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V10:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<20>
// CHECK: %[[V11:.+]] = fly.add_offset(%[[V0]], %[[V10]]) : (!fly.ptr<f16, register>, !fly.int_tuple<20>) -> !fly.ptr<f16, register>
// CHECK: %[[V12:.+]] = fly.ptr.load(%[[V11]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V13:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<8>
// CHECK: %[[V14:.+]] = fly.add_offset(%[[V0]], %[[V13]]) : (!fly.ptr<f16, register>, !fly.int_tuple<8>) -> !fly.ptr<f16, register>
// CHECK: %[[V15:.+]] = fly.ptr.load(%[[V14]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V16:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<24>
// CHECK: %[[V17:.+]] = fly.add_offset(%[[V0]], %[[V16]]) : (!fly.ptr<f16, register>, !fly.int_tuple<24>) -> !fly.ptr<f16, register>
// CHECK: %[[V18:.+]] = fly.ptr.load(%[[V17]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V19:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<12>
// CHECK: %[[V20:.+]] = fly.add_offset(%[[V0]], %[[V19]]) : (!fly.ptr<f16, register>, !fly.int_tuple<12>) -> !fly.ptr<f16, register>
// CHECK: %[[V21:.+]] = fly.ptr.load(%[[V20]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V22:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<28>
// CHECK: %[[V23:.+]] = fly.add_offset(%[[V0]], %[[V22]]) : (!fly.ptr<f16, register>, !fly.int_tuple<28>) -> !fly.ptr<f16, register>
// CHECK: %[[V24:.+]] = fly.ptr.load(%[[V23]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V25:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<32>
// CHECK: %[[V26:.+]] = fly.add_offset(%[[V0]], %[[V25]]) : (!fly.ptr<f16, register>, !fly.int_tuple<32>) -> !fly.ptr<f16, register>
// CHECK: %[[V27:.+]] = fly.ptr.load(%[[V26]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V28:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<48>
// CHECK: %[[V29:.+]] = fly.add_offset(%[[V0]], %[[V28]]) : (!fly.ptr<f16, register>, !fly.int_tuple<48>) -> !fly.ptr<f16, register>
// CHECK: %[[V30:.+]] = fly.ptr.load(%[[V29]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V31:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<36>
// CHECK: %[[V32:.+]] = fly.add_offset(%[[V0]], %[[V31]]) : (!fly.ptr<f16, register>, !fly.int_tuple<36>) -> !fly.ptr<f16, register>
// CHECK: %[[V33:.+]] = fly.ptr.load(%[[V32]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V34:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<52>
// CHECK: %[[V35:.+]] = fly.add_offset(%[[V0]], %[[V34]]) : (!fly.ptr<f16, register>, !fly.int_tuple<52>) -> !fly.ptr<f16, register>
// CHECK: %[[V36:.+]] = fly.ptr.load(%[[V35]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V37:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<40>
// CHECK: %[[V38:.+]] = fly.add_offset(%[[V0]], %[[V37]]) : (!fly.ptr<f16, register>, !fly.int_tuple<40>) -> !fly.ptr<f16, register>
// CHECK: %[[V39:.+]] = fly.ptr.load(%[[V38]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V40:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<56>
// CHECK: %[[V41:.+]] = fly.add_offset(%[[V0]], %[[V40]]) : (!fly.ptr<f16, register>, !fly.int_tuple<56>) -> !fly.ptr<f16, register>
// CHECK: %[[V42:.+]] = fly.ptr.load(%[[V41]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V43:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<44>
// CHECK: %[[V44:.+]] = fly.add_offset(%[[V0]], %[[V43]]) : (!fly.ptr<f16, register>, !fly.int_tuple<44>) -> !fly.ptr<f16, register>
// CHECK: %[[V45:.+]] = fly.ptr.load(%[[V44]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V46:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<60>
// CHECK: %[[V47:.+]] = fly.add_offset(%[[V0]], %[[V46]]) : (!fly.ptr<f16, register>, !fly.int_tuple<60>) -> !fly.ptr<f16, register>
// CHECK: %[[V48:.+]] = fly.ptr.load(%[[V47]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V49:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<64>
// CHECK: %[[V50:.+]] = fly.add_offset(%[[V0]], %[[V49]]) : (!fly.ptr<f16, register>, !fly.int_tuple<64>) -> !fly.ptr<f16, register>
// CHECK: %[[V51:.+]] = fly.ptr.load(%[[V50]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V52:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<80>
// CHECK: %[[V53:.+]] = fly.add_offset(%[[V0]], %[[V52]]) : (!fly.ptr<f16, register>, !fly.int_tuple<80>) -> !fly.ptr<f16, register>
// CHECK: %[[V54:.+]] = fly.ptr.load(%[[V53]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V55:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<68>
// CHECK: %[[V56:.+]] = fly.add_offset(%[[V0]], %[[V55]]) : (!fly.ptr<f16, register>, !fly.int_tuple<68>) -> !fly.ptr<f16, register>
// CHECK: %[[V57:.+]] = fly.ptr.load(%[[V56]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V58:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<84>
// CHECK: %[[V59:.+]] = fly.add_offset(%[[V0]], %[[V58]]) : (!fly.ptr<f16, register>, !fly.int_tuple<84>) -> !fly.ptr<f16, register>
// CHECK: %[[V60:.+]] = fly.ptr.load(%[[V59]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V61:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<72>
// CHECK: %[[V62:.+]] = fly.add_offset(%[[V0]], %[[V61]]) : (!fly.ptr<f16, register>, !fly.int_tuple<72>) -> !fly.ptr<f16, register>
// CHECK: %[[V63:.+]] = fly.ptr.load(%[[V62]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V64:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<88>
// CHECK: %[[V65:.+]] = fly.add_offset(%[[V0]], %[[V64]]) : (!fly.ptr<f16, register>, !fly.int_tuple<88>) -> !fly.ptr<f16, register>
// CHECK: %[[V66:.+]] = fly.ptr.load(%[[V65]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V67:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<76>
// CHECK: %[[V68:.+]] = fly.add_offset(%[[V0]], %[[V67]]) : (!fly.ptr<f16, register>, !fly.int_tuple<76>) -> !fly.ptr<f16, register>
// CHECK: %[[V69:.+]] = fly.ptr.load(%[[V68]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: %[[V70:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<92>
// CHECK: %[[V71:.+]] = fly.add_offset(%[[V0]], %[[V70]]) : (!fly.ptr<f16, register>, !fly.int_tuple<92>) -> !fly.ptr<f16, register>
// CHECK: %[[V72:.+]] = fly.ptr.load(%[[V71]]) : (!fly.ptr<f16, register>) -> vector<4xf16>
// CHECK: return
func.func @stages(%m: !fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, !fly.layout<(2,2,1):(1,2,4)>>, %g: !fly.memref<f16, global, (64,64):(64,1)>) {
  %r = fly.mma.make_fragment(a, %m, %g, stages = 3) : (!fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, !fly.layout<(2,2,1):(1,2,4)>>, !fly.memref<f16, global, (64,64):(64,1)>) -> !fly.memref<f16, register, (4,2,4,3):(1,16,4,32)>
  %v = fly.memref.load_vec(%r) : (!fly.memref<f16, register, (4,2,4,3):(1,16,4,32)>) -> vector<96xf16>
  return
}

// The offset of the composed layout that owns the plain one is advanced.
// CHECK-LABEL: func.func @nearest_offset(
// CHECK-SAME: %[[ARG0:.+]]: i32
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<packed (i32)>
// CHECK: %[[V1:.+]] = llvm.mlir.undef : !llvm.struct<packed (struct<packed (i32)>)>
// CHECK: %[[V2:.+]] = llvm.mlir.undef : !llvm.struct<packed (struct<packed (struct<packed (i32)>)>)>
// CHECK: %[[C2_I32:.+]] = arith.constant 2 : i32
// CHECK: %[[V3:.+]] = arith.addi %[[ARG0]], %[[C2_I32]] : i32
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[V3]], %[[V0]][0] : !llvm.struct<packed (i32)>
// CHECK: %[[V5:.+]] = llvm.insertvalue %[[V4]], %[[V1]][0] : !llvm.struct<packed (struct<packed (i32)>)>
// CHECK: %[[V6:.+]] = llvm.insertvalue %[[V5]], %[[V2]][0] : !llvm.struct<packed (struct<packed (struct<packed (i32)>)>)>
// CHECK: return %[[V6]] : !llvm.struct<packed (struct<packed (struct<packed (i32)>)>)>
func.func @nearest_offset(%i: i32) -> !fly.composed_layout<S<2,0,3> o 4 o [S<1,0,2> o ? o 8:8]> {
  %l = fly.static : !fly.composed_layout<S<2,0,3> o 4 o [S<1,0,2> o 2 o (8,8):(8,1)]>
  %c = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<(*,?)>
  %r = fly.slice(%l, %c) : (!fly.composed_layout<S<2,0,3> o 4 o [S<1,0,2> o 2 o (8,8):(8,1)]>, !fly.int_tuple<(*,?)>) -> !fly.composed_layout<S<2,0,3> o 4 o [S<1,0,2> o ? o 8:8]>
  return %r : !fly.composed_layout<S<2,0,3> o 4 o [S<1,0,2> o ? o 8:8]>
}
