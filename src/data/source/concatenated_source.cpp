#include "data/source/concatenated_source.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

namespace trainrt::data {

namespace {

/// Which of the samples asked for lie in one part.
struct OfPart {
  std::vector<std::uint64_t> samples;  ///< numbered within the part
  std::vector<std::size_t> places;     ///< in what was asked for
};

std::size_t bytes_before(const Column& column, std::size_t place) { return place == 0 ? 0 : column.ends[place - 1]; }

/// Puts what one part gave at its places. `from` and `to` are of a field of fixed length.
void scatter(const Column& from, const std::vector<std::size_t>& places, std::size_t bytes, Column& to) {
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(to.values.data() + places[i] * bytes, from.values.data() + i * bytes, bytes);
}

/// Samples that vary in length, of all parts, in the order in which they were asked for.
class Varying {
 public:
  explicit Varying(std::size_t samples) : pieces_(samples) {}
  void take(const Column& from, const std::vector<std::size_t>& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto first = bytes_before(from, i);
      pieces_[places[i]] = {from.values.data() + first, from.ends[i] - first};
    }
  }
  void put_into(Column& to) const {
    to.values.clear();
    to.ends.clear();
    for (const auto& [data, bytes] : pieces_) {
      to.values.insert(to.values.end(), data, data + bytes);
      to.ends.push_back(to.values.size());
    }
  }

 private:
  std::vector<std::pair<const std::byte*, std::size_t>> pieces_;
};

}  // namespace

ConcatenatedSource::ConcatenatedSource(std::vector<Dataset::Field> fields, const std::vector<std::uint64_t>& sizes, Open open,
                           bool keep)
    : fields_(std::move(fields)), ends_(sizes.size()), open_(std::move(open)), keep_(keep), parts_(sizes.size()) {
  std::partial_sum(sizes.begin(), sizes.end(), ends_.begin());
}

std::size_t ConcatenatedSource::part_of(std::uint64_t sample) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), sample) - ends_.begin());
}

bool ConcatenatedSource::are_all_in(std::size_t number, std::span<const std::uint64_t> samples) const {
  const auto begin = begin_of(number), count = ends_[number] - begin;
  return std::all_of(samples.begin(), samples.end(), [&](auto sample) { return sample - begin < count; });
}

std::shared_ptr<const Source> ConcatenatedSource::part(std::size_t number) const {
  const std::lock_guard lock(mutex_);
  if (!parts_[number]) parts_[number] = open_(number);
  const auto wanted = parts_[number];
  if (keep_) return wanted;
  std::erase(recent_, number);
  recent_.push_back(number);
  if (recent_.size() > most_open) {
    parts_[recent_.front()] = nullptr;
    recent_.erase(recent_.begin());
  }
  return wanted;
}

void ConcatenatedSource::close() const {
  const std::lock_guard lock(mutex_);
  for (auto& part : parts_) part = nullptr;
  recent_.clear();
}

bool ConcatenatedSource::is_resident() const {
  if (!keep_) return false;
  const std::lock_guard lock(mutex_);
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part && part->is_resident(); });
}

void ConcatenatedSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  if (!samples.empty() && are_all_in(part_of(samples.front()), samples)) {  // nothing is to be put together
    const auto number = part_of(samples.front());
    std::vector<std::uint64_t> of_part(samples.begin(), samples.end());
    for (auto& sample : of_part) sample -= begin_of(number);
    return part(number)->read(of_part, columns);
  }
  std::map<std::size_t, OfPart> parts;
  for (std::size_t place = 0; place < samples.size(); ++place) {
    const auto number = part_of(samples[place]);
    auto& of_part = parts[number];
    of_part.samples.push_back(samples[place] - begin_of(number));
    of_part.places.push_back(place);
  }
  std::vector<std::vector<Column>> given;  // of each part, until all are put together
  std::vector<Varying> varying(columns.size(), Varying(samples.size()));
  for (auto& column : columns)
    if (!fields_[column.field].varies) column.values.resize(samples.size() * sample_bytes(fields_[column.field]));
  for (const auto& [number, of_part] : parts) {
    auto& from = given.emplace_back();
    for (const auto& column : columns) from.push_back({column.field, {}, {}});
    part(number)->read(of_part.samples, from);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& field = fields_[columns[i].field];
      if (field.varies)
        varying[i].take(from[i], of_part.places);
      else
        scatter(from[i], of_part.places, sample_bytes(field), columns[i]);
    }
  }
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (fields_[columns[i].field].varies) varying[i].put_into(columns[i]);
}

}  // namespace trainrt::data
