#pragma once
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <trainrt/tensor.hpp>

#include "data/bytes/coding/packed.hpp"
#include "data/bytes/data_file.hpp"
#include "io/hdf5/untrusted/h5_chunks.hpp"

namespace trainrt::data {

/// A filter that decode_chunk() can reverse. The HDF5 library reads datasets with any other filter.
enum class ChunkFilter : std::uint8_t {
  shuffle,
  deflate,
  fletcher32,
  ignored_fletcher32,  ///< fletcher32 with verify = off: the checksum is removed, but not verified
};

/// The chunks of a dataset, in row-major order. pack() needs only a few bytes per chunk.
struct H5ChunkList : std::vector<io::H5Chunk> {
  using std::vector<io::H5Chunk>::operator=;
  void pack(PackedWriter& into) const;
  void unpack(PackedReader& from);
};

/// A chunked dataset of one of the files in H5Index::files.
struct H5ChunkTable {
  std::size_t file = 0;  ///< index of the file in H5Index::files
  std::string dataset;
  Shape shape, chunk;
  DType dtype = DType::u8;
  std::size_t swapped = 1;                ///< size in bytes of values that must be byte-swapped; 1: no swap
  std::vector<ChunkFilter> filters = {};  ///< filters in the order in which they were applied
  bool by_library = false;                ///< the HDF5 library reads the dataset
  std::string fill;                       ///< fill value for elements that were never written
  H5ChunkList chunks;                     ///< empty if `by_library`

  static auto packed_members(auto& self) {
    return std::tie(self.file, self.dataset, self.shape, self.chunk, self.dtype, self.swapped, self.filters,
                    self.by_library, self.fill, self.chunks);
  }
};

/// Some consecutive rows of a field, all of which are stored in the same dataset or file.
struct H5Piece {
  enum class Kind : std::uint8_t { file, chunks, library, kept, missing };
  Kind kind = Kind::missing;
  std::uint64_t rows = 0;
  std::size_t in = 0;        ///< kinds file, library: index of the file; chunks: index of the table
  std::uint64_t first = 0;   ///< kind file: offset of the first row in bytes; others: index of the first row in the dataset
  std::size_t swapped = 1;   ///< kind file: size in bytes of values that must be byte-swapped; 1: no swap
  std::string dataset = {};  ///< kind library: path of the dataset in the file
  std::string values = {};   ///< kind kept: the values of all rows; kind missing: the fill value

  static auto packed_members(auto& self) {
    return std::tie(self.kind, self.rows, self.in, self.first, self.swapped, self.dataset, self.values);
  }
};

struct H5Field {
  std::string name;  ///< name of the dataset in the file, for messages
  std::vector<H5Piece> pieces;

  static auto packed_members(auto& self) { return std::tie(self.name, self.pieces); }
};

/// The positions of the values of an HDF5 file's fields. By these positions, a rank reads the fields without the HDF5
/// library. Only pieces of kind `library` and tables with `by_library` need the library.
struct H5Index {
  std::vector<DataFile> files;  ///< files[0] is the HDF5 file itself
  std::vector<H5ChunkTable> tables;
  std::vector<H5Field> fields;

  static auto packed_members(auto& self) { return std::tie(self.files, self.tables, self.fields); }
};

}  // namespace trainrt::data
