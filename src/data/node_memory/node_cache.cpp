#include "data/node_memory/node_cache.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/files/reserve_pages.hpp"
#include "core/output/log.hpp"
#include "data/source/row_file.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t page = 4096;

/// Those of one unit that this thread has, until they end: filled or not.
class Turns {
 public:
  Turns(UnitStates& states, std::size_t unit) : states_(states), unit_(unit) {}
  ~Turns() {
    for (const auto field : fields_) states_.end(unit_, field, are_filled_);
  }
  Turns(const Turns&) = delete;
  bool add(std::size_t field, int rank, double wait_s) {
    const auto turn = states_.begin(unit_, field, rank, wait_s);
    if (turn == UnitStates::Turn::mine) fields_.push_back(field);
    return turn != UnitStates::Turn::over;
  }
  std::span<const std::size_t> fields() const { return fields_; }
  void fill() { are_filled_ = true; }

 private:
  UnitStates& states_;
  std::size_t unit_;
  std::vector<std::size_t> fields_;
  bool are_filled_ = false;
};

/// How many units the rows touch.
std::size_t units_of(const UnitLayout& layout, const std::string& text) {
  if (text.empty()) return layout.units();
  const RowRanges rows(text);
  std::vector<bool> touched(layout.units());
  for (std::size_t i = 0; i < rows.runs(); ++i) {
    const auto [first, count] = rows.run(i);
    const auto last = layout.unit_of(first + count - 1);
    for (auto unit = layout.unit_of(first); unit <= last; ++unit) touched[unit] = true;
  }
  return static_cast<std::size_t>(std::count(touched.begin(), touched.end(), true));
}

}  // namespace

std::size_t NodeCache::state_bytes(const UnitLayout& layout) {
  return (UnitStates::bytes(layout) + page - 1) / page * page;
}

std::size_t NodeCache::memory_bytes(const UnitLayout& layout) {
  return state_bytes(layout) + layout.bytes() + ValueArena::memory_bytes(layout.arena_bytes());
}

NodeCache::NodeCache(std::shared_ptr<const Source> source, std::function<void()> let_go, UnitLayout layout, NodeShare share,
                     Part part)
    : source_(std::move(source)),
      let_go_(std::move(let_go)),
      layout_(std::move(layout)),
      share_(std::move(share)),
      part_(std::move(part)),
      needed_(units_of(layout_, part_.rows)),
      states_(share_.memory.get(), layout_),
      arena_(share_.memory.get() + state_bytes(layout_) + layout_.bytes(), layout_.arena_bytes()) {}

/// Where the values of a field begin.
std::size_t NodeCache::place(std::size_t field) const { return state_bytes(layout_) + layout_.place(field); }

bool NodeCache::is_resident() const {
  bool any = false;
  for (std::size_t field = 0; field < layout_.fields(); ++field) {
    const auto filled = states_.filled(field);
    if (filled == 0) continue;
    any = true;
    if (filled < needed_) return false;
  }
  if (any && is_open_.exchange(false)) let_go_();
  return any;
}

void NodeCache::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  const auto absent = this->absent(samples, columns);
  const auto varies = [&](const Column& column) { return layout_.varies(column.field); };
  if (!absent.empty() && std::any_of(columns.begin(), columns.end(), varies)) {
    is_open_ = true;
    return source_->read(samples, columns);
  }
  for (auto& column : columns) {
    if (varies(column)) {
      give_varying(samples, column);
      continue;
    }
    const auto bytes = layout_.sample_bytes(column.field);
    column.values.resize(samples.size() * bytes);
    column.ends.clear();
    const auto* from = share_.memory.get() + place(column.field);
    if (absent.empty()) {
      copy_rows({from, size() * bytes}, bytes, samples, column.values.data());
      continue;
    }
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (!absent[i]) copy_rows({from, size() * bytes}, bytes, samples.subspan(i, 1), column.values.data() + i * bytes);
  }
  if (!absent.empty()) read_absent(samples, absent, columns);
}

/// Fills the units of the samples; says which of these can still not be had from memory, empty if all can.
std::vector<bool> NodeCache::absent(std::span<const std::uint64_t> samples, std::span<const Column> columns) const {
  std::vector<std::size_t> fields;
  for (const auto& column : columns)
    if (!is_complete(column.field)) fields.push_back(column.field);
  if (fields.empty()) return {};
  std::sort(fields.begin(), fields.end());  // turns are taken in this order by all
  std::set<std::size_t> without;
  std::vector<bool> absent;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto unit = layout_.unit_of(samples[i]);
    if (!without.contains(unit) && has(unit, fields)) continue;
    without.insert(unit);
    absent.resize(samples.size());
    absent[i] = true;
  }
  return absent;
}

bool NodeCache::has(std::size_t unit, std::span<const std::size_t> fields) const {
  const auto is_there = [&](std::size_t field) { return states_.is_filled(unit, field); };
  return std::all_of(fields.begin(), fields.end(), is_there) || (!is_full_ && fill(unit, fields));
}

bool NodeCache::fill(std::size_t unit, std::span<const std::size_t> asked) const {
  std::vector<std::size_t> fields(asked.begin(), asked.end());
  if (layout_.reading(unit) != Reading::by_field) {  // now, rather than unpack or parse it once more later
    fields.resize(layout_.fields());
    std::iota(fields.begin(), fields.end(), std::size_t{0});
  }
  Turns turns(states_, unit);
  for (const auto field : fields) {
    if (states_.is_filled(unit, field) || turns.add(field, part_.rank, patience_s(unit))) continue;
    note_overdue(unit, field);
    return false;
  }
  if (turns.fields().empty()) return true;
  if (!reserve(unit, turns.fields())) return false;
  if (!copy_to_memory(unit, turns.fields())) return false;
  turns.fill();
  return true;
}

bool NodeCache::reserve(std::size_t unit, std::span<const std::size_t> fields) const {
  return std::all_of(fields.begin(), fields.end(), [&](std::size_t field) {
    const auto bytes = layout_.sample_bytes(field);
    return reserve(place(field) + layout_.first(unit) * bytes, (layout_.end(unit) - layout_.first(unit)) * bytes);
  });
}

bool NodeCache::reserve(std::uint64_t at, std::uint64_t bytes) const {
  const int code = share_.file && bytes > 0 ? reserve_pages(*share_.file, at, bytes) : 0;
  if (code != 0 && !lacks_memory_.exchange(true))
    log::warning(
        fmt::format("[data.{}]: no memory for values that the ranks of this node share ({}): samples are read "
                    "from the files",
                    part_.name, std::strerror(code)));
  return code == 0;
}

/// What is unpacked as a whole is in memory once already: small pieces of it will do. False if there is no room.
bool NodeCache::copy_to_memory(std::size_t unit, std::span<const std::size_t> fields) const {
  const bool is_unpacked = layout_.reading(unit) == Reading::as_a_whole;
  is_open_ = true;
  {
    const std::lock_guard lock(mutex_);
    ++filling_;
  }
  const std::shared_ptr<void> end(nullptr, [&](void*) {
    const std::lock_guard lock(mutex_);
    if (--filling_ == 0 && is_unpacked) let_go_();
  });
  constexpr std::uint64_t few = 4096;
  const auto step = is_unpacked ? few : layout_.end(unit) - layout_.first(unit);
  for (auto first = layout_.first(unit); first < layout_.end(unit); first += step)
    if (!copy_samples(first, std::min(first + step, layout_.end(unit)), fields)) return false;
  return true;
}

bool NodeCache::copy_samples(std::uint64_t first, std::uint64_t end, std::span<const std::size_t> fields) const {
  std::vector<std::uint64_t> samples(end - first);
  std::iota(samples.begin(), samples.end(), first);
  std::vector<Column> columns;
  for (const auto field : fields) columns.push_back({field, {}, {}});
  source_->read(samples, columns);
  for (const auto& column : columns)
    if (!layout_.varies(column.field))
      std::copy(column.values.begin(), column.values.end(),
                share_.memory.get() + place(column.field) + first * layout_.sample_bytes(column.field));
    else if (!keep_varying(column, first))
      return false;
  return true;
}

/// The values of the samples from `first` on; false if there is no room for them.
bool NodeCache::keep_varying(const Column& column, std::uint64_t first) const {
  const auto begin = arena_.take(column.values.size());
  if (!begin) is_full_ = true;
  if (!begin) return false;
  auto* const values = arena_.values(*begin);
  if (!reserve(static_cast<std::uint64_t>(values - share_.memory.get()), column.values.size())) return false;
  std::copy(column.values.begin(), column.values.end(), values);
  auto* to = share_.memory.get() + place(column.field) + first * sizeof(ValuePlace);
  std::uint64_t at = 0;
  for (const auto end : column.ends) {
    const ValuePlace place{*begin + at, end - std::exchange(at, end)};
    std::memcpy(to, &place, sizeof place);
    to += sizeof place;
  }
  return true;
}

void NodeCache::give_varying(std::span<const std::uint64_t> samples, Column& column) const {
  column.values.clear();
  column.ends.clear();
  const auto* const places = share_.memory.get() + place(column.field);
  for (const auto sample : samples) {
    ValuePlace place;
    std::memcpy(&place, places + sample * sizeof place, sizeof place);
    const auto* const values = arena_.values(place.at);
    column.values.insert(column.values.end(), values, values + place.bytes);
    column.ends.push_back(column.values.size());
  }
}

void NodeCache::read_absent(std::span<const std::uint64_t> samples, const std::vector<bool>& absent,
                            std::span<Column> columns) const {
  std::vector<std::uint64_t> wanted;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (absent[i]) wanted.push_back(samples[i]);
  std::vector<Column> found;
  for (const auto& column : columns) found.push_back({column.field, {}, {}});
  is_open_ = true;
  source_->read(wanted, found);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto bytes = static_cast<std::ptrdiff_t>(layout_.sample_bytes(columns[c].field));
    auto from = found[c].values.begin();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!absent[i]) continue;
      std::copy(from, from + bytes, columns[c].values.begin() + static_cast<std::ptrdiff_t>(i) * bytes);
      from += bytes;
    }
  }
}

/// What was waited for in vain once is not waited for again.
double NodeCache::patience_s(std::size_t unit) const {
  const std::lock_guard lock(mutex_);
  return overdue_.contains(unit) ? 0 : part_.most_wait_s;
}

void NodeCache::note_overdue(std::size_t unit, std::size_t field) const {
  const std::lock_guard lock(mutex_);
  if (!overdue_.insert(unit).second) return;
  log::warning(fmt::format(
      "[data.{}]: rank {} has read the samples {} to {} for more than {} s; they are read from the "
      "files without waiting for it",
      part_.name, states_.busy_rank(unit, field), layout_.first(unit), layout_.end(unit) - 1, part_.most_wait_s));
}

}  // namespace trainrt::data
