#include "cli/checkpoints/remote_folder.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/name_patterns.hpp"
#include "core/text/text.hpp"
#include "io/files/fetch_object.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::cli {

namespace {

/// Returns whether `name` is a relative path that cannot lead out of its folder. The path must not contain control
/// characters.
bool is_path_below(std::string_view name) {
  const auto is_control = [](unsigned char letter) { return letter < 0x20 || letter == 0x7f; };
  if (std::ranges::any_of(name, is_control)) return false;
  for (std::size_t at = 0; at <= name.size();) {
    const auto end = std::min(name.find('/', at), name.size());
    const auto part = name.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

io::StorageUrl parsed_url(const std::string& text) {
  const auto url = io::storage_url(text);
  if (!url) throw UsageError(fmt::format("'{}' is not a URL: expected s3://BUCKET/KEY, for example", excerpt(text)));
  if (url->scheme != "file" && url->bucket.empty())
    throw UsageError(fmt::format("'{}' has no bucket: expected {}://BUCKET/KEY", excerpt(text), url->scheme));
  return *url;
}

}  // namespace

RemoteFolder::RemoteFolder(const std::string& url, const std::vector<std::string>& patterns) {
  auto parsed = parsed_url(url);
  parsed.options.keys = io::mirror_keys();
  storage_ = io::open_storage(parsed);
  prefix_ = parsed.name;
  while (prefix_.ends_with('/')) prefix_.pop_back();
  if (!prefix_.empty()) prefix_ += '/';
  for (auto& object : io::retried([&] { return storage_->list(prefix_); })) {
    const auto name = object.name.substr(prefix_.size());
    if (name.empty() || (name.ends_with('/') && object.size == 0)) continue;  // a folder that a tool of the store has made
    if (!patterns.empty() && !is_selected_by(patterns, name)) continue;
    if (!is_path_below(name))
      throw Error(fmt::format("the object '{}' cannot be copied, because its name is not a valid file path",
                              excerpt(storage_->url_of(object.name))));
    objects_.push_back(std::move(object));
  }
}

std::uint64_t RemoteFolder::bytes() const {
  return std::accumulate(objects_.begin(), objects_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& object) { return sum + object.size; });
}

void RemoteFolder::copy_to(const std::string& folder, const std::function<void(std::uint64_t)>& on_bytes) const {
  for (const auto& object : objects_)
    io::fetch_object(*storage_, object, folder + "/" + object.name.substr(prefix_.size()),
                     [&](std::span<const std::byte> block) { on_bytes(block.size()); });
}

}  // namespace trainrt::cli
