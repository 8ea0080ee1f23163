// SPDX-License-Identifier: Apache-2.0
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"
#include "fly/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

namespace fly {
#define GEN_PASS_DEF_FLYROCDLEXPANDOPSPASS
#include "fly/Transforms/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;
using namespace fly::rocdl;

namespace {

/// The tensor's modes as dimensions of the descriptor; null for an operation that is no tensor
/// copy.
const IntTuple *tensorToTDM(Type operation, IntTuple &storage, size_t &rank) {
  if (auto load = dyn_cast<CDNA5TensorLoadType>(operation)) {
    storage = load.getTensorToTDM();
    rank = load.getShape().size();
  } else if (auto store = dyn_cast<CDNA5TensorStoreType>(operation)) {
    storage = store.getTensorToTDM();
    rank = store.getShape().size();
  } else {
    return nullptr;
  }
  return &storage;
}

/// The number of the tensor's leaf along each dimension, outermost first.
SmallVector<unsigned> leavesByDimension(const IntTuple &map, size_t rank) {
  SmallVector<unsigned> leaves(rank, 0);
  unsigned leaf = 0;
  forEachLeaf(map, [&](const IntTuple &basis) {
    if (basis.isBasis())
      leaves[basis.path().front()] = leaf;
    ++leaf;
  });
  return leaves;
}

Value makeTuple(RewriterBase &rewriter, Location loc, const IntTuple &tuple,
                ValueRange leaves = {}) {
  return MakeIntTupleOp::create(rewriter, loc, IntTupleType::get(rewriter.getContext(), tuple),
                                leaves);
}

/// Every leaf of `tuple`, static ones as constants.
SmallVector<Value> leavesOf(RewriterBase &rewriter, Location loc, Value tuple) {
  return SmallVector<Value>(GetLeavesOp::create(rewriter, loc, tuple).getResults());
}

Value resize(RewriterBase &rewriter, Location loc, Value value, unsigned width) {
  Type type = rewriter.getIntegerType(width);
  unsigned have = value.getType().getIntOrFloatBitWidth();
  if (have == width)
    return value;
  if (have < width)
    return arith::ExtSIOp::create(rewriter, loc, type, value);
  return arith::TruncIOp::create(rewriter, loc, type, value);
}

/// make_tiled_tdm_*_atom: an atom with the tensor's base, strides and extents, and a view of
/// coordinates.
template <typename Op> void expand(RewriterBase &rewriter, Op op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto atomType = cast<CopyAtomType>(op.getAtom().getType());
  auto coordType = cast<CoordTensorType>(op.getCoordTensor().getType());
  IntTuple map;
  size_t rank = 0;
  tensorToTDM(atomType.getCopyOp(), map, rank);
  SmallVector<unsigned> leaves = leavesByDimension(map, rank);

  Value tensor = op.getTensor();
  Value shape = GetShapeOp::create(rewriter, loc, tensor);
  SmallVector<Value> extents = leavesOf(rewriter, loc, shape);
  SmallVector<Value> strides = leavesOf(rewriter, loc, GetStrideOp::create(rewriter, loc, tensor));
  SmallVector<Value> arguments = {GetIterOp::create(rewriter, loc, tensor)};
  for (unsigned leaf : ArrayRef<unsigned>(leaves).drop_back())
    arguments.push_back(resize(rewriter, loc, strides[leaf], 64));
  for (unsigned leaf : leaves)
    arguments.push_back(resize(rewriter, loc, extents[leaf], 32));

  Value atom = MakeCopyAtomOp::create(rewriter, loc, atomType, arguments,
                                      static_cast<uint32_t>(atomType.getValBits()));
  // Without the attribute, which an op may have lost, boundaries are checked.
  BoolAttr check = op.getInitBoundaryCheckAttr();
  SmallVector<IntTuple> flags(rank, IntTuple(!check || check.getValue() ? 1 : 0));
  atom = AtomSetValueOp::create(rewriter, loc, atom, rewriter.getStringAttr("boundary_check_axes"),
                                makeTuple(rewriter, loc, IntTuple::tuple(flags)));

  Value base = makeTuple(rewriter, loc, coordType.getBase());
  Value stride = makeTuple(rewriter, loc, coordType.getLayout().plain().stride());
  Value layout = MakeLayoutOp::create(rewriter, loc, shape, stride);
  Value coord = MakeViewOp::create(rewriter, loc, base, layout);
  rewriter.replaceOp(op, {atom, coord});
}

/// set_value of "boundary_check", a tuple over the tensor's modes, in terms of the descriptor's
/// dimensions.
LogicalResult translateBoundaryCheck(RewriterBase &rewriter, AtomSetValueOp op) {
  auto atomType = dyn_cast<CopyAtomType>(op.getAtom().getType());
  IntTuple map;
  size_t rank = 0;
  if (op.getField() != "boundary_check" || !atomType ||
      !tensorToTDM(atomType.getCopyOp(), map, rank))
    return success();
  auto type = dyn_cast<IntTupleType>(op.getValue().getType());
  if (!type || !isCongruent(type.getValue(), map)) {
    InFlightDiagnostic diagnostic = op.emitError("\"boundary_check\" is ");
    if (type)
      diagnostic << IntTupleAttr::get(op.getContext(), type.getValue());
    else
      diagnostic << op.getValue().getType();
    return diagnostic << ", which is not congruent with the global tensor's modes "
                      << IntTupleAttr::get(op.getContext(), map);
  }
  SmallVector<IntTuple> dimensions;
  forEachLeaf(map, [&](const IntTuple &leaf) { dimensions.push_back(leaf); });
  SmallVector<IntTuple> values;
  forEachLeaf(type.getValue(), [&](const IntTuple &leaf) { values.push_back(leaf); });

  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> runtime = leavesOf(rewriter, loc, op.getValue());
  SmallVector<IntTuple> flags(rank, IntTuple(0));
  SmallVector<Value> flagValues(rank);
  for (auto [index, dimension] : llvm::enumerate(dimensions)) {
    if (!dimension.isBasis()) {
      if (!values[index].isStaticInt(0))
        return op.emitError("\"boundary_check\" clamps mode ")
               << index << ", which is no dimension of the descriptor";
      continue;
    }
    unsigned position = dimension.path().front();
    flags[position] = values[index];
    flagValues[position] = runtime[index];
  }
  SmallVector<Value> dynamic;
  for (auto [flag, value] : llvm::zip_equal(flags, flagValues))
    if (flag.isDynamicLeaf())
      dynamic.push_back(value);
  rewriter.replaceOpWithNewOp<AtomSetValueOp>(
      op, op.getAtom(), rewriter.getStringAttr("boundary_check_axes"),
      makeTuple(rewriter, loc, IntTuple::tuple(flags), dynamic));
  return success();
}

struct FlyROCDLExpandOpsPass : fly::impl::FlyROCDLExpandOpsPassBase<FlyROCDLExpandOpsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (auto load = dyn_cast<MakeTiledTDMLoadAtomOp>(op))
        expand(rewriter, load);
      else if (auto store = dyn_cast<MakeTiledTDMStoreAtomOp>(op))
        expand(rewriter, store);
      else if (auto set = dyn_cast<AtomSetValueOp>(op))
        return failed(translateBoundaryCheck(rewriter, set)) ? WalkResult::interrupt()
                                                             : WalkResult::advance();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
