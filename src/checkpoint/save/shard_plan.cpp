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

/// A slab in a shard file, as HDF5 placed it.
struct Placed {
  const TensorLayout* tensor = nullptr;
  const Slab* slab = nullptr;
  std::uint64_t at = 0;

  std::uint64_t bytes() const { return static_cast<std::uint64_t>(element_count(slab->shape)) * size_of(tensor->dtype); }
};

/// Ranks that write into a file, ascending. The first is its leader: what belongs to nobody else is its to write.
std::vector<int> writers_of(int file, const Layout& layout) {
  std::vector<int> writers;
  for (int rank = 0; rank < layout.ranks; ++rank)
    if (layout.file_of_rank[static_cast<std::size_t>(rank)] == file) writers.push_back(rank);
  return writers;
}

/// The slabs of a file, each writer's together.
std::vector<Placed> slabs_of(int file, const Layout& layout) {
  std::vector<Placed> placed;
  for (const auto& tensor : layout.tensors)
    for (const auto& slab : tensor.slabs)
      if (layout.file_of_rank[static_cast<std::size_t>(slab.writer)] == file) placed.push_back({&tensor, &slab});
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.slab->writer < b.slab->writer; });
  return placed;
}

std::string path_of(const Placed& placed) {
  return placed.tensor->is_whole() ? object_path(placed.tensor->name) : slab_path(placed.tensor->name, placed.slab->number);
}

/// Groups that the slabs' paths need: HDF5 writes as much for one as for a dataset.
std::size_t groups_of(const std::vector<Placed>& slabs) {
  std::set<std::string> groups;
  for (const auto& placed : slabs)
    for (auto path = path_of(placed); (path.resize(path.rfind('/')), !path.empty()) && groups.insert(path).second;) {
    }
  return groups.size();
}

/// Makes the datasets of slabs and values.
class Structure {
 public:
  explicit Structure(hid_t file) : placer_(file) {}

  void tensor(Placed& placed) {
    const auto& tensor = *placed.tensor;
    const auto path = path_of(placed);
    const auto dataset =
        placer_.create(path, io::h5_type(tensor.dtype), space(placed.slab->shape), placed.bytes(), placed.at);
    if (tensor.is_whole()) return;
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

IndexEntry entry_of(const Placed& placed) {
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

/// Element number of a box's first element in the row-major tensor around it.
std::uint64_t first_element(const Shape& offset, const Shape& shape) {
  std::uint64_t element = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    element = element * static_cast<std::uint64_t>(shape[axis]) + static_cast<std::uint64_t>(offset[axis]);
  return element;
}

/// Which of the state's tensors holds which slab.
class Sources {
 public:
  explicit Sources(const State& state) {
    for (std::size_t i = 0; i < state.tensors().size(); ++i) numbers_[state.tensors()[i].name].push_back(i);
    state_ = &state;
  }

  TensorSource find(const Placed& placed) const {
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
    throw Error("this rank does not hold the slab of '" + tensor.name + "' that it is to write");
  }

 private:
  const State* state_;
  std::map<std::string, std::vector<std::size_t>> numbers_;
};

void add_blocks(std::vector<Extent>& blocks, std::uint64_t from, std::uint64_t to) {
  while (from < to) {
    const auto bytes = std::min<std::uint64_t>(block_bytes, to - from);
    blocks.push_back({from, bytes});
    from += bytes;
  }
}

/// Where data of a rank begins. HDF5 fills small data into gaps: it lies in any order.
struct Beginning {
  std::uint64_t at = 0;
  int writer = 0;
};

std::vector<Beginning> beginnings_of(const std::vector<Placed>& slabs, const std::vector<IndexEntry>& values,
                                     int values_writer) {
  std::vector<Beginning> beginnings;
  for (const auto& placed : slabs)
    if (placed.bytes() > 0) beginnings.push_back({placed.at, placed.slab->writer});
  for (const auto& value : values)
    if (value.bytes > 0) beginnings.push_back({value.at, values_writer});
  std::sort(beginnings.begin(), beginnings.end(), [](const Beginning& a, const Beginning& b) { return a.at < b.at; });
  return beginnings;
}

/// What a rank writes of [0, end): its data, and whatever follows up to another rank's; the leader the beginning too.
std::vector<Extent> blocks_of(int rank, int leader, const std::vector<Beginning>& beginnings, std::uint64_t end) {
  std::vector<Extent> blocks;
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

/// Room for an index: its texts, and what index_text() adds.
std::uint64_t index_room(std::size_t tensors_text, const std::vector<IndexEntry>& values, std::size_t blocks) {
  constexpr std::size_t frame = 256;
  constexpr std::size_t a_block = 96;
  return io::align_up(frame + tensors_text + entries_text(values).size() + 24 * values.size() + a_block * blocks);
}

/// A shard file as HDF5 laid it out.
struct LaidOut {
  std::vector<Placed> slabs;
  std::vector<IndexEntry> values;
  std::shared_ptr<const io::H5Memory> structure;

  std::uint64_t hdf5_bytes() const { return io::align_up(structure->file_bytes()); }
};

LaidOut lay_out(const Layout& layout, const State& state, int file) {
  LaidOut made;
  made.slabs = slabs_of(file, layout);
  const bool has_values = layout.file_of_rank[static_cast<std::size_t>(layout.values_writer())] == file;
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

/// What one of a file's writers has to do with it.
struct Share {
  std::string tensors_text;
  std::vector<IndexEntry> values;
  std::vector<Extent> blocks;
  std::uint64_t index_bytes = 0;
};

Share share_of(int writer, int leader, const LaidOut& file, const std::vector<Beginning>& beginnings, int values_writer) {
  Share share;
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
  std::sort(found.begin(), found.end(), [](const TensorSource& a, const TensorSource& b) { return a.at < b.at; });
  return found;
}

}  // namespace

ShardPlan plan_shard(const Layout& layout, const State& state, int rank) {
  const int number = layout.file_of_rank[static_cast<std::size_t>(rank)];
  const auto file = lay_out(layout, state, number);
  const auto writers = writers_of(number, layout);
  const auto beginnings = beginnings_of(file.slabs, file.values, layout.values_writer());
  ShardPlan plan;
  plan.rank = rank;
  plan.file = shard_name(number);
  plan.structure = file.structure;
  plan.sources = sources_of(rank, file, state);
  plan.file_bytes = file.hdf5_bytes();
  for (const auto writer : writers) {  // their indices follow each other
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
