#pragma once
#include <cstdint>
#include <vector>

#include <trainrt/tensor.hpp>

#include "data/bytes/expansion.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// The header of an IDX file, the format of the MNIST files. The header has two zero bytes, a byte for the type, a byte for
/// the number of dimensions, and each dimension as a big-endian u32. The values follow, big-endian, in row-major order.
/// The first bytes of the file show whether it is plain or compressed by gzip.
struct IdxHeader {
  DType dtype = DType::u8;
  Shape shape;  ///< [samples, sample shape...]
  std::uint64_t header_bytes = 0;
  std::uint64_t data_bytes = 0;
  bool is_compressed = false;  ///< whether the file is compressed by gzip

  Shape sample_shape() const { return {shape.begin() + 1, shape.end()}; }
};

struct IdxData {
  IdxHeader header;
  std::vector<std::byte> values;  ///< values in this machine's byte order
};

/// Returns the header of `file`, and checks that the file contains all values that the header declares.
///
/// For a gzip file, compares the size that the header declares with the gzip trailer, which stores the size of the
/// decompressed data modulo 2^32. If the two sizes differ, the file is truncated or has several gzip members; then
/// decompresses the file to find its actual size.
///
/// Throws UsageError, with the file, the problem and the valid values, for an invalid file. Also throws UsageError if a
/// gzip file declares more bytes than `limit` allows.
IdxHeader check_idx(const InputFile& file, const ExpansionLimit& limit);

/// Reads the complete file, and verifies gzip's checksum. Throws as check_idx() does.
IdxData read_idx(const InputFile& file, const ExpansionLimit& limit);

}  // namespace trainrt::data
