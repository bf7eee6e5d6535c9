#include "cli/doctor/probe_file.hpp"

#include <unistd.h>

#include "io/files/temporary.hpp"

namespace trainrt::cli::doctor {

namespace {
constexpr std::string_view prefix = "trainrt-doctor-";
}

ProbeFile::ProbeFile(const std::string& storage, std::string_view purpose)
    : path_(io::temporary_beside(storage + "/" + std::string(prefix) + std::string(purpose))) {
  remove();  // may exist if a killed process had the same process id
}

void ProbeFile::remove() const noexcept { unlink(path_.c_str()); }

void remove_abandoned_probes(const std::string& storage) { io::remove_abandoned(storage, prefix); }

}  // namespace trainrt::cli::doctor
