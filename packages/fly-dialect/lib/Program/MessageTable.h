// SPDX-License-Identifier: Apache-2.0
//
// The texts that a program prints and asserts, and the records of their values.
#ifndef FLY_LIB_PROGRAM_MESSAGETABLE_H
#define FLY_LIB_PROGRAM_MESSAGETABLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fly {

/// The attribute of a module whose programs print or assert: the table of their messages.
inline constexpr llvm::StringLiteral messagesAttribute = "fly.messages";

/// The attribute of an op that is the text of a failed assertion.
inline constexpr llvm::StringLiteral assertionAttribute = "fly.assertion";

/// The conversion of a float: without flags, the runtime prints the shortest text that gives the
/// same float again.
inline constexpr llvm::StringLiteral shortestFloat = "%g";

/// The messages of a module. Their numbers begin with 1; in device and host code they stand for the
/// texts, which are in the module's attribute `fly.messages`.
class MessageTable {
public:
  explicit MessageTable(mlir::MLIRContext *context) : builder(context) {}

  /// Adds a message of "print", "assert", "host" or "host_assert" and returns its number. `values`
  /// are of the types that a record can hold; `where` is the place that an assertion names.
  int32_t add(llvm::StringRef kind, llvm::StringRef format, mlir::ValueRange values,
              std::optional<mlir::Location> where = std::nullopt);

  bool empty() const { return entries.empty(); }
  mlir::ArrayAttr get() { return builder.getArrayAttr(entries); }

private:
  mlir::Builder builder;
  llvm::SmallVector<mlir::Attribute> entries;
};

/// Refuses values of types that a record cannot hold, in the name of `op`.
mlir::LogicalResult checkRecordable(mlir::Operation *op, mlir::ValueRange values);

/// 32-bit words that the values take in a record.
int32_t recordWords(mlir::ValueRange values);

/// Stores the values one behind the other to the address `record`.
void storeRecord(mlir::ImplicitLocOpBuilder &builder, mlir::Value record, mlir::ValueRange values);

/// A format whose conversions of signed integers that the front end marked as unsigned are
/// replaced.
std::string withUnsignedConversions(llvm::StringRef format);

/// Replaces every gpu.printf of a device module by a record in the runtime's buffer.
mlir::LogicalResult lowerDeviceMessages(mlir::gpu::GPUModuleOp module, MessageTable &messages);

/// Replaces every vector.print of a host function by calls of the runtime.
mlir::LogicalResult lowerHostMessages(mlir::func::FuncOp function, MessageTable &messages);

} // namespace fly

#endif // FLY_LIB_PROGRAM_MESSAGETABLE_H
