// SPDX-License-Identifier: Apache-2.0
//
// How a refused argument is reported: "entry(): argument 2 ('b'): expected ..., got ...".
#ifndef FLYDSL_CSRC_ARGUMENT_ERROR_H
#define FLYDSL_CSRC_ARGUMENT_ERROR_H

#include "error.h"
#include "note.h"

namespace flydsl::runtime {

// One argument in one call, for messages.
struct ArgumentSite {
  const Note &note;
  size_t index; // from 0

  const Argument &argument() const { return note.arguments[index]; }

  std::string text() const {
    return note.name + "(): argument " + std::to_string(index + 1) + " ('" + argument().name + "')";
  }

  [[noreturn]] void refuse(FlyStatus status, const std::string &expected,
                           const std::string &got) const {
    throw Failure{status, text() + ": expected " + expected + ", got " + got,
                  static_cast<int>(index)};
  }
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_ARGUMENT_ERROR_H
