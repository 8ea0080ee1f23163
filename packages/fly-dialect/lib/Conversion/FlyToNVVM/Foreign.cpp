// SPDX-License-Identifier: Apache-2.0
//
// What a program for an NVIDIA GPU cannot have: operations, atoms and address spaces of AMD's.
#include "../FlyToLLVM/TypeConverter.h"
#include "NVVMDevice.h"
#include "fly/Dialect/Fly/IR/AtomOpInterface.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace fly::nvvm {
namespace {

/// What there is in place of an operation or intrinsic of AMD's, by its name without the dialect;
/// nothing where there is none.
StringRef insteadOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("ballot", "fx.nvgpu.ballot")
      .Cases({"exp2", "amdgcn.exp2"}, "fx.nvgpu.exp2_approx")
      .Cases({"rcp", "amdgcn.rcp"}, "fx.nvgpu.reciprocal_approx")
      .Cases({"rsq", "amdgcn.rsq"}, "fx.nvgpu.rsqrt_approx")
      .Cases({"readlane", "readfirstlane", "ds_bpermute", "ds_swizzle", "update.dpp", "mov.dpp"},
             "fx.gpu.shuffle_idx or fx.gpu.shuffle_xor")
      .Cases({"barrier", "s.barrier"}, "fx.barrier")
      .Cases({"sched.barrier", "sched.group.barrier", "s.setprio", "s.waitcnt", "iglp.opt"},
             "nothing: the driver's compiler schedules and waits")
      .StartsWith("raw.ptr.buffer", "copies of tensors in global memory with a predicate")
      .StartsWith("make.buffer", "tensors in global memory")
      .Default(StringRef());
}

LogicalResult refuse(Operation *op, const Twine &what, StringRef chip, StringRef instead) {
  InFlightDiagnostic diagnostic =
      op->emitError() << what << " exists on AMD GPUs, and the kernel is compiled for " << chip;
  if (!instead.empty())
    diagnostic << "; use " << instead;
  return diagnostic;
}

LogicalResult checkOperation(Operation *op, StringRef chip) {
  if (isa_and_nonnull<ROCDL::ROCDLDialect, amdgpu::AMDGPUDialect, rocdl::FlyROCDLDialect>(
          op->getDialect()))
    return refuse(op, op->getName().getStringRef(), chip, insteadOf(op->getName().stripDialect()));
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
      call && call.getIntrin().starts_with("llvm.amdgcn"))
    return refuse(op, call.getIntrin(), chip,
                  insteadOf(call.getIntrin().drop_front(StringRef("llvm.").size())));
  return success();
}

LogicalResult checkType(Operation *op, Type type, StringRef chip) {
  if (auto operation = dyn_cast_or_null<AtomOpTypeInterface>(lowering::getAtomOperation(type)))
    if (std::optional<std::string> why = operation.whyUnavailable(chip))
      return op->emitError(*why);
  Attribute space;
  if (auto pointer = dyn_cast<fly::PointerType>(type))
    space = pointer.getAddressSpace();
  else if (auto memref = dyn_cast<fly::MemRefType>(type))
    space = memref.getAddressSpace();
  if (isa_and_nonnull<rocdl::BufferDescAttr>(space))
    return refuse(op, "a buffer resource", chip,
                  "the tensor itself, and predicates for what lies outside of it");
  return success();
}

} // namespace

LogicalResult refuseForeign(Operation *root, StringRef chip) {
  return failure(root->walk<WalkOrder::PreOrder>([&](Operation *op) {
                       if (failed(checkOperation(op, chip)))
                         return WalkResult::interrupt();
                       for (Type type : op->getResultTypes())
                         if (failed(checkType(op, type, chip)))
                           return WalkResult::interrupt();
                       return WalkResult::advance();
                     })
                     .wasInterrupted());
}

} // namespace fly::nvvm
