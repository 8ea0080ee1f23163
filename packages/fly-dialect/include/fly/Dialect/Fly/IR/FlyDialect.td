// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLY_IR_FLYDIALECT_TD
#define FLY_DIALECT_FLY_IR_FLYDIALECT_TD

include "mlir/IR/DialectBase.td"

def Fly_Dialect : Dialect {
  let name = "fly";
  let cppNamespace = "::fly";
  let summary = "Explicit layouts for GPU kernels";
  let description = [{
    The algebra of layouts as a first-class part of the IR. Types carry what is known at compile
    time: an `int_tuple`, a `layout` or a `memref` type spells every static integer, and only the
    dynamic ones have SSA values. The result types of the algebra's ops are inferred from the types
    of their operands.
  }];
  // Canonicalisation makes constants.
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasCanonicalizer = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();

    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

#endif // FLY_DIALECT_FLY_IR_FLYDIALECT_TD
