#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/storage.hpp"

namespace trainrt::io {

/// The bytes of an object for a library that reads a few here and there: pages of 1 MiB, of which the last 16 are kept. One
/// thread.
class ObjectPages {
 public:
  /// Throws as Storage::look() does, and UsageError if it is not there.
  explicit ObjectPages(const std::string& url);

  std::uint64_t size() const { return object_.size; }
  /// Waits for the storage as retried() does. What lies behind the end of the object is zeros.
  void read(std::uint64_t offset, std::span<std::byte> into);

 private:
  static constexpr std::size_t page_bytes = 1 << 20;
  struct Page {
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes;
    std::uint64_t used = 0;
  };
  const Page& page_at(std::uint64_t begin);

  std::shared_ptr<const Storage> storage_;
  StoredObject object_;
  std::array<Page, 16> pages_;
  std::uint64_t uses_ = 0;
};

}  // namespace trainrt::io
