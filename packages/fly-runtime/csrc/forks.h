// SPDX-License-Identifier: Apache-2.0
//
// Nobody forks in the middle of another thread's call.
//
// A forked process has the forking thread alone. What the others were in the middle of stays so in
// it for good: the locks that they held, ours and those of the device's library, are never given
// back. So `fork` waits until they have left the library, as it waits for the C library's
// allocator, and nobody enters it meanwhile.
#ifndef FLYDSL_CSRC_FORKS_H
#define FLYDSL_CSRC_FORKS_H

namespace flydsl::runtime {

// Its thread is in the library as long as it lives. Calls may nest; the thread itself may fork.
class InLibrary {
public:
  InLibrary() noexcept;
  ~InLibrary();
  InLibrary(const InLibrary &) = delete;
  InLibrary &operator=(const InLibrary &) = delete;

private:
  unsigned &depth; // of the thread's calls
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_FORKS_H
