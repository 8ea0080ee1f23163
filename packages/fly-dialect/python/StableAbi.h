// SPDX-License-Identifier: Apache-2.0
//
// What MLIR's bindings and ours take from CPython that its limited API lacks. From Python 3.12 on
// the bindings are compiled against that API, so that one wheel is for each later Python, too;
// python/CMakeLists.txt puts these functions where MLIR's sources use others.
#ifndef FLY_PYTHON_STABLEABI_H
#define FLY_PYTHON_STABLEABI_H

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <iterator>

#ifndef PyErr_Warn
/// What CPython defines outside of the limited API.
#define PyErr_Warn(category, message) PyErr_WarnEx(category, message, 1)
#endif

namespace fly::python {

/// A classmethod of a function.
inline nanobind::object classMethod(nanobind::handle function) {
  return nanobind::module_::import_("builtins").attr("classmethod")(function);
}

#ifdef Py_LIMITED_API

/// An attribute of an object; `name` is a text that is made and interned once.
#define FLY_PYTHON_ATTRIBUTE(object, name)                                                         \
  ([](PyObject *of) {                                                                              \
    static PyObject *const interned = PyUnicode_InternFromString(name);                            \
    PyObject *found = PyObject_GetAttr(of, interned);                                              \
    if (!found)                                                                                    \
      nanobind::raise_python_error();                                                              \
    return nanobind::steal(found);                                                                 \
  }(reinterpret_cast<PyObject *>(object)))

/// The frame that called `frame`, or null: a new reference.
inline PyFrameObject *callerOf(PyFrameObject *frame) {
  nanobind::object caller = FLY_PYTHON_ATTRIBUTE(frame, "f_back");
  return caller.is_none() ? nullptr : reinterpret_cast<PyFrameObject *>(caller.release().ptr());
}

/// The offset of the instruction that `frame` runs, in bytes.
inline int instructionOf(PyFrameObject *frame) {
  return static_cast<int>(PyLong_AsLong(FLY_PYTHON_ATTRIBUTE(frame, "f_lasti").ptr()));
}

/// The file that `code` stands in.
inline nanobind::str fileOf(PyCodeObject *code) {
  return nanobind::borrow<nanobind::str>(FLY_PYTHON_ATTRIBUTE(code, "co_filename"));
}

/// The name of the function that `code` is of, with what it stands in.
inline nanobind::str qualifiedNameOf(PyCodeObject *code) {
  return nanobind::borrow<nanobind::str>(FLY_PYTHON_ATTRIBUTE(code, "co_qualname"));
}

/// Sets the lines and columns of the instruction at `offset` of `code`, those that are not known to
/// -1, as `PyCode_Addr2Location` does; false, with Python's error set, if there is no such
/// instruction.
inline int positionOf(PyCodeObject *code, int offset, int *startLine, int *startColumn,
                      int *endLine, int *endColumn) {
  // An instruction has two bytes, and co_positions one entry for each.
  nanobind::object position =
      nanobind::steal(PyIter_Next(nanobind::module_::import_("itertools")
                                      .attr("islice")(FLY_PYTHON_ATTRIBUTE(code, "co_positions")(),
                                                      offset / 2, nanobind::none())
                                      .ptr()));
  if (!position.is_valid()) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_IndexError, "the code has no instruction at this offset");
    return 0;
  }
  // Python's order: line, end line, column, end column.
  const std::array<int *, 4> fields = {startLine, endLine, startColumn, endColumn};
  for (size_t i = 0; i < fields.size(); ++i) {
    nanobind::object field = position[i];
    *fields[i] = field.is_none() ? -1 : nanobind::cast<int>(field);
  }
  return 1;
}

#undef FLY_PYTHON_ATTRIBUTE

#else

inline PyFrameObject *callerOf(PyFrameObject *frame) { return PyFrame_GetBack(frame); }

inline int instructionOf(PyFrameObject *frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return nanobind::cast<int>(nanobind::handle(reinterpret_cast<PyObject *>(frame)).attr("f_lasti"));
#endif
}

inline nanobind::str fileOf(PyCodeObject *code) {
  return nanobind::borrow<nanobind::str>(code->co_filename);
}

#if PY_VERSION_HEX >= 0x030B0000
inline nanobind::str qualifiedNameOf(PyCodeObject *code) {
  return nanobind::borrow<nanobind::str>(code->co_qualname);
}

inline int positionOf(PyCodeObject *code, int offset, int *startLine, int *startColumn,
                      int *endLine, int *endColumn) {
  return PyCode_Addr2Location(code, offset, startLine, startColumn, endLine, endColumn);
}
#endif

#endif

} // namespace fly::python

/// LLVM's ranges ask iterators for this. In the limited API lists have nanobind's general iterator.
template <> struct std::iterator_traits<nanobind::iterator> {
  using iterator_category = std::input_iterator_tag;
  using difference_type = nanobind::iterator::difference_type;
  using value_type = nanobind::iterator::value_type;
  using reference = nanobind::iterator::reference;
  using pointer = nanobind::iterator::pointer;
};

#endif // FLY_PYTHON_STABLEABI_H
