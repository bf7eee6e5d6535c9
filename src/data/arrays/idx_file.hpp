#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <trainrt/tensor.hpp>

#include "data/bytes/expansion.hpp"

namespace trainrt::data {

/// What an IDX file holds (LeCun's format of the MNIST files: two zero bytes, a type, the number of dimensions, each of
/// them as a big-endian u32, then the values, big-endian, the last dimension running fastest). Plain or gzip, told by its
/// first bytes.
struct IdxHeader {
  DType dtype = DType::u8;
  Shape shape;  ///< [samples, sample shape...]
  std::uint64_t header_bytes = 0;
  std::uint64_t data_bytes = 0;
  bool is_compressed = false;  ///< gzip

  Shape sample_shape() const { return {shape.begin() + 1, shape.end()}; }
};

struct IdxData {
  IdxHeader header;
  std::vector<std::byte> values;  ///< in this machine's byte order
};

/// Looks at the file without reading the data: there, readable, an IDX header, long enough. A plain file is measured by its
/// size, a compressed one by the length in its gzip trailer (RFC 1952; modulo 2^32). Only if that trailer does not fit
/// (a truncated file, but also one of several gzip members) the file is decompressed to tell. Throws UsageError that names
/// the file, what is wrong and what is expected; also if a compressed file declares more than `limit`.
IdxHeader check_idx(const std::string& path, const ExpansionLimit& limit);

/// Reads the file whole; gzip's checksum is verified. Errors as check_idx().
IdxData read_idx(const std::string& path, const ExpansionLimit& limit);

}  // namespace trainrt::data
