#include "checkpoint/layout.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <queue>

#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

namespace {

std::uint64_t tensor_bytes(const Shape& shape, DType dtype) {
  return static_cast<std::uint64_t>(element_count(shape)) * size_of(dtype);
}

std::string describe(const Slab& slab) {
  return "rank " + std::to_string(slab.writer) + "'s, " + to_string(slab.shape) + " at " + to_string(slab.offset);
}

bool overlap(const Slab& a, const Slab& b) {
  for (std::size_t axis = 0; axis < a.offset.size(); ++axis)
    if (a.offset[axis] >= b.offset[axis] + b.shape[axis] || b.offset[axis] >= a.offset[axis] + a.shape[axis]) return false;
  return true;
}

/// Returns the first axis along which the slabs of a tensor have different offsets. If slabs are sorted by their offset on
/// that axis, usually only neighbours need to be checked for overlap.
std::size_t split_axis(const std::vector<Slab>& slabs) {
  for (std::size_t axis = 0; axis < slabs.front().offset.size(); ++axis)
    for (const auto& slab : slabs)
      if (slab.offset[axis] != slabs.front().offset[axis]) return axis;
  return 0;
}

void check_tiling(const TensorLayout& tensor) {
  auto slabs = tensor.slabs;
  std::erase_if(slabs, [](const Slab& slab) { return element_count(slab.shape) == 0; });
  const auto wanted = element_count(tensor.global_shape);
  std::int64_t found = 0;
  for (const auto& slab : slabs) found += element_count(slab.shape);
  if (!slabs.empty()) {
    const auto axis = split_axis(slabs);
    std::ranges::sort(slabs, {}, [axis](const Slab& slab) { return slab.offset[axis]; });
    for (auto a = slabs.begin(); a != slabs.end(); ++a)
      for (auto b = a + 1; b != slabs.end() && b->offset[axis] < a->offset[axis] + a->shape[axis]; ++b)
        if (overlap(*a, *b))
          throw UsageError("State: slabs of '" + tensor.name + "' overlap: " + describe(*a) + " and " + describe(*b));
  }
  if (found != wanted)
    throw UsageError("State: the slabs of '" + tensor.name + "' hold " + std::to_string(found) + " of the " +
                     std::to_string(wanted) + " elements of its shape " + to_string(tensor.global_shape));
}

/// Removes repeated slabs (same offset and shape). Of several ranks that hold the same slab, the lowest one writes it.
std::vector<Slab> distinct(std::vector<Slab> slabs) {
  std::ranges::sort(slabs, {}, [](const Slab& slab) { return std::tie(slab.offset, slab.shape, slab.writer); });
  const auto same = [](const Slab& a, const Slab& b) { return a.offset == b.offset && a.shape == b.shape; };
  slabs.erase(std::unique(slabs.begin(), slabs.end(), same), slabs.end());
  return slabs;
}

/// Removes slabs without elements. Keeps one if all are empty, so that an empty tensor is still stored in the checkpoint.
void keep_one_empty(std::vector<Slab>& slabs) {
  const auto is_empty = [](const Slab& slab) { return element_count(slab.shape) == 0; };
  const bool all = std::all_of(slabs.begin(), slabs.end(), is_empty);
  slabs.erase(std::remove_if(slabs.begin() + (all ? 1 : 0), slabs.end(), is_empty), slabs.end());
}

/// Distributes `bytes` additional bytes to the ranks with the lowest loads, so that these ranks then have equal loads,
/// and returns this new load in bytes. `load` has the bytes that each rank already writes.
std::uint64_t water_level(std::vector<std::uint64_t> load, std::uint64_t bytes) {
  std::sort(load.begin(), load.end());
  std::uint64_t below = 0;  // sum of the loads of the writers below the level
  for (std::size_t n = 0; n < load.size(); ++n) {
    below += load[n];
    const auto level = (below + bytes + n) / (n + 1);
    if (n + 1 == load.size() || level <= load[n + 1]) return level;
  }
  return 0;
}

/// Assigns the rows of large replicated tensors to writing ranks. Each rank, in rank order, gets rows until it writes
/// about `level` bytes. Rows that would form a slab smaller than min_slab_bytes are assigned to a neighbouring rank.
class RowDealer {
 public:
  RowDealer(std::vector<std::uint64_t>& load, std::uint64_t level) : load_(load), level_(level) {}

  void deal(TensorLayout& tensor) {
    const auto rows = row_count(tensor.global_shape);
    const auto row_bytes = tensor_bytes(tensor.global_shape, tensor.dtype) / static_cast<std::uint64_t>(rows);
    const auto min_rows = static_cast<std::int64_t>(1 + min_slab_bytes / row_bytes);
    tensor.slabs.clear();
    for (std::int64_t first = 0; first < rows;) {
      auto count = rows - first;
      if (writer_ + 1 < load_.size()) {
        const auto room =
            static_cast<std::int64_t>((std::max(level_, load_[writer_]) - load_[writer_] + row_bytes / 2) / row_bytes);
        if (room < min_rows) {  // this rank already writes enough bytes
          ++writer_;
          continue;
        }
        if (count - room >= min_rows) count = room;
      }
      tensor.slabs.push_back(rows_of(tensor.global_shape, first, count, static_cast<int>(writer_)));
      load_[writer_] += static_cast<std::uint64_t>(count) * row_bytes;
      first += count;
    }
  }

 private:
  static constexpr std::uint64_t min_slab_bytes = splittable_bytes / 4;
  std::vector<std::uint64_t>& load_;
  std::uint64_t level_;
  std::size_t writer_ = 0;
};

/// Assigns replicated tensors to the ranks that write them: each small tensor to one rank. Large tensors are divided into
/// slabs so that all ranks write about the same number of bytes. `load` has the bytes that each rank already writes.
void balance(Layout& layout, std::vector<std::uint64_t> load) {
  std::vector<TensorLayout*> small;
  std::vector<TensorLayout*> large;
  std::vector<std::uint64_t> small_bytes;
  std::uint64_t large_bytes = 0;
  for (auto& tensor : layout.tensors) {
    if (tensor.placement != Placement::replicated) continue;
    const auto bytes = tensor_bytes(tensor.global_shape, tensor.dtype);
    if (layout.ranks > 1 && bytes >= splittable_bytes && row_count(tensor.global_shape) > 1) {
      large.push_back(&tensor);
      large_bytes += bytes;
    } else {
      small.push_back(&tensor);
      small_bytes.push_back(bytes);
    }
  }
  const auto writers = assign_writers(small_bytes, load);
  for (std::size_t i = 0; i < small.size(); ++i) {
    small[i]->slabs.front().writer = writers[i];
    load[static_cast<std::size_t>(writers[i])] += small_bytes[i];
  }
  RowDealer dealer(load, water_level(load, large_bytes));
  for (auto* tensor : large) dealer.deal(*tensor);
}

}  // namespace

std::vector<int> assign_writers(std::span<const std::uint64_t> item_bytes, const std::vector<std::uint64_t>& load) {
  std::vector<std::size_t> order(item_bytes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return item_bytes[a] > item_bytes[b]; });
  using Writer = std::pair<std::uint64_t, int>;  // load of a writing rank in bytes, its rank number
  std::priority_queue<Writer, std::vector<Writer>, std::greater<>> least;
  for (std::size_t writer = 0; writer < load.size(); ++writer) least.emplace(load[writer], static_cast<int>(writer));
  std::vector<int> writers(item_bytes.size(), 0);
  for (const auto item : order) {
    const auto [bytes, writer] = least.top();
    least.pop();
    writers[item] = writer;
    least.emplace(bytes + item_bytes[item], writer);
  }
  return writers;
}

int Layout::files() const { return 1 + *std::max_element(file_of_rank.begin(), file_of_rank.end()); }

std::int64_t row_count(const Shape& shape) {
  for (const auto extent : shape)
    if (extent != 1) return extent;
  return 1;
}

Slab rows_of(const Shape& shape, std::int64_t first, std::int64_t count, int writer) {
  Slab slab{Shape(shape.size(), 0), shape, writer};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    slab.offset[axis] = first;
    slab.shape[axis] = count;
    break;
  }
  return slab;
}

std::vector<TensorGroup> tensors_by_name(const State& state) {
  std::vector<const TensorEntry*> entries;
  for (const auto& entry : state.tensors()) entries.push_back(&entry);
  std::ranges::stable_sort(entries, {}, &TensorEntry::name);
  std::vector<TensorGroup> groups;
  for (const auto* entry : entries) {
    if (groups.empty() || groups.back().first->name != entry->name) groups.push_back({entry, {}});
    groups.back().entries.push_back(entry);
  }
  return groups;
}

LayoutPlanner::LayoutPlanner(const State& state, std::vector<int> file_of_rank, int own_file, std::size_t max_slabs)
    : own_file_(own_file), slabs_left_(max_slabs) {
  layout_.ranks = static_cast<int>(file_of_rank.size());
  layout_.file_of_rank = std::move(file_of_rank);
  load_.resize(layout_.file_of_rank.size());
  for (const auto& group : tensors_by_name(state)) {
    const auto& entry = *group.first;
    auto& tensor =
        layout_.tensors.emplace_back(TensorLayout{entry.name, entry.local.dtype, entry.placement, entry.global_shape, {}});
    if (entry.placement == Placement::sharded) sharded_.push_back(layout_.tensors.size() - 1);
    if (entry.placement == Placement::replicated) tensor.slabs.push_back({entry.offset, entry.global_shape, 0});
    if (entry.placement != Placement::per_rank) continue;
    for (int rank = 0; rank < layout_.ranks; ++rank) tensor.slabs.push_back({entry.offset, entry.global_shape, rank});
    number_and_trim(tensor);
  }
}

void LayoutPlanner::add(std::vector<Slab> held) {
  auto& tensor = layout_.tensors[sharded_.at(next_++)];
  tensor.slabs = distinct(std::move(held));
  check_tiling(tensor);
  keep_one_empty(tensor.slabs);
  number_and_trim(tensor);
}

/// Numbers the slabs of a tensor and adds their sizes to the loads of the ranks that write them. If the maximum number of
/// slabs is reached, keeps only the slabs that are stored in shard file own_file_.
void LayoutPlanner::number_and_trim(TensorLayout& tensor) {
  for (std::size_t number = 0; number < tensor.slabs.size(); ++number) {
    auto& slab = tensor.slabs[number];
    slab.number = number;
    load_[static_cast<std::size_t>(slab.writer)] += tensor_bytes(slab.shape, tensor.dtype);
  }
  if (own_file_ < 0) return;
  if (tensor.slabs.size() <= slabs_left_) {
    slabs_left_ -= tensor.slabs.size();
    return;
  }
  slabs_left_ = 0;
  const auto dropped =
      std::erase_if(tensor.slabs, [&](const Slab& slab) { return layout_.file_of(slab.writer) != own_file_; });
  if (dropped > 0) layout_.complete = false;
  tensor.slabs.shrink_to_fit();
}

Layout LayoutPlanner::finish() {
  balance(layout_, load_);
  for (auto& tensor : layout_.tensors)
    if (tensor.placement == Placement::replicated)
      for (std::size_t number = 0; number < tensor.slabs.size(); ++number) tensor.slabs[number].number = number;
  return std::move(layout_);
}

Layout plan_layout(const State& state, const std::vector<std::vector<std::vector<Slab>>>& held,
                   std::vector<int> file_of_rank) {
  LayoutPlanner planner(state, std::move(file_of_rank));
  for (std::size_t tensor = 0; !held.empty() && tensor < held.front().size(); ++tensor) {
    std::vector<Slab> slabs;
    for (const auto& of_rank : held) slabs.insert(slabs.end(), of_rank.at(tensor).begin(), of_rank.at(tensor).end());
    planner.add(std::move(slabs));
  }
  return planner.finish();
}

std::string_view name_of(Placement placement) {
  constexpr std::array<std::string_view, 3> names = {"replicated", "sharded", "per_rank"};
  return names.at(static_cast<std::size_t>(placement));
}

std::vector<int> files_of_ranks(FileLayout layout, std::span<const int> node_of_rank) {
  std::vector<int> files;
  std::map<int, int> numbers;
  for (const int node : node_of_rank) {
    const int rank = static_cast<int>(files.size());
    const int key = layout == FileLayout::rank ? rank : layout == FileLayout::node ? node : 0;
    files.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  }
  return files;
}

}  // namespace trainrt::checkpoint
