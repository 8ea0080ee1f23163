// SPDX-License-Identifier: Apache-2.0
// Global memory to swizzled LDS and back into registers, by tiled copies: after the lowering nothing
// of the algebra is left, static layout work costs no instruction, and each atom is one access.
// RUN: fly-opt %s --fly-rewrite-func-signature --fly-canonicalize --fly-layout-lowering | FileCheck %s --check-prefix=LOWERED
// RUN: fly-opt %s --fly-rewrite-func-signature --fly-canonicalize --fly-layout-lowering --canonicalize --fly-convert-atom-call-to-ssa-form --fly-promote-regmem-to-vectorssa --convert-fly-to-rocdl --canonicalize | FileCheck %s --check-prefix=ROCDL

!copy = !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<128>, 16>, !fly.layout<((8,8),8):((64,1),8)>, !fly.tile<[8|64]>>

// LOWERED-NOT: {{(= | )fly\.(tiled_copy|slice|crd2idx|zipped_divide|copy\(|memref\.)}}
// ROCDL-LABEL: gpu.func @copy(
// ROCDL-SAME: %[[SRC:.+]]: !llvm.ptr<1>, %[[N:.+]]: !llvm.struct<packed (struct<packed (i32)>)>, %[[LDS:.+]]: !llvm.ptr<3>, %[[DST:.+]]: !llvm.ptr<1>
gpu.module @module {
  gpu.func @copy(%src: !fly.memref<f16, global, (?,64):(64,1), align<16>>, %tile: !fly.memref<f16, shared, S<3,3,3> o 0 o (8,64):(64,1), align<16>>, %dst: !fly.memref<f16, global, (8,64):(64,1), align<16>>) kernel {
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i32
    %thread = fly.make_int_tuple(%t) : (i32) -> !fly.int_tuple<?>
    %copy = fly.static : !copy
    // The first tile of the global tensor.
    %divisor = fly.static : !fly.tile<[8|64]>
    %tiles = fly.zipped_divide(%src, %divisor) : (!fly.memref<f16, global, (?,64):(64,1), align<16>>, !fly.tile<[8|64]>) -> !fly.memref<f16, global, ((8,64),(?,1)):((64,1),(512,0)), align<16>>
    %first = fly.make_coord() : () -> !fly.int_tuple<(*,0)>
    %block = fly.slice(%tiles, %first) : (!fly.memref<f16, global, ((8,64),(?,1)):((64,1),(512,0)), align<16>>, !fly.int_tuple<(*,0)>) -> !fly.memref<f16, global, (8,64):(64,1), align<16>>
    // ROCDL: %[[INDEX:.+]] = arith.addi
    // ROCDL: %[[FROM:.+]] = llvm.getelementptr %[[SRC]][%[[INDEX]]]
    // ROCDL: %[[LOADED:.+]] = llvm.load %[[FROM]] {{.*}}: !llvm.ptr<1> -> vector<8xf16>
    %mine = fly.tiled_copy.partition_src(%copy, %block, %thread) : (!copy, !fly.memref<f16, global, (8,64):(64,1), align<16>>, !fly.int_tuple<?>) -> !fly.memref<f16, global, ((8,1),1,1):((1,0),0,0), align<16>>
    %registers = fly.make_fragment_like(%mine) : (!fly.memref<f16, global, ((8,1),1,1):((1,0),0,0), align<16>>) -> !fly.memref<f16, register, ((8,1),1,1):((1,0),0,0)>
    fly.copy(%copy, %mine, %registers) : (!copy, !fly.memref<f16, global, ((8,1),1,1):((1,0),0,0), align<16>>, !fly.memref<f16, register, ((8,1),1,1):((1,0),0,0)>) -> ()
    // ROCDL: arith.andi %[[INDEX]]
    // ROCDL: arith.shrui
    // ROCDL: %[[SWIZZLED:.+]] = arith.xori %[[INDEX]]
    // ROCDL: %[[SLOT:.+]] = llvm.getelementptr %[[LDS]][%[[SWIZZLED]]]
    // ROCDL: llvm.store %[[LOADED]], %[[SLOT]]
    %slot = fly.tiled_copy.partition_dst(%copy, %tile, %thread) : (!copy, !fly.memref<f16, shared, S<3,3,3> o 0 o (8,64):(64,1), align<16>>, !fly.int_tuple<?>) -> !fly.memref<f16, shared, S<3,3,3> o ?{div=8} o ((8,1),1,1):((1,0),0,0), align<16>>
    fly.copy(%copy, %registers, %slot) : (!copy, !fly.memref<f16, register, ((8,1),1,1):((1,0),0,0)>, !fly.memref<f16, shared, S<3,3,3> o ?{div=8} o ((8,1),1,1):((1,0),0,0), align<16>>) -> ()
    // ROCDL: gpu.barrier
    gpu.barrier
    // ROCDL: %[[BACK:.+]] = llvm.load %[[SLOT]]
    // ROCDL: llvm.store %[[BACK]], %{{.+}}
    // ROCDL-NOT: fly.
    // ROCDL-NOT: llvm.alloca
    fly.copy(%copy, %slot, %registers) : (!copy, !fly.memref<f16, shared, S<3,3,3> o ?{div=8} o ((8,1),1,1):((1,0),0,0), align<16>>, !fly.memref<f16, register, ((8,1),1,1):((1,0),0,0)>) -> ()
    %out = fly.tiled_copy.partition_dst(%copy, %dst, %thread) : (!copy, !fly.memref<f16, global, (8,64):(64,1), align<16>>, !fly.int_tuple<?>) -> !fly.memref<f16, global, ((8,1),1,1):((1,0),0,0), align<16>>
    fly.copy(%copy, %registers, %out) : (!copy, !fly.memref<f16, register, ((8,1),1,1):((1,0),0,0)>, !fly.memref<f16, global, ((8,1),1,1):((1,0),0,0), align<16>>) -> ()
    gpu.return
  }
}
