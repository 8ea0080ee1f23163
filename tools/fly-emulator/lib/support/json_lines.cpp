// SPDX-License-Identifier: Apache-2.0
#include "support/json_lines.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "support/environment.h"
#include "support/error.h"

namespace flyemu {

void appendJsonLine(const char *variable, const std::function<std::string()> &text) {
  const std::string path = environmentString(variable, "");
  if (path.empty())
    return;
  const std::string line = text() + "\n";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool written =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error = errno;
  if (file >= 0)
    ::close(file);
  if (!written)
    throw EmulatorError(hipErrorFileNotFound, std::string(variable) + "=" + path +
                                                  ": cannot write: " + std::strerror(error));
}

} // namespace flyemu
