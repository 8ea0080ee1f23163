// SPDX-License-Identifier: Apache-2.0
#include "RegisterAllocations.h"
#include "fly/Conversion/StorageType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fly;

namespace {

int64_t bitsOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements() * vector.getElementTypeBitWidth();
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

/// What becomes of an allocation.
enum class Fate {
  Promote,
  Exclude, ///< stays in memory, on purpose
  Escape,  ///< something uses it in a way that this pass does not know
};

/// The elements of an instruction's sums from which on they are worth a piece each.
constexpr int64_t largeSums = 16;

using Ranges = SmallVector<std::pair<int64_t, int64_t>>; ///< first elements and ends

/// Follows the uses of one allocation.
class UseTracer {
public:
  UseTracer(MakePtrOp op, VectorType type) : op(op), whole(type) {}

  Fate trace(Value pointer, int64_t offset) {
    pointers.push_back({pointer, offset});
    Fate result = Fate::Promote;
    for (OpOperand &use : pointer.getUses())
      result = std::max(result, traceUse(use, offset));
    return result;
  }

  SmallVector<std::pair<Value, int64_t>> pointers;
  Ranges accessed;
  bool holdsSums = false; ///< a matrix instruction writes `largeSums`
  bool branches = false;  ///< a branch accesses what is from outside it

private:
  /// What becomes of an allocation with this access: it has to cover whole elements inside.
  Fate traceAccess(Operation *user, Type type, int64_t offset) {
    int64_t elementBits = whole.getElementTypeBitWidth();
    auto vector = dyn_cast<VectorType>(type);
    int64_t bits = bitsOf(type);
    int64_t end = offset + bits / elementBits;
    if (bits <= 0 || (vector && vector.getRank() != 1) || bits % elementBits != 0 || offset < 0 ||
        end > whole.getNumElements())
      return Fate::Escape;
    accessed.push_back({offset, end});
    for (Operation *around = user->getParentOp(); around != op->getParentOp();
         around = around->getParentOp())
      branches |= isa<scf::IfOp>(around);
    return Fate::Promote;
  }

  Fate traceUse(OpOperand &use, int64_t offset) {
    Operation *user = use.getOwner();
    // The vector is threaded through region ops, not along the edges of a control flow graph.
    if (!op->getBlock()->findAncestorOpInBlock(*user))
      return Fate::Escape;
    if (auto add = dyn_cast<AddOffsetOp>(user)) {
      IntTuple by = cast<IntTupleType>(add.getOffset().getType()).getValue();
      if (!by.isStaticLeaf())
        return add.use_empty() ? Fate::Promote : Fate::Exclude;
      return trace(add.getResult(), offset + by.staticValue());
    }
    if (isa<RecastIterOp>(user))
      return user->use_empty() ? Fate::Promote : Fate::Exclude;
    if (isa<MakeViewOp>(user))
      return user->use_empty() ? Fate::Promote : Fate::Escape;
    if (auto load = dyn_cast<PtrLoadOp>(user))
      return traceAccess(user, load.getResult().getType(), offset);
    if (auto store = dyn_cast<PtrStoreOp>(user);
        store && store.getPtr() == use.get() && store.getValue() != use.get()) {
      auto sums = dyn_cast<VectorType>(store.getValue().getType());
      holdsSums |= isa_and_nonnull<MmaAtomCallSSAOp>(store.getValue().getDefiningOp()) && sums &&
                   sums.getNumElements() >= largeSums;
      return traceAccess(user, store.getValue().getType(), offset);
    }
    return Fate::Escape;
  }

  MakePtrOp op;
  VectorType whole;
};

/// The vector that an allocation in registers is; nothing for another one.
VectorType registerType(MakePtrOp op) {
  auto pointer = cast<fly::PointerType>(op.getResult().getType());
  auto size =
      op.getDictAttrs() ? op.getDictAttrs()->getAs<IntegerAttr>("allocSize") : IntegerAttr();
  if (!pointer.isInSpace(AddressSpace::Register) || !size || size.getInt() <= 0)
    return {};
  return VectorType::get(size.getInt(), getStorageType(pointer.getElementType()));
}

/// The ranges of `size` elements that no access takes a part of: those of accesses, united where
/// they overlap, and what is between them. An access of everything takes all of each.
Ranges divided(Ranges accessed, int64_t size) {
  llvm::erase(accessed, std::pair<int64_t, int64_t>(0, size));
  llvm::sort(accessed);
  Ranges ranges;
  for (auto [start, end] : accessed) {
    const int64_t last = ranges.empty() ? 0 : ranges.back().second;
    if (!ranges.empty() && start < last) {
      ranges.back().second = std::max(last, end);
      continue;
    }
    if (start > last)
      ranges.push_back({last, start});
    ranges.push_back({start, end});
  }
  if (const int64_t last = ranges.empty() ? 0 : ranges.back().second; last < size)
    ranges.push_back({last, size});
  return ranges;
}

} // namespace

RegisterAllocations::RegisterAllocations(gpu::GPUFuncOp function) {
  function.walk([&](MakePtrOp op) {
    VectorType whole = registerType(op);
    if (!whole)
      return;
    UseTracer tracer(op, whole);
    Fate fate = tracer.trace(op.getResult(), 0);
    excluded |= fate == Fate::Exclude;
    if (fate != Fate::Promote)
      return;
    if (tracer.holdsSums && tracer.branches)
      tracer.accessed = divided(tracer.accessed, whole.getNumElements());
    else
      tracer.accessed.assign({{0, whole.getNumElements()}});
    auto &pieces = byOp[op];
    for (auto [start, end] : tracer.accessed) {
      auto type = VectorType::get(end - start, whole.getElementType());
      all.push_back(std::make_unique<RegisterPiece>(RegisterPiece{op, type, start}));
      pieces.push_back(all.back().get());
    }
    for (auto [pointer, offset] : tracer.pointers)
      pointers.insert({pointer, {op, offset}});
  });
}

ArrayRef<const RegisterPiece *> RegisterAllocations::pieces(MakePtrOp op) const {
  auto found = byOp.find(op);
  return found == byOp.end() ? ArrayRef<const RegisterPiece *>() : found->second;
}

std::optional<RegisterAccess> RegisterAllocations::access(Value pointer, Type type) const {
  auto found = pointers.find(pointer);
  if (found == pointers.end())
    return std::nullopt;
  auto [op, offset] = found->second;
  ArrayRef<const RegisterPiece *> of = pieces(op);
  size_t first =
      llvm::upper_bound(of, offset,
                        [](int64_t at, const RegisterPiece *piece) { return at < piece->start; }) -
      of.begin() - 1;
  const int64_t end = offset + bitsOf(type) / of[first]->type.getElementTypeBitWidth();
  size_t count = 1;
  while (first + count < of.size() && of[first + count]->start < end)
    ++count;
  return RegisterAccess{of.slice(first, count), offset - of[first]->start};
}

SmallVector<const RegisterPiece *> RegisterAllocations::accessedFromOutside(Operation *op) const {
  llvm::SmallPtrSet<const RegisterPiece *, 8> found;
  op->walk([&](Operation *nested) {
    std::optional<RegisterAccess> accessed;
    if (auto load = dyn_cast<PtrLoadOp>(nested))
      accessed = access(load.getPtr(), load.getResult().getType());
    else if (auto store = dyn_cast<PtrStoreOp>(nested))
      accessed = access(store.getPtr(), store.getValue().getType());
    if (accessed && !op->isProperAncestor(accessed->pieces.front()->op))
      found.insert(accessed->pieces.begin(), accessed->pieces.end());
  });
  SmallVector<const RegisterPiece *> result;
  for (const auto &piece : all)
    if (found.contains(piece.get()))
      result.push_back(piece.get());
  return result;
}

Value fly::extractRegisters(OpBuilder &builder, Location loc, Value whole, int64_t offset,
                            Type type) {
  auto wholeType = cast<VectorType>(whole.getType());
  Type element = wholeType.getElementType();
  int64_t count = bitsOf(type) / wholeType.getElementTypeBitWidth();
  if (type == element)
    return vector::ExtractOp::create(builder, loc, whole, offset);
  Value part = whole;
  if (count != wholeType.getNumElements())
    part = vector::ExtractStridedSliceOp::create(builder, loc, whole, ArrayRef<int64_t>{offset},
                                                 ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
  if (part.getType() == type)
    return part;
  if (isa<VectorType>(type))
    return vector::BitCastOp::create(builder, loc, cast<VectorType>(type), part);
  part = vector::BitCastOp::create(builder, loc, VectorType::get(1, type), part);
  return vector::ExtractOp::create(builder, loc, part, int64_t(0));
}

Value fly::insertRegisters(OpBuilder &builder, Location loc, Value whole, int64_t offset,
                           Value part) {
  auto wholeType = cast<VectorType>(whole.getType());
  Type element = wholeType.getElementType();
  Type type = part.getType();
  if (type == element)
    return vector::InsertOp::create(builder, loc, part, whole, offset);
  int64_t count = bitsOf(type) / wholeType.getElementTypeBitWidth();
  if (!isa<VectorType>(type))
    part = vector::BroadcastOp::create(builder, loc, VectorType::get(1, type), part);
  auto partType = VectorType::get(count, element);
  if (part.getType() != partType)
    part = vector::BitCastOp::create(builder, loc, partType, part);
  if (partType == wholeType)
    return part;
  return vector::InsertStridedSliceOp::create(builder, loc, part, whole, ArrayRef<int64_t>{offset},
                                              ArrayRef<int64_t>{1});
}
