// SPDX-License-Identifier: Apache-2.0
//
// What the type of a copy or matrix operation has to answer about its geometry. How such an
// operation is lowered is the business of the back end's conversion, not of the type.

#ifndef FLY_DIALECT_FLY_IR_FLYINTERFACES_TD
#define FLY_DIALECT_FLY_IR_FLYINTERFACES_TD

include "mlir/IR/OpBase.td"

def Fly_CopyOpTypeInterface : TypeInterface<"CopyOpTypeInterface"> {
  let cppNamespace = "::fly";
  let description = [{
    A copy operation: some lanes move some bits together. The three bit layouts map (thread, bit) to
    a linear bit index of the moved data, as the lanes hold it at the source, at the destination,
    and in the reference order that tiled copies count in.
  }];
  let methods = [
    InterfaceMethod<"The lanes that cooperate in one call, as a layout.", "::fly::Layout",
                    "getThreadLayout">,
    InterfaceMethod<"Layout of the source: (thread, bit) to bit.", "::fly::Layout",
                    "getSourceBitLayout">,
    InterfaceMethod<"Layout of the destination: (thread, bit) to bit.", "::fly::Layout",
                    "getDestinationBitLayout">,
    InterfaceMethod<"Reference layout: (thread, bit) to bit.", "::fly::Layout",
                    "getReferenceBitLayout">,
    InterfaceMethod<[{
        Whether one call moves a whole tile of any rank, so that the expansion of `fly.copy` must
        not split it.
      }], "bool", "isWholeTileCopy", (ins), [{}], [{ return false; }]>,
  ];
}

def Fly_MmaOpTypeInterface : TypeInterface<"MmaOpTypeInterface"> {
  let cppNamespace = "::fly";
  let description = [{
    A matrix operation D = A * B^T + C on an (M,K), an (N,K) and an (M,N) matrix. The thread-value
    layouts map (thread, value) to a column-major index of the operand's matrix.
  }];
  let methods = [
    InterfaceMethod<"The extents M, N and K.", "::std::array<int32_t, 3>", "getShapeMNK">,
    InterfaceMethod<"The lanes that cooperate in one call, as a layout.", "::fly::Layout",
                    "getThreadLayout">,
    InterfaceMethod<"Element type of an operand.", "::mlir::Type", "getElementType",
                    (ins "::fly::MmaOperand":$operand)>,
    InterfaceMethod<"Thread-value layout of an operand; D has that of C.", "::fly::Layout",
                    "getThreadValueLayout", (ins "::fly::MmaOperand":$operand)>,
    InterfaceMethod<[{
        Whether a tiled matrix operation can be made of it: one call computes one dense product.
      }], "bool", "isTileable", (ins), [{}], [{ return true; }]>,
  ];
}

def Fly_StatefulOpTypeInterface : TypeInterface<"StatefulOpTypeInterface"> {
  let cppNamespace = "::fly";
  let description = [{
    A copy or matrix operation whose atom carries run-time state. Operations without this interface
    are static: an atom of theirs can be rebuilt from its type.
  }];
  let methods = [
    InterfaceMethod<"The LLVM struct type that holds the state.", "::mlir::Type", "getStateType">,
  ];
}

#endif // FLY_DIALECT_FLY_IR_FLYINTERFACES_TD
