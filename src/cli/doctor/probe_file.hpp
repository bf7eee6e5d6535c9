#pragma once
#include <string>
#include <string_view>

namespace trainrt::cli::doctor {

/// The name of a file of the doctor's in the storage; the file, if there is one, goes with this object.
class ProbeFile {
 public:
  /// `what`: for what, one word. The name tells this host and process: what a killed one leaves is known by it.
  ProbeFile(const std::string& storage, std::string_view what);
  ~ProbeFile() { remove(); }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;

  const std::string& path() const { return path_; }
  void remove() const noexcept;

 private:
  std::string path_;
};

/// Removes the files of doctors that were killed.
void remove_abandoned_probes(const std::string& storage);

}  // namespace trainrt::cli::doctor
