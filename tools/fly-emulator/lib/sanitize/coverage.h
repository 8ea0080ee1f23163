// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace flyemu {

/// What chosen sanitizers look at on an architecture, and what they do not, in the words of a user:
/// "checked: ...\nnot checked: ...", the items separated by semicolons. One list for all reports,
/// so that silence is not taken for an answer.
std::string coverageText(unsigned sanitizers, const std::string &arch);

} // namespace flyemu
