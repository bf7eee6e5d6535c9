#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

struct H5Filter {
  static constexpr int deflate = 1, shuffle = 2, fletcher32 = 3;  // H5Z_FILTER_...
  int id = 0;
  std::string name;  ///< as its maker calls it; may be empty
  std::vector<unsigned> values;
};

/// Bytes of a dataset in another file, which is no HDF5 file.
struct H5External {
  std::string file;  ///< as it is written there
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Elements that follow each other row-major.
struct H5Run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// A box of a dataset's elements.
struct H5Box {
  std::vector<std::uint64_t> start, size;
  /// In a dataset of that shape; nothing if it is no single run there.
  std::optional<H5Run> run_in(const Shape& shape) const;
};

/// Elements of a virtual dataset that are those of another one.
struct H5Mapping {
  std::string file;  ///< as it is written there; "." is this one
  std::string dataset;
  std::optional<H5Run> to;    ///< in the virtual dataset, if they are one run
  bool is_all = false;        ///< all elements of the source are meant
  std::optional<H5Box> from;  ///< else those, if they are a box
  /// The source's elements, if they are one run of as many in a source of that shape.
  std::optional<H5Run> run_in(const Shape& source) const;
};

/// A dataset of numbers with at least one axis, and how its bytes lie.
struct H5Table {
  DType dtype = DType::u8;
  std::size_t swapped = 1;  ///< bytes of a value if they are big-endian in the file
  Shape shape;
  std::vector<std::byte> fill;  ///< one value, in this machine's byte order: what was never written has it

  enum class Layout { missing, contiguous, external, compact, chunked, spread };
  Layout layout = Layout::missing;   ///< missing: nothing was written
  std::uint64_t address = 0;         ///< contiguous: of its bytes in the file
  std::vector<H5External> external;  ///< external
  std::vector<std::byte> values;     ///< compact: all of them, in this machine's byte order
  Shape chunk;                       ///< chunked
  std::vector<H5Filter> filters;     ///< chunked, in the order in which they were applied
  bool edges_are_unfiltered = false;
  std::vector<H5Mapping> mappings;  ///< spread: a virtual dataset

  std::uint64_t row_elements() const;
  std::size_t row_bytes() const { return static_cast<std::size_t>(row_elements()) * size_of(dtype); }
};

/// Why a dataset is none: "its type is compound", "it has no axis"; "" if it is one.
std::string h5_no_table(hid_t dataset);

/// Throws Error if it is none, or if what the file says of it cannot be.
H5Table h5_table(hid_t dataset);

}  // namespace trainrt::io
