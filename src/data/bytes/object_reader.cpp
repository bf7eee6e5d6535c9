#include "data/bytes/object_reader.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/chunk_cache.hpp"
#include "io/storage.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::data {

namespace {

// A window is a range of `window_bytes` bytes of an object, which is read at once and cached. Small reads in sequence are
// copied from windows; larger reads do not use windows. The cache holds up to eight windows, of all objects together.
constexpr std::uint64_t window_bytes = 4 << 20, cached_bytes = 8 * window_bytes;
constexpr std::uint64_t max_small_read = (1 << 20) - 1;
constexpr std::uint64_t min_range = 1 << 20;
constexpr std::size_t max_sequences =
    16;  // maximum number of sequences of reads that are recognized per object: each thread may read its own section

class ObjectReader final : public FileReader {
 public:
  explicit ObjectReader(const DataFile& file) : file_(file), url_(io::storage_url(file.path).value()) {
    storage_ = io::storage_for_reading(url_);
    object_ = {url_.name, file.size, file.version, file.mtime_ns};
  }

  std::size_t max_in_flight() const override { return storage_->max_in_flight(); }

  void read(std::span<const FilePart> parts) const override {
    if (parts.size() == 1 && parts[0].into.size() <= max_small_read && (is_sequential(parts[0]) || is_in_windows(parts[0])))
      return read_from_windows(parts[0]);
    std::vector<io::ObjectPart> requests;
    for (const auto& part : parts) requests.push_back({part.offset, part.into});
    storage_->read(object_, requests);
  }

 private:
  /// Returns whether `part` is in the object and continues a recent read: it begins at or before the end of that read,
  /// and ends at or after it. Also records the end of `part` as the end of a recent read.
  bool is_sequential(const FilePart& part) const {
    const std::lock_guard lock(mutex_);
    const auto end = part.offset + part.into.size();
    const auto sequence = std::ranges::find_if(
        sequence_ends_, [&](std::uint64_t last) { return part.offset <= last && last - part.offset <= part.into.size(); });
    const bool found = sequence != sequence_ends_.end();
    (found ? *sequence : sequence_ends_[next_sequence_++ % max_sequences]) = end;
    return found && part.into.size() <= file_.size && part.offset <= file_.size - part.into.size();
  }

  /// Returns whether all bytes of `part` are in windows that were requested before, for example by another thread.
  bool is_in_windows(const FilePart& part) const {
    if (part.into.empty() || part.offset >= file_.size || part.into.size() > file_.size - part.offset) return false;
    const auto last = part.offset + part.into.size() - 1;
    return windows_.contains(0, part.offset / window_bytes) && windows_.contains(0, last / window_bytes);
  }

  void read_from_windows(FilePart part) const {
    while (!part.into.empty()) {
      const auto number = part.offset / window_bytes, begin = number * window_bytes;
      const auto window = windows_.get(
          0, number, std::min(window_bytes, file_.size - begin),
          [this](std::uint64_t wanted) { return fetch(wanted * window_bytes); }, (file_.size - 1) / window_bytes + 1);
      const auto some = std::span(*window).subspan(part.offset - begin);
      const auto bytes = std::min(some.size(), part.into.size());
      std::memcpy(part.into.data(), some.data(), bytes);
      part = {part.offset + bytes, part.into.subspan(bytes)};
    }
  }

  /// Reads the window that begins at byte `begin` of the object, by several requests to the store at the same time.
  std::vector<std::byte> fetch(std::uint64_t begin) const {
    std::vector<std::byte> fetched(std::min(window_bytes, file_.size - begin));
    const auto range = std::max<std::uint64_t>(min_range, fetched.size() / storage_->max_in_flight());
    std::vector<io::ObjectPart> parts;
    for (std::uint64_t done = 0; done < fetched.size(); done += range)
      parts.push_back({begin + done, std::span(fetched).subspan(done, std::min(range, fetched.size() - done))});
    storage_->read(object_, parts);
    return fetched;
  }

  const DataFile& file_;
  io::StorageUrl url_;
  std::shared_ptr<const io::Storage> storage_;
  io::StoredObject object_;
  mutable ChunkCacheShare windows_{cached_bytes};
  mutable std::mutex mutex_;
  mutable std::array<std::uint64_t, max_sequences> sequence_ends_{};  ///< end of the last read of each sequence
  mutable std::size_t next_sequence_ = 0;
};

DataFile file_of_object(const io::StorageUrl& url, const io::StoredObject& object) {
  DataFile file{io::url_in_bucket(url, object.name), object.size, object.mtime_ns};
  file.version = object.etag;
  return file;
}

std::vector<io::StoredObject> listed(const io::StorageUrl& url, const std::string& prefix) {
  const auto storage = io::storage_for_reading(url);
  return io::retried([&] { return storage->list(prefix); });
}

/// Returns all objects below a folder. Ignores objects with names that end with a slash, because the web consoles of
/// object stores create such objects to represent folders.
std::vector<DataFile> objects_below(const io::StorageUrl& url) {
  const auto prefix = url.name.empty() || url.name.ends_with('/') ? url.name : url.name + '/';
  std::vector<DataFile> files;
  for (const auto& object : listed(url, prefix)) {
    const auto relative = std::string_view(object.name).substr(std::min(prefix.size(), object.name.size()));
    if (!relative.empty() && !relative.ends_with('/') && !is_hidden(relative)) files.push_back(file_of_object(url, object));
  }
  return files;
}

/// Returns the objects with names that match the shell pattern `url.name`, in which * and ? do not match a slash.
std::vector<DataFile> objects_of_pattern(const io::StorageUrl& url) {
  std::vector<DataFile> files;
  for (const auto& object : listed(url, url.name.substr(0, url.name.find_first_of("*?["))))
    if (::fnmatch(url.name.c_str(), object.name.c_str(), FNM_PATHNAME | FNM_PERIOD | FNM_NOESCAPE) == 0)
      files.push_back(file_of_object(url, object));
  return files;
}

}  // namespace

bool is_object(const std::string& path) { return io::storage_url(path).has_value(); }

std::optional<DataFile> find_object(const std::string& path) {
  const auto url = io::storage_url(path).value();
  if (url.name.empty() || url.name.ends_with('/')) return std::nullopt;
  const auto storage = io::storage_for_reading(url);
  const auto object = io::retried([&] { return storage->find(url.name); });
  return object ? std::optional(file_of_object(url, *object)) : std::nullopt;
}

std::vector<DataFile> list_objects(const std::string& word) {
  const auto url = io::storage_url(word).value();
  if (url.name.find_first_of("*?[") != std::string::npos) return objects_of_pattern(url);
  if (const auto file = find_object(word)) return {*file};
  return objects_below(url);
}

std::unique_ptr<FileReader> object_reader(const DataFile& file) { return std::make_unique<ObjectReader>(file); }

}  // namespace trainrt::data
