#include "checkpoint/shard.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <trainrt/error.hpp>

#include "io/digest.hpp"
#include "io/file.hpp"
#include "io/h5_memory.hpp"
#include "io/h5_types.hpp"

namespace trainrt::checkpoint {

namespace {

/// Bytes that belong at a place of the file.
struct Piece {
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes;
};

/// What goes into one shard: filled while HDF5 lays the file out, complete when it is.
class Shard {
 public:
  explicit Shard(hid_t file) : file_(file) {}

  void tensor(const TensorEntry& entry, const Slab& slab) {
    const auto dataset = create(entry.name, io::h5_type(entry.local.dtype), slab.shape,
                                {static_cast<const std::byte*>(entry.local.data), entry.local.bytes()});
    io::h5_write_word(dataset, "placement", name_of(entry.placement));
    io::h5_write_attribute(dataset, "global_shape", std::span<const std::int64_t>(entry.global_shape));
    io::h5_write_attribute(dataset, "offset", std::span<const std::int64_t>(slab.offset));
  }

  void value(const ValueEntry& entry) {
    std::visit([&](const auto* value) { scalar(entry.name, *value); }, entry.value);
  }

  std::vector<Piece> pieces;
  std::deque<std::string> owned;  // bytes of values

 private:
  void scalar(const std::string& name, std::int32_t value) { scalar(name, std::int64_t{value}); }
  void scalar(const std::string& name, std::int64_t value) { scalar(name, io::h5_type(DType::i64), &value, sizeof value); }
  void scalar(const std::string& name, double value) { scalar(name, io::h5_type(DType::f64), &value, sizeof value); }
  void scalar(const std::string& name, bool value) { scalar(name, io::h5_type(DType::boolean), &value, sizeof value); }
  void scalar(const std::string& name, const std::string& value) {
    const auto padded = value.empty() ? std::string(1, '\0') : value;
    const auto dataset = scalar(name, io::h5_string_type(padded.size()), padded.data(), padded.size());
    io::h5_write_attribute(dataset, "bytes", static_cast<std::int64_t>(value.size()));
  }
  io::H5Id scalar(const std::string& name, hid_t type, const void* data, std::size_t bytes) {
    const auto& copy = owned.emplace_back(static_cast<const char*>(data), bytes);
    auto dataset = create(name, type, {}, std::as_bytes(std::span(copy.data(), copy.size())));
    io::h5_write_word(dataset, "placement", value_placement);
    return dataset;
  }

  /// Allocates the dataset's place in the file and notes its bytes for it.
  io::H5Id create(const std::string& name, hid_t type, const Shape& shape, std::span<const std::byte> bytes) {
    io::H5Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties");
    io::h5_check(H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY), "ask for early allocation");
    io::h5_check(H5Pset_fill_time(how, H5D_FILL_TIME_NEVER), "ask for no fill");
    const auto space = io::h5_space(shape);
    const auto links = io::h5_link_properties();
    io::H5Id dataset(H5Dcreate2(file_, object_path(name).c_str(), type, space, links, how, H5P_DEFAULT), H5Dclose,
                     "create dataset '" + name + "'");
    if (bytes.empty()) return dataset;
    const auto offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF) throw Error("HDF5 gave dataset '" + name + "' no place in the file");
    pieces.push_back({offset, bytes});
    return dataset;
  }

  hid_t file_;
};

/// Writes and digests in one go, a cacheful at a time.
class Output {
 public:
  explicit Output(const std::string& path) : file_(path) {}

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), std::size_t{1} << 20));
      digest_.update(part);
      file_.write(part);
      bytes = bytes.subspan(part.size());
    }
  }
  std::uint64_t bytes() const { return file_.bytes(); }
  std::string finish() {
    file_.finish();
    return digest_.hex();
  }

 private:
  io::FileWriter file_;
  io::Digest digest_;
};

/// The structure up to `end`; what HDF5 never wrote is zeros.
void write_structure(Output& output, std::span<const std::byte> front, std::uint64_t end) {
  if (output.bytes() < std::min<std::uint64_t>(front.size(), end)) {
    const auto from = static_cast<std::size_t>(output.bytes());
    output.write(front.subspan(from, static_cast<std::size_t>(std::min<std::uint64_t>(front.size(), end)) - from));
  }
  static constexpr std::array<std::byte, 4096> zeros{};
  while (output.bytes() < end)
    output.write(
        std::span(zeros).first(static_cast<std::size_t>(std::min<std::uint64_t>(zeros.size(), end - output.bytes()))));
}

std::map<std::string, const TensorEntry*> entries_of(const State& state) {
  std::map<std::string, const TensorEntry*> entries;
  for (const auto& entry : state.tensors()) entries[entry.name] = &entry;
  return entries;
}

std::size_t entries_of(int rank, const Layout& layout) {
  std::size_t count = 0;
  for (const auto& tensor : layout.tensors)
    count += static_cast<std::size_t>(std::ranges::count(tensor.slabs, rank, &Slab::writer));
  return count;
}

void fill(Shard& shard, int rank, const Layout& layout, const State& state) {
  const auto entries = entries_of(state);
  for (const auto& tensor : layout.tensors)
    for (const auto& slab : tensor.slabs)
      if (slab.writer == rank) shard.tensor(*entries.at(tensor.name), slab);
  if (rank != values_writer) return;
  for (const auto& value : state.values()) shard.value(value);
}

}  // namespace

std::string shard_name(int rank) {
  const auto digits = std::to_string(rank);
  return "shard-" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits + ".h5";
}

FileRecord write_shard(const std::string& directory, int rank, const Layout& layout, const State& state) {
  std::vector<Piece> pieces;
  std::deque<std::string> owned;
  const auto structure = io::H5Memory::build(entries_of(rank, layout) + state.values().size(), [&](hid_t file) {
    io::h5_write_word(file, "format", shard_format);
    io::h5_write_attribute(file, "version", format_version);
    io::h5_write_attribute(file, "shard", std::int64_t{rank});
    io::h5_write_attribute(file, "ranks", std::int64_t{layout.ranks});
    Shard shard(file);
    fill(shard, rank, layout, state);
    pieces = std::move(shard.pieces);
    owned = std::move(shard.owned);
  });
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.offset < b.offset; });

  Output output(directory + "/" + shard_name(rank));
  for (const auto& piece : pieces) {
    write_structure(output, structure.front(), piece.offset);
    output.write(piece.bytes);
  }
  write_structure(output, structure.front(), structure.file_bytes());
  return {shard_name(rank), output.bytes(), output.finish()};
}

}  // namespace trainrt::checkpoint
