// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' | FileCheck %s

// LLVM 22 would move the products behind the change of EXEC, where lanes of 20 and above (of 4 and
// above) do not give them their operands any more (lib/Emit/CodegenPasses.h).
// CHECK-LABEL: gpu.binary @m
// CHECK-NOT:   {{s_and_saveexec|v_cmpx}}
// CHECK:       v_mfma_scale_f32_16x16x128_f8f6f4
// CHECK:       s_and_saveexec
// CHECK-NOT:   v_mfma
// CHECK:       s_endpgm
gpu.module @m [#rocdl.target<chip = "gfx950">] {
  llvm.func @some_lanes_store(%out: !llvm.ptr<1>, %in: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(2139062143 : i32) : i32
    %end = llvm.mlir.constant(20 : i32) : i32
    %sum = llvm.mlir.constant(dense<0.0> : vector<4xf32>) : vector<4xf32>
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xi32>
    %a = llvm.load %from : !llvm.ptr<1> -> vector<8xi32>
    %c = llvm.call_intrinsic "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4.v8i32.v8i32"(%a, %a, %sum, %zero, %zero, %zero, %one, %zero, %one) : (vector<8xi32>, vector<8xi32>, vector<4xf32>, i32, i32, i32, i32, i32, i32) -> vector<4xf32>
    %inside = llvm.icmp "ult" %t, %end : i32
    llvm.cond_br %inside, ^store, ^exit
  ^store:
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
    llvm.store %c, %to : vector<4xf32>, !llvm.ptr<1>
    llvm.br ^exit
  ^exit:
    llvm.return
  }
}

// CHECK-LABEL: gpu.binary @rdna3
// CHECK-NOT:   {{s_and_saveexec|v_cmpx}}
// CHECK:       v_wmma
// CHECK:       {{s_and_saveexec|v_cmpx}}
// CHECK-NOT:   mma_f32
// CHECK:       s_endpgm
gpu.module @rdna3 [#rocdl.target<chip = "gfx1100">] {
  llvm.func @some_lanes_store(%out: !llvm.ptr<1>, %in: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %end = llvm.mlir.constant(4 : i32) : i32
    %sum = llvm.mlir.constant(dense<0.0> : vector<8xf32>) : vector<8xf32>
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<16xf16>
    %b = llvm.load %from : !llvm.ptr<1> -> vector<16xf16>
    %c = llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16"(%b, %b, %sum) : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
    %inside = llvm.icmp "ult" %t, %end : i32
    llvm.cond_br %inside, ^store, ^exit
  ^store:
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xf32>
    llvm.store %c, %to : vector<8xf32>, !llvm.ptr<1>
    llvm.br ^exit
  ^exit:
    llvm.return
  }
}

// CHECK-LABEL: gpu.binary @rdna4
// CHECK-NOT:   {{s_and_saveexec|v_cmpx}}
// CHECK:       v_wmma
// CHECK:       {{s_and_saveexec|v_cmpx}}
// CHECK-NOT:   mma_f32
// CHECK:       s_endpgm
gpu.module @rdna4 [#rocdl.target<chip = "gfx1201">] {
  llvm.func @some_lanes_store(%out: !llvm.ptr<1>, %in: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %end = llvm.mlir.constant(4 : i32) : i32
    %sum = llvm.mlir.constant(dense<0.0> : vector<8xf32>) : vector<8xf32>
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xf16>
    %b = llvm.load %from : !llvm.ptr<1> -> vector<8xf16>
    %c = llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16"(%b, %b, %sum) : (vector<8xf16>, vector<8xf16>, vector<8xf32>) -> vector<8xf32>
    %inside = llvm.icmp "ult" %t, %end : i32
    llvm.cond_br %inside, ^store, ^exit
  ^store:
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xf32>
    llvm.store %c, %to : vector<8xf32>, !llvm.ptr<1>
    llvm.br ^exit
  ^exit:
    llvm.return
  }
}

// CHECK-LABEL: gpu.binary @rdna4_sparse
// CHECK-NOT:   {{s_and_saveexec|v_cmpx}}
// CHECK:       v_swmma
// CHECK:       {{s_and_saveexec|v_cmpx}}
// CHECK-NOT:   mmac_f32
// CHECK:       s_endpgm
gpu.module @rdna4_sparse [#rocdl.target<chip = "gfx1201">] {
  llvm.func @some_lanes_store(%out: !llvm.ptr<1>, %in: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %end = llvm.mlir.constant(4 : i32) : i32
    %index = llvm.mlir.constant(17476 : i16) : i16
    %sum = llvm.mlir.constant(dense<0.0> : vector<8xf32>) : vector<8xf32>
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<16xf16>
    %b = llvm.load %from : !llvm.ptr<1> -> vector<16xf16>
    %a = llvm.shufflevector %b, %b [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf16>
    %c = llvm.call_intrinsic "llvm.amdgcn.swmmac.f32.16x16x32.f16.v8f32.v8f16.v16f16.i16"(%a, %b, %sum, %index) : (vector<8xf16>, vector<16xf16>, vector<8xf32>, i16) -> vector<8xf32>
    %inside = llvm.icmp "ult" %t, %end : i32
    llvm.cond_br %inside, ^store, ^exit
  ^store:
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xf32>
    llvm.store %c, %to : vector<8xf32>, !llvm.ptr<1>
    llvm.br ^exit
  ^exit:
    llvm.return
  }
}
