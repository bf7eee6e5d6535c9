#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/batches/dataset_impl.hpp"

namespace trainrt::data {

/// A view of a field's values in one sample; of a field that varies: shape [values]. No sample yet.
TensorView sample_view(const Dataset::Field& field);
/// Lets it see sample number `i` of the column, as long as that is.
void show(TensorView& view, Column& column, const Dataset::Field& field, std::size_t i);

/// Looks at some fields of neighbouring samples, as files and keys of [data.NAME] give them, a few MiB at a time.
class FieldWalk {
 public:
  /// `fields`: numbers of the source's. `who`: for the line a minute that tells how far it is ("the filter").
  FieldWalk(const DatasetImpl& dataset, const std::vector<std::size_t>& fields, std::string who);
  /// Calls see() for each sample from `first` to `end`, in their order. The values, one of each field, are valid during the
  /// call.
  void walk(std::uint64_t first, std::uint64_t end,
            const std::function<void(std::uint64_t sample, std::span<const TensorView> values)>& see);

 private:
  void read();
  std::uint64_t bytes_read() const;
  void tell(std::uint64_t done, std::uint64_t all);

  const DatasetImpl& dataset_;
  std::string who_;
  double told_at_s_;
  std::vector<Column> columns_;
  std::vector<TensorView> values_;
  std::vector<std::uint64_t> samples_;
};

/// The first of `count` things that this rank of a team looks at, and the one behind its last.
std::pair<std::uint64_t, std::uint64_t> part_of_team(std::uint64_t count, const Team& team);

/// A number for each sample, that `see` makes of its field: each rank looks at its part, and all get those of all.
/// Collective over the team.
std::vector<std::int64_t> seen_together(const DatasetImpl& dataset, std::size_t field, const std::string& who,
                                        const std::function<std::int64_t(const TensorView& values)>& see);

/// UsageError if batches are being walked: what changes the samples comes before the first epoch. `call`: for the message.
void require_not_walked(const DatasetImpl& dataset, std::string_view call);

/// To be called when `dataset.source` has become another with other fields: what was to be made of fields by their names is
/// made of those of the same names and types now. UsageError if one of them has gone or changed.
void follow_source(DatasetImpl& dataset);

}  // namespace trainrt::data
