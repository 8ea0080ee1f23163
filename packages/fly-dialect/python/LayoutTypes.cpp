// SPDX-License-Identifier: Apache-2.0
//
// Python classes of the types that spell values of the algebra.

#include "LayoutTypes.h"

#include "PyTuples.h"

#include "fly/Algebra/Modes.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <variant>

using namespace nanobind::literals;

namespace fly::python {

using Context = mp::DefaultingPyMlirContext;
using ModeIndex = std::variant<int32_t, std::vector<int32_t>>;

// `value[i]` or `value[[i, j]]`: the sub-mode, or IndexError.
template <typename Value>
static Value subMode(const Value &value, unsigned rank, const ModeIndex &index) {
  std::vector<int32_t> path;
  if (const int32_t *mode = std::get_if<int32_t>(&index))
    path.push_back(*mode < 0 ? *mode + static_cast<int32_t>(rank) : *mode);
  else
    path = std::get<std::vector<int32_t>>(index);
  AlgebraContext cx;
  Value result = getMode(cx, value, path);
  if (cx.failed())
    throw nb::index_error(cx.message().c_str());
  return result;
}

static nb::object leafInt(const IntTuple &tuple) {
  if (!tuple.isPlainInt() || !tuple.isStaticLeaf())
    fail("expected a static leaf integer, got " + tuple.str());
  return nb::int_(tuple.staticValue());
}

// --- int_tuple and basis
// -----------------------------------------------------------------------------

namespace {
struct PyIntTupleType : TypeBinding<PyIntTupleType, IntTupleType> {
  static constexpr const char *pyClassName = "IntTupleType";
  using TypeBinding::TypeBinding;

  static PyIntTupleType wrapValue(mp::PyMlirContextRef context, const IntTuple &value) {
    MlirType type = wrap(mlir::Type(IntTupleType::get(unwrap(context->get()), value)));
    return PyIntTupleType(std::move(context), type);
  }

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](nb::handle value, Context context) {
          loadContext<FlyDialect>(context);
          return wrapValue(context->getRef(), tupleFromPython(value));
        },
        "value"_a.none(), "context"_a = nb::none(),
        "The type of a value: an int, None, Dynamic, Basis, or a nested tuple of these.");
    c.def_prop_ro(
        "rank", [](const PyIntTupleType &self) { return self.cpp().getValue().rank(); },
        "Number of modes; 1 for a leaf.");
    c.def_prop_ro(
        "depth", [](const PyIntTupleType &self) { return self.cpp().getValue().depth(); },
        "Nesting depth; 0 for a leaf.");
    c.def_prop_ro("is_leaf",
                  [](const PyIntTupleType &self) { return self.cpp().getValue().isLeaf(); });
    c.def_prop_ro("is_static",
                  [](const PyIntTupleType &self) { return self.cpp().getValue().isStatic(); });
    c.def_prop_ro("num_leaves",
                  [](const PyIntTupleType &self) { return self.cpp().getValue().leafCount(); });
    c.def_prop_ro(
        "get_static_leaf_int",
        [](const PyIntTupleType &self) { return leafInt(self.cpp().getValue()); },
        nb::sig("def get_static_leaf_int(self) -> int"),
        "The integer of a static leaf; ValueError for anything else.");
    c.def(
        "to_py", [](const PyIntTupleType &self) { return tupleToPython(self.cpp().getValue()); },
        "The value as int, None, Dynamic, Basis and nested tuples.");
    c.def(
        "__getitem__",
        [](PyIntTupleType &self, const ModeIndex &mode) {
          IntTuple value = self.cpp().getValue();
          return wrapValue(self.getContext(), subMode(value, value.rank(), mode));
        },
        "mode"_a, "The part at a mode, or at a path of modes.");
    c.def("__len__", [](const PyIntTupleType &self) { return self.cpp().getValue().rank(); });
  }
};

struct PyBasisType : TypeBinding<PyBasisType, BasisType> {
  static constexpr const char *pyClassName = "BasisType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](nb::object value, std::vector<int32_t> modes, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          IntTuple tuple =
              tupleFromPython(nb::cast(BasisElement{std::move(value), std::move(modes)}));
          return PyBasisType(context->getRef(),
                             wrap(mlir::Type(makeChecked<BasisType>(cpp, tuple))));
        },
        "value"_a, "modes"_a, "context"_a = nb::none(),
        "value times the unit vector of the mode path.");
    c.def(
        "to_py", [](const PyBasisType &self) { return tupleToPython(self.cpp().getValue()); },
        "The value as a Basis.");
  }
};

// --- swizzles
// ----------------------------------------------------------------------------------------

struct PySwizzleType : TypeBinding<PySwizzleType, SwizzleType> {
  static constexpr const char *pyClassName = "SwizzleType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](int32_t mask, int32_t base, int32_t shift, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          return PySwizzleType(context->getRef(),
                               wrap(mlir::Type(SwizzleType::get(cpp, {mask, base, shift}))));
        },
        "mask"_a, "base"_a, "shift"_a, "context"_a = nb::none());
    c.def_prop_ro("mask", [](const PySwizzleType &self) { return self.cpp().getValue().mask; });
    c.def_prop_ro("base", [](const PySwizzleType &self) { return self.cpp().getValue().base; });
    c.def_prop_ro("shift", [](const PySwizzleType &self) { return self.cpp().getValue().shift; });
  }
};

struct PyCoordSwizzleType : TypeBinding<PyCoordSwizzleType, CoordSwizzleType> {
  static constexpr const char *pyClassName = "CoordSwizzleType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](int32_t mask, int32_t baseRow, const std::vector<int32_t> &modeRow, int32_t baseCol,
           const std::vector<int32_t> &modeCol, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          CoordSwizzle value;
          value.mask = mask;
          value.baseRow = baseRow;
          value.rowPath.assign(modeRow.begin(), modeRow.end());
          value.baseCol = baseCol;
          value.colPath.assign(modeCol.begin(), modeCol.end());
          return PyCoordSwizzleType(context->getRef(),
                                    wrap(mlir::Type(CoordSwizzleType::get(cpp, value))));
        },
        "mask"_a, "base_row"_a, "mode_row"_a, "base_col"_a, "mode_col"_a, "context"_a = nb::none());
    auto path = [](llvm::ArrayRef<int32_t> modes) {
      return std::vector<int32_t>(modes.begin(), modes.end());
    };
    c.def_prop_ro("mask", [](const PyCoordSwizzleType &s) { return s.cpp().getValue().mask; });
    c.def_prop_ro("base_row",
                  [](const PyCoordSwizzleType &s) { return s.cpp().getValue().baseRow; });
    c.def_prop_ro("mode_row",
                  [path](const PyCoordSwizzleType &s) { return path(s.cpp().getValue().rowPath); });
    c.def_prop_ro("base_col",
                  [](const PyCoordSwizzleType &s) { return s.cpp().getValue().baseCol; });
    c.def_prop_ro("mode_col",
                  [path](const PyCoordSwizzleType &s) { return path(s.cpp().getValue().colPath); });
  }
};

// --- layouts
// -----------------------------------------------------------------------------------------

struct PyLayoutType : TypeBinding<PyLayoutType, LayoutType> {
  static constexpr const char *pyClassName = "LayoutType";
  using TypeBinding::TypeBinding;

  static PyLayoutType wrapValue(mp::PyMlirContextRef context, const Layout &value) {
    MlirType type = wrap(mlir::Type(LayoutType::get(unwrap(context->get()), value)));
    return PyLayoutType(std::move(context), type);
  }

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](nb::handle shape, nb::handle stride, Context context) {
          loadContext<FlyDialect>(context);
          return wrapValue(context->getRef(),
                           Layout(tupleFromPython(shape), tupleFromPython(stride)));
        },
        "shape"_a, "stride"_a, "context"_a = nb::none(), "The type of shape:stride.");
    c.def_prop_ro("shape", [](PyLayoutType &self) {
      return PyIntTupleType::wrapValue(self.getContext(), self.cpp().getValue().shape());
    });
    c.def_prop_ro("stride", [](PyLayoutType &self) {
      return PyIntTupleType::wrapValue(self.getContext(), self.cpp().getValue().stride());
    });
    c.def_prop_ro("rank", [](const PyLayoutType &self) { return self.cpp().getValue().rank(); });
    c.def_prop_ro("depth",
                  [](const PyLayoutType &self) { return self.cpp().getValue().shape().depth(); });
    c.def_prop_ro("is_leaf",
                  [](const PyLayoutType &self) { return self.cpp().getValue().shape().isLeaf(); });
    c.def_prop_ro("is_static",
                  [](const PyLayoutType &self) { return self.cpp().getValue().isStatic(); });
    c.def_prop_ro("is_static_shape", [](const PyLayoutType &self) {
      return self.cpp().getValue().shape().isStatic();
    });
    c.def_prop_ro("is_static_stride", [](const PyLayoutType &self) {
      return self.cpp().getValue().stride().isStatic();
    });
    c.def(
        "__getitem__",
        [](PyLayoutType &self, const ModeIndex &mode) {
          Layout value = self.cpp().getValue();
          return wrapValue(self.getContext(), subMode(value, value.rank(), mode));
        },
        "mode"_a, "The layout of a mode, or of the part at a path of modes.");
    c.def("__len__", [](const PyLayoutType &self) { return self.cpp().getValue().rank(); });
  }
};

struct PyComposedLayoutType : TypeBinding<PyComposedLayoutType, ComposedLayoutType> {
  static constexpr const char *pyClassName = "ComposedLayoutType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const mp::PyType &inner, nb::handle offset, const mp::PyType &outer, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          std::optional<InnerMap> innerMap = getInnerMap(unwrap(inner.get()));
          if (!innerMap)
            throw nb::type_error("the inner map must be a SwizzleType, CoordSwizzleType, "
                                 "LayoutType or ComposedLayoutType");
          ComposedLayout value(*innerMap, tupleFromPython(offset),
                               anyLayoutOf(outer, "the outer layout"));
          if (value.depth() > kMaxDepth)
            fail("composed layouts may not nest deeper than " + llvm::Twine(kMaxDepth));
          return PyComposedLayoutType(context->getRef(),
                                      wrap(mlir::Type(ComposedLayoutType::get(cpp, value))));
        },
        "inner"_a, "offset"_a, "outer"_a, "context"_a = nb::none(),
        "The type of c -> inner(offset + outer(c)).");
    c.def_prop_ro("inner", [](PyComposedLayoutType &self) {
      return toPython(self.getContext(),
                      getInnerMapType(self.cpp().getContext(), self.cpp().getValue().inner()));
    });
    c.def_prop_ro("offset", [](PyComposedLayoutType &self) {
      return PyIntTupleType::wrapValue(self.getContext(), self.cpp().getValue().offset());
    });
    c.def_prop_ro("outer", [](PyComposedLayoutType &self) {
      return toPython(self.getContext(),
                      getLayoutType(self.cpp().getContext(), self.cpp().getValue().outer()));
    });
    c.def_prop_ro("shape", [](PyComposedLayoutType &self) {
      return PyIntTupleType::wrapValue(self.getContext(),
                                       self.cpp().getValue().outermost().shape());
    });
    c.def_prop_ro("rank", [](const PyComposedLayoutType &self) {
      return self.cpp().getValue().outermost().rank();
    });
    c.def_prop_ro("depth", [](const PyComposedLayoutType &self) {
      return self.cpp().getValue().outermost().shape().depth();
    });
    c.def_prop_ro("is_leaf", [](const PyComposedLayoutType &self) {
      return self.cpp().getValue().outermost().shape().isLeaf();
    });
    c.def_prop_ro("is_static", [](const PyComposedLayoutType &self) {
      return self.cpp().getValue().isStatic();
    });
    c.def_prop_ro("is_static_inner", [](const PyComposedLayoutType &self) {
      return self.cpp().getValue().inner().isStatic();
    });
    c.def_prop_ro("is_static_offset", [](const PyComposedLayoutType &self) {
      return self.cpp().getValue().offset().isStatic();
    });
    c.def_prop_ro("is_static_outer", [](const PyComposedLayoutType &self) {
      return self.cpp().getValue().outer().isStatic();
    });
  }
};

// --- tile
// --------------------------------------------------------------------------------------------

struct PyTileType : TypeBinding<PyTileType, TileType> {
  static constexpr const char *pyClassName = "TileType";
  using TypeBinding::TypeBinding;

  static nb::object leafToPython(PyTileType &self, const Tile &tile) {
    if (tile.isBracketed()) {
      nb::list modes;
      for (const Tile &mode : tile.modes())
        modes.append(leafToPython(self, mode));
      return nb::tuple(modes);
    }
    if (const Layout *layout = tile.layout())
      return nb::cast(PyLayoutType::wrapValue(self.getContext(), *layout));
    return tupleToPython(*tile.leaf());
  }

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](nb::handle value, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          return PyTileType(context->getRef(),
                            wrap(mlir::Type(TileType::get(cpp, tileFromPython(value)))));
        },
        "value"_a.none(), "context"_a = nb::none(),
        "The type of a tile: an int, None, a LayoutType, or a nested tuple of these.");
    c.def_prop_ro("rank", [](const PyTileType &self) { return self.cpp().getValue().rank(); });
    c.def_prop_ro("depth", [](const PyTileType &self) { return self.cpp().getValue().depth(); });
    c.def_prop_ro("is_leaf",
                  [](const PyTileType &self) { return !self.cpp().getValue().isBracketed(); });
    c.def(
        "to_py", [](PyTileType &self) { return leafToPython(self, self.cpp().getValue()); },
        "The tile as int, None, LayoutType and nested tuples.");
  }
};
} // namespace

AnyLayout anyLayoutOf(const mp::PyType &type, const char *what) {
  mlir::Type cpp = unwrap(type.get());
  if (mlir::isa<LayoutType, ComposedLayoutType>(cpp))
    return *getAnyLayout(cpp);
  std::string text;
  llvm::raw_string_ostream(text) << what << " must be a LayoutType or ComposedLayoutType, got "
                                 << cpp;
  throw nb::type_error(text.c_str());
}

void bindLayoutTypes(nb::module_ &m) {
  PyIntTupleType::bind(m);
  PyBasisType::bind(m);
  PySwizzleType::bind(m);
  PyCoordSwizzleType::bind(m);
  PyLayoutType::bind(m);
  PyComposedLayoutType::bind(m);
  PyTileType::bind(m);
}

} // namespace fly::python
