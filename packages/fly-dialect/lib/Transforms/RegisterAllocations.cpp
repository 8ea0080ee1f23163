// SPDX-License-Identifier: Apache-2.0
#include "RegisterAllocations.h"
#include "fly/Conversion/StorageType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Follows the uses of one allocation.
class UseTracer {
public:
  explicit UseTracer(const RegisterAllocation &allocation) : allocation(allocation) {}

  Fate trace(Value pointer, int64_t offset) {
    pointers.push_back({pointer, offset});
    Fate result = Fate::Promote;
    for (OpOperand &use : pointer.getUses())
      result = std::max(result, traceUse(use, offset));
    return result;
  }

  SmallVector<std::pair<Value, int64_t>> pointers;

private:
  /// Whether an access of `type` covers whole elements inside the allocation.
  bool fits(Type type, int64_t offset) const {
    int64_t elementBits = allocation.type.getElementTypeBitWidth();
    auto vector = dyn_cast<VectorType>(type);
    int64_t bits = bitsOf(type);
    return bits > 0 && (!vector || vector.getRank() == 1) && bits % elementBits == 0 &&
           offset >= 0 && offset + bits / elementBits <= allocation.type.getNumElements();
  }

  Fate traceUse(OpOperand &use, int64_t offset) {
    Operation *user = use.getOwner();
    // The vector is threaded through region ops, not along the edges of a control flow graph.
    if (!allocation.op->getBlock()->findAncestorOpInBlock(*user))
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
      return fits(load.getResult().getType(), offset) ? Fate::Promote : Fate::Escape;
    if (auto store = dyn_cast<PtrStoreOp>(user))
      return store.getPtr() == use.get() && store.getValue() != use.get() &&
                     fits(store.getValue().getType(), offset)
                 ? Fate::Promote
                 : Fate::Escape;
    return Fate::Escape;
  }

  RegisterAllocation allocation;
};

std::unique_ptr<RegisterAllocation> asAllocation(MakePtrOp op) {
  auto pointer = cast<fly::PointerType>(op.getResult().getType());
  auto size =
      op.getDictAttrs() ? op.getDictAttrs()->getAs<IntegerAttr>("allocSize") : IntegerAttr();
  if (!pointer.isInSpace(AddressSpace::Register) || !size || size.getInt() <= 0)
    return nullptr;
  return std::make_unique<RegisterAllocation>(RegisterAllocation{
      op, VectorType::get(size.getInt(), getStorageType(pointer.getElementType()))});
}

} // namespace

RegisterAllocations::RegisterAllocations(gpu::GPUFuncOp function) {
  function.walk([&](MakePtrOp op) {
    std::unique_ptr<RegisterAllocation> allocation = asAllocation(op);
    if (!allocation)
      return;
    UseTracer tracer(*allocation);
    Fate fate = tracer.trace(op.getResult(), 0);
    excluded |= fate == Fate::Exclude;
    if (fate != Fate::Promote)
      return;
    for (auto [pointer, offset] : tracer.pointers)
      pointers.insert({pointer, RegisterAccess{allocation.get(), offset}});
    byOp[op] = allocation.get();
    all.push_back(std::move(allocation));
  });
}

const RegisterAllocation *RegisterAllocations::find(MakePtrOp op) const { return byOp.lookup(op); }

std::optional<RegisterAccess> RegisterAllocations::access(Value pointer) const {
  auto found = pointers.find(pointer);
  if (found == pointers.end())
    return std::nullopt;
  return found->second;
}

SmallVector<const RegisterAllocation *>
RegisterAllocations::accessedFromOutside(Operation *op) const {
  llvm::SmallPtrSet<const RegisterAllocation *, 8> found;
  op->walk([&](Operation *nested) {
    Value pointer;
    if (auto load = dyn_cast<PtrLoadOp>(nested))
      pointer = load.getPtr();
    else if (auto store = dyn_cast<PtrStoreOp>(nested))
      pointer = store.getPtr();
    auto target = pointer ? access(pointer) : std::nullopt;
    if (target && !op->isProperAncestor(target->allocation->op))
      found.insert(target->allocation);
  });
  SmallVector<const RegisterAllocation *> result;
  for (const auto &allocation : all)
    if (found.contains(allocation.get()))
      result.push_back(allocation.get());
  return result;
}

Value fly::extractRegisters(OpBuilder &builder, Location loc, Value whole, int64_t offset,
                            Type type) {
  auto wholeType = cast<VectorType>(whole.getType());
  Type element = wholeType.getElementType();
  int64_t count = bitsOf(type) / wholeType.getElementTypeBitWidth();
  if (type == element)
    return vector::ExtractOp::create(builder, loc, whole, offset);
  Value part =
      vector::ExtractStridedSliceOp::create(builder, loc, whole, ArrayRef<int64_t>{offset},
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
  return vector::InsertStridedSliceOp::create(builder, loc, part, whole, ArrayRef<int64_t>{offset},
                                              ArrayRef<int64_t>{1});
}
