// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "execute/lanes/lane_kernel.h"

namespace flyemu {

/// The lane kernels for the best instruction set that this machine has. FLYDSL_EMU_ISA=baseline,
/// avx2 or avx512 asks for a lesser one (tests compare them).
const LaneTable &laneTable();

/// Its name: "baseline", "avx2" or "avx512".
const char *laneTableName();

} // namespace flyemu
