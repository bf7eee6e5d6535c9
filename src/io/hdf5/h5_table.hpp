#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// An HDF5 filter (compression, shuffle, checksum) that was applied to the chunks of a dataset.
struct H5Filter {
  static constexpr int deflate = 1, shuffle = 2, fletcher32 = 3;  // H5Z_FILTER_...
  int id = 0;
  std::string name;              ///< name of the filter, as stored in the file; may be empty
  std::vector<unsigned> values;  ///< parameters of the filter
};

/// Checks that HDF5 can apply all of `filters` on this machine. Otherwise throws UsageError, which names the filter and,
/// if known, the Debian package that contains it.
void h5_require_filters(const std::vector<H5Filter>& filters);

/// Returns the names of filters for messages: "gzip, shuffle".
std::string h5_filters_in_words(const std::vector<H5Filter>& filters);

/// A part of a dataset's values that is stored in another file, which is not an HDF5 file (an HDF5 "external file").
struct H5External {
  std::string file;  ///< path of the other file, as stored in the HDF5 file
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A contiguous range of elements in row-major order: `count` elements from element `first` on.
struct H5Run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// A box (hyperslab) of elements of a dataset: along each axis, `size` elements from `start` on.
struct H5Box {
  std::vector<std::uint64_t> start, size;
  /// Returns the box as one contiguous range of elements of a dataset of shape `shape`. Returns nullopt if the elements
  /// are not contiguous or not all inside the dataset.
  std::optional<H5Run> run_in(const Shape& shape) const;
};

/// One mapping of an HDF5 virtual dataset: `to` is a range of its elements, and `from` is the part of a source dataset that
/// provides the values of these elements.
struct H5Mapping {
  std::string file;  ///< path of the source file as stored in the HDF5 file; "." is the file of the virtual dataset
  std::string dataset;
  std::optional<H5Run> to;    ///< target elements in the virtual dataset; nullopt if they are not contiguous
  bool is_all = false;        ///< true if the source part is the entire source dataset
  std::optional<H5Box> from;  ///< source part if `is_all` is false; nullopt if it is not a box
  /// Returns `from`, the part of the source dataset, as one contiguous range; `source` is the shape of the source dataset.
  /// Returns nullopt if the part is not contiguous, or has another number of elements than `to`.
  std::optional<H5Run> run_in(const Shape& source) const;
};

/// Description of an HDF5 dataset of numbers with at least one axis: type, shape, and the storage of its values in the
/// file.
struct H5Table {
  DType dtype = DType::u8;
  /// Size in bytes of a value that is stored big-endian and must be byte-swapped; 1 if no swap is needed.
  std::size_t swapped = 1;
  Shape shape;
  std::vector<std::byte> fill;  ///< fill value for elements that were never written: one value in this machine's byte order

  enum class Layout { missing, contiguous, external, compact, chunked, spread };
  Layout layout = Layout::missing;    ///< storage layout; missing: no value was written; spread: a virtual dataset
  std::uint64_t address = 0;          ///< layout contiguous: offset of the values in the file, in bytes
  std::vector<H5External> external;   ///< layout external: the parts of the values in other files
  std::vector<std::byte> values;      ///< layout compact: all values, in this machine's byte order
  Shape chunk;                        ///< layout chunked: shape of a chunk
  std::vector<H5Filter> filters;      ///< layout chunked: filters in the order in which they were applied
  bool edges_are_unfiltered = false;  ///< layout chunked: chunks that extend beyond the dataset are stored unfiltered
  std::vector<H5Mapping> mappings;    ///< layout spread: mappings of the virtual dataset

  std::uint64_t row_elements() const;  ///< number of elements per row (one index of the first axis)
  std::size_t row_bytes() const { return static_cast<std::size_t>(row_elements()) * size_of(dtype); }
};

/// Returns the reason why an H5Table cannot describe a dataset ("its type is compound", "it has no axis"), or "" if it
/// can.
std::string h5_table_problem(hid_t dataset);

/// Reads the description of an HDF5 dataset from the file. Throws Error if an H5Table cannot describe the dataset, or if
/// the file is inconsistent.
H5Table h5_table(hid_t dataset);

}  // namespace trainrt::io
