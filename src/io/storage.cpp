#include "io/storage.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>

#include <fmt/format.h>

namespace trainrt::io {

namespace {

StorageSettings settings_of_process;

bool is_scheme(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::ranges::all_of(text, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '+'; });
}

}  // namespace

std::optional<StorageUrl> storage_url(std::string_view text) {
  const auto colon = text.find("://");
  if (colon == std::string_view::npos || !is_scheme(text.substr(0, colon))) return std::nullopt;
  StorageUrl url{std::string(text.substr(0, colon)), {}, {}};
  find_plugin(storage_table(), url.scheme, "storage");
  const auto rest = text.substr(colon + 3);
  const auto slash = std::min(rest.find('/'), rest.size());
  url.bucket = rest.substr(0, slash);
  url.name = rest.substr(std::min(slash + 1, rest.size()));
  return url;
}

std::shared_ptr<Storage> open_storage(const StorageUrl& url) {
  return find_plugin(storage_table(), url.scheme, "storage").open(url);
}

std::shared_ptr<const Storage> storage_for_reading(const StorageUrl& url) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Storage>> open;
  const std::lock_guard lock(mutex);
  auto& storage = open[fmt::format("{}://{}", url.scheme, url.bucket)];
  if (!storage) storage = open_storage({url.scheme, url.bucket, ""});
  return storage;
}

void set_storage_settings(StorageSettings settings) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (settings != settings_of_process) settings_of_process = std::move(settings);
}

const StorageSettings& storage_settings() { return settings_of_process; }

}  // namespace trainrt::io
