#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

#include "data/bytes/data_file.hpp"
#include "io/hdf5/untrusted/h5_chunks.hpp"

namespace trainrt::data {

/// What was done to the values of a chunk, and is undone here; anything else HDF5 undoes.
enum class ChunkFilter : std::uint8_t {
  shuffle,
  deflate,
  fletcher32,
  ignored_fletcher32,  ///< is taken off, and not compared (verify = off)
};

/// A chunked dataset of one of the files.
struct H5ChunkTable {
  std::size_t file = 0;
  std::string dataset;
  Shape shape, chunk;
  DType dtype = DType::u8;
  std::size_t swapped = 1;                ///< bytes of a value whose order is to be turned round
  std::vector<ChunkFilter> filters = {};  ///< in the order in which they were applied
  bool by_library = false;                ///< HDF5 reads it
  std::string fill;                       ///< one value: what was never written has it
  std::vector<io::H5Chunk> chunks;        ///< row-major; none if HDF5 reads them

  std::size_t row_bytes() const;
};

/// Rows of a field that lie in one place.
struct H5Piece {
  enum class Kind : std::uint8_t { file, chunks, library, kept, missing };
  Kind kind = Kind::missing;
  std::uint64_t rows = 0;
  std::size_t in = 0;        ///< file, library: which of the files; chunks: which of the tables
  std::uint64_t first = 0;   ///< file: the byte; others: the row, there
  std::size_t swapped = 1;   ///< file: bytes of a value whose order is to be turned round
  std::string dataset = {};  ///< library
  std::string values = {};   ///< kept: all of them; missing: one that all have
};

struct H5Field {
  std::string name;  ///< in the file, for messages
  std::vector<H5Piece> pieces;
};

/// Where the values of an HDF5 file lie: enough to read them without HDF5, but for what only HDF5 can read.
struct H5Index {
  std::vector<DataFile> files;  ///< the first is the dataset's own
  std::vector<H5ChunkTable> tables;
  std::vector<H5Field> fields;
};

/// As bytes, and back (CBOR; places of chunks in a few bytes each).
std::string bytes_of(const H5Index& index);
H5Index h5_index_of(std::string_view bytes);

}  // namespace trainrt::data
