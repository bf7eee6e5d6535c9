#pragma once
#include <string>

#include <unistd.h>

#include "io/files/temporary.hpp"

namespace trainrt::cli::doctor {

constexpr const char* probe_prefix = "trainrt-doctor-";

/// The path of a temporary file that a check creates in the storage. The destructor removes the file, if it exists.
class ProbeFile {
 public:
  /// `purpose` is one word for the file name. The name also has the host and the process, so that remove_abandoned_probes()
  /// finds the files of killed processes.
  ProbeFile(const std::string& storage, const std::string& purpose)
      : path_(io::temporary_beside(storage + "/" + probe_prefix + purpose)) {
    unlink(path_.c_str());  // may exist if a killed process had the same process id
  }
  ~ProbeFile() { unlink(path_.c_str()); }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Removes the files that killed processes have left in the storage.
inline void remove_abandoned_probes(const std::string& storage) { io::remove_abandoned(storage, probe_prefix); }

}  // namespace trainrt::cli::doctor
