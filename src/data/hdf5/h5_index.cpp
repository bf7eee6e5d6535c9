#include "data/hdf5/h5_index.hpp"

#include <functional>
#include <numeric>

#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

namespace trainrt::data {

namespace {

using CborJson = nlohmann::json;

void put_number(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  bytes += static_cast<char>(number);
}

std::uint64_t take_number(std::string_view bytes, std::size_t& at) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return number;
  }
  throw Error("the index of an HDF5 file that came from another rank is cut");
}

/// Each chunk: its length, and if it has one the filters that it skips, and how far it begins from the last one's end
/// (zigzag: to and fro).
std::string chunks_as_bytes(const std::vector<io::H5Chunk>& chunks) {
  std::string bytes;
  std::uint64_t end = 0;
  for (const auto& chunk : chunks) {
    put_number(bytes, chunk.bytes);
    if (chunk.bytes == 0) continue;
    put_number(bytes, chunk.skipped);
    const auto far = static_cast<std::int64_t>(chunk.address - end);
    put_number(bytes, (static_cast<std::uint64_t>(far) << 1) ^ static_cast<std::uint64_t>(far >> 63));
    end = chunk.address + chunk.bytes;
  }
  return bytes;
}

std::vector<io::H5Chunk> chunks_from_bytes(std::string_view bytes, std::uint64_t count) {
  if (count > bytes.size()) throw Error("the index of an HDF5 file that came from another rank is cut");
  std::vector<io::H5Chunk> chunks(count);
  std::uint64_t end = 0;
  std::size_t at = 0;
  for (auto& chunk : chunks) {
    chunk.bytes = static_cast<std::uint32_t>(take_number(bytes, at));
    if (chunk.bytes == 0) continue;
    chunk.skipped = static_cast<std::uint32_t>(take_number(bytes, at));
    const auto far = take_number(bytes, at);
    chunk.address = end + ((far >> 1) ^ (~(far & 1) + 1));
    end = chunk.address + chunk.bytes;
  }
  return chunks;
}

CborJson as_blob(std::string_view bytes) { return CborJson::binary({bytes.begin(), bytes.end()}); }

std::string from_blob(const CborJson& json) {
  const auto& bytes = json.get_binary();
  return {bytes.begin(), bytes.end()};
}

CborJson as_cbor(const DataFile& file) { return CborJson::array({file.path, file.size, file.mtime_ns}); }

CborJson as_cbor(const H5ChunkTable& table) {
  return CborJson::array({table.file, as_blob(table.dataset), table.shape, table.chunk, name_of(table.dtype), table.swapped,
                          table.filters, table.by_library, as_blob(table.fill), table.chunks.size(),
                          as_blob(chunks_as_bytes(table.chunks))});
}

CborJson as_cbor(const H5Piece& piece) {
  return CborJson::array({static_cast<int>(piece.kind), piece.rows, piece.in, piece.first, piece.swapped,
                          as_blob(piece.dataset), as_blob(piece.values)});
}

CborJson as_cbor(const H5Field& field) {
  auto pieces = CborJson::array();
  for (const auto& piece : field.pieces) pieces.push_back(as_cbor(piece));
  return CborJson::array({as_blob(field.name), std::move(pieces)});
}

H5ChunkTable chunk_table_of(const CborJson& json) {
  return {json.at(0),
          from_blob(json.at(1)),
          json.at(2),
          json.at(3),
          dtype_from(json.at(4).get<std::string>()),
          json.at(5),
          json.at(6),
          json.at(7),
          from_blob(json.at(8)),
          chunks_from_bytes(from_blob(json.at(10)), json.at(9))};
}

H5Piece piece_of(const CborJson& json) {
  return {static_cast<H5Piece::Kind>(json.at(0).get<int>()),
          json.at(1),
          json.at(2),
          json.at(3),
          json.at(4),
          from_blob(json.at(5)),
          from_blob(json.at(6))};
}

H5Field h5_field_of(const CborJson& json) {
  H5Field field{from_blob(json.at(0)), {}};
  for (const auto& piece : json.at(1)) field.pieces.push_back(piece_of(piece));
  return field;
}

}  // namespace

std::size_t H5ChunkTable::row_bytes() const {
  return std::accumulate(shape.begin() + 1, shape.end(), size_of(dtype), [](std::size_t product, std::int64_t extent) {
    return product * static_cast<std::size_t>(extent);
  });
}

std::string bytes_of(const H5Index& index) {
  auto files = CborJson::array(), tables = CborJson::array(), fields = CborJson::array();
  for (const auto& file : index.files) files.push_back(as_cbor(file));
  for (const auto& table : index.tables) tables.push_back(as_cbor(table));
  for (const auto& field : index.fields) fields.push_back(as_cbor(field));
  std::string bytes;
  CborJson::to_cbor(CborJson::array({std::move(files), std::move(tables), std::move(fields)}), bytes);
  return bytes;
}

H5Index h5_index_of(std::string_view bytes) {
  const auto json = CborJson::from_cbor(bytes);
  H5Index index;
  for (const auto& file : json.at(0)) index.files.push_back({file.at(0), file.at(1), file.at(2)});
  for (const auto& table : json.at(1)) index.tables.push_back(chunk_table_of(table));
  for (const auto& field : json.at(2)) index.fields.push_back(h5_field_of(field));
  return index;
}

}  // namespace trainrt::data
