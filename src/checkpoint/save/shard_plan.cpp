#include "checkpoint/save/shard_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "checkpoint/value_bytes.hpp"
#include "io/files/aligned_memory.hpp"
#include "io/hdf5/h5_placer.hpp"
#include "io/hdf5/h5_types.hpp"

namespace trainrt::checkpoint {

namespace {

/// A slab (a rectangular part of a tensor) and the offset in the shard file that HDF5 chose for the slab.
struct PlacedSlab {
  const TensorLayout* tensor = nullptr;
  const Slab* slab = nullptr;
  std::uint64_t at = 0;

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(element_count(slab->shape)) * size_of(tensor->dtype); }
};

/// Returns the ranks that write into shard file number `file`, in ascending order. The first of them is the leader of the
/// file, which also writes the HDF5 structure.
std::vector<int> writers_of(int file, const Layout& layout) {
  std::vector<int> writers;
  for (int rank = 0; rank < layout.ranks; ++rank)
    if (layout.file_of(rank) == file) writers.push_back(rank);
  return writers;
}

/// Returns the slabs that are stored in shard file number `file`, sorted by the ranks that write them.
std::vector<PlacedSlab> slabs_of(int file, const Layout& layout) {
  std::vector<PlacedSlab> placed;
  for (const auto& tensor : layout.tensors)
    for (const auto& slab : tensor.slabs)
      if (layout.file_of(slab.writer) == file) placed.push_back({&tensor, &slab});
  std::ranges::stable_sort(placed, {}, [](const PlacedSlab& one) { return one.slab->writer; });
  return placed;
}

std::string path_of(const PlacedSlab& placed) {
  return placed.tensor->is_undivided() ? object_path(placed.tensor->name)
                                       : slab_path(placed.tensor->name, placed.slab->number);
}

/// Returns the number of HDF5 groups that the paths of the slabs need. A group needs as much space in the HDF5 structure as
/// a dataset.
std::size_t groups_of(const std::vector<PlacedSlab>& slabs) {
  std::set<std::string> groups;
  for (const auto& placed : slabs)
    for (auto path = path_of(placed); (path.resize(path.rfind('/')), !path.empty()) && groups.insert(path).second;) {
    }
  return groups.size();
}

/// Creates the HDF5 datasets of slabs and values in a shard file, without their data, and stores their offsets.
class Structure {
 public:
  explicit Structure(hid_t file) : placer_(file) {}

  void tensor(PlacedSlab& placed) {
    const auto& tensor = *placed.tensor;
    const auto path = path_of(placed);
    const auto dataset =
        placer_.create(path, io::h5_type(tensor.dtype), space(placed.slab->shape), placed.bytes(), placed.at);
    if (tensor.is_undivided()) return;
    io::h5_write_fixed_text(dataset, "placement", name_of(tensor.placement));
    io::h5_write_attribute(dataset, "global_shape", std::span<const std::int64_t>(tensor.global_shape));
    io::h5_write_attribute(dataset, "offset", std::span<const std::int64_t>(placed.slab->offset));
  }

  IndexEntry value(const ValueEntry& entry) {
    IndexEntry placed{entry.name, dtype_of(entry), std::string(value_placement), {}, {}, {}, 0, room_of(entry)};
    const auto text = placed.dtype == "string" ? io::h5_string_type(placed.bytes)
                                               : io::H5Id(H5Tcopy(H5T_STD_I64LE), H5Tclose, "copy a type");
    const hid_t type = placed.dtype == "string" ? hid_t{text} : io::h5_type(dtype_from(placed.dtype));
    const auto dataset = placer_.create(object_path(entry.name), type, space({}), placed.bytes, placed.at);
    io::h5_write_fixed_text(dataset, "placement", value_placement);
    return placed;
  }

 private:
  hid_t space(const Shape& shape) {
    const auto found = spaces_.find(shape);
    if (found != spaces_.end()) return found->second;
    return spaces_.emplace(shape, io::h5_space(shape)).first->second;
  }

  io::H5Placer placer_;
  std::map<Shape, io::H5Id> spaces_;
};

IndexEntry entry_of(const PlacedSlab& placed) {
  const auto& tensor = *placed.tensor;
  return {tensor.name,
          std::string(trainrt::name_of(tensor.dtype)),
          std::string(name_of(tensor.placement)),
          tensor.global_shape,
          placed.slab->offset,
          placed.slab->shape,
          placed.at,
          placed.bytes()};
}

/// Returns the index of the element at `offset` (one number per axis) in a row-major tensor of shape `shape`.
std::uint64_t first_element(const Shape& offset, const Shape& shape) {
  std::uint64_t element = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    element = element * static_cast<std::uint64_t>(shape[axis]) + static_cast<std::uint64_t>(offset[axis]);
  return element;
}

/// Finds the entry of the State, and the byte range of its memory, that a slab is copied from.
class Sources {
 public:
  explicit Sources(const State& state) {
    for (std::size_t i = 0; i < state.tensors().size(); ++i) numbers_[state.tensors()[i].name].push_back(i);
    state_ = &state;
  }

  TensorSource find(const PlacedSlab& placed) const {
    const auto& tensor = *placed.tensor;
    for (const auto number : numbers_.at(tensor.name)) {
      const auto& entry = state_->tensors()[number];
      if (tensor.placement == Placement::sharded &&
          (entry.offset != placed.slab->offset || entry.local.shape != placed.slab->shape))
        continue;
      const auto first = tensor.placement == Placement::replicated
                             ? first_element(placed.slab->offset, tensor.global_shape) * size_of(tensor.dtype)
                             : 0;
      return {placed.at, placed.bytes(), number, first};
    }
    throw Error("this rank does not hold the slab of '" + tensor.name + "' that it must write");
  }

 private:
  const State* state_;
  std::map<std::string, std::vector<std::size_t>> numbers_;
};

void add_blocks(std::vector<BlockExtent>& blocks, std::uint64_t from, std::uint64_t to) {
  while (from < to) {
    const auto bytes = std::min<std::uint64_t>(block_bytes, to - from);
    blocks.push_back({from, bytes});
    from += bytes;
  }
}

/// Offset of a slab or value in a shard file, and the rank that writes it. HDF5 stores small data in gaps, so that the data
/// of different ranks can be in any order.
struct Beginning {
  std::uint64_t at = 0;
  int writer = 0;
};

std::vector<Beginning> beginnings_of(const std::vector<PlacedSlab>& slabs, const std::vector<IndexEntry>& values,
                                     int values_writer) {
  std::vector<Beginning> beginnings;
  for (const auto& placed : slabs)
    if (placed.bytes() > 0) beginnings.push_back({placed.at, placed.slab->writer});
  for (const auto& value : values)
    if (value.bytes > 0) beginnings.push_back({value.at, values_writer});
  std::ranges::sort(beginnings, {}, &Beginning::at);
  return beginnings;
}

/// Returns the blocks of the byte range [0, end) of a shard file that `rank` writes: its data, and the bytes up to the next
/// data of another rank. `leader`, the lowest rank that writes into the file, also writes the bytes before the first data.
std::vector<BlockExtent> blocks_of(int rank, int leader, const std::vector<Beginning>& beginnings, std::uint64_t end) {
  std::vector<BlockExtent> blocks;
  int owner = leader;
  std::uint64_t from = 0;
  for (const auto& [at, writer] : beginnings) {
    if (writer == owner) continue;
    if (owner == rank) add_blocks(blocks, from, at);
    owner = writer;
    from = at;
  }
  if (owner == rank) add_blocks(blocks, from, end);
  return blocks;
}

/// Returns the number of bytes to reserve in the shard file for a rank's index: an upper bound of the length of
/// index_text(), rounded up to complete pages. `tensors_text`: length of the JSON list of the tensors. `blocks`: number
/// of blocks.
std::uint64_t index_room(std::size_t tensors_text, const std::vector<IndexEntry>& values, std::size_t blocks) {
  constexpr std::size_t frame = 256;
  constexpr std::size_t a_block = 96;
  return io::align_up(frame + tensors_text + entries_text(values).size() + 24 * values.size() + a_block * blocks);
}

/// The slabs, values and HDF5 structure of a shard file, with the offsets that HDF5 chose.
struct LaidOut {
  std::vector<PlacedSlab> slabs;
  std::vector<IndexEntry> values;
  std::shared_ptr<const io::H5Memory> structure;

  std::uint64_t hdf5_bytes() const { return io::align_up(structure->file_bytes()); }
};

LaidOut lay_out(const Layout& layout, const State& state, int file) {
  LaidOut made;
  made.slabs = slabs_of(file, layout);
  const bool has_values = layout.file_of(layout.values_writer()) == file;
  const auto entries = made.slabs.size() + groups_of(made.slabs) + (has_values ? state.values().size() : 0);
  made.structure = std::make_shared<const io::H5Memory>(io::H5Memory::build(entries, [&](hid_t h5) {
    io::h5_write_fixed_text(h5, "format", shard_format);
    io::h5_write_attribute(h5, "version", format_version);
    io::h5_write_attribute(h5, "shard", std::int64_t{file});
    io::h5_write_attribute(h5, "ranks", std::int64_t{layout.ranks});
    Structure structure(h5);
    if (has_values)
      for (const auto& entry : state.values()) made.values.push_back(structure.value(entry));
    for (auto& placed : made.slabs) structure.tensor(placed);
  }));
  return made;
}

/// Lists the part of a shard file that one rank writes: tensors, values, blocks and the size of the rank's index.
struct WriterShare {
  std::string tensors_text;
  std::vector<IndexEntry> values;
  std::vector<BlockExtent> blocks;
  std::uint64_t index_bytes = 0;
};

WriterShare share_of(int writer, int leader, const LaidOut& file, const std::vector<Beginning>& beginnings,
                     int values_writer) {
  WriterShare share;
  std::vector<IndexEntry> tensors;
  for (const auto& placed : file.slabs)
    if (placed.slab->writer == writer) tensors.push_back(entry_of(placed));
  share.tensors_text = entries_text(tensors);
  if (writer == values_writer) share.values = file.values;
  share.blocks = blocks_of(writer, leader, beginnings, file.hdf5_bytes());
  share.index_bytes = index_room(share.tensors_text.size(), share.values, share.blocks.size());
  return share;
}

std::vector<TensorSource> sources_of(int rank, const LaidOut& file, const State& state) {
  const Sources sources(state);
  std::vector<TensorSource> found;
  for (const auto& placed : file.slabs)
    if (placed.slab->writer == rank && placed.bytes() > 0) found.push_back(sources.find(placed));
  std::ranges::sort(found, {}, &TensorSource::at);
  return found;
}

}  // namespace

ShardPlan plan_shard(const Layout& layout, const State& state, int rank) {
  const int number = layout.file_of(rank);
  const auto file = lay_out(layout, state, number);
  const auto writers = writers_of(number, layout);
  const auto beginnings = beginnings_of(file.slabs, file.values, layout.values_writer());
  ShardPlan plan;
  plan.rank = rank;
  plan.file = shard_name(number);
  plan.structure = file.structure;
  plan.sources = sources_of(rank, file, state);
  plan.file_bytes = file.hdf5_bytes();
  for (const auto writer : writers) {  // the indices are stored in the order of the ranks
    auto share = share_of(writer, writers.front(), file, beginnings, layout.values_writer());
    if (writer == rank) {
      plan.tensors_text = std::move(share.tensors_text);
      plan.values = std::move(share.values);
      plan.blocks = std::move(share.blocks);
      plan.index = {plan.file_bytes, share.index_bytes};
    }
    plan.file_bytes += share.index_bytes;
  }
  return plan;
}

}  // namespace trainrt::checkpoint
