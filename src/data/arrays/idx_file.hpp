#pragma once
#include <cstdint>
#include <vector>

#include <trainrt/tensor.hpp>

#include "data/bytes/expansion.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// The header of an IDX file, LeCun's format of the MNIST files: two zero bytes, a byte for the type, a byte for the
/// number of dimensions, and each dimension as a big-endian u32. The big-endian values follow, the last dimension
/// fastest. The first bytes of the file show whether it is plain or compressed by gzip.
struct IdxHeader {
  DType dtype = DType::u8;
  Shape shape;  ///< [samples, sample shape...]
  std::uint64_t header_bytes = 0;
  std::uint64_t data_bytes = 0;
  bool is_compressed = false;  ///< true if the file is compressed by gzip

  Shape sample_shape() const { return {shape.begin() + 1, shape.end()}; }
};

struct IdxData {
  IdxHeader header;
  std::vector<std::byte> values;  ///< values in this machine's byte order
};

/// Returns the header of `file`, and checks that the file contains all declared values.
///
/// The length of a plain file is its size. The length of the data in a gzip file is read from its trailer, which stores
/// the length modulo 2^32. If the length in the trailer differs from the header, the file is truncated or has several
/// members. In this case, the file is decompressed to find the length.
///
/// Throws UsageError that names the file, the problem and the valid values. Also throws UsageError if a gzip file
/// declares more bytes than `limit` allows.
IdxHeader check_idx(const InputFile& file, const ExpansionLimit& limit);

/// Reads the complete file, and verifies gzip's checksum. Throws as check_idx() does.
IdxData read_idx(const InputFile& file, const ExpansionLimit& limit);

}  // namespace trainrt::data
