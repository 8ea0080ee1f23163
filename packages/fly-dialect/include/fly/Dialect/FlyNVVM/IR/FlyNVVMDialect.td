// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLYNVVM_IR_FLYNVVMDIALECT_TD
#define FLY_DIALECT_FLYNVVM_IR_FLYNVVMDIALECT_TD

include "mlir/IR/DialectBase.td"

def FlyNVVM_Dialect : Dialect {
  let name = "fly_nvvm";
  let cppNamespace = "::fly::nvvm";
  let summary = "Copy and matrix operations of NVIDIA GPUs";
  let dependentDialects = ["::fly::FlyDialect"];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

#endif // FLY_DIALECT_FLYNVVM_IR_FLYNVVMDIALECT_TD
