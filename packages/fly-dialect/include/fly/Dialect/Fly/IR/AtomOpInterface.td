// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLY_IR_ATOMOPINTERFACE_TD
#define FLY_DIALECT_FLY_IR_ATOMOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Fly_AtomOpTypeInterface : TypeInterface<"AtomOpTypeInterface"> {
  let cppNamespace = "::fly";
  let description = [{
    What a copy or matrix operation of a back end answers besides its geometry: the targets that
    have it, the names of its run-time state, and what it leaves to its operands. An operation
    without this interface exists on every target.
  }];
  let methods = [
    InterfaceMethod<[{
        Why code for `target` ("gfx942", also with a suffix: "gfx1250-strict") has no use for the
        operation, as a sentence; nothing when the target is not known to lack it.
      }], "::std::optional<::std::string>", "whyUnavailable", (ins "::llvm::StringRef":$target)>,
    InterfaceMethod<"Names of the first members of the operation's state, in their order.",
                    "::llvm::ArrayRef<::llvm::StringLiteral>", "getStateMembers", (ins), [{}],
                    [{ return {}; }]>,
    InterfaceMethod<"The fields that `atom.set_value` takes.",
                    "::llvm::SmallVector<::llvm::StringRef>", "getStateFields", (ins), [{}], [{
        ::llvm::ArrayRef<::llvm::StringLiteral> members = $_type.getStateMembers();
        return ::llvm::SmallVector<::llvm::StringRef>(members.begin(), members.end());
      }]>,
    InterfaceMethod<[{
        The operand in shared memory that lanes and hardware address between them, so that the
        swizzle of its pointer is not applied; nothing where all swizzles are.
      }], "::std::optional<::fly::CopyOperand>", "getUnswizzledOperand", (ins), [{}],
      [{ return ::std::nullopt; }]>,
    InterfaceMethod<[{
        The bits that either operand of one call holds, for plain copies between memory and
        registers.
      }], "::std::optional<int32_t>", "getOperandBits", (ins), [{}], [{ return ::std::nullopt; }]>,
  ];
}

#endif // FLY_DIALECT_FLY_IR_ATOMOPINTERFACE_TD
