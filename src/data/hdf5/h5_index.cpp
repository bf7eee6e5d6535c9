#include "data/hdf5/h5_index.hpp"

#include <tuple>
#include <type_traits>

#include <trainrt/error.hpp>

#include "data/bytes/coding/packed.hpp"

namespace trainrt::data {

namespace {

/// Returns references to the members of `part`, a struct of an index, in the order in which the members are packed.
template <class T>
auto fields_of(T& part) {
  using Part = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Part, DataFile>)
    return std::tie(part.path, part.size, part.mtime_ns);
  else if constexpr (std::is_same_v<Part, H5ChunkTable>)
    return std::tie(part.file, part.dataset, part.shape, part.chunk, part.dtype, part.swapped, part.filters,
                    part.by_library, part.fill, part.chunks);
  else if constexpr (std::is_same_v<Part, H5Piece>)
    return std::tie(part.kind, part.rows, part.in, part.first, part.swapped, part.dataset, part.values);
  else if constexpr (std::is_same_v<Part, H5Field>)
    return std::tie(part.name, part.pieces);
  else
    return std::tie(part.files, part.tables, part.fields);
}

template <class T>
constexpr bool is_packed_as_number = std::is_integral_v<T> || std::is_enum_v<T>;

class Packing {
 public:
  template <class T>
  void put(const T& value) {
    if constexpr (is_packed_as_number<T>)
      bytes_.number(static_cast<std::uint64_t>(value));
    else
      std::apply([this](const auto&... fields) { (put(fields), ...); }, fields_of(value));
  }
  void put(const std::string& text) { bytes_.text(text); }
  template <class T>
  void put(const std::vector<T>& list) {
    bytes_.number(list.size());
    for (const auto& each : list) put(each);
  }
  /// Packs the chunks of a dataset. For each chunk, packs its size in the file. If the chunk was written, its skipped
  /// filters and its distance from the previous chunk follow.
  void put(const std::vector<io::H5Chunk>& chunks) {
    bytes_.number(chunks.size());
    std::uint64_t end = 0;
    for (const auto& [address, bytes, skipped] : chunks) {
      bytes_.number(bytes);
      if (bytes == 0) continue;
      bytes_.number(skipped);
      bytes_.integer(static_cast<std::int64_t>(address - end));
      end = address + bytes;
    }
  }
  std::string take() { return bytes_.take(); }

 private:
  PackedWriter bytes_;
};

class Unpacking {
 public:
  explicit Unpacking(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  void take(T& value) {
    if constexpr (is_packed_as_number<T>)
      value = static_cast<T>(bytes_.number());
    else
      std::apply([this](auto&... fields) { (take(fields), ...); }, fields_of(value));
  }
  void take(std::string& text) { text = bytes_.text(); }
  template <class T>
  void take(std::vector<T>& list) {
    list.resize(take_count());
    for (auto& each : list) take(each);
  }
  void take(std::vector<io::H5Chunk>& chunks) {
    chunks.resize(take_count());
    std::uint64_t end = 0;
    for (auto& chunk : chunks) {
      take(chunk.bytes);
      if (chunk.bytes == 0) continue;
      take(chunk.skipped);
      chunk.address = end + static_cast<std::uint64_t>(bytes_.integer());
      end = chunk.address + chunk.bytes;
    }
  }

 private:
  /// Returns the number of elements of a packed list. Throws Error if fewer bytes than elements are left, so that damaged
  /// bytes cannot request much memory.
  std::uint64_t take_count() {
    const auto count = bytes_.number();
    if (count > bytes_.left()) throw Error("the index of an HDF5 file from another rank is truncated");
    return count;
  }

  PackedReader bytes_;
};

}  // namespace

std::string bytes_of(const H5Index& index) {
  Packing packing;
  packing.put(index);
  return packing.take();
}

H5Index h5_index_of(std::string_view bytes) {
  H5Index index;
  Unpacking(bytes).take(index);
  return index;
}

}  // namespace trainrt::data
