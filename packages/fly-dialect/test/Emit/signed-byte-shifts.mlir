// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' | sed -e 's/\\0A/\n/g' -e 's/\\09/ /g' | FileCheck %s

// The upper byte of a 16-bit number, sign-extended to 16 bits and not to 32: LLVM's SDWA peephole alone reads it as
// sext(BYTE_1), which has 32 bits (lib/Emit/SignedByteShifts.h).

// CHECK-LABEL: upper_byte:
// CHECK-NOT:   v_cvt_f32_u32_sdwa {{.*}}sext(
// CHECK:       v_ashrrev_i16{{.*}} 7,
// CHECK-NOT:   v_cvt_f32_u32_sdwa {{.*}}sext(
// CHECK:       v_ashrrev_i16{{.*}} 1,
// CHECK-NOT:   v_cvt_f32_u32_sdwa {{.*}}sext(
// CHECK:       s_endpgm
gpu.module @upper_byte [#rocdl.target<chip = "gfx942">] {
  llvm.func @upper_byte(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi8>
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
    %bytes = llvm.load %from : !llvm.ptr<1> -> vector<4xi8>
    %short = llvm.sext %bytes : vector<4xi8> to vector<4xi16>
    %numbers = llvm.uitofp %short : vector<4xi16> to vector<4xf32>
    llvm.store %numbers, %to : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }
}
