#include "io/storage.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace trainrt::io {

namespace {

StorageSettings settings_of_process;

/// The access keys that set_mirror_keys() has set.
struct MirrorKeys {
  std::mutex mutex;
  Credentials keys;
};

MirrorKeys& mirror_keys_of_process() {
  static MirrorKeys own;
  return own;
}

}  // namespace

std::shared_ptr<Storage> open_storage(const StorageUrl& url) {
  return find_plugin(storage_table(), url.scheme, "storage").open(url);
}

std::shared_ptr<const Storage> storage_for_reading(const StorageUrl& url) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Storage>> open;
  const std::lock_guard lock(mutex);
  auto& storage = open[url_in_bucket(url, "")];
  if (!storage) storage = open_storage({url.scheme, url.bucket, "", url.options});
  return storage;
}

void set_storage_settings(StorageSettings settings) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (settings != settings_of_process) settings_of_process = std::move(settings);
}

const StorageSettings& storage_settings() { return settings_of_process; }

void set_mirror_keys(Credentials keys) {
  auto& own = mirror_keys_of_process();
  const std::lock_guard lock(own.mutex);
  own.keys = std::move(keys);
}

Credentials mirror_keys() {
  auto& own = mirror_keys_of_process();
  const std::lock_guard lock(own.mutex);
  return own.keys;
}

}  // namespace trainrt::io
