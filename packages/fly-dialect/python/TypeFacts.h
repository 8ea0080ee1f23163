// SPDX-License-Identifier: Apache-2.0
//
// Types of the fly dialect as plain Python values: the records of flydsl._mlir.facts.

#ifndef FLY_PYTHON_TYPEFACTS_H
#define FLY_PYTHON_TYPEFACTS_H

#include "TypeBinding.h"

namespace fly::python {

/// facts_of, spelling, spell_tuple, state_fields and why_unavailable.
void bindTypeFacts(nb::module_ &m);

} // namespace fly::python

#endif // FLY_PYTHON_TYPEFACTS_H
