// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-to-rocdl | FileCheck %s

// The words of the descriptor, in their order.

// CHECK-LABEL: func.func @load(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: !llvm.ptr<3>, %[[ARG2:.+]]: i32, %[[ARG3:.+]]: i64
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[C2147483647_I32:.+]] = arith.constant 2147483647 : i32
// CHECK: %[[CM2147483648_I64:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[C0_I64:.+]] = arith.constant 0 : i64
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V1]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V3:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V2]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V3]][3] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V5:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V4]][4] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V6:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V5]][5] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V7:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V6]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V8:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V7]][7] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V9:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V8]][8] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V10:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V9]][9] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V11:.+]] = llvm.insertvalue %[[C0_I64]], %[[V10]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[C16_I32:.+]] = arith.constant 16 : i32
// CHECK: %[[C65535_I32:.+]] = arith.constant 65535 : i32
// CHECK: %[[V12:.+]] = llvm.extractvalue %[[V11]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V13:.+]] = llvm.extractvalue %[[V11]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V14:.+]] = llvm.extractvalue %[[V11]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[CM2147483648_I64_1:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[V15:.+]] = arith.cmpi eq, %[[V14]], %[[CM2147483648_I64_1]] : i64
// CHECK: %[[C1024_I64:.+]] = arith.constant 1024 : i64
// CHECK: %[[V16:.+]] = arith.select %[[V15]], %[[C1024_I64]], %[[V14]] : i64
// CHECK: %[[C1_I64:.+]] = arith.constant 1 : i64
// CHECK: %[[V17:.+]] = llvm.ptrtoint %[[ARG0]] : !llvm.ptr<1> to i64
// CHECK: %[[V18:.+]] = llvm.extractvalue %[[V11]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V19:.+]] = arith.addi %[[V17]], %[[V18]] : i64
// CHECK: %[[V20:.+]] = llvm.ptrtoint %[[ARG1]] : !llvm.ptr<3> to i32
// CHECK: %[[V21:.+]] = llvm.trunc %[[V19]] : i64 to i32
// CHECK: %[[C32_I64:.+]] = arith.constant 32 : i64
// CHECK: %[[V22:.+]] = llvm.lshr %[[V19]], %[[C32_I64]] : i64
// CHECK: %[[CM2147483648_I32:.+]] = arith.constant -2147483648 : i32
// CHECK: %[[V23:.+]] = llvm.trunc %[[V22]] : i64 to i32
// CHECK: %[[V24:.+]] = arith.ori %[[V23]], %[[CM2147483648_I32]] : i32
// CHECK: %[[C1_I32:.+]] = arith.constant 1 : i32
// CHECK: %[[V25:.+]] = vector.from_elements %[[C1_I32]], %[[V20]], %[[V21]], %[[V24]] : vector<4xi32>
// CHECK: %[[V26:.+]] = llvm.extractvalue %[[V11]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V27:.+]] = arith.andi %[[V26]], %[[C65535_I32]] : i32
// CHECK: %[[C65536_I32:.+]] = arith.constant 65536 : i32
// CHECK: %[[V28:.+]] = arith.ori %[[C65536_I32]], %[[V27]] : i32
// CHECK: %[[V29:.+]] = arith.subi %[[V13]], %[[C0_I32_0]] : i32
// CHECK: %[[V30:.+]] = arith.maxsi %[[V29]], %[[C0_I32_0]] : i32
// CHECK: %[[V31:.+]] = arith.subi %[[V12]], %[[C0_I32_0]] : i32
// CHECK: %[[V32:.+]] = arith.maxsi %[[V31]], %[[C0_I32_0]] : i32
// CHECK: %[[V33:.+]] = arith.andi %[[V30]], %[[C65535_I32]] : i32
// CHECK: %[[V34:.+]] = arith.shli %[[V33]], %[[C16_I32]] : i32
// CHECK: %[[V35:.+]] = arith.andi %[[V32]], %[[C65535_I32]] : i32
// CHECK: %[[V36:.+]] = arith.shli %[[V35]], %[[C16_I32]] : i32
// CHECK: %[[V37:.+]] = arith.shrui %[[V30]], %[[C16_I32]] : i32
// CHECK: %[[V38:.+]] = arith.andi %[[V37]], %[[C65535_I32]] : i32
// CHECK: %[[V39:.+]] = arith.ori %[[V38]], %[[V36]] : i32
// CHECK: %[[C4194304_I32:.+]] = arith.constant 4194304 : i32
// CHECK: %[[V40:.+]] = arith.shrui %[[V32]], %[[C16_I32]] : i32
// CHECK: %[[V41:.+]] = arith.andi %[[V40]], %[[C65535_I32]] : i32
// CHECK: %[[V42:.+]] = arith.ori %[[V41]], %[[C4194304_I32]] : i32
// CHECK: %[[V43:.+]] = llvm.trunc %[[V16]] : i64 to i32
// CHECK: %[[C32_I64_2:.+]] = arith.constant 32 : i64
// CHECK: %[[V44:.+]] = llvm.lshr %[[V16]], %[[C32_I64_2]] : i64
// CHECK: %[[V45:.+]] = llvm.trunc %[[V44]] : i64 to i32
// CHECK: %[[V46:.+]] = arith.andi %[[V45]], %[[C65535_I32]] : i32
// CHECK: %[[C32_I32:.+]] = arith.constant 32 : i32
// CHECK: %[[V47:.+]] = vector.from_elements %[[V28]], %[[V34]], %[[V39]], %[[V42]], %[[C32_I32]], %[[V43]], %[[V46]], %[[C0_I32_0]] : vector<8xi32>
// CHECK: %[[V48:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: %[[V49:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: rocdl.tensor.load.to.lds %[[V25]], %[[V47]], %[[V48]], %[[V49]] cachepolicy 0 : vector<4xi32>, vector<8xi32>
// CHECK: return
func.func @load(%g: !fly.memref<f16, global, (32,64):(1024,1)>, %s: !fly.memref<f16, shared, (32,64):(64,1)>, %i: i32, %l: i64) {
  %a0 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>
  fly.copy_atom_call(%a0, %g, %s) : (!fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>, !fly.memref<f16, global, (32,64):(1024,1)>, !fly.memref<f16, shared, (32,64):(64,1)>) -> ()
  return
}

// CHECK-LABEL: func.func @three_dimensions(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: !llvm.ptr<3>, %[[ARG2:.+]]: i32, %[[ARG3:.+]]: i64
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[C2147483647_I32:.+]] = arith.constant 2147483647 : i32
// CHECK: %[[CM2147483648_I64:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[C0_I64:.+]] = arith.constant 0 : i64
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V1]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V3:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V2]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V3]][3] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V5:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V4]][4] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V6:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V5]][5] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V7:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V6]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V8:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V7]][7] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V9:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V8]][8] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V10:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V9]][9] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V11:.+]] = llvm.insertvalue %[[C0_I64]], %[[V10]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[C16_I32:.+]] = arith.constant 16 : i32
// CHECK: %[[C65535_I32:.+]] = arith.constant 65535 : i32
// CHECK: %[[V12:.+]] = llvm.extractvalue %[[V11]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V13:.+]] = llvm.extractvalue %[[V11]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V14:.+]] = llvm.extractvalue %[[V11]][3] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V15:.+]] = llvm.extractvalue %[[V11]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[CM2147483648_I64_1:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[V16:.+]] = arith.cmpi eq, %[[V15]], %[[CM2147483648_I64_1]] : i64
// CHECK: %[[C65536_I64:.+]] = arith.constant 65536 : i64
// CHECK: %[[V17:.+]] = arith.select %[[V16]], %[[C65536_I64]], %[[V15]] : i64
// CHECK: %[[V18:.+]] = llvm.extractvalue %[[V11]][7] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[CM2147483648_I64_2:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[V19:.+]] = arith.cmpi eq, %[[V18]], %[[CM2147483648_I64_2]] : i64
// CHECK: %[[C1024_I64:.+]] = arith.constant 1024 : i64
// CHECK: %[[V20:.+]] = arith.select %[[V19]], %[[C1024_I64]], %[[V18]] : i64
// CHECK: %[[C1_I64:.+]] = arith.constant 1 : i64
// CHECK: %[[V21:.+]] = llvm.ptrtoint %[[ARG0]] : !llvm.ptr<1> to i64
// CHECK: %[[V22:.+]] = llvm.extractvalue %[[V11]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V23:.+]] = arith.addi %[[V21]], %[[V22]] : i64
// CHECK: %[[V24:.+]] = llvm.ptrtoint %[[ARG1]] : !llvm.ptr<3> to i32
// CHECK: %[[V25:.+]] = llvm.trunc %[[V23]] : i64 to i32
// CHECK: %[[C32_I64:.+]] = arith.constant 32 : i64
// CHECK: %[[V26:.+]] = llvm.lshr %[[V23]], %[[C32_I64]] : i64
// CHECK: %[[CM2147483648_I32:.+]] = arith.constant -2147483648 : i32
// CHECK: %[[V27:.+]] = llvm.trunc %[[V26]] : i64 to i32
// CHECK: %[[V28:.+]] = arith.ori %[[V27]], %[[CM2147483648_I32]] : i32
// CHECK: %[[C1_I32:.+]] = arith.constant 1 : i32
// CHECK: %[[V29:.+]] = vector.from_elements %[[C1_I32]], %[[V24]], %[[V25]], %[[V28]] : vector<4xi32>
// CHECK: %[[V30:.+]] = llvm.extractvalue %[[V11]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V31:.+]] = arith.andi %[[V30]], %[[C65535_I32]] : i32
// CHECK: %[[C65536_I32:.+]] = arith.constant 65536 : i32
// CHECK: %[[V32:.+]] = arith.ori %[[C65536_I32]], %[[V31]] : i32
// CHECK: %[[V33:.+]] = arith.subi %[[V14]], %[[C0_I32_0]] : i32
// CHECK: %[[V34:.+]] = arith.maxsi %[[V33]], %[[C0_I32_0]] : i32
// CHECK: %[[V35:.+]] = arith.subi %[[V13]], %[[C0_I32_0]] : i32
// CHECK: %[[V36:.+]] = arith.maxsi %[[V35]], %[[C0_I32_0]] : i32
// CHECK: %[[V37:.+]] = arith.andi %[[V34]], %[[C65535_I32]] : i32
// CHECK: %[[V38:.+]] = arith.shli %[[V37]], %[[C16_I32]] : i32
// CHECK: %[[V39:.+]] = arith.andi %[[V36]], %[[C65535_I32]] : i32
// CHECK: %[[V40:.+]] = arith.shli %[[V39]], %[[C16_I32]] : i32
// CHECK: %[[V41:.+]] = arith.shrui %[[V34]], %[[C16_I32]] : i32
// CHECK: %[[V42:.+]] = arith.andi %[[V41]], %[[C65535_I32]] : i32
// CHECK: %[[V43:.+]] = arith.ori %[[V42]], %[[V40]] : i32
// CHECK: %[[C4194304_I32:.+]] = arith.constant 4194304 : i32
// CHECK: %[[V44:.+]] = arith.shrui %[[V36]], %[[C16_I32]] : i32
// CHECK: %[[V45:.+]] = arith.andi %[[V44]], %[[C65535_I32]] : i32
// CHECK: %[[V46:.+]] = arith.ori %[[V45]], %[[C4194304_I32]] : i32
// CHECK: %[[V47:.+]] = llvm.trunc %[[V20]] : i64 to i32
// CHECK: %[[C32_I64_3:.+]] = arith.constant 32 : i64
// CHECK: %[[V48:.+]] = llvm.lshr %[[V20]], %[[C32_I64_3]] : i64
// CHECK: %[[V49:.+]] = llvm.trunc %[[V48]] : i64 to i32
// CHECK: %[[V50:.+]] = arith.andi %[[V49]], %[[C65535_I32]] : i32
// CHECK: %[[V51:.+]] = llvm.trunc %[[V17]] : i64 to i32
// CHECK: %[[V52:.+]] = arith.andi %[[V51]], %[[C65535_I32]] : i32
// CHECK: %[[V53:.+]] = arith.shli %[[V52]], %[[C16_I32]] : i32
// CHECK: %[[V54:.+]] = arith.ori %[[V50]], %[[V53]] : i32
// CHECK: %[[C32_I64_4:.+]] = arith.constant 32 : i64
// CHECK: %[[V55:.+]] = llvm.lshr %[[V17]], %[[C32_I64_4]] : i64
// CHECK: %[[V56:.+]] = llvm.trunc %[[V55]] : i64 to i32
// CHECK: %[[V57:.+]] = arith.andi %[[V56]], %[[C65535_I32]] : i32
// CHECK: %[[V58:.+]] = arith.shli %[[V57]], %[[C16_I32]] : i32
// CHECK: %[[V59:.+]] = llvm.trunc %[[V17]] : i64 to i32
// CHECK: %[[V60:.+]] = arith.shrui %[[V59]], %[[C16_I32]] : i32
// CHECK: %[[V61:.+]] = arith.andi %[[V60]], %[[C65535_I32]] : i32
// CHECK: %[[V62:.+]] = arith.ori %[[V61]], %[[V58]] : i32
// CHECK: %[[C524320_I32:.+]] = arith.constant 524320 : i32
// CHECK: %[[V63:.+]] = vector.from_elements %[[V32]], %[[V38]], %[[V43]], %[[V46]], %[[C524320_I32]], %[[V47]], %[[V54]], %[[V62]] : vector<8xi32>
// CHECK: %[[V64:.+]] = arith.subi %[[V12]], %[[C0_I32_0]] : i32
// CHECK: %[[V65:.+]] = arith.maxsi %[[V64]], %[[C0_I32_0]] : i32
// CHECK: %[[V66:.+]] = vector.from_elements %[[V65]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: %[[V67:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: rocdl.tensor.load.to.lds %[[V29]], %[[V63]], %[[V66]], %[[V67]] cachepolicy 0 : vector<4xi32>, vector<8xi32>
// CHECK: return
func.func @three_dimensions(%g: !fly.memref<f16, global, (8,32,64):(65536,1024,1)>, %s: !fly.memref<f16, shared, (8,32,64):(2048,64,1)>, %i: i32, %l: i64) {
  %a0 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 3, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>
  fly.copy_atom_call(%a0, %g, %s) : (!fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 3, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>, !fly.memref<f16, global, (8,32,64):(65536,1024,1)>, !fly.memref<f16, shared, (8,32,64):(2048,64,1)>) -> ()
  return
}

// CHECK-LABEL: func.func @padded_store(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: !llvm.ptr<3>, %[[ARG2:.+]]: i32, %[[ARG3:.+]]: i64
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[C2147483647_I32:.+]] = arith.constant 2147483647 : i32
// CHECK: %[[CM2147483648_I64:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[C0_I64:.+]] = arith.constant 0 : i64
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V1]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V3:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V2]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V3]][3] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V5:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V4]][4] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V6:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V5]][5] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V7:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V6]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V8:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V7]][7] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V9:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V8]][8] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V10:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V9]][9] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V11:.+]] = llvm.insertvalue %[[C0_I64]], %[[V10]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[C16_I32:.+]] = arith.constant 16 : i32
// CHECK: %[[C65535_I32:.+]] = arith.constant 65535 : i32
// CHECK: %[[V12:.+]] = llvm.extractvalue %[[V11]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V13:.+]] = llvm.extractvalue %[[V11]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V14:.+]] = llvm.extractvalue %[[V11]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[CM2147483648_I64_1:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[V15:.+]] = arith.cmpi eq, %[[V14]], %[[CM2147483648_I64_1]] : i64
// CHECK: %[[C1024_I64:.+]] = arith.constant 1024 : i64
// CHECK: %[[V16:.+]] = arith.select %[[V15]], %[[C1024_I64]], %[[V14]] : i64
// CHECK: %[[C1_I64:.+]] = arith.constant 1 : i64
// CHECK: %[[V17:.+]] = llvm.ptrtoint %[[ARG0]] : !llvm.ptr<1> to i64
// CHECK: %[[V18:.+]] = llvm.extractvalue %[[V11]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V19:.+]] = arith.addi %[[V17]], %[[V18]] : i64
// CHECK: %[[V20:.+]] = llvm.ptrtoint %[[ARG1]] : !llvm.ptr<3> to i32
// CHECK: %[[V21:.+]] = llvm.trunc %[[V19]] : i64 to i32
// CHECK: %[[C32_I64:.+]] = arith.constant 32 : i64
// CHECK: %[[V22:.+]] = llvm.lshr %[[V19]], %[[C32_I64]] : i64
// CHECK: %[[CM2147483648_I32:.+]] = arith.constant -2147483648 : i32
// CHECK: %[[V23:.+]] = llvm.trunc %[[V22]] : i64 to i32
// CHECK: %[[V24:.+]] = arith.ori %[[V23]], %[[CM2147483648_I32]] : i32
// CHECK: %[[C1_I32:.+]] = arith.constant 1 : i32
// CHECK: %[[V25:.+]] = vector.from_elements %[[C1_I32]], %[[V20]], %[[V21]], %[[V24]] : vector<4xi32>
// CHECK: %[[V26:.+]] = llvm.extractvalue %[[V11]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V27:.+]] = arith.andi %[[V26]], %[[C65535_I32]] : i32
// CHECK: %[[C118554624_I32:.+]] = arith.constant 118554624 : i32
// CHECK: %[[V28:.+]] = arith.ori %[[C118554624_I32]], %[[V27]] : i32
// CHECK: %[[V29:.+]] = arith.subi %[[V13]], %[[C0_I32_0]] : i32
// CHECK: %[[V30:.+]] = arith.maxsi %[[V29]], %[[C0_I32_0]] : i32
// CHECK: %[[V31:.+]] = arith.subi %[[V12]], %[[C0_I32_0]] : i32
// CHECK: %[[V32:.+]] = arith.maxsi %[[V31]], %[[C0_I32_0]] : i32
// CHECK: %[[V33:.+]] = arith.andi %[[V30]], %[[C65535_I32]] : i32
// CHECK: %[[V34:.+]] = arith.shli %[[V33]], %[[C16_I32]] : i32
// CHECK: %[[V35:.+]] = arith.andi %[[V32]], %[[C65535_I32]] : i32
// CHECK: %[[V36:.+]] = arith.shli %[[V35]], %[[C16_I32]] : i32
// CHECK: %[[V37:.+]] = arith.shrui %[[V30]], %[[C16_I32]] : i32
// CHECK: %[[V38:.+]] = arith.andi %[[V37]], %[[C65535_I32]] : i32
// CHECK: %[[V39:.+]] = arith.ori %[[V38]], %[[V36]] : i32
// CHECK: %[[C4194304_I32:.+]] = arith.constant 4194304 : i32
// CHECK: %[[V40:.+]] = arith.shrui %[[V32]], %[[C16_I32]] : i32
// CHECK: %[[V41:.+]] = arith.andi %[[V40]], %[[C65535_I32]] : i32
// CHECK: %[[V42:.+]] = arith.ori %[[V41]], %[[C4194304_I32]] : i32
// CHECK: %[[V43:.+]] = llvm.trunc %[[V16]] : i64 to i32
// CHECK: %[[C32_I64_2:.+]] = arith.constant 32 : i64
// CHECK: %[[V44:.+]] = llvm.lshr %[[V16]], %[[C32_I64_2]] : i64
// CHECK: %[[V45:.+]] = llvm.trunc %[[V44]] : i64 to i32
// CHECK: %[[V46:.+]] = arith.andi %[[V45]], %[[C65535_I32]] : i32
// CHECK: %[[C32_I32:.+]] = arith.constant 32 : i32
// CHECK: %[[V47:.+]] = vector.from_elements %[[V28]], %[[V34]], %[[V39]], %[[V42]], %[[C32_I32]], %[[V43]], %[[V46]], %[[C0_I32_0]] : vector<8xi32>
// CHECK: %[[V48:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: %[[V49:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: rocdl.tensor.store.from.lds %[[V25]], %[[V47]], %[[V48]], %[[V49]] cachepolicy 0 : vector<4xi32>, vector<8xi32>
// CHECK: return
func.func @padded_store(%g: !fly.memref<f16, global, (32,64):(1024,1)>, %s: !fly.memref<f16, shared, (32,64):(64,1)>, %i: i32, %l: i64) {
  %a0 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 64, 8, cache = 0, barrier = false, timeout = false>, 16>
  fly.copy_atom_call(%a0, %s, %g) : (!fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 64, 8, cache = 0, barrier = false, timeout = false>, 16>, !fly.memref<f16, shared, (32,64):(64,1)>, !fly.memref<f16, global, (32,64):(1024,1)>) -> ()
  return
}

// CHECK-LABEL: func.func @mask(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: !llvm.ptr<3>, %[[ARG2:.+]]: i32, %[[ARG3:.+]]: i64
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[C2147483647_I32:.+]] = arith.constant 2147483647 : i32
// CHECK: %[[CM2147483648_I64:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[C0_I64:.+]] = arith.constant 0 : i64
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V1]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V3:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V2]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V3]][3] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V5:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V4]][4] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V6:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V5]][5] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V7:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V6]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V8:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V7]][7] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V9:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V8]][8] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V10:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V9]][9] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V11:.+]] = llvm.insertvalue %[[C0_I64]], %[[V10]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V12:.+]] = llvm.insertvalue %[[ARG2]], %[[V11]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[C16_I32:.+]] = arith.constant 16 : i32
// CHECK: %[[C65535_I32:.+]] = arith.constant 65535 : i32
// CHECK: %[[V13:.+]] = llvm.extractvalue %[[V12]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V14:.+]] = llvm.extractvalue %[[V12]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V15:.+]] = llvm.extractvalue %[[V12]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[CM2147483648_I64_1:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[V16:.+]] = arith.cmpi eq, %[[V15]], %[[CM2147483648_I64_1]] : i64
// CHECK: %[[C1024_I64:.+]] = arith.constant 1024 : i64
// CHECK: %[[V17:.+]] = arith.select %[[V16]], %[[C1024_I64]], %[[V15]] : i64
// CHECK: %[[C1_I64:.+]] = arith.constant 1 : i64
// CHECK: %[[V18:.+]] = llvm.ptrtoint %[[ARG0]] : !llvm.ptr<1> to i64
// CHECK: %[[V19:.+]] = llvm.extractvalue %[[V12]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V20:.+]] = arith.addi %[[V18]], %[[V19]] : i64
// CHECK: %[[V21:.+]] = llvm.ptrtoint %[[ARG1]] : !llvm.ptr<3> to i32
// CHECK: %[[V22:.+]] = llvm.trunc %[[V20]] : i64 to i32
// CHECK: %[[C32_I64:.+]] = arith.constant 32 : i64
// CHECK: %[[V23:.+]] = llvm.lshr %[[V20]], %[[C32_I64]] : i64
// CHECK: %[[CM2147483648_I32:.+]] = arith.constant -2147483648 : i32
// CHECK: %[[V24:.+]] = llvm.trunc %[[V23]] : i64 to i32
// CHECK: %[[V25:.+]] = arith.ori %[[V24]], %[[CM2147483648_I32]] : i32
// CHECK: %[[C1_I32:.+]] = arith.constant 1 : i32
// CHECK: %[[V26:.+]] = vector.from_elements %[[C1_I32]], %[[V21]], %[[V22]], %[[V25]] : vector<4xi32>
// CHECK: %[[V27:.+]] = llvm.extractvalue %[[V12]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V28:.+]] = arith.andi %[[V27]], %[[C65535_I32]] : i32
// CHECK: %[[C65536_I32:.+]] = arith.constant 65536 : i32
// CHECK: %[[V29:.+]] = arith.ori %[[C65536_I32]], %[[V28]] : i32
// CHECK: %[[V30:.+]] = arith.subi %[[V14]], %[[C0_I32_0]] : i32
// CHECK: %[[V31:.+]] = arith.maxsi %[[V30]], %[[C0_I32_0]] : i32
// CHECK: %[[V32:.+]] = arith.subi %[[V13]], %[[C0_I32_0]] : i32
// CHECK: %[[V33:.+]] = arith.maxsi %[[V32]], %[[C0_I32_0]] : i32
// CHECK: %[[V34:.+]] = arith.andi %[[V31]], %[[C65535_I32]] : i32
// CHECK: %[[V35:.+]] = arith.shli %[[V34]], %[[C16_I32]] : i32
// CHECK: %[[V36:.+]] = arith.andi %[[V33]], %[[C65535_I32]] : i32
// CHECK: %[[V37:.+]] = arith.shli %[[V36]], %[[C16_I32]] : i32
// CHECK: %[[V38:.+]] = arith.shrui %[[V31]], %[[C16_I32]] : i32
// CHECK: %[[V39:.+]] = arith.andi %[[V38]], %[[C65535_I32]] : i32
// CHECK: %[[V40:.+]] = arith.ori %[[V39]], %[[V37]] : i32
// CHECK: %[[C4194304_I32:.+]] = arith.constant 4194304 : i32
// CHECK: %[[V41:.+]] = arith.shrui %[[V33]], %[[C16_I32]] : i32
// CHECK: %[[V42:.+]] = arith.andi %[[V41]], %[[C65535_I32]] : i32
// CHECK: %[[V43:.+]] = arith.ori %[[V42]], %[[C4194304_I32]] : i32
// CHECK: %[[V44:.+]] = llvm.trunc %[[V17]] : i64 to i32
// CHECK: %[[C32_I64_2:.+]] = arith.constant 32 : i64
// CHECK: %[[V45:.+]] = llvm.lshr %[[V17]], %[[C32_I64_2]] : i64
// CHECK: %[[V46:.+]] = llvm.trunc %[[V45]] : i64 to i32
// CHECK: %[[V47:.+]] = arith.andi %[[V46]], %[[C65535_I32]] : i32
// CHECK: %[[C32_I32:.+]] = arith.constant 32 : i32
// CHECK: %[[V48:.+]] = vector.from_elements %[[V29]], %[[V35]], %[[V40]], %[[V43]], %[[C32_I32]], %[[V44]], %[[V47]], %[[C0_I32_0]] : vector<8xi32>
// CHECK: %[[V49:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: %[[V50:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: rocdl.tensor.load.to.lds %[[V26]], %[[V48]], %[[V49]], %[[V50]] cachepolicy 0 : vector<4xi32>, vector<8xi32>
// CHECK: return
func.func @mask(%g: !fly.memref<f16, global, (32,64):(1024,1)>, %s: !fly.memref<f16, shared, (32,64):(64,1)>, %i: i32, %l: i64) {
  %a0 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>
  %a1 = fly.atom.set_value(%a0, "workgroup_mask", %i) : (!fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>, i32) -> !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>
  fly.copy_atom_call(%a1, %g, %s) : (!fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>, !fly.memref<f16, global, (32,64):(1024,1)>, !fly.memref<f16, shared, (32,64):(64,1)>) -> ()
  return
}

// CHECK-LABEL: func.func @immediate_offset(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: !llvm.ptr<3>, %[[ARG2:.+]]: i32, %[[ARG3:.+]]: i64
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[C2147483647_I32:.+]] = arith.constant 2147483647 : i32
// CHECK: %[[CM2147483648_I64:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[C0_I64:.+]] = arith.constant 0 : i64
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V1]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V3:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V2]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V3]][3] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V5:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V4]][4] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V6:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V5]][5] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V7:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V6]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V8:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V7]][7] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V9:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V8]][8] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V10:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V9]][9] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V11:.+]] = llvm.insertvalue %[[C0_I64]], %[[V10]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V12:.+]] = llvm.insertvalue %[[ARG3]], %[[V11]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[C16_I32:.+]] = arith.constant 16 : i32
// CHECK: %[[C65535_I32:.+]] = arith.constant 65535 : i32
// CHECK: %[[V13:.+]] = llvm.extractvalue %[[V12]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V14:.+]] = llvm.extractvalue %[[V12]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V15:.+]] = llvm.extractvalue %[[V12]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[CM2147483648_I64_1:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[V16:.+]] = arith.cmpi eq, %[[V15]], %[[CM2147483648_I64_1]] : i64
// CHECK: %[[C1024_I64:.+]] = arith.constant 1024 : i64
// CHECK: %[[V17:.+]] = arith.select %[[V16]], %[[C1024_I64]], %[[V15]] : i64
// CHECK: %[[C1_I64:.+]] = arith.constant 1 : i64
// CHECK: %[[V18:.+]] = llvm.ptrtoint %[[ARG0]] : !llvm.ptr<1> to i64
// CHECK: %[[V19:.+]] = llvm.extractvalue %[[V12]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V20:.+]] = arith.addi %[[V18]], %[[V19]] : i64
// CHECK: %[[V21:.+]] = llvm.ptrtoint %[[ARG1]] : !llvm.ptr<3> to i32
// CHECK: %[[V22:.+]] = llvm.trunc %[[V20]] : i64 to i32
// CHECK: %[[C32_I64:.+]] = arith.constant 32 : i64
// CHECK: %[[V23:.+]] = llvm.lshr %[[V20]], %[[C32_I64]] : i64
// CHECK: %[[CM2147483648_I32:.+]] = arith.constant -2147483648 : i32
// CHECK: %[[V24:.+]] = llvm.trunc %[[V23]] : i64 to i32
// CHECK: %[[V25:.+]] = arith.ori %[[V24]], %[[CM2147483648_I32]] : i32
// CHECK: %[[C1_I32:.+]] = arith.constant 1 : i32
// CHECK: %[[V26:.+]] = vector.from_elements %[[C1_I32]], %[[V21]], %[[V22]], %[[V25]] : vector<4xi32>
// CHECK: %[[V27:.+]] = llvm.extractvalue %[[V12]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V28:.+]] = arith.andi %[[V27]], %[[C65535_I32]] : i32
// CHECK: %[[C65536_I32:.+]] = arith.constant 65536 : i32
// CHECK: %[[V29:.+]] = arith.ori %[[C65536_I32]], %[[V28]] : i32
// CHECK: %[[V30:.+]] = arith.subi %[[V14]], %[[C0_I32_0]] : i32
// CHECK: %[[V31:.+]] = arith.maxsi %[[V30]], %[[C0_I32_0]] : i32
// CHECK: %[[V32:.+]] = arith.subi %[[V13]], %[[C0_I32_0]] : i32
// CHECK: %[[V33:.+]] = arith.maxsi %[[V32]], %[[C0_I32_0]] : i32
// CHECK: %[[V34:.+]] = arith.andi %[[V31]], %[[C65535_I32]] : i32
// CHECK: %[[V35:.+]] = arith.shli %[[V34]], %[[C16_I32]] : i32
// CHECK: %[[V36:.+]] = arith.andi %[[V33]], %[[C65535_I32]] : i32
// CHECK: %[[V37:.+]] = arith.shli %[[V36]], %[[C16_I32]] : i32
// CHECK: %[[V38:.+]] = arith.shrui %[[V31]], %[[C16_I32]] : i32
// CHECK: %[[V39:.+]] = arith.andi %[[V38]], %[[C65535_I32]] : i32
// CHECK: %[[V40:.+]] = arith.ori %[[V39]], %[[V37]] : i32
// CHECK: %[[C4194304_I32:.+]] = arith.constant 4194304 : i32
// CHECK: %[[V41:.+]] = arith.shrui %[[V33]], %[[C16_I32]] : i32
// CHECK: %[[V42:.+]] = arith.andi %[[V41]], %[[C65535_I32]] : i32
// CHECK: %[[V43:.+]] = arith.ori %[[V42]], %[[C4194304_I32]] : i32
// CHECK: %[[V44:.+]] = llvm.trunc %[[V17]] : i64 to i32
// CHECK: %[[C32_I64_2:.+]] = arith.constant 32 : i64
// CHECK: %[[V45:.+]] = llvm.lshr %[[V17]], %[[C32_I64_2]] : i64
// CHECK: %[[V46:.+]] = llvm.trunc %[[V45]] : i64 to i32
// CHECK: %[[V47:.+]] = arith.andi %[[V46]], %[[C65535_I32]] : i32
// CHECK: %[[C32_I32:.+]] = arith.constant 32 : i32
// CHECK: %[[V48:.+]] = vector.from_elements %[[V29]], %[[V35]], %[[V40]], %[[V43]], %[[C32_I32]], %[[V44]], %[[V47]], %[[C0_I32_0]] : vector<8xi32>
// CHECK: %[[V49:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: %[[V50:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: rocdl.tensor.load.to.lds %[[V26]], %[[V48]], %[[V49]], %[[V50]] cachepolicy 0 : vector<4xi32>, vector<8xi32>
// CHECK: return
func.func @immediate_offset(%g: !fly.memref<f16, global, (32,64):(1024,1)>, %s: !fly.memref<f16, shared, (32,64):(64,1)>, %i: i32, %l: i64) {
  %a0 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>
  %a1 = fly.atom.set_value(%a0, "imm_offset", %l) : (!fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>, i64) -> !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>
  fly.copy_atom_call(%a1, %g, %s) : (!fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>, !fly.memref<f16, global, (32,64):(1024,1)>, !fly.memref<f16, shared, (32,64):(64,1)>) -> ()
  return
}

// Barrier is bit 18, early timeout bit 21 of the first word of group 1.
// CHECK-LABEL: func.func @barrier_and_timeout(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: !llvm.ptr<3>, %[[ARG2:.+]]: i32, %[[ARG3:.+]]: i64
// CHECK: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[C2147483647_I32:.+]] = arith.constant 2147483647 : i32
// CHECK: %[[CM2147483648_I64:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[C0_I64:.+]] = arith.constant 0 : i64
// CHECK: %[[V1:.+]] = llvm.insertvalue %[[C0_I32]], %[[V0]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V1]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V3:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V2]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V4:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V3]][3] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V5:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V4]][4] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V6:.+]] = llvm.insertvalue %[[C2147483647_I32]], %[[V5]][5] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V7:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V6]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V8:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V7]][7] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V9:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V8]][8] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V10:.+]] = llvm.insertvalue %[[CM2147483648_I64]], %[[V9]][9] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V11:.+]] = llvm.insertvalue %[[C0_I64]], %[[V10]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[C16_I32:.+]] = arith.constant 16 : i32
// CHECK: %[[C65535_I32:.+]] = arith.constant 65535 : i32
// CHECK: %[[V12:.+]] = llvm.extractvalue %[[V11]][1] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V13:.+]] = llvm.extractvalue %[[V11]][2] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V14:.+]] = llvm.extractvalue %[[V11]][6] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[CM2147483648_I64_1:.+]] = arith.constant -2147483648 : i64
// CHECK: %[[V15:.+]] = arith.cmpi eq, %[[V14]], %[[CM2147483648_I64_1]] : i64
// CHECK: %[[C1024_I64:.+]] = arith.constant 1024 : i64
// CHECK: %[[V16:.+]] = arith.select %[[V15]], %[[C1024_I64]], %[[V14]] : i64
// CHECK: %[[C1_I64:.+]] = arith.constant 1 : i64
// CHECK: %[[V17:.+]] = llvm.ptrtoint %[[ARG0]] : !llvm.ptr<1> to i64
// CHECK: %[[V18:.+]] = llvm.extractvalue %[[V11]][10] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V19:.+]] = arith.addi %[[V17]], %[[V18]] : i64
// CHECK: %[[V20:.+]] = llvm.ptrtoint %[[ARG1]] : !llvm.ptr<3> to i32
// CHECK: %[[V21:.+]] = llvm.trunc %[[V19]] : i64 to i32
// CHECK: %[[C32_I64:.+]] = arith.constant 32 : i64
// CHECK: %[[V22:.+]] = llvm.lshr %[[V19]], %[[C32_I64]] : i64
// CHECK: %[[CM2147483648_I32:.+]] = arith.constant -2147483648 : i32
// CHECK: %[[V23:.+]] = llvm.trunc %[[V22]] : i64 to i32
// CHECK: %[[V24:.+]] = arith.ori %[[V23]], %[[CM2147483648_I32]] : i32
// CHECK: %[[C1_I32:.+]] = arith.constant 1 : i32
// CHECK: %[[V25:.+]] = vector.from_elements %[[C1_I32]], %[[V20]], %[[V21]], %[[V24]] : vector<4xi32>
// CHECK: %[[V26:.+]] = llvm.extractvalue %[[V11]][0] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>
// CHECK: %[[V27:.+]] = arith.andi %[[V26]], %[[C65535_I32]] : i32
// CHECK: %[[C2424832_I32:.+]] = arith.constant 2424832 : i32
// CHECK: %[[V28:.+]] = arith.ori %[[C2424832_I32]], %[[V27]] : i32
// CHECK: %[[V29:.+]] = arith.subi %[[V13]], %[[C0_I32_0]] : i32
// CHECK: %[[V30:.+]] = arith.maxsi %[[V29]], %[[C0_I32_0]] : i32
// CHECK: %[[V31:.+]] = arith.subi %[[V12]], %[[C0_I32_0]] : i32
// CHECK: %[[V32:.+]] = arith.maxsi %[[V31]], %[[C0_I32_0]] : i32
// CHECK: %[[V33:.+]] = arith.andi %[[V30]], %[[C65535_I32]] : i32
// CHECK: %[[V34:.+]] = arith.shli %[[V33]], %[[C16_I32]] : i32
// CHECK: %[[V35:.+]] = arith.andi %[[V32]], %[[C65535_I32]] : i32
// CHECK: %[[V36:.+]] = arith.shli %[[V35]], %[[C16_I32]] : i32
// CHECK: %[[V37:.+]] = arith.shrui %[[V30]], %[[C16_I32]] : i32
// CHECK: %[[V38:.+]] = arith.andi %[[V37]], %[[C65535_I32]] : i32
// CHECK: %[[V39:.+]] = arith.ori %[[V38]], %[[V36]] : i32
// CHECK: %[[C4194304_I32:.+]] = arith.constant 4194304 : i32
// CHECK: %[[V40:.+]] = arith.shrui %[[V32]], %[[C16_I32]] : i32
// CHECK: %[[V41:.+]] = arith.andi %[[V40]], %[[C65535_I32]] : i32
// CHECK: %[[V42:.+]] = arith.ori %[[V41]], %[[C4194304_I32]] : i32
// CHECK: %[[V43:.+]] = llvm.trunc %[[V16]] : i64 to i32
// CHECK: %[[C32_I64_2:.+]] = arith.constant 32 : i64
// CHECK: %[[V44:.+]] = llvm.lshr %[[V16]], %[[C32_I64_2]] : i64
// CHECK: %[[V45:.+]] = llvm.trunc %[[V44]] : i64 to i32
// CHECK: %[[V46:.+]] = arith.andi %[[V45]], %[[C65535_I32]] : i32
// CHECK: %[[C32_I32:.+]] = arith.constant 32 : i32
// CHECK: %[[V47:.+]] = vector.from_elements %[[V28]], %[[V34]], %[[V39]], %[[V42]], %[[C32_I32]], %[[V43]], %[[V46]], %[[C0_I32_0]] : vector<8xi32>
// CHECK: %[[V48:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: %[[V49:.+]] = vector.from_elements %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xi32>
// CHECK: rocdl.tensor.load.to.lds %[[V25]], %[[V47]], %[[V48]], %[[V49]] cachepolicy 0 : vector<4xi32>, vector<8xi32>
// CHECK: return
func.func @barrier_and_timeout(%g: !fly.memref<f16, global, (32,64):(1024,1)>, %s: !fly.memref<f16, shared, (32,64):(64,1)>, %i: i32, %l: i64) {
  %a0 = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = true, timeout = true>, 16>
  fly.copy_atom_call(%a0, %g, %s) : (!fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = true, timeout = true>, 16>, !fly.memref<f16, global, (32,64):(1024,1)>, !fly.memref<f16, shared, (32,64):(64,1)>) -> ()
  return
}
