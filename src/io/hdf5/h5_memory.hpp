#pragma once
#include <hdf5.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>

namespace trainrt::io {

/// An HDF5 file built in memory. Datasets of at least one page (4096 bytes) start on a page boundary of the file.
/// - front() returns the beginning of the file, up to the last byte that HDF5 wrote.
/// - The rest, up to file_bytes(), is allocated but not written: the values of contiguous datasets without fill values.
///   This part takes no memory.
class H5Memory {
 public:
  /// Builds an HDF5 file: calls `fill` with the open, empty file. `entries`: expected number of datasets, for which space
  /// is reserved so that all metadata is stored before the values; a wrong number only costs memory.
  static H5Memory build(std::size_t entries, const std::function<void(hid_t file)>& fill);

  std::span<const std::byte> front() const;
  std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  std::unique_ptr<void, void (*)(void*)> data_{nullptr, &std::free};
  std::size_t size_ = 0;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace trainrt::io
