#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/storage.hpp"

namespace trainrt::cli {

/// The objects below a URL of a storage, such as a mirrored run or checkpoint.
class RemoteFolder {
 public:
  /// Lists the objects below `url`: those whose names begin with the URL's key and a slash. `patterns` select some of
  /// them by the rest of their names (is_selected_by()); an empty list selects all. Uses the keys of io::mirror_keys().
  /// Throws UsageError if `url` is not a URL of a storage. Throws Error if the storage fails, or if the name of an
  /// object is not a valid path of a file.
  RemoteFolder(const std::string& url, const std::vector<std::string>& patterns);

  std::string url() const { return storage_->url_of(prefix_); }
  std::size_t count() const { return objects_.size(); }
  std::uint64_t bytes() const;
  /// Copies the selected objects into the existing directory `folder`. Calls `on_bytes` with the number of bytes of each
  /// block that was written. Throws StorageError.
  void copy_to(const std::string& folder, const std::function<void(std::uint64_t)>& on_bytes) const;

 private:
  std::shared_ptr<io::Storage> storage_;
  std::string prefix_;  // empty, or ends with a slash
  std::vector<io::StoredObject> objects_;
};

}  // namespace trainrt::cli
