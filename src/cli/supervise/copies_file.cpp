#include "cli/supervise/copies_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checkpoint/memory/copy_file.hpp"
#include "core/output/log.hpp"
#include "trainer/saving/memory_copies.hpp"

namespace trainrt::cli {

CopiesFile::CopiesFile(const config::RunSpec& spec, int nodes) {
  if (spec.failure.recovery != config::Recovery::live || spec.failure.max_failures == 0 || nodes != 1) return;
  file_ = Descriptor(memfd_create(trainer::copies_name, MFD_CLOEXEC));
  if (!file_)
    log::warning(
        fmt::format("no copies of the State are made in memory, because memfd_create failed: {}", std::strerror(errno)));
  else
    setenv(trainer::copies_variable, fmt::format("/proc/{}/fd/{}", getpid(), file_.get()).c_str(), 1);
}

void CopiesFile::begin_start() {
  if (file_) checkpoint::CopyFile::forget_use(file_.get());
}

bool CopiesFile::is_in_use() const { return file_ && checkpoint::CopyFile::is_in_use(file_.get()); }

}  // namespace trainrt::cli
