// SPDX-License-Identifier: Apache-2.0
// Every type of the fly dialect: what is accepted, and how it is printed.
// RUN: fly-opt %s | FileCheck %s
// RUN: fly-opt %s | fly-opt | FileCheck %s

// CHECK-LABEL: func.func private @int_tuple(
// CHECK-SAME: !fly.int_tuple<7>, !fly.int_tuple<-3>, !fly.int_tuple<7>, !fly.int_tuple<?>, !fly.int_tuple<?>,
// CHECK-SAME: !fly.int_tuple<?>, !fly.int_tuple<?>, !fly.int_tuple<?{i64}>, !fly.int_tuple<?{div=8}>,
// CHECK-SAME: !fly.int_tuple<?{i64 div=8}>, !fly.int_tuple<*>, !fly.int_tuple<1E0>, !fly.int_tuple<2E1E3>,
// CHECK-SAME: !fly.int_tuple<?{div=2}E1E0>, !fly.int_tuple<0E0>, !fly.int_tuple<(4)>,
// CHECK-SAME: !fly.int_tuple<(4,(2,?),*)>, !fly.int_tuple<?{div=-24}>, !fly.int_tuple<?{div=0}>)
func.func private @int_tuple(
  !fly.int_tuple<7>, !fly.int_tuple<-3>, !fly.int_tuple<007>, !fly.int_tuple<?>, !fly.int_tuple<?{}>,
  !fly.int_tuple<?{i32}>, !fly.int_tuple<?{div=1}>, !fly.int_tuple<?{i64}>, !fly.int_tuple<?{div=8}>,
  !fly.int_tuple<? { i64 div = 8 }>, !fly.int_tuple<*>, !fly.int_tuple<1 E0>, !fly.int_tuple<2E1E3>,
  !fly.int_tuple<?{div=2}E1E0>, !fly.int_tuple<*E0>, !fly.int_tuple<(4)>,
  !fly.int_tuple<( 4 , (2,?) , * )>, !fly.int_tuple<?{div=-24}>, !fly.int_tuple<?{div=0}>)

// CHECK-LABEL: func.func private @layout(
// CHECK-SAME: !fly.layout<4:1>, !fly.layout<(4,(2,3)):(1,(12,4))>, !fly.layout<4:(1,2)>,
// CHECK-SAME: !fly.layout<(4,8):(1E0,1E1)>, !fly.layout<(?,8):(-8,?{i64})>)
func.func private @layout(
  !fly.layout<4 : 1>, !fly.layout<(4,(2,3)):(1,(12,4))>, !fly.layout<4:(1,2)>,
  !fly.layout<(4,8):(1E0,1E1)>, !fly.layout<(?,8):(-8,?{i64})>)

// CHECK-LABEL: func.func private @composed(
// CHECK-SAME: !fly.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>,
// CHECK-SAME: !fly.composed_layout<8:1 o 0 o 4:1 o 2 o 2:1>,
// CHECK-SAME: !fly.composed_layout<S<1,0,2> o 0 o [8:1 o 1 o 4:1]>,
// CHECK-SAME: !fly.composed_layout<S<1,0,2> o ?{div=4} o 8:1>,
// CHECK-SAME: !fly.composed_layout<S<1,0,2> o ? o 8:1>,
// CHECK-SAME: !fly.composed_layout<CS<2,0,[0, 1],1,[1]> o (0,0) o (8,8):(1E0,1E1)>)
func.func private @composed(
  !fly.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>,
  !fly.composed_layout<8:1 o 0 o 4:1 o 2 o 2:1>,
  !fly.composed_layout<S<1,0,2> o 0 o [8:1 o 1 o 4:1]>,
  !fly.composed_layout<S<1,0,2> o ?{div=4} o [8:1]>,
  !fly.composed_layout<S<1,0,2> o ? o 8:1>,
  !fly.composed_layout<CS<2,0,[0,1],1,[1]> o (0,0) o (8,8):(1E0,1E1)>)

// CHECK-LABEL: func.func private @swizzles(
// CHECK-SAME: !fly.swizzle<S<3,4,3>>, !fly.swizzle<S<0,0,0>>, !fly.swizzle<S<1,3,-3>>,
// CHECK-SAME: !fly.coord_swizzle<CS<2,0,[0],1,[1]>>, !fly.coord_swizzle<CS<2,0,[],1,[]>>, !fly.basis<2E1E0>)
func.func private @swizzles(
  !fly.swizzle<S<3,4,3>>, !fly.swizzle<S<0,0,0>>, !fly.swizzle<S<1,3,-3>>,
  !fly.coord_swizzle<CS<2,0,[0],1,[1]>>, !fly.coord_swizzle<CS<2,0,[],1,[]>>, !fly.basis<2E1E0>)

// CHECK-LABEL: func.func private @tile(
// CHECK-SAME: !fly.tile<4>, !fly.tile<*>, !fly.tile<4:2>, !fly.tile<[4|8]>, !fly.tile<[*|(2,2):(1,4)|?]>,
// CHECK-SAME: !fly.tile<{{\[\[}}2|2]|6]>)
func.func private @tile(
  !fly.tile<4>, !fly.tile<*>, !fly.tile<4:2>, !fly.tile<[4 | 8]>, !fly.tile<[*|(2,2):(1,4)|?]>,
  !fly.tile<[[2|2]|6]>)

// CHECK-LABEL: func.func private @ptr(
// CHECK-SAME: !fly.ptr<f16, global>, !fly.ptr<f16, global>, !fly.ptr<f16, global, align<16>>,
// CHECK-SAME: !fly.ptr<f16, shared, S<2,3,3>>, !fly.ptr<f16, shared, align<16>, S<0,4,3>>,
// CHECK-SAME: !fly.ptr<f16, register>, !fly.ptr<f4E2M1FN, generic, align<3>>, !fly.ptr<i1, global>,
// CHECK-SAME: !fly.ptr<ui6, shared>, !fly.ptr<f16, shared>, !fly.ptr<f32, #fly_rocdl.buffer_desc>)
func.func private @ptr(
  !fly.ptr<f16, global>, !fly.ptr<f16, global, align<2>>, !fly.ptr<f16, global, align<16>>,
  !fly.ptr<f16, shared, S<2,3,3>>, !fly.ptr<f16, shared, align<16>, S<0,4,3>>,
  !fly.ptr<f16, register, S<0,0,0>>, !fly.ptr<f4E2M1FN, generic, align<3>>, !fly.ptr<i1, global>,
  !fly.ptr<ui6, shared>, !fly.ptr<f16, #fly<address_space shared>>, !fly.ptr<f32, #fly_rocdl.buffer_desc>)

// CHECK-LABEL: func.func private @tensor(
// CHECK-SAME: !fly.memref<f16, shared, (4,8):(8,1), align<16>, S<3,4,3>>,
// CHECK-SAME: !fly.memref<f16, shared, S<2,0,3> o 1 o [S<1,0,2> o 4 o (8,8):(8,1)]>,
// CHECK-SAME: !fly.memref<f16, #fly_rocdl.buffer_desc, 8:1>,
// CHECK-SAME: !fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>, !fly.coord_tensor<0, S<2,0,3> o ? o (8,8):(8,1)>)
func.func private @tensor(
  !fly.memref<f16, shared, (4,8):(8,1), align<16>, S<3,4,3>>,
  !fly.memref<f16, shared, S<2,0,3> o 1 o [S<1,0,2> o 4 o (8,8):(8,1)]>,
  !fly.memref<f16, #fly_rocdl.buffer_desc, 8:1>,
  !fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>, !fly.coord_tensor<0, S<2,0,3> o ? o (8,8):(8,1)>)

// CHECK-LABEL: func.func private @atoms(
// CHECK-SAME: !fly.copy_atom<!fly.universal_copy<128>, 16>, !fly.copy_atom<i32, 32>,
// CHECK-SAME: !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>,
// CHECK-SAME: !fly.universal_atomic<add, f32>, !fly.universal_atomic<dec, i32, "agent">,
// CHECK-SAME: !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>,
// CHECK-SAME: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>>,
// CHECK-SAME: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>>,
// CHECK-SAME: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>, !fly.tile<[*|(16,2):(2,1)|*]>>)
func.func private @atoms(
  !fly.copy_atom<!fly.universal_copy<128>, 16>, !fly.copy_atom<i32, 32>,
  !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>,
  !fly.universal_atomic<add, f32, "">, !fly.universal_atomic<dec, i32, "agent">,
  !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>,
  !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>>,
  !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>, !fly.tile<[*|*|*]>>,
  !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>, !fly.tile<[*|(16,2):(2,1)|*]>>)

// -----

// Layout and tile of a tiled_mma may stand without their `!fly.layout` and `!fly.tile`.
// CHECK-LABEL: func.func private @short_forms(
// CHECK-SAME: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(1,4,1):(0,1,0)>>,
// CHECK-SAME: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(1,4,1):(0,1,0)>, !fly.tile<[*|(16,2):(2,1)|*]>>)
func.func private @short_forms(
  !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, <(1,4,1):(0,1,0)>>,
  !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, <(1,4,1):(0,1,0)>, <[*|(16,2):(2,1)|*]>>)
