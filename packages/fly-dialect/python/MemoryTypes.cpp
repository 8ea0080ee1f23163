// SPDX-License-Identifier: Apache-2.0
//
// Python classes of pointers and tensors.

#include "LayoutTypes.h"
#include "PyTuples.h"

#include "fly/Dialect/Fly/IR/FlyDialect.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

using namespace nanobind::literals;

namespace fly::python {

using Context = mp::DefaultingPyMlirContext;

// A number or name of the enumeration, or any attribute.
static mlir::Attribute spaceFromPython(mlir::MLIRContext *context, nb::handle value) {
  if (mp::PyAttribute *attribute = nullptr;
      nb::try_cast<mp::PyAttribute *>(value, attribute) && attribute)
    return unwrap(attribute->get());
  std::optional<AddressSpace> space;
  std::string name;
  uint32_t number = 0;
  if (nb::try_cast(value, name))
    space = symbolizeAddressSpace(name);
  else if (PyIndex_Check(value.ptr()) && nb::try_cast(nb::int_(value), number))
    space = symbolizeAddressSpace(number);
  if (!space)
    fail(llvm::Twine("expected address space to be one of: generic, global, shared, register, or "
                     "an attribute, got ") +
         nb::repr(value).c_str());
  return AddressSpaceAttr::get(context, *space);
}

static Swizzle swizzleFrom(std::optional<mp::PyType> swizzle) {
  return swizzle ? expectType<SwizzleType>(*swizzle, "a SwizzleType").getValue() : Swizzle();
}

// What pointers and memrefs have in common.
template <typename Binding> static void bindPointerProperties(typename Binding::ClassTy &c) {
  c.def_prop_ro("element_type", [](Binding &self) {
    return toPython(self.getContext(), self.cpp().getElementType());
  });
  c.def_prop_ro("address_space", [](Binding &self) {
    return toPython(self.getContext(), self.cpp().getAddressSpace());
  });
  c.def_prop_ro(
      "address_space_name",
      [](const Binding &self) -> std::optional<std::string> {
        auto space = self.cpp().getKnownAddressSpace();
        return space ? std::optional(stringifyAddressSpace(*space).str()) : std::nullopt;
      },
      "\"generic\", \"global\", \"shared\" or \"register\"; None for a back end's own space.");
  c.def_prop_ro(
      "alignment", [](const Binding &self) { return self.cpp().getAlignment(); }, "In bytes.");
  c.def_prop_ro("swizzle", [](Binding &self) {
    return toPython(self.getContext(),
                    SwizzleType::get(self.cpp().getContext(), self.cpp().getSwizzle()));
  });
}

namespace {
struct PyPointerType : TypeBinding<PyPointerType, PointerType> {
  static constexpr const char *pyClassName = "PointerType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const mp::PyType &elementType, nb::handle space, std::optional<int32_t> alignment,
           std::optional<mp::PyType> swizzle, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          mlir::Type element = unwrap(elementType.get());
          return PyPointerType(context->getRef(),
                               wrap(mlir::Type(makeChecked<PointerType>(
                                   cpp, element, spaceFromPython(cpp, space),
                                   alignment.value_or(getElementByteSize(element)),
                                   swizzleFrom(std::move(swizzle))))));
        },
        "element_type"_a, "address_space"_a, "alignment"_a = nb::none(), "swizzle"_a = nb::none(),
        "context"_a = nb::none(), "alignment is in bytes, by default that of the element.");
    bindPointerProperties<PyPointerType>(c);
  }
};

struct PyMemRefType : TypeBinding<PyMemRefType, MemRefType> {
  static constexpr const char *pyClassName = "MemRefType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const mp::PyType &elementType, const mp::PyType &layout, nb::handle space,
           std::optional<int32_t> alignment, std::optional<mp::PyType> swizzle, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          mlir::Type element = unwrap(elementType.get());
          return PyMemRefType(
              context->getRef(),
              wrap(mlir::Type(makeChecked<MemRefType>(
                  cpp, element, spaceFromPython(cpp, space), anyLayoutOf(layout, "the layout"),
                  alignment.value_or(getElementByteSize(element)),
                  swizzleFrom(std::move(swizzle))))));
        },
        "element_type"_a, "layout"_a, "address_space"_a, "alignment"_a = nb::none(),
        "swizzle"_a = nb::none(), "context"_a = nb::none(),
        "alignment is in bytes, by default that of the element.");
    bindPointerProperties<PyMemRefType>(c);
    c.def_prop_ro("layout", [](PyMemRefType &self) {
      return toPython(self.getContext(),
                      getLayoutType(self.cpp().getContext(), self.cpp().getLayout()));
    });
    c.def_prop_ro("pointer_type", [](PyMemRefType &self) {
      return toPython(self.getContext(), self.cpp().getPointerType());
    });
  }
};

struct PyCoordTensorType : TypeBinding<PyCoordTensorType, CoordTensorType> {
  static constexpr const char *pyClassName = "CoordTensorType";
  using TypeBinding::TypeBinding;

  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](nb::handle base, const mp::PyType &layout, Context context) {
          mlir::MLIRContext *cpp = loadContext<FlyDialect>(context);
          return PyCoordTensorType(
              context->getRef(),
              wrap(mlir::Type(CoordTensorType::get(cpp, tupleFromPython(base),
                                                   anyLayoutOf(layout, "the layout")))));
        },
        "base"_a, "layout"_a, "context"_a = nb::none());
    c.def_prop_ro("base", [](PyCoordTensorType &self) {
      return toPython(self.getContext(),
                      IntTupleType::get(self.cpp().getContext(), self.cpp().getBase()));
    });
    c.def_prop_ro("layout", [](PyCoordTensorType &self) {
      return toPython(self.getContext(),
                      getLayoutType(self.cpp().getContext(), self.cpp().getLayout()));
    });
    c.def_prop_ro("is_static",
                  [](const PyCoordTensorType &self) { return isStaticType(self.cpp()); });
  }
};
} // namespace

void bindMemoryTypes(nb::module_ &m) {
  PyPointerType::bind(m);
  PyMemRefType::bind(m);
  PyCoordTensorType::bind(m);
}

} // namespace fly::python
