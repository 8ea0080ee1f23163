// SPDX-License-Identifier: Apache-2.0
//
// One call of a copy atom moves a run of elements that lie side by side. In a composed layout they
// do so in front of the inner maps; behind them, in memory, only if no map tears the run apart.

#ifndef FLY_LIB_TRANSFORMS_ATOMRUNS_H
#define FLY_LIB_TRANSFORMS_ATOMRUNS_H

#include "fly/Algebra/Layout.h"

#include <optional>
#include <string>

namespace fly {

/// Why one call of an atom can't move `run` elements of a composed layout, which it takes from
/// where the first one lies. Nothing if it can.
std::optional<std::string> tornApart(const AnyLayout &layout, int64_t run, int64_t elementBits);

} // namespace fly

#endif // FLY_LIB_TRANSFORMS_ATOMRUNS_H
