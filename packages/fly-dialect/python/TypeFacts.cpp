// SPDX-License-Identifier: Apache-2.0

#include "TypeFacts.h"
#include "PyTuples.h"

#include "fly/Dialect/Fly/IR/AtomOpInterface.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Dialect/Fly/IR/MemoryOperandInterface.h"

#include "mlir/IR/DialectInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace nanobind::literals;

namespace fly::python {

namespace {

/// The classes of flydsl._mlir.facts.
struct Records {
  nb::object IntTuple, Basis, Layout, ComposedLayout, Swizzle, CoordSwizzle, Tile, CoordTensor,
      Pointer, MemRef, CopyAtom, MmaAtom, TiledCopy, TiledMma;

  Records() {
    nb::module_ facts = nb::module_::import_("flydsl._mlir.facts");
    IntTuple = facts.attr("IntTupleFacts");
    Basis = facts.attr("BasisFacts");
    Layout = facts.attr("LayoutFacts");
    ComposedLayout = facts.attr("ComposedLayoutFacts");
    Swizzle = facts.attr("SwizzleFacts");
    CoordSwizzle = facts.attr("CoordSwizzleFacts");
    Tile = facts.attr("TileFacts");
    CoordTensor = facts.attr("CoordTensorFacts");
    Pointer = facts.attr("PointerFacts");
    MemRef = facts.attr("MemRefFacts");
    CopyAtom = facts.attr("CopyAtomFacts");
    MmaAtom = facts.attr("MmaAtomFacts");
    TiledCopy = facts.attr("TiledCopyFacts");
    TiledMma = facts.attr("TiledMmaFacts");
  }
};

/// Loaded when first needed, and never freed: the interpreter may be gone before the destructors of
/// static objects run.
const Records &records() {
  static const Records *loaded = new Records();
  return *loaded;
}

/// The records of the types of one context, which owns this: its types are as old as it is.
class KnownFacts : public mlir::DialectInterface::Base<KnownFacts> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KnownFacts)

  explicit KnownFacts(mlir::Dialect *dialect) : Base(dialect) {}
  ~KnownFacts() override {
    if (Py_IsInitialized()) {
      nb::gil_scoped_acquire gil;
      byType.clear();
    } else {
      for (auto &entry : byType)
        entry.second.release();
    }
  }

  llvm::DenseMap<mlir::Type, nb::object> byType;
};

nb::object textOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return nb::str(text.data(), text.size());
}

/// The text of an operation's type without `!` and dialect.
nb::object nameOf(mlir::Type operation) {
  std::string text;
  llvm::raw_string_ostream(text) << operation;
  llvm::StringRef name = llvm::StringRef(text).split('.').second;
  return nb::str(name.data(), name.size());
}

nb::object mnemonicOf(mlir::Type operation) {
  llvm::StringRef name = operation.getAbstractType().getName();
  return nb::str(name.data(), name.size());
}

nb::object factsOfLayout(const Layout &layout) {
  return records().Layout(tupleToPython(layout.shape()), tupleToPython(layout.stride()));
}

nb::object factsOfSwizzle(const Swizzle &swizzle) {
  return records().Swizzle(swizzle.mask, swizzle.base, swizzle.shift);
}

nb::object pathToPython(llvm::ArrayRef<int32_t> path) {
  nb::list modes;
  for (int32_t mode : path)
    modes.append(mode);
  return nb::tuple(modes);
}

nb::object factsOfCoordSwizzle(const CoordSwizzle &swizzle) {
  return records().CoordSwizzle(swizzle.mask, swizzle.baseRow, pathToPython(swizzle.rowPath),
                                swizzle.baseCol, pathToPython(swizzle.colPath));
}

nb::object factsOfAnyLayout(const AnyLayout &layout);

nb::object factsOfComposed(const ComposedLayout &layout) {
  const InnerMap &inner = layout.inner();
  nb::object innerFacts = inner.swizzle()        ? factsOfSwizzle(*inner.swizzle())
                          : inner.coordSwizzle() ? factsOfCoordSwizzle(*inner.coordSwizzle())
                          : inner.layout()       ? factsOfLayout(*inner.layout())
                                                 : factsOfComposed(*inner.composed());
  return records().ComposedLayout(innerFacts, tupleToPython(layout.offset()),
                                  factsOfAnyLayout(layout.outer()));
}

nb::object factsOfAnyLayout(const AnyLayout &layout) {
  return layout.isComposed() ? factsOfComposed(layout.composed()) : factsOfLayout(layout.plain());
}

nb::object tilers(const Tile &tile) {
  if (tile.isBracketed()) {
    nb::list modes;
    for (const Tile &mode : tile.modes())
      modes.append(tilers(mode));
    return nb::tuple(modes);
  }
  return tile.layout() ? factsOfLayout(*tile.layout()) : tupleToPython(*tile.leaf());
}

nb::object spaceToPython(mlir::Attribute space) {
  std::string text;
  if (auto known = mlir::dyn_cast<AddressSpaceAttr>(space))
    text = stringifyAddressSpace(known.getValue()).str();
  else
    llvm::raw_string_ostream(text) << space;
  return nb::str(text.data(), text.size());
}

template <typename Cpp> nb::object swizzleOf(Cpp type) {
  return type.getSwizzle() == Swizzle() ? nb::none() : factsOfSwizzle(type.getSwizzle());
}

nb::object optionalToPython(std::optional<int32_t> number) {
  return number ? nb::object(nb::int_(*number)) : nb::none();
}

nb::object factsOfCopyAtom(CopyAtomType atom) {
  mlir::Type operation = atom.getCopyOp();
  nb::object lanes = nb::none(), source = lanes, destination = lanes, reference = lanes;
  std::optional<CopyOperand> unswizzled;
  std::optional<int32_t> operandBits;
  auto copy = mlir::dyn_cast<CopyOpTypeInterface>(operation);
  if (auto universal = mlir::dyn_cast<UniversalCopyType>(operation))
    operandBits = universal.getBits();
  if (auto atomOp = mlir::dyn_cast<AtomOpTypeInterface>(operation)) {
    unswizzled = atomOp.getUnswizzledOperand();
    operandBits = atomOp.getOperandBits();
  }
  if (copy && !copy.isWholeTileCopy()) {
    lanes = factsOfLayout(copy.getThreadLayout());
    source = factsOfLayout(copy.getSourceBitLayout());
    destination = factsOfLayout(copy.getDestinationBitLayout());
    reference = factsOfLayout(copy.getReferenceBitLayout());
  }
  nb::object side = nb::none();
  if (unswizzled)
    side = nb::str(*unswizzled == CopyOperand::Source ? "source" : "destination");
  return records().CopyAtom(mnemonicOf(operation), nameOf(operation), atom.getValBits(), lanes,
                            source, destination, reference, optionalToPython(operandBits), side);
}

nb::object factsOfMmaAtom(MmaAtomType atom) {
  auto operation = mlir::dyn_cast<MmaOpTypeInterface>(atom.getMmaOp());
  if (!operation)
    fail(llvm::Twine(nb::cast<std::string>(textOf(atom.getMmaOp()))) + " is no matrix operation");
  auto [m, n, k] = operation.getShapeMNK();
  auto layout = [&](MmaOperand operand) {
    return factsOfLayout(operation.getThreadValueLayout(operand));
  };
  auto element = [&](MmaOperand operand) { return textOf(operation.getElementType(operand)); };
  return records().MmaAtom(
      mnemonicOf(operation), nameOf(operation), nb::make_tuple(m, n, k),
      factsOfLayout(operation.getThreadLayout()), layout(MmaOperand::A), layout(MmaOperand::B),
      layout(MmaOperand::C),
      nb::make_tuple(element(MmaOperand::A), element(MmaOperand::B), element(MmaOperand::C)));
}

nb::object factsOf(mlir::Type type);

nb::object makeFacts(mlir::Type type) {
  const Records &record = records();
  return llvm::TypeSwitch<mlir::Type, nb::object>(type)
      .Case([&](IntTupleType t) { return record.IntTuple(tupleToPython(t.getValue())); })
      .Case([&](BasisType t) { return record.Basis(tupleToPython(t.getValue())); })
      .Case([&](LayoutType t) { return factsOfLayout(t.getValue()); })
      .Case([&](ComposedLayoutType t) { return factsOfComposed(t.getValue()); })
      .Case([&](SwizzleType t) { return factsOfSwizzle(t.getValue()); })
      .Case([&](CoordSwizzleType t) { return factsOfCoordSwizzle(t.getValue()); })
      .Case([&](TileType t) { return record.Tile(tilers(t.getValue())); })
      .Case([&](CoordTensorType t) {
        return record.CoordTensor(tupleToPython(t.getBase()), factsOfAnyLayout(t.getLayout()));
      })
      .Case([&](PointerType t) {
        return record.Pointer(textOf(t.getElementType()), getElementBitWidth(t.getElementType()),
                              spaceToPython(t.getAddressSpace()), t.getAlignment(), swizzleOf(t));
      })
      .Case([&](MemRefType t) {
        return record.MemRef(textOf(t.getElementType()), getElementBitWidth(t.getElementType()),
                             spaceToPython(t.getAddressSpace()), factsOfAnyLayout(t.getLayout()),
                             t.getAlignment(), swizzleOf(t));
      })
      .Case([&](CopyAtomType t) { return factsOfCopyAtom(t); })
      .Case([&](MmaAtomType t) { return factsOfMmaAtom(t); })
      .Case([&](TiledCopyType t) {
        return record.TiledCopy(factsOf(t.getAtom()), factsOfLayout(t.getLayoutTV().getValue()),
                                factsOf(t.getTile()));
      })
      .Case([&](TiledMmaType t) {
        return record.TiledMma(factsOf(t.getAtom()), factsOfLayout(t.getAtomLayout().getValue()),
                               factsOf(t.getPermutation()));
      })
      .Default([](mlir::Type) { return nb::none(); });
}

nb::object factsOf(mlir::Type type) {
  mlir::Dialect &dialect = type.getDialect();
  if (!mlir::isa<FlyDialect>(dialect))
    return nb::none();
  auto *known = dialect.getRegisteredInterface<KnownFacts>();
  if (!known)
    known = &dialect.addInterface<KnownFacts>();
  if (auto found = known->byType.find(type); found != known->byType.end())
    return found->second;
  nb::object facts = makeFacts(type); // Which may add those of other types.
  known->byType.try_emplace(type, facts);
  return facts;
}

/// What stands between the outermost brackets of a type's text.
std::string spellingOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  size_t open = text.find('<'), close = text.rfind('>');
  return open == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
}

/// The operation of an atom or tiling; another type as it is.
mlir::Type operationOf(mlir::Type type) {
  return llvm::TypeSwitch<mlir::Type, mlir::Type>(type)
      .Case([](CopyAtomType t) { return t.getCopyOp(); })
      .Case([](MmaAtomType t) { return t.getMmaOp(); })
      .Case([](TiledCopyType t) { return t.getAtom().getCopyOp(); })
      .Case([](TiledMmaType t) { return t.getAtom().getMmaOp(); })
      .Default([](mlir::Type t) { return t; });
}

/// An operation that does not say which targets have it exists on all of them.
std::optional<std::string> whyUnavailable(mlir::Type type, const std::string &target) {
  auto operation = mlir::dyn_cast<AtomOpTypeInterface>(operationOf(type));
  return operation ? operation.whyUnavailable(target) : std::nullopt;
}

mlir::Type typeOf(const mp::PyType &type) { return unwrap(type.get()); }
mlir::Type typeOf(mp::PyValue &value) { return unwrap(value.get()).getType(); }

/// Defines a function of a type, or of a value, whose type counts.
template <typename Body, typename... Extra>
void defineOfType(nb::module_ &m, const char *name, Body body, const Extra &...extra) {
  m.def(name, [body](mp::PyValue &value) { return body(typeOf(value)); }, "value"_a, extra...);
  m.def(name, [body](const mp::PyType &type) { return body(typeOf(type)); }, "type"_a, extra...);
}

} // namespace

void bindTypeFacts(nb::module_ &m) {
  defineOfType(
      m, "facts_of", [](mlir::Type type) { return factsOf(type); },
      "What a type of the fly dialect says, as a record of flydsl._mlir.facts: plain values that "
      "belong to no context. None for other types.");
  defineOfType(
      m, "spelling", [](mlir::Type type) { return spellingOf(type); },
      "What the text of a type has between its brackets, for messages.");
  m.def(
      "space_name", [](const mp::PyAttribute &space) { return spaceToPython(unwrap(space.get())); },
      "space"_a,
      "An address space as the facts of pointers and memrefs say it: \"generic\", \"global\", "
      "\"shared\" or \"register\", else the attribute of a back end.");
  m.def(
      "spell_tuple", [](nb::handle tree) { return tupleFromPython(tree).str(); }, "tree"_a.none(),
      "An integer tuple as the dialect spells it, for messages.");
  defineOfType(
      m, "state_fields",
      [](mlir::Type type) {
        std::vector<std::string> names;
        if (auto atomOp = mlir::dyn_cast<AtomOpTypeInterface>(operationOf(type)))
          for (llvm::StringRef field : atomOp.getStateFields())
            names.push_back(field.str());
        return names;
      },
      "The fields that atom.set_value takes for an atom, a tiling or an operation of one.");
  defineOfType(
      m, "memory_operands",
      [](mlir::Type type) {
        std::string names;
        if (auto reader = mlir::dyn_cast<MemoryOperandTypeInterface>(operationOf(type)))
          for (auto [name, operand] :
               {std::pair('a', MmaOperand::A), std::pair('b', MmaOperand::B)})
            if (reader.readsMemory(operand))
              names += name;
        return names;
      },
      "The operands, \"a\" and \"b\", that a matrix operation, its atom or a tiling reads in "
      "shared "
      "memory itself.");
  m.def(
      "atomic_op",
      [](const std::string &name) {
        std::optional<AtomicOp> op = symbolizeAtomicOp(name);
        if (!op)
          fail("there is no atomic operation '" + llvm::Twine(name) + "'");
        return static_cast<uint32_t>(*op);
      },
      "name"_a, "The number of an atomic operation (\"add\"), which the types of atomics take.");
  m.def(
      "why_unavailable",
      [](mp::PyValue &value, const std::string &target) {
        return whyUnavailable(typeOf(value), target);
      },
      "value"_a, "target"_a);
  m.def(
      "why_unavailable",
      [](const mp::PyType &type, const std::string &target) {
        return whyUnavailable(typeOf(type), target);
      },
      "type"_a, "target"_a,
      "Why code for a target has no use for the operation of an atom or tiling, as a sentence; "
      "None when the target is not known to lack it.");
}

} // namespace fly::python
