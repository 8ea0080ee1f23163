// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-to-rocdl | FileCheck %s

// Loads to LDS: the offset from the state is in elements, the immediate one in bytes.

// CHECK-LABEL: func.func @both_offsets(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.struct<(ptr<8>, i32)>, %[[ARG1:.+]]: !llvm.ptr<3>, %[[ARG2:.+]]: i32
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32, i32)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32, i32)>
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[C0_I32]], %[[V1]][1] : !llvm.struct<(i32, i32)>
// CHECK: %[[C64_I32:.+]] = arith.constant 64 : i32
// CHECK: %[[V3:.+]] = llvm.insertvalue %[[ARG2]], %[[V2]][0] : !llvm.struct<(i32, i32)>
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[C64_I32]], %[[V3]][1] : !llvm.struct<(i32, i32)>
// CHECK: %[[V5:.+]] = llvm.extractvalue %[[V4]][0] : !llvm.struct<(i32, i32)>
// CHECK: %[[C4_I32:.+]] = arith.constant 4 : i32
// CHECK: %[[V6:.+]] = arith.muli %[[V5]], %[[C4_I32]] : i32
// CHECK: %[[V7:.+]] = llvm.extractvalue %[[V4]][1] : !llvm.struct<(i32, i32)>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[C16_I32:.+]] = arith.constant 16 : i32
// CHECK: %[[V8:.+]] = llvm.extractvalue %[[ARG0]][0] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V9:.+]] = llvm.extractvalue %[[ARG0]][1] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[C4_I32_1:.+]] = arith.constant 4 : i32
// CHECK: %[[V10:.+]] = arith.muli %[[V9]], %[[C4_I32_1]] : i32
// CHECK: rocdl.raw.ptr.buffer.load.lds %[[V8]], %[[ARG1]], %[[C16_I32]], %[[V10]], %[[V6]], %[[V7]], %[[C0_I32_0]]
// CHECK: return
func.func @both_offsets(%b: !fly.memref<f32, #fly_rocdl.buffer_desc, 4:1>, %s: !fly.memref<f32, shared, 4:1>, %i: i32) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly_rocdl.cdna4.buffer_load_async_lds<128>, 32>
  %k = arith.constant 64 : i32
  %a1 = fly.atom.set_value(%a, "soffset", %i) : (!fly.copy_atom<!fly_rocdl.cdna4.buffer_load_async_lds<128>, 32>, i32) -> !fly.copy_atom<!fly_rocdl.cdna4.buffer_load_async_lds<128>, 32>
  %a2 = fly.atom.set_value(%a1, "imm_offset", %k) : (!fly.copy_atom<!fly_rocdl.cdna4.buffer_load_async_lds<128>, 32>, i32) -> !fly.copy_atom<!fly_rocdl.cdna4.buffer_load_async_lds<128>, 32>
  fly.copy_atom_call(%a2, %b, %s) : (!fly.copy_atom<!fly_rocdl.cdna4.buffer_load_async_lds<128>, 32>, !fly.memref<f32, #fly_rocdl.buffer_desc, 4:1>, !fly.memref<f32, shared, 4:1>) -> ()
  return
}

// CHECK-LABEL: func.func @global_32(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: !llvm.ptr<3>
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<()>
// CHECK: rocdl.global.load.lds %[[ARG0]], %[[ARG1]], 4, 0, 0
// CHECK: return
func.func @global_32(%g: !fly.memref<f32, global, 1:1>, %s: !fly.memref<f32, shared, 1:1>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly_rocdl.cdna4.global_load_async_lds<32>, 32>
  fly.copy_atom_call(%a, %g, %s) : (!fly.copy_atom<!fly_rocdl.cdna4.global_load_async_lds<32>, 32>, !fly.memref<f32, global, 1:1>, !fly.memref<f32, shared, 1:1>) -> ()
  return
}

// CHECK-LABEL: func.func @global_96(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: !llvm.ptr<3>
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<()>
// CHECK: rocdl.global.load.lds %[[ARG0]], %[[ARG1]], 12, 0, 0
// CHECK: return
func.func @global_96(%g: !fly.memref<f32, global, 3:1>, %s: !fly.memref<f32, shared, 3:1>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly_rocdl.cdna4.global_load_async_lds<96>, 32>
  fly.copy_atom_call(%a, %g, %s) : (!fly.copy_atom<!fly_rocdl.cdna4.global_load_async_lds<96>, 32>, !fly.memref<f32, global, 3:1>, !fly.memref<f32, shared, 3:1>) -> ()
  return
}

// CHECK-LABEL: func.func @global_128(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: !llvm.ptr<3>
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<()>
// CHECK: rocdl.global.load.lds %[[ARG0]], %[[ARG1]], 16, 0, 0
// CHECK: return
func.func @global_128(%g: !fly.memref<f32, global, 4:1>, %s: !fly.memref<f32, shared, 4:1>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly_rocdl.cdna4.global_load_async_lds<128>, 32>
  fly.copy_atom_call(%a, %g, %s) : (!fly.copy_atom<!fly_rocdl.cdna4.global_load_async_lds<128>, 32>, !fly.memref<f32, global, 4:1>, !fly.memref<f32, shared, 4:1>) -> ()
  return
}
