#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "data/batches/dataset_plan.hpp"
#include "data/bytes/stage_clock.hpp"

namespace trainrt {

/// The position of an iteration over the batches of a dataset, which checkpoints contain.
struct Cursor {
  bool in_progress = false;   ///< whether an iteration over an epoch has begun and not ended
  std::int64_t epoch = -1;    ///< epoch of the last iteration; -1: no epoch has begun
  std::int64_t position = 0;  ///< number of positions of the epoch's order (with padding) that all ranks have completed
};

namespace data {

/// The samples and values of one batch of one rank.
struct BatchData {
  std::vector<std::uint64_t> samples;
  std::vector<Column> columns;            ///< for each field, its column
  std::vector<bool> is_read;              ///< whether the column of each field contains the values of this batch
  std::vector<PinnedValues> pinned = {};  ///< locks on the memory of `columns`, for batches used on a GPU
};

/// The state of the iterations over the batches of one dataset on this rank. Only the train thread may call the functions,
/// except stages().
///
/// The first iteration that begins owns the Cursor until the iteration ends. An iteration that begins while another one
/// owns the Cursor, such as a nested evaluation, starts at position 0 and does not change the Cursor. If no iteration owns
/// the Cursor, its position is 0.
class WalkState {
 public:
  /// Identifies the steps of the plan with which a checkpoint was written: the text of DatasetPlan::steps_text(), or the
  /// hash of this text if the checkpoint contains only the hash.
  using StepsIdentity = std::variant<std::string, std::uint64_t>;

  const Cursor& cursor() const { return cursor_; }
  /// Sets the Cursor to `cursor`, which was loaded from a checkpoint. If `cursor` is inside an epoch, and the next
  /// begin() is called for the same epoch, begin() continues at the position of `cursor`.
  void restore(const Cursor& cursor, StepsIdentity steps = {});
  bool is_restored() const { return is_restored_; }  ///< true after restore(), until an iteration begins
  bool is_being_walked() const { return cursor_.in_progress && !is_restored_; }
  std::int64_t next_epoch() const { return is_restored_ && cursor_.in_progress ? cursor_.epoch : cursor_.epoch + 1; }

  /// Begins an iteration over batches. Returns the position at which the iteration starts, or nullopt if another
  /// iteration owns the Cursor. Throws UsageError if the iteration continues a restored epoch, but the steps of `plan`
  /// differ from those of the checkpoint.
  std::optional<std::uint64_t> begin(const DatasetPlan& plan, std::int64_t epoch);
  void set_position(std::uint64_t position) { cursor_.position = static_cast<std::int64_t>(position); }
  /// Ends the iteration that owns the Cursor.
  void end();

  /// Returns and removes the batches that keep_spare() stored, so that their memory can be reused. Returns an empty list
  /// unless keep_spare() stored exactly `count` batches of `samples` samples.
  std::vector<BatchData> take_spare(std::size_t samples, std::size_t count);
  void keep_spare(std::size_t samples, std::vector<BatchData> batches) { spare_ = {samples, std::move(batches)}; }

  StageTimes& stages() { return stages_; }  ///< time spent in each stage of reading batches; any thread may call add()
  const StageTimes& stages() const { return stages_; }
  void add_waited(double seconds) { waited_s_ += seconds; }
  void add_handed_over(double seconds) { handed_over_s_ += seconds; }
  double waited_s() const { return waited_s_; }            ///< time for which the train thread has waited for batches
  double handed_over_s() const { return handed_over_s_; }  ///< time in which it has received batches that were ready

 private:
  Cursor cursor_;
  bool is_restored_ = false;
  StepsIdentity restored_steps_;
  struct {
    std::size_t samples = 0;
    std::vector<BatchData> batches;
  } spare_;
  StageTimes stages_;
  double waited_s_ = 0, handed_over_s_ = 0;
};

}  // namespace data

/// Implements Dataset. Owns the plan of the dataset (which samples, in which order) and the state of the iterations over
/// its batches. A call such as filter() replaces the plan by a new one; an iteration uses the plan with which it was
/// constructed until its end.
class DatasetImpl {
 public:
  explicit DatasetImpl(data::DatasetPlan plan) { replace(std::move(plan)); }

  const data::DatasetPlan& plan() const { return *plan_; }
  std::shared_ptr<const data::DatasetPlan> shared_plan() const { return plan_; }
  const std::shared_ptr<const data::Source>& source() const { return plan_->source; }
  data::WalkState& walk() { return walk_; }
  const data::WalkState& walk() const { return walk_; }

  void replace(data::DatasetPlan plan) { plan_ = std::make_shared<const data::DatasetPlan>(std::move(plan)); }
  /// Adds a step: replaces the plan by the result of DatasetPlan::with(). Throws the errors of DatasetPlan::with(), and
  /// UsageError during an iteration over batches of the dataset.
  void add(const std::string& step_name, const data::Step& step);

 private:
  std::shared_ptr<const data::DatasetPlan> plan_;
  data::WalkState walk_;
};

}  // namespace trainrt
