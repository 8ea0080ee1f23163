// SPDX-License-Identifier: Apache-2.0
//
// Lowerings of the atoms of NVIDIA GPUs: one function per family.
#ifndef FLY_LIB_CONVERSION_FLYTONVVM_ATOMCALLS_H
#define FLY_LIB_CONVERSION_FLYTONVVM_ATOMCALLS_H

#include "../FlyToLLVM/AtomCalls.h"
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace fly::nvvm {

/// Products of a warpgroup one behind the other on the same accumulators, which become one piece of
/// assembly.
struct Products {
  std::string assembly;
  /// What it reads beside the accumulators, and their constraints.
  llvm::SmallVector<std::pair<mlir::Value, llvm::StringRef>> inputs;
};

/// Products that are not emitted yet, by the call that they share their assembly with. Assembly
/// takes and gives all accumulators, one by one: of a sum of eight products, seven eighths of
/// everything that the compiler would have to look at.
class OpenProducts {
public:
  void leave(mlir::Operation *call, Products products) {
    byCall.insert({call, std::move(products)});
  }
  Products take(mlir::Operation *call) {
    auto found = byCall.find(call);
    if (found == byCall.end())
      return {};
    Products products = std::move(found->second);
    byCall.erase(found);
    return products;
  }

private:
  llvm::DenseMap<mlir::Operation *, Products> byCall;
};

/// Lowers a product, or leaves it open for the next one on its accumulators; these pass through.
mlir::FailureOr<mlir::Value> lowerWGMMA(mlir::OpBuilder &builder, SM90WGMMAType operation,
                                        const lowering::MmaCall &call, OpenProducts &open);
mlir::FailureOr<mlir::Value> lowerMmaSync(mlir::OpBuilder &builder, SM80MmaSyncType operation,
                                          const lowering::MmaCall &call);
lowering::CopyResult lowerLdMatrix(mlir::OpBuilder &builder, LdMatrixType operation,
                                   const lowering::CopyCall &call);
lowering::CopyResult lowerStMatrix(mlir::OpBuilder &builder, StMatrixType operation,
                                   const lowering::CopyCall &call);
lowering::CopyResult lowerCpAsync(mlir::OpBuilder &builder, SM80CpAsyncType operation,
                                  const lowering::CopyCall &call);
lowering::CopyResult lowerTMALoad(mlir::OpBuilder &builder, SM90TMALoadType operation,
                                  const lowering::CopyCall &call);
lowering::CopyResult lowerTMAStore(mlir::OpBuilder &builder, SM90TMAStoreType operation,
                                   const lowering::CopyCall &call);
lowering::CopyResult lowerTMAReduce(mlir::OpBuilder &builder, SM90TMAReduceType operation,
                                    const lowering::CopyCall &call);

} // namespace fly::nvvm

#endif // FLY_LIB_CONVERSION_FLYTONVVM_ATOMCALLS_H
