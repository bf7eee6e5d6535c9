#include "data/bytes/object_reader.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <mutex>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/storage.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t largest_piece =
    (1 << 20) - 1;  // of those that are fetched ahead: larger ones are read to their places
constexpr std::uint64_t first_window = 1 << 20, largest_window = 8 << 20;
constexpr std::uint64_t least_range = 1 << 20;
constexpr std::size_t most_windows = 4;
constexpr std::size_t most_walks = 16;  // threads that read ahead, each a part of the file, make several of one

/// Bytes of an object that are fetched before they are asked for.
struct ObjectWindow {
  const void* reader = nullptr;
  std::uint64_t begin = 0, end = 0;
  std::mutex mutex;              ///< held while they are fetched
  std::vector<std::byte> bytes;  ///< none if that has failed
  bool has(std::uint64_t offset, std::uint64_t count) const {
    return offset >= begin && offset <= end && count <= end - offset;
  }
};

/// Those of a process that were used last.
class ObjectWindows {
 public:
  static ObjectWindows& of_process() {
    static ObjectWindows windows;
    return windows;
  }

  /// The one that has those bytes, or will have; nullptr if there is none.
  std::shared_ptr<ObjectWindow> find(const void* reader, std::uint64_t offset, std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    return found(reader, offset, count);
  }

  struct Added {
    std::shared_ptr<ObjectWindow> window;
    std::unique_lock<std::mutex> lock;  ///< for who is to fetch it; none if it was there
  };
  /// If there is none, a new one from that offset on: twice as large as the one that ended there, and up to the next one.
  Added find_or_add(const void* reader, std::uint64_t offset, std::uint64_t count, std::uint64_t end_of_object) {
    const std::lock_guard lock(mutex_);
    if (auto there = found(reader, offset, count)) return {std::move(there), {}};
    std::uint64_t bytes = std::max(first_window, 2 * count), end = end_of_object;
    for (const auto& kept : kept_) {
      if (kept->reader != reader) continue;
      if (kept->begin < offset && offset <= kept->end) bytes = std::max(bytes, 2 * (kept->end - kept->begin));
      if (kept->begin >= offset + count) end = std::min(end, kept->begin);
    }
    auto window = std::make_shared<ObjectWindow>();
    window->reader = reader;
    window->begin = offset;
    window->end = std::min(end, offset + std::min(bytes, largest_window));
    std::unique_lock fetching(window->mutex);
    if (kept_.size() == most_windows) kept_.pop_back();
    kept_.push_front(window);
    return {std::move(window), std::move(fetching)};
  }

  void drop(const std::shared_ptr<ObjectWindow>& window) {
    const std::lock_guard lock(mutex_);
    kept_.remove(window);
  }
  void forget(const void* reader) {
    const std::lock_guard lock(mutex_);
    std::erase_if(kept_, [&](const auto& kept) { return kept->reader == reader; });
  }

 private:
  std::shared_ptr<ObjectWindow> found(const void* reader, std::uint64_t offset, std::uint64_t count) {
    const auto place =
        std::ranges::find_if(kept_, [&](const auto& kept) { return kept->reader == reader && kept->has(offset, count); });
    if (place == kept_.end()) return nullptr;
    kept_.splice(kept_.begin(), kept_, place);
    return kept_.front();
  }

  std::mutex mutex_;
  std::list<std::shared_ptr<ObjectWindow>> kept_;
};

class ObjectReader final : public FileReader {
 public:
  explicit ObjectReader(const DataFile& file) : file_(file), url_(io::storage_url(file.path).value()) {
    storage_ = io::storage_for_reading(url_);
    object_ = {url_.name, file.size, file.version, file.mtime_ns};
  }
  ~ObjectReader() override { ObjectWindows::of_process().forget(this); }
  ObjectReader(const ObjectReader&) = delete;

  std::size_t max_in_flight() const override { return storage_->max_in_flight(); }

  void read(std::span<const FilePart> parts) const override {
    if (parts.size() == 1 && parts[0].into.size() <= largest_piece && read_ahead(parts[0])) return;
    std::vector<io::ObjectPart> wanted;
    for (const auto& part : parts) wanted.push_back({part.offset, part.into});
    storage_->read(object_, wanted);
  }

 private:
  /// Whether a piece begins where one of the last ended, or a little before.
  bool follows(const FilePart& part) const {
    const std::lock_guard lock(mutex_);
    const auto end = part.offset + part.into.size();
    const auto walk = std::ranges::find_if(
        walks_, [&](std::uint64_t last) { return part.offset <= last && last - part.offset <= part.into.size(); });
    const bool is_next = walk != walks_.end();
    if (is_next)
      *walk = end;
    else
      walks_[next_walk_++ % most_walks] = end;
    return is_next && part.into.size() <= file_.size && part.offset <= file_.size - part.into.size();
  }

  /// False if nothing was read: it is for who reads single pieces.
  bool read_ahead(const FilePart& part) const {
    auto& windows = ObjectWindows::of_process();
    const bool is_next = follows(part);
    auto window = windows.find(this, part.offset, part.into.size());
    if (!window && !is_next) return false;
    std::unique_lock<std::mutex> lock;
    if (!window) {
      auto added = windows.find_or_add(this, part.offset, part.into.size(), file_.size);
      window = std::move(added.window);
      if ((lock = std::move(added.lock))) fetch(window);
    }
    if (!lock) lock = std::unique_lock(window->mutex);
    if (window->bytes.empty()) return false;
    std::memcpy(part.into.data(), window->bytes.data() + (part.offset - window->begin), part.into.size());
    return true;
  }

  /// In ranges that are under way at the same time.
  void fetch(const std::shared_ptr<ObjectWindow>& window) const try {
    std::vector<std::byte> fetched(window->end - window->begin);
    const auto range = std::max<std::uint64_t>(least_range, fetched.size() / storage_->max_in_flight());
    std::vector<io::ObjectPart> parts;
    for (std::uint64_t done = 0; done < fetched.size(); done += range)
      parts.push_back({window->begin + done, std::span(fetched).subspan(done, std::min(range, fetched.size() - done))});
    storage_->read(object_, parts);
    window->bytes = std::move(fetched);
  } catch (...) {
    ObjectWindows::of_process().drop(window);
    throw;
  }

  const DataFile& file_;
  io::StorageUrl url_;
  std::shared_ptr<const io::Storage> storage_;
  io::StoredObject object_;
  mutable std::mutex mutex_;
  mutable std::array<std::uint64_t, most_walks> walks_{};  ///< where the last pieces ended, of each of so many walks
  mutable std::size_t next_walk_ = 0;
};

DataFile file_of_object(const io::StorageUrl& url, const io::StoredObject& object) {
  DataFile file{fmt::format("{}://{}/{}", url.scheme, url.bucket, object.name), object.size, object.mtime_ns};
  file.version = object.etag;
  return file;
}

std::vector<io::StoredObject> listed(const io::StorageUrl& url, const std::string& prefix) {
  const auto storage = io::storage_for_reading(url);
  return io::retried([&] { return storage->list(prefix); });
}

/// Whether a name below a folder, or a folder of it, begins with . or _.
bool is_hidden_object(std::string_view name) {
  return name.starts_with('.') || name.starts_with('_') || name.find("/.") != name.npos || name.find("/_") != name.npos;
}

/// All below a folder. A name that ends with a slash is a folder as stores' consoles make them, and no file.
std::vector<DataFile> objects_below(const io::StorageUrl& url) {
  const auto prefix = url.name.empty() || url.name.ends_with('/') ? url.name : url.name + '/';
  std::vector<DataFile> files;
  for (const auto& object : listed(url, prefix)) {
    const auto relative = std::string_view(object.name).substr(std::min(prefix.size(), object.name.size()));
    if (!relative.empty() && !relative.ends_with('/') && !is_hidden_object(relative))
      files.push_back(file_of_object(url, object));
  }
  return files;
}

/// As a shell's pattern: * and ? take no slash.
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
  const bool is_pattern = url.name.find_first_of("*?[") != std::string::npos;
  if (!is_pattern)
    if (const auto file = find_object(word)) return {*file};
  return is_pattern ? objects_of_pattern(url) : objects_below(url);
}

std::unique_ptr<FileReader> object_reader(const DataFile& file) { return std::make_unique<ObjectReader>(file); }

}  // namespace trainrt::data
