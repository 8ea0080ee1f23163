// SPDX-License-Identifier: Apache-2.0
//
// Python classes of atoms, tilings and the target-neutral operations.

#include "LayoutTypes.h"
#include "PyTuples.h"

#include "fly/Algebra/Coordinates.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Dialect/Fly/IR/TiledMma.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

using namespace nanobind::literals;

namespace fly::python {

using Context = mp::DefaultingPyMlirContext;

template <typename Binding, typename Cpp> static Binding wrapAs(Context &context, Cpp type) {
  return Binding(context->getRef(), wrap(mlir::Type(type)));
}

static AnyType layoutToPython(mp::PyType &self, const Layout &layout) {
  mlir::MLIRContext *context = unwrap(self.getContext()->get());
  return toPython(self.getContext(), LayoutType::get(context, layout));
}

namespace {
struct PyCopyAtomType : TypeBinding<PyCopyAtomType, CopyAtomType> {
  static constexpr const char *pyClassName = "CopyAtomType";
  using TypeBinding::TypeBinding;

  static CopyOpTypeInterface op(const PyCopyAtomType &self) {
    mlir::Type type = self.cpp().getCopyOp();
    if (auto op = mlir::dyn_cast<CopyOpTypeInterface>(type))
      return op;
    std::string text;
    llvm::raw_string_ostream(text) << type << " is no copy operation";
    fail(text);
  }

  static AnyType valueLayout(PyCopyAtomType &self, CopyOperand operand) {
    op(self);
    mlir::FailureOr<Layout> layout = getValueLayout(self.cpp(), operand);
    if (failed(layout))
      fail("the bits that the operation moves do not divide into values of " +
           llvm::Twine(self.cpp().getValBits()) + " bits");
    return layoutToPython(self, *layout);
  }

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const mp::PyType &copyOp, int32_t valBits, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          expectType<CopyOpTypeInterface>(copyOp, "a copy operation");
          if (valBits <= 0)
            fail("the width of a value must be positive, got " + llvm::Twine(valBits));
          return wrapAs<PyCopyAtomType>(context,
                                        CopyAtomType::get(cpp, unwrap(copyOp.get()), valBits));
        },
        "copy_op"_a, "val_bits"_a, "context"_a = nb::none());
    c.def_prop_ro("copy_op", [](PyCopyAtomType &self) {
      return toPython(self.getContext(), self.cpp().getCopyOp());
    });
    c.def_prop_ro("val_bits", [](const PyCopyAtomType &self) { return self.cpp().getValBits(); });
    c.def_prop_ro(
        "is_static", [](const PyCopyAtomType &self) { return isStaticType(self.cpp()); },
        "Whether the atom carries no run-time state.");
    c.def_prop_ro("thr_layout", [](PyCopyAtomType &self) {
      return layoutToPython(self, op(self).getThreadLayout());
    });
    c.def_prop_ro(
        "layout_src_tv",
        [](PyCopyAtomType &self) { return valueLayout(self, CopyOperand::Source); },
        "(thread, value) to the index of a value, as the source holds them.");
    c.def_prop_ro("layout_dst_tv",
                  [](PyCopyAtomType &self) { return valueLayout(self, CopyOperand::Destination); });
    c.def_prop_ro("layout_ref_tv",
                  [](PyCopyAtomType &self) { return valueLayout(self, CopyOperand::Reference); });
  }
};

struct PyMmaAtomType : TypeBinding<PyMmaAtomType, MmaAtomType> {
  static constexpr const char *pyClassName = "MmaAtomType";
  using TypeBinding::TypeBinding;

  static MmaOpTypeInterface op(const PyMmaAtomType &self) {
    mlir::Type type = self.cpp().getMmaOp();
    if (auto op = mlir::dyn_cast<MmaOpTypeInterface>(type))
      return op;
    std::string text;
    llvm::raw_string_ostream(text) << type << " is no matrix operation";
    fail(text);
  }

  template <MmaOperand operand>
  static void bindOperand(ClassTy &c, const char *elementType, const char *layout) {
    c.def_prop_ro(elementType, [](PyMmaAtomType &self) {
      return toPython(self.getContext(), op(self).getElementType(operand));
    });
    c.def_prop_ro(layout, [](PyMmaAtomType &self) {
      return layoutToPython(self, op(self).getThreadValueLayout(operand));
    });
  }

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const mp::PyType &mmaOp, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          expectType<MmaOpTypeInterface>(mmaOp, "a matrix operation");
          return wrapAs<PyMmaAtomType>(context, MmaAtomType::get(cpp, unwrap(mmaOp.get())));
        },
        "mma_op"_a, "context"_a = nb::none());
    c.def_prop_ro("mma_op", [](PyMmaAtomType &self) {
      return toPython(self.getContext(), self.cpp().getMmaOp());
    });
    c.def_prop_ro(
        "is_static", [](const PyMmaAtomType &self) { return isStaticType(self.cpp()); },
        "Whether the atom carries no run-time state.");
    c.def_prop_ro("thr_layout", [](PyMmaAtomType &self) {
      return layoutToPython(self, op(self).getThreadLayout());
    });
    c.def_prop_ro("shape_mnk", [](const PyMmaAtomType &self) {
      auto shape = op(self).getShapeMNK();
      return nb::make_tuple(shape[0], shape[1], shape[2]);
    });
    bindOperand<MmaOperand::A>(c, "element_type_a", "layout_A_tv");
    bindOperand<MmaOperand::B>(c, "element_type_b", "layout_B_tv");
    bindOperand<MmaOperand::C>(c, "element_type_c", "layout_C_tv");
    bindOperand<MmaOperand::D>(c, "element_type_d", "layout_D_tv");
  }
};

struct PyTiledCopyType : TypeBinding<PyTiledCopyType, TiledCopyType> {
  static constexpr const char *pyClassName = "TiledCopyType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const mp::PyType &atom, const mp::PyType &layoutTV, const mp::PyType &tile,
           Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          return wrapAs<PyTiledCopyType>(
              context, TiledCopyType::get(cpp, expectType<CopyAtomType>(atom, "a CopyAtomType"),
                                          expectType<LayoutType>(layoutTV, "a LayoutType"),
                                          expectType<TileType>(tile, "a TileType")));
        },
        "atom"_a, "layout_tv"_a, "tile"_a, "context"_a = nb::none());
    c.def_prop_ro("atom", [](PyTiledCopyType &self) {
      return toPython(self.getContext(), self.cpp().getAtom());
    });
    c.def_prop_ro("layout_tv", [](PyTiledCopyType &self) {
      return toPython(self.getContext(), self.cpp().getLayoutTV());
    });
    c.def_prop_ro("tile", [](PyTiledCopyType &self) {
      return toPython(self.getContext(), self.cpp().getTile());
    });
    c.def_prop_ro("is_static",
                  [](const PyTiledCopyType &self) { return isStaticType(self.cpp()); });
  }
};

struct PyTiledMmaType : TypeBinding<PyTiledMmaType, TiledMmaType> {
  static constexpr const char *pyClassName = "TiledMmaType";
  using TypeBinding::TypeBinding;

  /// What a function of the algebra says of the tiling; ValueError where that has no answer.
  template <typename Function, typename... Args>
  static auto checked(const PyTiledMmaType &self, const Function &function, Args... args) {
    AlgebraContext algebra;
    auto result = function(algebra, self.cpp(), args...);
    if (algebra.failed())
      fail(algebra.message());
    return result;
  }

  template <MmaOperand operand> static void bindOperand(ClassTy &c, const char *name) {
    c.def_prop_ro(
        name,
        [](PyTiledMmaType &self) {
          return layoutToPython(self, checked(self, evaluate::mmaThreadValues, operand));
        },
        "(thread, value) to the column-major index in the operand's tile.");
  }

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const mp::PyType &atom, const mp::PyType &atomLayout,
           std::optional<mp::PyType> permutation, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          auto atomType = expectType<MmaAtomType>(atom, "a MmaAtomType");
          auto layoutType = expectType<LayoutType>(atomLayout, "a LayoutType");
          auto tile = permutation ? expectType<TileType>(*permutation, "a TileType")
                                  : TileType::get(cpp, Tile::keepAll(3));
          return wrapAs<PyTiledMmaType>(context,
                                        makeChecked<TiledMmaType>(cpp, atomType, layoutType, tile));
        },
        "atom"_a, "atom_layout"_a, "permutation"_a = nb::none(), "context"_a = nb::none());
    c.def_prop_ro("atom", [](PyTiledMmaType &self) {
      return toPython(self.getContext(), self.cpp().getAtom());
    });
    c.def_prop_ro("atom_layout", [](PyTiledMmaType &self) {
      return toPython(self.getContext(), self.cpp().getAtomLayout());
    });
    c.def_prop_ro("permutation", [](PyTiledMmaType &self) {
      return toPython(self.getContext(), self.cpp().getPermutation());
    });
    c.def_prop_ro("is_static", [](const PyTiledMmaType &self) { return isStaticType(self.cpp()); });
    c.def_prop_ro(
        "thr_layout_vmnk",
        [](PyTiledMmaType &self) {
          return layoutToPython(self, checked(self, evaluate::mmaThreads));
        },
        "(lane of an atom, M, N, K) to the index of the thread.");
    c.def_prop_ro(
        "threads",
        [](const PyTiledMmaType &self) {
          AlgebraContext algebra;
          const IntTuple count = cosize(algebra, checked(self, evaluate::mmaThreads));
          if (algebra.failed() || !count.isStaticLeaf())
            fail("the threads of the tiling are not static");
          return tupleToPython(count);
        },
        "How many threads take part.");
    c.def_prop_ro(
        "tile_size_mnk",
        [](const PyTiledMmaType &self) { return tupleToPython(checked(self, evaluate::mmaTile)); },
        "How many elements of M, N and K all atoms cover together.");
    bindOperand<MmaOperand::A>(c, "tv_layout_A_tiled");
    bindOperand<MmaOperand::B>(c, "tv_layout_B_tiled");
    bindOperand<MmaOperand::C>(c, "tv_layout_C_tiled");
  }
};

// --- target-neutral operations
// -------------------------------------------------------------------------

struct PyUniversalCopyType : TypeBinding<PyUniversalCopyType, UniversalCopyType> {
  static constexpr const char *pyClassName = "UniversalCopyType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](int32_t bits, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          return wrapAs<PyUniversalCopyType>(context, makeChecked<UniversalCopyType>(cpp, bits));
        },
        "bits"_a, "context"_a = nb::none());
    c.def_prop_ro("bits", [](const PyUniversalCopyType &self) { return self.cpp().getBits(); });
  }
};

struct PyUniversalAtomicType : TypeBinding<PyUniversalAtomicType, UniversalAtomicType> {
  static constexpr const char *pyClassName = "UniversalAtomicType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](uint32_t op, const mp::PyType &valueType, const std::string &syncScope,
           Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          std::optional<AtomicOp> known = symbolizeAtomicOp(op);
          if (!known)
            fail("no atomic operation has the number " + llvm::Twine(op));
          return wrapAs<PyUniversalAtomicType>(
              context, makeChecked<UniversalAtomicType>(cpp, *known, unwrap(valueType.get()),
                                                        mlir::StringAttr::get(cpp, syncScope)));
        },
        "op"_a, "value_type"_a, "sync_scope"_a = "", "context"_a = nb::none(),
        "op is an AtomicOp.");
    c.def_prop_ro("op", [](const PyUniversalAtomicType &self) {
      return static_cast<uint32_t>(self.cpp().getOp());
    });
    c.def_prop_ro("value_type", [](PyUniversalAtomicType &self) {
      return toPython(self.getContext(), self.cpp().getValueType());
    });
    c.def_prop_ro("sync_scope", [](const PyUniversalAtomicType &self) {
      return self.cpp().getSyncScope().str();
    });
  }
};

struct PyUniversalFMAType : TypeBinding<PyUniversalFMAType, UniversalFMAType> {
  static constexpr const char *pyClassName = "UniversalFMAType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const mp::PyType &elementType, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          return wrapAs<PyUniversalFMAType>(
              context, makeChecked<UniversalFMAType>(cpp, unwrap(elementType.get())));
        },
        "element_type"_a, "context"_a = nb::none());
    c.def_prop_ro("element_type", [](PyUniversalFMAType &self) {
      return toPython(self.getContext(), self.cpp().getElementType());
    });
  }
};
} // namespace

void bindAtomTypes(nb::module_ &m) {
  PyCopyAtomType::bind(m);
  PyMmaAtomType::bind(m);
  PyTiledCopyType::bind(m);
  PyTiledMmaType::bind(m);
  PyUniversalCopyType::bind(m);
  PyUniversalAtomicType::bind(m);
  PyUniversalFMAType::bind(m);
}

} // namespace fly::python
