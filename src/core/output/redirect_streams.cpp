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

/// Makes the descriptors `output` and `error` the standard output and standard error of this process, also for messages of
/// the runtime.
void set_streams(int output, int error) {
  std::fflush(nullptr);
  dup2(output, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  keep_standard_streams();
}

}  // namespace

RedirectedStreams::RedirectedStreams(const std::string& path) {
  const Descriptor file(open_guarded(path, O_WRONLY | O_CREAT | O_APPEND));
  if (!file) throw Error(fmt::format("'{}' cannot be opened: {}", path, reason_with_shortage(path, errno)));
  output_ = Descriptor(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, min_copy));
  error_ = Descriptor(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, min_copy));
  set_streams(file.get(), file.get());
}

RedirectedStreams::~RedirectedStreams() { set_streams(output_.get(), error_.get()); }

}  // namespace trainrt
