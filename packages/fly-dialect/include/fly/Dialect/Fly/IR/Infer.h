// SPDX-License-Identifier: Apache-2.0
//
// Result types of the ops of the fly dialect. One function per op, in terms of the types of its
// operands and of its attributes, so that builders, verifiers, passes and Python share them.
//
// Operand types are those that the op's verifier admits, which the generated inferReturnTypes has
// checked (`checkOperands`). Any input for which the operation is not defined is reported at the
// location, if there is one, as `OpName: reason`.

#ifndef FLY_DIALECT_FLY_IR_INFER_H
#define FLY_DIALECT_FLY_IR_INFER_H

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"

#include <optional>

namespace fly {

/// Where to report; nothing means that nobody wants to know.
using InferLocation = std::optional<mlir::Location>;
using InferredType = mlir::FailureOr<mlir::Type>;
using InferredTypes = mlir::FailureOr<llvm::SmallVector<mlir::Type>>;

// --- constructors ---
InferredType inferMakeLayout(InferLocation loc, mlir::Type shape, mlir::Type stride);
InferredType inferMakeLayoutLike(InferLocation loc, mlir::Type layout);
InferredType inferMakeOrderedLayout(InferLocation loc, mlir::Type shape, mlir::Type order);
InferredType inferMakeComposedLayout(InferLocation loc, mlir::Type inner, mlir::Type offset,
                                     mlir::Type outer);
InferredType inferMakeIdentityLayout(InferLocation loc, mlir::Type shape);
InferredType inferMakeView(InferLocation loc, mlir::Type iter, mlir::Type layout);
InferredType inferMakeFragmentLayoutLike(InferLocation loc, mlir::Type source);
/// `dtype` may be null.
InferredType inferMakeFragmentLike(InferLocation loc, mlir::Type source, mlir::TypeAttr dtype);

// --- extractors ---
InferredType inferGetScalar(InferLocation loc, mlir::Type tuple);
InferredTypes inferGetLeaves(InferLocation loc, mlir::Type tuple, bool dynamicOnly);
InferredType inferGetShape(InferLocation loc, mlir::Type layoutLike);
InferredType inferGetStride(InferLocation loc, mlir::Type layoutLike);
InferredType inferGetLayout(InferLocation loc, mlir::Type tensor);
InferredType inferGetIter(InferLocation loc, mlir::Type tensor);
InferredType inferComposedGetInner(InferLocation loc, mlir::Type layout);
InferredType inferComposedGetOffset(InferLocation loc, mlir::Type layout);
InferredType inferComposedGetOuter(InferLocation loc, mlir::Type layout);

// --- tuple arithmetic ---
InferredType inferIntTupleAdd(InferLocation loc, mlir::Type lhs, mlir::Type rhs);
InferredType inferIntTupleSub(InferLocation loc, mlir::Type lhs, mlir::Type rhs);
InferredType inferIntTupleMul(InferLocation loc, mlir::Type lhs, mlir::Type rhs);
InferredType inferIntTupleDiv(InferLocation loc, mlir::Type lhs, mlir::Type rhs);
InferredType inferIntTupleMod(InferLocation loc, mlir::Type lhs, mlir::Type rhs);
InferredType inferIntTupleProduct(InferLocation loc, mlir::Type tuple);
InferredType inferIntTupleProductEach(InferLocation loc, mlir::Type tuple);
InferredType inferIntTupleProductLike(InferLocation loc, mlir::Type tuple, mlir::Type guide);
InferredType inferShapeDiv(InferLocation loc, mlir::Type lhs, mlir::Type rhs);
InferredType inferCeilDiv(InferLocation loc, mlir::Type lhs, mlir::Type rhs);

// --- modes ---
InferredType inferGet(InferLocation loc, mlir::Type source, llvm::ArrayRef<int32_t> mode);
InferredType inferTake(InferLocation loc, mlir::Type source, int32_t begin, int32_t end);
InferredType inferGroup(InferLocation loc, mlir::Type source, int32_t begin, int32_t end);
InferredType inferSelect(InferLocation loc, mlir::Type source, llvm::ArrayRef<int32_t> indices);
InferredType inferAppend(InferLocation loc, mlir::Type tuple, mlir::Type elem,
                         std::optional<int32_t> n);
InferredType inferPrepend(InferLocation loc, mlir::Type tuple, mlir::Type elem,
                          std::optional<int32_t> n);
InferredType inferSlice(InferLocation loc, mlir::Type source, mlir::Type coord);
InferredType inferDice(InferLocation loc, mlir::Type source, mlir::Type coord);

// --- layout functions ---
InferredType inferSize(InferLocation loc, mlir::Type source);
InferredType inferCoprofile(InferLocation loc, mlir::Type layoutLike);
InferredType inferCoshape(InferLocation loc, mlir::Type layoutLike);
InferredType inferCosize(InferLocation loc, mlir::Type layoutLike);
InferredType inferCrd2Idx(InferLocation loc, mlir::Type coord, mlir::Type layout);
InferredType inferIdx2Crd(InferLocation loc, mlir::Type index, mlir::Type layout);
InferredType inferGetFlatCoord(InferLocation loc, mlir::Type index, mlir::Type layout);
InferredType inferGet1DCoord(InferLocation loc, mlir::Type index, mlir::Type layout);

// --- algebra ---
/// `pattern` may be null.
InferredType inferCoalesce(InferLocation loc, mlir::Type layoutLike, mlir::Type pattern);
InferredType inferComposition(InferLocation loc, mlir::Type lhs, mlir::Type rhs);
/// `codomainSize` may be null.
InferredType inferComplement(InferLocation loc, mlir::Type layout, mlir::Type codomainSize);
InferredType inferRightInverse(InferLocation loc, mlir::Type layout);
InferredType inferLeftInverse(InferLocation loc, mlir::Type layout);
InferredType inferLogicalDivide(InferLocation loc, mlir::Type layoutLike, mlir::Type divisor);
InferredType inferZippedDivide(InferLocation loc, mlir::Type layoutLike, mlir::Type divisor);
InferredType inferTiledDivide(InferLocation loc, mlir::Type layoutLike, mlir::Type divisor);
InferredType inferFlatDivide(InferLocation loc, mlir::Type layoutLike, mlir::Type divisor);
InferredType inferLogicalProduct(InferLocation loc, mlir::Type layout, mlir::Type tiler);
InferredType inferZippedProduct(InferLocation loc, mlir::Type layout, mlir::Type tiler);
InferredType inferTiledProduct(InferLocation loc, mlir::Type layout, mlir::Type tiler);
InferredType inferFlatProduct(InferLocation loc, mlir::Type layout, mlir::Type tiler);
InferredType inferBlockedProduct(InferLocation loc, mlir::Type layout, mlir::Type tiler);
InferredType inferRakedProduct(InferLocation loc, mlir::Type layout, mlir::Type tiler);
InferredType inferRecastLayout(InferLocation loc, mlir::Type layout, int32_t newTypeBits,
                               int32_t oldTypeBits);
InferredType inferTileToShape(InferLocation loc, mlir::Type block, mlir::Type targetShape,
                              mlir::Type order);

// --- pointers and memory ---
InferredType inferGetDynShared(mlir::MLIRContext *context);
InferredType inferPtrToInt(InferLocation loc, mlir::Type pointer);
InferredType inferToLLVMPtr(InferLocation loc, mlir::Type pointer, int32_t llvmAddressSpace);
InferredType inferAddOffset(InferLocation loc, mlir::Type iter, mlir::Type offset);
InferredType inferApplySwizzle(InferLocation loc, mlir::Type pointer, mlir::Type swizzle);
InferredType inferDecomposition(InferLocation loc, mlir::Type tensor);
InferredType inferMemRefLoadVec(InferLocation loc, mlir::Type tensor);
InferredType inferMemRefLoad(InferLocation loc, mlir::Type tensor, mlir::Type coord);

// --- atoms and tilings ---
InferredType inferAtomSetValue(InferLocation loc, mlir::Type atom);
InferredType inferGetCopyAtom(InferLocation loc, mlir::Type tiledCopy);
InferredType inferGetMmaAtom(InferLocation loc, mlir::Type tiledMma);
InferredType inferMakeTiledCopy(InferLocation loc, mlir::Type atom, mlir::Type layoutTV,
                                mlir::Type tile);
/// `permutation` may be null.
InferredType inferMakeTiledMma(InferLocation loc, mlir::Type atom, mlir::Type atomLayout,
                               mlir::Type permutation);
InferredType inferTiledCopyPartitionSrc(InferLocation loc, mlir::Type tiledCopy, mlir::Type tensor,
                                        mlir::Type thread);
InferredType inferTiledCopyPartitionDst(InferLocation loc, mlir::Type tiledCopy, mlir::Type tensor,
                                        mlir::Type thread);
InferredType inferTiledCopyRetile(InferLocation loc, mlir::Type tiledCopy, mlir::Type fragment);
InferredType inferTiledMmaPartition(InferLocation loc, MmaOperand operand, mlir::Type tiledMma,
                                    mlir::Type tensor, mlir::Type thread);
InferredType inferTiledMmaPartitionShape(InferLocation loc, MmaOperand operand, mlir::Type tiledMma,
                                         mlir::Type shape);
InferredType inferMmaMakeFragment(InferLocation loc, MmaOperand operand, mlir::Type tiledMma,
                                  mlir::Type tensor, std::optional<int32_t> stages);

// --- for the generated code ---
/// What an op admits as one of its operands, as its definition says.
struct OperandConstraint {
  enum Arity { Single, Optional, Variadic };

  llvm::StringLiteral summary;
  Arity arity;
  bool (*admits)(mlir::Type);
};
/// Whether `operands` are as many as `constraints` ask for (at most one of which is not Single),
/// and of the types that they admit. Reports the first that is not, in the words of the verifier.
llvm::LogicalResult checkOperands(InferLocation loc, llvm::StringRef opName,
                                  llvm::ArrayRef<OperandConstraint> constraints,
                                  mlir::ValueRange operands);

inline llvm::LogicalResult collectInferred(InferredType type,
                                           llvm::SmallVectorImpl<mlir::Type> &types) {
  if (succeeded(type))
    types.push_back(*type);
  return type;
}
inline llvm::LogicalResult collectInferred(InferredTypes inferred,
                                           llvm::SmallVectorImpl<mlir::Type> &types) {
  if (succeeded(inferred))
    types.append(inferred->begin(), inferred->end());
  return inferred;
}
/// The type of an optional operand; null where there is none.
inline mlir::Type getTypeOrNull(mlir::Value value) {
  return value ? value.getType() : mlir::Type();
}

} // namespace fly

#endif // FLY_DIALECT_FLY_IR_INFER_H
