#include "cli/doctor/probe_file.hpp"

#include <unistd.h>

#include "io/files/temporary.hpp"

namespace trainrt::cli::doctor {

namespace {
constexpr std::string_view beginning = "trainrt-doctor-";
}

ProbeFile::ProbeFile(const std::string& storage, std::string_view what)
    : path_(io::temporary_beside(storage + "/" + std::string(beginning) + std::string(what))) {
  remove();  // of a killed process that had this number
}

void ProbeFile::remove() const noexcept { unlink(path_.c_str()); }

void remove_abandoned_probes(const std::string& storage) { io::remove_abandoned(storage, beginning); }

}  // namespace trainrt::cli::doctor
