// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_PYTHON_CALLCHAIN_H
#define FLY_PYTHON_CALLCHAIN_H

#include <nanobind/nanobind.h>

namespace fly::python {

void bindCallChain(nanobind::module_ &m);

} // namespace fly::python

#endif // FLY_PYTHON_CALLCHAIN_H
