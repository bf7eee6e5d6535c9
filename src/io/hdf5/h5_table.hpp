#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// A filter (compression, shuffle, checksum) through which the chunks of a dataset are stored.
struct H5Filter {
  static constexpr int deflate = 1, shuffle = 2, fletcher32 = 3;  // H5Z_FILTER_...
  int id = 0;
  std::string name;              ///< as the filter names itself; may be empty
  std::vector<unsigned> values;  ///< parameters of the filter
};

/// Throws UsageError that names the filter, and the Debian package that contains it, if HDF5 cannot apply one of them here.
void h5_require_filters(const std::vector<H5Filter>& filters);

/// Returns the names of filters for messages: "gzip, shuffle".
std::string h5_filters_in_words(const std::vector<H5Filter>& filters);

/// A part of a dataset that is stored in another file, which is not an HDF5 file.
struct H5External {
  std::string file;  ///< path as stored in the HDF5 file
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A range of elements that are adjacent in row-major order.
struct H5Run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// A box of elements: along each axis, `size` elements from `start` on.
struct H5Box {
  std::vector<std::uint64_t> start, size;
  /// Returns the elements of the box as one run in a dataset of shape `shape`; nothing if they are not one run.
  std::optional<H5Run> run_in(const Shape& shape) const;
};

/// A part of a virtual dataset, and the part of the source dataset that provides its elements.
struct H5Mapping {
  std::string file;  ///< path of the source file as stored in the HDF5 file; "." is the same file
  std::string dataset;
  std::optional<H5Run> to;    ///< elements of the virtual dataset; nothing if they are not one run
  bool is_all = false;        ///< the source part is the entire source dataset
  std::optional<H5Box> from;  ///< otherwise the source part; nothing if it is not a box
  /// Returns the source part as a run in a source dataset of shape `source`; nothing if it is not one run, or if its number
  /// of elements differs from that of `to`.
  std::optional<H5Run> run_in(const Shape& source) const;
};

/// A dataset of numbers with at least one axis, and how its values are stored in the file.
struct H5Table {
  DType dtype = DType::u8;
  std::size_t swapped = 1;  ///< size in bytes of a big-endian value, to be reversed; 1 if nothing is to be reversed
  Shape shape;
  std::vector<std::byte> fill;  ///< one value, in this machine's byte order, for elements that were never written

  enum class Layout { missing, contiguous, external, compact, chunked, spread };
  Layout layout = Layout::missing;    ///< missing: no value was written; spread: a virtual dataset
  std::uint64_t address = 0;          ///< contiguous: offset of the values in the file, in bytes
  std::vector<H5External> external;   ///< external
  std::vector<std::byte> values;      ///< compact: all values, in this machine's byte order
  Shape chunk;                        ///< chunked: shape of a chunk
  std::vector<H5Filter> filters;      ///< chunked: filters in the order in which they were applied
  bool edges_are_unfiltered = false;  ///< chunked: no filter was applied to chunks that extend beyond the dataset
  std::vector<H5Mapping> mappings;    ///< spread

  std::uint64_t row_elements() const;  ///< number of elements per index of the first axis
  std::size_t row_bytes() const { return static_cast<std::size_t>(row_elements()) * size_of(dtype); }
};

/// Returns why a dataset is not an H5Table: "its type is compound", "it has no axis"; "" if it is one.
std::string h5_table_problem(hid_t dataset);

/// Reads the description of a dataset. Throws Error if it is not an H5Table, or if the file contradicts itself.
H5Table h5_table(hid_t dataset);

}  // namespace trainrt::io
