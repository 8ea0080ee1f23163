// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLYROCDL_IR_FLYROCDLDIALECT_TD
#define FLY_DIALECT_FLYROCDL_IR_FLYROCDLDIALECT_TD

include "mlir/IR/DialectBase.td"

def FlyROCDL_Dialect : Dialect {
  let name = "fly_rocdl";
  let cppNamespace = "::fly::rocdl";
  let summary = "Copy and matrix operations of AMD GPUs";
  let dependentDialects = ["::fly::FlyDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // FLY_DIALECT_FLYROCDL_IR_FLYROCDLDIALECT_TD
