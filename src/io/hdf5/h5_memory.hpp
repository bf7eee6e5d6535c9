#pragma once
#include <hdf5.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>

namespace trainrt::io {

/// An HDF5 file built in memory. Datasets of a page (4096 bytes) or more start on a page boundary of the file. `front()` is
/// its beginning, as far as HDF5 wrote anything; up to `file_bytes` follows what was allocated and never written (raw data
/// of contiguous datasets whose fill time is never): holes that cost no memory.
class H5Memory {
 public:
  /// `entries`: how many datasets to expect; a hint that keeps the structure in front of the raw data.
  static H5Memory build(std::size_t entries, const std::function<void(hid_t file)>& fill);

  std::span<const std::byte> front() const;
  std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> data_;
  std::size_t size_ = 0;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace trainrt::io
