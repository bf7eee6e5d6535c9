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

constexpr std::uint64_t max_ahead_piece =
    (1 << 20) - 1;  // larger reads bypass the windows and fill their destination directly
constexpr std::uint64_t first_window = 1 << 20, max_window = 8 << 20;
constexpr std::uint64_t min_range = 1 << 20;
constexpr std::size_t max_windows = 4;
constexpr std::size_t max_sequences =
    16;  // maximum number of sequences per object: threads that read ahead may each read another section

/// A window: a byte range of an object that is read ahead.
struct ObjectWindow {
  const void* reader = nullptr;
  std::uint64_t begin = 0, end = 0;
  std::mutex mutex;              ///< locked while the bytes are fetched
  std::vector<std::byte> bytes;  ///< empty if fetching has failed
  bool has(std::uint64_t offset, std::uint64_t count) const {
    return offset >= begin && offset <= end && count <= end - offset;
  }
};

/// The most recently used windows of all objects that this process reads.
class ObjectWindows {
 public:
  static ObjectWindows& of_process() {
    static ObjectWindows windows;
    return windows;
  }

  struct Found {
    std::shared_ptr<ObjectWindow> window;
    std::unique_lock<std::mutex> lock;  ///< locked for a new window, which the caller must fetch; otherwise not locked
  };
  /// Returns the window that contains the `count` bytes from `offset` on. If no window contains them, adds a window that
  /// begins at `offset`, or returns nullptr if `may_add` is false.
  ///
  /// A new window is twice as large as the window that contains `offset` or ends there. It ends before the next window
  /// and before `end_of_object`.
  Found find_or_add(const void* reader, std::uint64_t offset, std::uint64_t count, std::uint64_t end_of_object,
                    bool may_add) {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::ranges::find_if(kept_, [&](const auto& kept) { return kept->reader == reader && kept->has(offset, count); });
    if (found != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, found);
      return {kept_.front(), {}};
    }
    if (!may_add) return {};
    std::uint64_t bytes = std::max(first_window, 2 * count), end = end_of_object;
    for (const auto& kept : kept_) {
      if (kept->reader != reader) continue;
      if (kept->begin < offset && offset <= kept->end) bytes = std::max(bytes, 2 * (kept->end - kept->begin));
      if (kept->begin >= offset + count) end = std::min(end, kept->begin);
    }
    auto window = std::make_shared<ObjectWindow>();
    window->reader = reader;
    window->begin = offset;
    window->end = std::min(end, offset + std::min(bytes, max_window));
    std::unique_lock fetching(window->mutex);
    if (kept_.size() == max_windows) kept_.pop_back();
    kept_.push_front(window);
    return {std::move(window), std::move(fetching)};
  }

  template <class Predicate>
  void drop_if(Predicate predicate) {
    const std::lock_guard lock(mutex_);
    kept_.remove_if(predicate);
  }

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<ObjectWindow>> kept_;
};

class ObjectReader final : public FileReader {
 public:
  explicit ObjectReader(const DataFile& file) : file_(file), url_(io::storage_url(file.path).value()) {
    storage_ = io::storage_for_reading(url_);
    object_ = {url_.name, file.size, file.version, file.mtime_ns};
  }
  ~ObjectReader() override {
    ObjectWindows::of_process().drop_if([this](const auto& window) { return window->reader == this; });
  }
  ObjectReader(const ObjectReader&) = delete;

  std::size_t max_in_flight() const override { return storage_->max_in_flight(); }

  void read(std::span<const FilePart> parts) const override {
    if (parts.size() == 1 && parts[0].into.size() <= max_ahead_piece && read_from_window(parts[0])) return;
    std::vector<io::ObjectPart> requests;
    for (const auto& part : parts) requests.push_back({part.offset, part.into});
    storage_->read(object_, requests);
  }

 private:
  /// Returns whether `part` continues one of the recent reads: `part` begins at the end of the read, or overlaps this
  /// end.
  bool is_sequential(const FilePart& part) const {
    const std::lock_guard lock(mutex_);
    const auto end = part.offset + part.into.size();
    const auto sequence = std::ranges::find_if(
        sequence_ends_, [&](std::uint64_t last) { return part.offset <= last && last - part.offset <= part.into.size(); });
    const bool found = sequence != sequence_ends_.end();
    (found ? *sequence : sequence_ends_[next_sequence_++ % max_sequences]) = end;
    return found && part.into.size() <= file_.size && part.offset <= file_.size - part.into.size();
  }

  /// Reads `part` from a window, which is added if `part` continues a recent read. Returns false, without reading, if
  /// there is no window for `part`.
  bool read_from_window(const FilePart& part) const {
    const bool may_add = is_sequential(part);
    auto [window, lock] = ObjectWindows::of_process().find_or_add(this, part.offset, part.into.size(), file_.size, may_add);
    if (!window) return false;
    if (lock)
      fetch(window);
    else
      lock = std::unique_lock(window->mutex);
    if (window->bytes.empty()) return false;
    std::memcpy(part.into.data(), window->bytes.data() + (part.offset - window->begin), part.into.size());
    return true;
  }

  /// Reads the bytes of a window from the store, by several requests at the same time.
  void fetch(const std::shared_ptr<ObjectWindow>& window) const try {
    std::vector<std::byte> fetched(window->end - window->begin);
    const auto range = std::max<std::uint64_t>(min_range, fetched.size() / storage_->max_in_flight());
    std::vector<io::ObjectPart> parts;
    for (std::uint64_t done = 0; done < fetched.size(); done += range)
      parts.push_back({window->begin + done, std::span(fetched).subspan(done, std::min(range, fetched.size() - done))});
    storage_->read(object_, parts);
    window->bytes = std::move(fetched);
  } catch (...) {
    ObjectWindows::of_process().drop_if([&](const auto& kept) { return kept == window; });
    throw;
  }

  const DataFile& file_;
  io::StorageUrl url_;
  std::shared_ptr<const io::Storage> storage_;
  io::StoredObject object_;
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

/// Returns the objects that match a shell pattern, in which * and ? do not match a slash.
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
