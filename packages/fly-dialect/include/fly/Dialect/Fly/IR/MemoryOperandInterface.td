// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLY_IR_MEMORYOPERANDINTERFACE_TD
#define FLY_DIALECT_FLY_IR_MEMORYOPERANDINTERFACE_TD

include "mlir/IR/OpBase.td"

def Fly_MemoryOperandTypeInterface : TypeInterface<"MemoryOperandTypeInterface"> {
  let cppNamespace = "::fly";
  let description = [{
    A matrix operation that reads operands where they lie in shared memory, by itself. Operations
    without this interface take the values that lanes hold.
  }];
  let methods = [
    InterfaceMethod<"Whether the operation reads the operand in shared memory.", "bool",
                    "readsMemory", (ins "::fly::MmaOperand":$operand)>,
    InterfaceMethod<[{
        Why one call cannot take `memref`, which holds one matrix of the operand, as a sentence with
        what it can take; nothing when it can. The operand is one that it reads in memory.
      }], "::std::optional<::std::string>", "whyUnreadable",
      (ins "::fly::MmaOperand":$operand, "::fly::MemRefType":$memref)>,
  ];
}

#endif // FLY_DIALECT_FLY_IR_MEMORYOPERANDINTERFACE_TD
