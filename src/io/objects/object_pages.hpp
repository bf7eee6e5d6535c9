#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/storage.hpp"

namespace trainrt::io {

/// Reads an object of an object store for a library that makes many small reads: fetches pages of 1 MiB and caches the 16
/// most recently used pages. Must be used from one thread at a time.
class ObjectPages {
 public:
  /// Finds the object at `url`. Throws UsageError if the object does not exist, and the errors of Storage::find()
  /// otherwise.
  explicit ObjectPages(const std::string& url);

  std::uint64_t size() const { return object_.size; }
  /// Fills `into` with the object's bytes from `offset` on, and with zeros beyond the end of the object. Retries
  /// transient errors like retried().
  void read(std::uint64_t offset, std::span<std::byte> into);

 private:
  static constexpr std::size_t page_bytes = 1 << 20;
  struct Page {
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes;
    std::uint64_t used = 0;  // value of `uses_` when the page was last used
  };
  const Page& page_at(std::uint64_t begin);

  std::shared_ptr<const Storage> storage_;
  StoredObject object_;
  std::array<Page, 16> pages_;
  std::uint64_t uses_ = 0;
};

}  // namespace trainrt::io
