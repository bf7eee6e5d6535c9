#include "core/output/redirect_streams.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"
#include "core/files/shortage.hpp"
#include "core/output/standard_streams.hpp"

namespace trainrt {

namespace {

constexpr int above_streams = 3;  // the copy of a stream must not become another one

void lead_to(int output, int error) {
  std::fflush(nullptr);
  dup2(output, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  keep_standard_streams();
}

}  // namespace

StreamsInFile::StreamsInFile(const std::string& path) {
  const int file = open_guarded(path, O_WRONLY | O_CREAT | O_APPEND);
  if (file < 0) throw Error(fmt::format("'{}' cannot be opened: {}", path, reason_with_shortage(path, errno)));
  output_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, above_streams);
  error_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, above_streams);
  lead_to(file, file);
  close(file);
}

StreamsInFile::~StreamsInFile() {
  lead_to(output_, error_);
  close(output_);
  close(error_);
}

}  // namespace trainrt
