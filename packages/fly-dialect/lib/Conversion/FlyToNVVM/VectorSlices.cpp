// SPDX-License-Identifier: Apache-2.0
//
// Fragments that lie apart in registers are read and written in slices of the vector that stands
// for the registers, one operation each. What ends up in registers of their own anyhow need not be
// cut up and put together again: a chain of slices becomes one operation, which every pass behind
// this one is faster for.
#include "NVVMDevice.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::nvvm {
namespace {

/// Where an element of a vector comes from: an element of another vector, or a scalar.
struct Element {
  Value value; ///< null where the element is poison
  int64_t index = scalar;

  static constexpr int64_t scalar = -1;
  bool isPoison() const { return !value; }
  bool isScalar() const { return value && index == scalar; }
};

using Elements = SmallVector<Element>;

/// The number of elements of a vector of one mode; 0 for anything else.
int64_t lengthOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && !vector.isScalable() ? vector.getNumElements() : 0;
}

/// The only number of an attribute of one; nothing where there are more or it is no constant.
std::optional<int64_t> onlyOf(ArrayAttr numbers) {
  if (numbers.size() != 1)
    return std::nullopt;
  return cast<IntegerAttr>(numbers[0]).getInt();
}

std::optional<int64_t> onlyOf(ArrayRef<int64_t> position) {
  if (position.size() != 1 || ShapedType::isDynamic(position[0]))
    return std::nullopt;
  return position[0];
}

class SliceMerger {
public:
  void visit(Operation *op) {
    if (auto extract = dyn_cast<vector::ExtractOp>(op))
      return forward(extract);
    if (op->getNumResults() != 1 || lengthOf(op->getResult(0).getType()) == 0)
      return;
    Value result = op->getResult(0);
    if (std::optional<Elements> found = elementsOfResult(op)) {
      origins.insert({result, std::move(*found)});
      if (isSlice(op))
        slices.push_back(op);
    }
  }

  /// Replaces what others use of the slices that were visited, and erases what is dead then.
  void finish() {
    for (Operation *op : slices)
      if (llvm::any_of(op->getUsers(), [](Operation *user) { return !isSlice(user); }))
        replace(op);
    for (Operation *op : llvm::reverse(slices))
      if (op->use_empty())
        op->erase();
  }

private:
  static bool isSlice(Operation *op) {
    return isa<vector::InsertStridedSliceOp, vector::ExtractStridedSliceOp, vector::InsertOp,
               vector::ShuffleOp>(op);
  }

  Elements elementsOf(Value vector) const {
    auto found = origins.find(vector);
    if (found != origins.end())
      return found->second;
    Elements own;
    for (int64_t i = 0, end = lengthOf(vector.getType()); i != end; ++i)
      own.push_back({vector, i});
    return own;
  }

  std::optional<Elements> elementsOfResult(Operation *op) const {
    return llvm::TypeSwitch<Operation *, std::optional<Elements>>(op)
        .Case([&](ub::PoisonOp poison) { return Elements(lengthOf(poison.getType())); })
        .Case([&](vector::FromElementsOp made) {
          Elements elements;
          for (Value one : made.getElements())
            elements.push_back({one});
          return elements;
        })
        .Case([&](vector::ExtractStridedSliceOp slice) -> std::optional<Elements> {
          std::optional<int64_t> offset = onlyOf(slice.getOffsets());
          if (!offset)
            return std::nullopt;
          Elements whole = elementsOf(slice.getSource());
          return Elements(ArrayRef(whole).slice(*offset, lengthOf(slice.getType())));
        })
        .Case([&](vector::InsertStridedSliceOp slice) -> std::optional<Elements> {
          std::optional<int64_t> offset = onlyOf(slice.getOffsets());
          if (!offset || lengthOf(slice.getValueToStore().getType()) == 0)
            return std::nullopt;
          Elements whole = elementsOf(slice.getDest());
          llvm::copy(elementsOf(slice.getValueToStore()), whole.begin() + *offset);
          return whole;
        })
        .Case([&](vector::InsertOp insert) -> std::optional<Elements> {
          std::optional<int64_t> position = onlyOf(insert.getStaticPosition());
          if (!position || isa<VectorType>(insert.getValueToStore().getType()))
            return std::nullopt;
          Elements whole = elementsOf(insert.getDest());
          whole[*position] = {insert.getValueToStore()};
          return whole;
        })
        .Case([&](vector::ShuffleOp shuffle) -> std::optional<Elements> {
          Elements both = elementsOf(shuffle.getV1());
          llvm::append_range(both, elementsOf(shuffle.getV2()));
          Elements chosen;
          for (int64_t index : shuffle.getMask())
            chosen.push_back(index == vector::ShuffleOp::kPoisonIndex ? Element() : both[index]);
          return chosen;
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  /// Takes an element from where it comes from.
  void forward(vector::ExtractOp extract) {
    auto found = origins.find(extract.getSource());
    std::optional<int64_t> position = onlyOf(extract.getStaticPosition());
    if (found == origins.end() || !position)
      return;
    Element element = found->second[*position];
    if (element.isPoison())
      return;
    Value scalar = element.value;
    if (!element.isScalar()) {
      OpBuilder builder(extract);
      scalar = vector::ExtractOp::create(builder, extract.getLoc(), scalar, element.index);
    }
    extract.replaceAllUsesWith(scalar);
    extract.erase();
  }

  void replace(Operation *op) {
    OpBuilder builder(op);
    if (Value value = assemble(builder, op->getLoc(), op->getResult(0)))
      op->getResult(0).replaceAllUsesWith(value);
  }

  /// A vector of the elements of `result`, from one operation at most; null where it takes more.
  Value assemble(OpBuilder &builder, Location loc, Value result) const {
    auto type = cast<VectorType>(result.getType());
    const Elements &elements = origins.at(result);
    if (llvm::all_of(elements, [](const Element &one) { return one.isScalar(); })) {
      SmallVector<Value> scalars;
      for (const Element &one : elements)
        scalars.push_back(one.value);
      return vector::FromElementsOp::create(builder, loc, type, scalars);
    }
    llvm::SmallSetVector<Value, 4> sources;
    for (const Element &one : elements) {
      if (one.isScalar())
        return Value();
      if (!one.isPoison())
        sources.insert(one.value);
    }
    if (sources.empty() || sources.size() > 2)
      return Value();
    const int64_t ofFirst = lengthOf(sources.front().getType());
    SmallVector<int64_t> mask;
    for (const Element &one : elements) {
      if (one.isPoison())
        mask.push_back(vector::ShuffleOp::kPoisonIndex);
      else
        mask.push_back(one.index + (one.value == sources.front() ? 0 : ofFirst));
    }
    if (sources.size() == 1 && isConsecutive(mask)) {
      if (sources.front().getType() == type)
        return sources.front();
      return vector::ExtractStridedSliceOp::create(builder, loc, sources.front(), mask.front(),
                                                   type.getNumElements(), int64_t(1));
    }
    return vector::ShuffleOp::create(builder, loc, sources.front(), sources.back(), mask);
  }

  static bool isConsecutive(ArrayRef<int64_t> mask) {
    for (auto [place, index] : llvm::enumerate(mask))
      if (index != mask.front() + static_cast<int64_t>(place))
        return false;
    return mask.front() != vector::ShuffleOp::kPoisonIndex;
  }

  llvm::DenseMap<Value, Elements> origins;
  SmallVector<Operation *> slices; // in the order of the program
};

} // namespace

void mergeVectorSlices(Operation *root) {
  SliceMerger merger;
  root->walk([&](Operation *op) { merger.visit(op); });
  merger.finish();
}

} // namespace fly::nvvm
