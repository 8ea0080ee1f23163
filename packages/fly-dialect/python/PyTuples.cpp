// SPDX-License-Identifier: Apache-2.0

#include "PyTuples.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

using namespace nanobind::literals;

namespace fly::python {

static bool isSequence(nb::handle value) {
  return PyTuple_Check(value.ptr()) || PyList_Check(value.ptr());
}

static std::string reprOf(nb::handle value) { return nb::repr(value).c_str(); }

static int32_t int32FromPython(nb::handle value) {
  nb::object integer = nb::steal(PyNumber_Index(value.ptr()));
  if (!integer.is_valid())
    throw nb::python_error();
  int overflow = 0;
  long long wide = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow != 0 || wide < std::numeric_limits<int32_t>::min() ||
      wide > std::numeric_limits<int32_t>::max()) {
    PyErr_Format(PyExc_OverflowError, "%R does not fit the 32 bits of a static integer",
                 integer.ptr());
    throw nb::python_error();
  }
  return static_cast<int32_t>(wide);
}

// The type that `value` wraps, or null where it is no MLIR type.
static mlir::Type typeOf(nb::handle value) {
  mp::PyType *type = nullptr;
  return nb::try_cast<mp::PyType *>(value, type) && type ? unwrap(type->get()) : mlir::Type();
}

static IntTuple applyBasis(const IntTuple &value, llvm::ArrayRef<int32_t> modes) {
  if (modes.empty())
    return value;
  if (value.isTuple() || value.isBasis())
    fail("the value of a basis element must be a plain integer, got " + value.str());
  BasisPath path;
  for (int32_t mode : modes) {
    if (mode < 0 || !path.canAppend(mode))
      fail("a basis path has at most " + llvm::Twine(BasisPath::kMaxLength) +
           " modes between 0 and " + llvm::Twine(BasisPath::kMaxMode));
    path = path.append(mode);
  }
  return value.withPath(path);
}

static IntTuple convert(nb::handle value, unsigned depth, unsigned &leaves) {
  if (isSequence(value)) {
    if (depth == kMaxDepth)
      fail("an integer tuple may not nest deeper than " + llvm::Twine(kMaxDepth));
    llvm::SmallVector<IntTuple, 8> modes;
    for (nb::handle mode : nb::borrow<nb::sequence>(value))
      modes.push_back(convert(mode, depth + 1, leaves));
    if (modes.empty())
      fail("an integer tuple has at least one mode; () is none");
    return IntTuple::tuple(modes);
  }
  if (++leaves > kMaxLeaves)
    fail("an integer tuple may not have more than " + llvm::Twine(kMaxLeaves) + " leaves");
  if (value.is_none())
    return IntTuple::none();
  if (PyIndex_Check(value.ptr()) && !PyBool_Check(value.ptr()))
    return IntTuple(int32FromPython(value));
  if (Dynamic dynamic; nb::try_cast(value, dynamic))
    return IntTuple::dynamic(dynamic.width, dynamic.divisibility);
  if (BasisElement *basis = nullptr; nb::try_cast<BasisElement *>(value, basis) && basis)
    return applyBasis(convert(basis->value, depth, leaves), basis->modes);
  if (mlir::Type type = typeOf(value)) {
    if (auto tuple = mlir::dyn_cast<IntTupleType>(type))
      return tuple.getValue();
    if (auto basis = mlir::dyn_cast<BasisType>(type))
      return basis.getValue();
  }
  throw nb::type_error(("an integer tuple is made of int, None, Dynamic, Basis, IntTupleType and "
                        "tuples of them, got " +
                        reprOf(value))
                           .c_str());
}

IntTuple tupleFromPython(nb::handle value) {
  unsigned leaves = 0;
  IntTuple tuple = convert(value, 0, leaves);
  // Types that were spliced in may add up.
  if (tuple.depth() > kMaxDepth || tuple.leafCount() > kMaxLeaves)
    fail("an integer tuple may not have more than " + llvm::Twine(kMaxLeaves) +
         " leaves or nest deeper than " + llvm::Twine(kMaxDepth));
  return tuple;
}

nb::object tupleToPython(const IntTuple &tuple) {
  if (tuple.isTuple()) {
    nb::list modes;
    for (const IntTuple &mode : tuple.modes())
      modes.append(tupleToPython(mode));
    return nb::tuple(modes);
  }
  if (tuple.isNone())
    return nb::none();
  nb::object value =
      tuple.isStaticLeaf()
          ? nb::object(nb::int_(tuple.staticValue()))
          : nb::cast(Dynamic{static_cast<int32_t>(tuple.width()), tuple.divisibility()});
  if (!tuple.isBasis())
    return value;
  BasisElement basis{value, {}};
  for (unsigned level = 0; level < tuple.path().size(); ++level)
    basis.modes.push_back(static_cast<int32_t>(tuple.path()[level]));
  return nb::cast(std::move(basis));
}

static Tile convertTile(nb::handle value, unsigned depth) {
  if (isSequence(value)) {
    if (depth == kMaxDepth)
      fail("a tile may not nest deeper than " + llvm::Twine(kMaxDepth));
    llvm::SmallVector<Tile, 4> modes;
    for (nb::handle mode : nb::borrow<nb::sequence>(value))
      modes.push_back(convertTile(mode, depth + 1));
    if (modes.empty())
      fail("a tile has at least one mode");
    return Tile(modes);
  }
  if (value.is_none())
    return Tile(IntTuple::none());
  if (PyIndex_Check(value.ptr()) && !PyBool_Check(value.ptr()))
    return Tile(IntTuple(int32FromPython(value)));
  if (mlir::Type type = typeOf(value)) {
    if (auto layout = mlir::dyn_cast<LayoutType>(type))
      return Tile(layout.getValue());
    if (auto tile = mlir::dyn_cast<TileType>(type))
      return tile.getValue();
  }
  throw nb::type_error(
      ("a tile is made of int, None, LayoutType, TileType and tuples of them, got " + reprOf(value))
          .c_str());
}

Tile tileFromPython(nb::handle value) { return convertTile(value, 0); }

void bindTupleValues(nb::module_ &m) {
  nb::class_<Dynamic>(
      m, "Dynamic",
      "A leaf whose value is known at run time only: `width` bits (32 or 64), and a "
      "multiple of `div`.")
      .def(
          "__init__",
          [](Dynamic *self, int32_t width, int32_t div) {
            if (width != 32 && width != 64)
              fail("a dynamic leaf has 32 or 64 bits, got " + llvm::Twine(width));
            new (self) Dynamic{width, div};
          },
          "width"_a = 32, "div"_a = 1)
      .def_ro("width", &Dynamic::width)
      .def_ro("div", &Dynamic::divisibility)
      .def(
          "__eq__",
          [](const Dynamic &self, nb::handle other) {
            Dynamic value;
            return nb::try_cast(other, value) && value.width == self.width &&
                   value.divisibility == self.divisibility;
          },
          nb::arg("other").none())
      .def("__hash__",
           [](const Dynamic &self) {
             // Dynamic leaves are parts of keys.
             return int64_t(self.width) * 1000003 + self.divisibility;
           })
      .def("__repr__", [](const Dynamic &self) {
        return "Dynamic(width=" + std::to_string(self.width) +
               ", div=" + std::to_string(self.divisibility) + ")";
      });

  nb::class_<BasisElement>(m, "Basis",
                           "A basis element: `value` times the unit vector of the mode path "
                           "`modes`, outermost mode first.")
      .def(
          "__init__",
          [](BasisElement *self, nb::object value, std::vector<int32_t> modes) {
            new (self) BasisElement{std::move(value), std::move(modes)};
          },
          "value"_a, "modes"_a)
      .def_ro("value", &BasisElement::value)
      .def_ro("modes", &BasisElement::modes)
      .def(
          "__eq__",
          [](const BasisElement &self, nb::handle other) {
            BasisElement *basis = nullptr;
            return nb::try_cast<BasisElement *>(other, basis) && basis &&
                   self.value.equal(basis->value) && self.modes == basis->modes;
          },
          nb::arg("other").none())
      .def("__hash__",
           [](const BasisElement &self) {
             return nb::hash(nb::make_tuple(self.value, nb::tuple(nb::cast(self.modes))));
           })
      .def("__repr__", [](const BasisElement &self) {
        return "Basis(" + reprOf(self.value) + ", " + reprOf(nb::cast(self.modes)) + ")";
      });
}

} // namespace fly::python
