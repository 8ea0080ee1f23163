// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flyemu {

/// A code object inside what a client handed over; owns its bytes when they had to be unpacked.
class ImageView {
public:
  ImageView(const void *data, size_t size) : data_(data), size_(size) {}
  explicit ImageView(std::vector<uint8_t> owned)
      : owned_(std::move(owned)), data_(owned_.data()), size_(owned_.size()) {}

  const void *data() const { return owned_.empty() ? data_ : owned_.data(); }
  size_t size() const { return size_; }

private:
  std::vector<uint8_t> owned_;
  const void *data_;
  size_t size_;
};

/// The code object for an architecture in an ELF, a fat binary wrapper, an offload bundle, or a
/// compressed offload bundle. `size` 0 means unknown (hipModuleLoadData has no size): it is then
/// read from the headers. Throws EmulatorError: hipErrorInvalidImage for something else,
/// hipErrorNoBinaryForGpu where the bundle has none for the architecture.
ImageView findImage(const void *image, size_t size, const std::string &arch);

} // namespace flyemu
