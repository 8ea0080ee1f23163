// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flyemu {

/// One argument of a kernel's kernarg segment, as the code object's metadata describes it.
struct KernelArgument {
  std::string name;      ///< the source name; empty where the compiler gave none
  std::string valueKind; ///< "global_buffer", "by_value", "hidden_block_count_x", ...
  uint32_t offset = 0;   ///< bytes from the start of the kernarg segment
  uint32_t size = 0;     ///< bytes

  bool isHidden() const { return valueKind.compare(0, 7, "hidden_") == 0; }
};

/// The resources and the signature of one kernel.
struct KernelMetadata {
  std::string name;
  std::string symbol; ///< of the kernel descriptor: "<name>.kd"
  std::vector<KernelArgument> arguments;
  uint32_t kernargSize = 0;
  uint32_t kernargAlign = 8;
  uint32_t groupSegmentSize = 0;   ///< static LDS, bytes
  uint32_t privateSegmentSize = 0; ///< scratch per lane, bytes
  uint32_t wavefrontSize = 64;
  uint32_t maxFlatWorkgroupSize = 1024;
  uint32_t vgprCount = 0;
  uint32_t agprCount = 0;
  uint32_t sgprCount = 0;
  uint32_t vgprSpills = 0;
  uint32_t sgprSpills = 0;
  bool usesDynamicStack = false;
  uint32_t clusterDims[3] = {}; ///< workgroups of a cluster; zeros where the kernel does not say
};

/// Parse the msgpack document of an NT_AMDGPU_METADATA note (code object v3 and later). Throws
/// EmulatorError (hipErrorInvalidImage) for a document that is not one.
std::vector<KernelMetadata> parseKernelMetadata(const std::string &messagePack);

} // namespace flyemu
