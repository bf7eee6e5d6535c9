#include "data/node_memory/node_cache.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/files/reserve_pages.hpp"
#include "core/output/log.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t page = 4096;

/// The locks that this thread holds for fields of one unit (group of consecutive samples). The destructor releases them.
class UnitLocks {
 public:
  UnitLocks(UnitStates& states, std::size_t unit) : states_(states), unit_(unit) {}
  ~UnitLocks() {
    for (const auto field : fields_) states_.release(unit_, field, are_filled_);
  }
  UnitLocks(const UnitLocks&) = delete;
  UnitLocks& operator=(const UnitLocks&) = delete;
  /// Locks a field if its values must be read. Returns false if another thread holds the lock for more than `wait_s`
  /// seconds.
  bool add(std::size_t field, int rank, double wait_s) {
    const auto claim = states_.claim(unit_, field, rank, wait_s);
    if (claim == UnitStates::Claim::granted) fields_.push_back(field);
    return claim != UnitStates::Claim::timed_out;
  }
  std::span<const std::size_t> fields() const { return fields_; }
  void set_filled() { are_filled_ = true; }

 private:
  UnitStates& states_;
  std::size_t unit_;
  std::vector<std::size_t> fields_;
  bool are_filled_ = false;
};

/// Returns the number of units (groups of consecutive samples) that contain chosen samples. `rows_text` is the text of
/// the RowRanges with the chosen samples; "" means all samples.
std::size_t units_of(const UnitLayout& layout, const std::string& rows_text) {
  if (rows_text.empty()) return layout.units();
  const RowRanges rows(rows_text);
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

NodeCache::NodeCache(std::shared_ptr<const Source> source, std::function<void()> close_files, UnitLayout layout,
                     NodeShare share, Settings settings)
    : source_(std::move(source)),
      close_files_(std::move(close_files)),
      layout_(std::move(layout)),
      share_(std::move(share)),
      settings_(std::move(settings)),
      needed_(units_of(layout_, settings_.rows)),
      states_(share_.memory.get(), layout_),
      arena_(share_.memory.get() + state_bytes(layout_) + layout_.bytes(), layout_.arena_bytes()) {}

/// Returns the address of the values of the field `field` in the shared memory. The value of sample 0 is the first one.
std::byte* NodeCache::values(std::size_t field) const {
  return share_.memory.get() + state_bytes(layout_) + layout_.offset(field);
}

/// Reads samples from the files, and sets `is_open_`, because the source may now have open files.
void NodeCache::read_source(Samples samples, std::span<Column> columns) const {
  is_open_ = true;
  source_->read(samples, columns);
}

bool NodeCache::is_resident() const {
  bool any = false;
  for (std::size_t field = 0; field < layout_.fields(); ++field) {
    const auto filled = states_.filled(field);
    if (filled == 0) continue;
    any = true;
    if (filled < needed_) return false;
  }
  if (any && is_open_.exchange(false)) close_files_();
  return any;
}

void NodeCache::read(Samples samples, std::span<Column> columns) const {
  const auto missing = this->missing(samples, columns);
  const auto varies = [&](const Column& column) { return layout_.varies(column.field); };
  if (!missing.empty() && std::ranges::any_of(columns, varies)) return read_source(samples, columns);
  for (auto& column : columns) {
    if (varies(column)) {
      give_varying(samples, column);
      continue;
    }
    const auto bytes = layout_.sample_bytes(column.field);
    column.values.resize(samples.size() * bytes);
    column.ends.clear();
    const std::span<const std::byte> all(values(column.field), size() * bytes);
    if (missing.empty())
      copy_rows(all, bytes, samples, column.values.data());
    else
      for (std::size_t i = 0; i < samples.size(); ++i)
        if (!missing[i]) copy_rows(all, bytes, samples.subspan(i, 1), column.values.data() + i * bytes);
  }
  if (!missing.empty()) read_missing(samples, missing, columns);
}

/// Reads the units (groups of samples) that contain `samples` into memory, if they are not there yet. Returns for each
/// sample whether it is missing in memory because its unit could not be stored. Returns an empty list if no sample is
/// missing.
std::vector<bool> NodeCache::missing(Samples samples, std::span<const Column> columns) const {
  std::vector<std::size_t> fields;
  for (const auto& column : columns)
    if (states_.filled(column.field) < needed_) fields.push_back(column.field);
  if (fields.empty()) return {};
  std::ranges::sort(fields);  // all threads lock fields in this order
  std::set<std::size_t> missing_units;
  std::vector<bool> missing;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto unit = layout_.unit_of(samples[i]);
    if (!missing_units.contains(unit) && has(unit, fields)) continue;
    missing_units.insert(unit);
    missing.resize(samples.size());
    missing[i] = true;
  }
  return missing;
}

/// Returns whether the fields of a unit are in memory. If they are not, first tries to read them into memory.
bool NodeCache::has(std::size_t unit, FieldNumbers fields) const {
  const auto is_filled = [&](std::size_t field) { return states_.is_filled(unit, field); };
  return std::ranges::all_of(fields, is_filled) || (!is_full_ && fill(unit, fields));
}

/// Reads fields of a unit into memory. Returns false if there is not enough memory, or if another rank has been reading
/// the unit for longer than wait_s().
bool NodeCache::fill(std::size_t unit, FieldNumbers asked) const {
  std::vector<std::size_t> fields(asked.begin(), asked.end());
  if (layout_.reading(unit) != Reading::by_field) {  // all fields, so that the file is decompressed or parsed only once
    fields.resize(layout_.fields());
    std::iota(fields.begin(), fields.end(), std::size_t{0});
  }
  UnitLocks locks(states_, unit);
  for (const auto field : fields) {
    if (states_.is_filled(unit, field) || locks.add(field, settings_.rank, wait_s(unit))) continue;
    note_timeout(unit, field);
    return false;
  }
  if (locks.fields().empty()) return true;
  const auto has_room = [&](std::size_t field) {
    const auto bytes = layout_.sample_bytes(field);
    return reserve(static_cast<std::uint64_t>(values(field) - share_.memory.get()) + layout_.first(unit) * bytes,
                   (layout_.end(unit) - layout_.first(unit)) * bytes);
  };
  if (!std::ranges::all_of(locks.fields(), has_room) || !copy_unit(unit, locks.fields())) return false;
  locks.set_filled();
  return true;
}

/// Reserves pages of the shared memory. If there is not enough memory, returns false and logs one warning per rank.
bool NodeCache::reserve(std::uint64_t offset, std::uint64_t bytes) const {
  const int code = share_.file && bytes > 0 ? reserve_pages(*share_.file, offset, bytes) : 0;
  if (code != 0 && !lacks_memory_.exchange(true))
    log::warning(
        fmt::format("[data.{}]: not enough memory for values that the ranks of this node share ({}); "
                    "samples that are not in memory are read from the files for each batch",
                    settings_.name, std::strerror(code)));
  return code == 0;
}

/// Reads a unit from the files and copies it to the shared memory. Returns false if there is not enough memory.
bool NodeCache::copy_unit(std::size_t unit, FieldNumbers fields) const {
  const bool is_unpacked = layout_.reading(unit) == Reading::as_a_whole;
  {
    const std::lock_guard lock(mutex_);
    ++filling_;
  }
  const std::shared_ptr<void> end(nullptr, [&](void*) {
    const std::lock_guard lock(mutex_);
    if (--filling_ == 0 && is_unpacked) close_files_();
  });
  constexpr std::uint64_t samples_per_step =
      4096;  // samples copied per step if the complete file is in memory, so that little memory is used twice
  const auto step = is_unpacked ? samples_per_step : layout_.end(unit) - layout_.first(unit);
  for (auto first = layout_.first(unit); first < layout_.end(unit); first += step)
    if (!copy_samples(first, std::min(first + step, layout_.end(unit)), fields)) return false;
  return true;
}

bool NodeCache::copy_samples(std::uint64_t first, std::uint64_t end, FieldNumbers fields) const {
  std::vector<std::uint64_t> samples(end - first);
  std::iota(samples.begin(), samples.end(), first);
  std::vector<Column> columns;
  for (const auto field : fields) columns.push_back({field, {}, {}});
  read_source(samples, columns);
  for (const auto& column : columns)
    if (!layout_.varies(column.field))
      std::ranges::copy(column.values, values(column.field) + first * layout_.sample_bytes(column.field));
    else if (!copy_varying(column, first))
      return false;
  return true;
}

/// Copies the values in `column`, those of sample `first` and the following samples, to the ValueArena. Returns false if
/// there is not enough memory.
bool NodeCache::copy_varying(const Column& column, std::uint64_t first) const {
  const auto begin = arena_.take(column.values.size());
  if (!begin) is_full_ = true;
  if (!begin) return false;
  auto* const values = arena_.values(*begin);
  if (!reserve(static_cast<std::uint64_t>(values - share_.memory.get()), column.values.size())) return false;
  std::ranges::copy(column.values, values);
  auto* to = this->values(column.field) + first * sizeof(ValuePlace);
  std::uint64_t at = 0;
  for (const auto end : column.ends) {
    const ValuePlace place{*begin + at, end - std::exchange(at, end)};
    std::memcpy(to, &place, sizeof place);
    to += sizeof place;
  }
  return true;
}

void NodeCache::give_varying(Samples samples, Column& column) const {
  column.clear();
  const auto* const places = values(column.field);
  for (const auto sample : samples) {
    ValuePlace place;
    std::memcpy(&place, places + sample * sizeof place, sizeof place);
    column.append({arena_.values(place.at), place.bytes});
  }
}

/// Reads the samples that are not in the shared memory from the files, into their positions in `columns`.
void NodeCache::read_missing(Samples samples, const std::vector<bool>& missing, std::span<Column> columns) const {
  std::vector<std::uint64_t> wanted;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (missing[i]) wanted.push_back(samples[i]);
  std::vector<Column> found;
  for (const auto& column : columns) found.push_back({column.field, {}, {}});
  read_source(wanted, found);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto bytes = static_cast<std::ptrdiff_t>(layout_.sample_bytes(columns[c].field));
    auto from = found[c].values.begin();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!missing[i]) continue;
      std::copy(from, from + bytes, columns[c].values.begin() + static_cast<std::ptrdiff_t>(i) * bytes);
      from += bytes;
    }
  }
}

/// Returns the maximum number of seconds to wait for another rank that reads `unit` (a group of samples): 0 if this
/// rank has already waited for this unit in vain.
double NodeCache::wait_s(std::size_t unit) const {
  const std::lock_guard lock(mutex_);
  return timed_out_.contains(unit) ? 0 : settings_.max_wait_s;
}

void NodeCache::note_timeout(std::size_t unit, std::size_t field) const {
  const std::lock_guard lock(mutex_);
  if (!timed_out_.insert(unit).second) return;
  log::warning(fmt::format(
      "[data.{}]: rank {} has been reading the samples {} to {} for more than {} s; "
      "this rank now reads these samples from the files, without shared memory",
      settings_.name, states_.busy_rank(unit, field), layout_.first(unit), layout_.end(unit) - 1, settings_.max_wait_s));
}

}  // namespace trainrt::data
