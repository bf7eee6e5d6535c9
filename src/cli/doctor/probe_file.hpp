#pragma once
#include <string>
#include <string_view>

namespace trainrt::cli::doctor {

/// The path of a temporary file that a check creates in the storage. The destructor removes the file, if it exists.
class ProbeFile {
 public:
  /// `purpose` is one word for the file name. The name also has the host and the process, so that remove_abandoned_probes()
  /// finds the files of killed processes.
  ProbeFile(const std::string& storage, std::string_view purpose);
  ~ProbeFile() { remove(); }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;

  const std::string& path() const { return path_; }
  void remove() const noexcept;

 private:
  std::string path_;
};

/// Removes the files that killed processes have left in the storage.
void remove_abandoned_probes(const std::string& storage);

}  // namespace trainrt::cli::doctor
