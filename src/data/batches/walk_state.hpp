#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "data/batches/batch_data.hpp"
#include "data/batches/dataset_plan.hpp"
#include "data/bytes/stage_clock.hpp"

namespace trainrt {

/// The position of a walk over a dataset, as checkpoints contain it.
struct Cursor {
  bool in_progress = false;   ///< the batches of an epoch are being taken
  std::int64_t epoch = -1;    ///< -1: no epoch has begun
  std::int64_t position = 0;  ///< number of global samples (of the padded order) that are done
};

namespace data {

/// The state of the walks over one dataset on this rank. Only the train thread uses it, except stages().
///
/// At most one range of batches owns the cursor: the first that begins. A range that begins while another one is walked (a
/// nested evaluation) starts at 0 and leaves the cursor alone. Without an owner the cursor has position 0.
class WalkState {
 public:
  /// Identifies the steps of the plan for which a checkpoint was written: the text of DatasetPlan::steps_text(), or the
  /// hash of this text if the checkpoint contains only the hash.
  using StepsIdentity = std::variant<std::string, std::uint64_t>;

  const Cursor& cursor() const { return cursor_; }
  /// Sets the cursor to that of a checkpoint. The first begin() continues at the cursor if the cursor is in progress
  /// and begin() is called for the same epoch.
  void restore(const Cursor& cursor, StepsIdentity steps = {});
  bool is_restored() const { return is_restored_; }  ///< true after restore(), until a range begins
  bool is_being_walked() const { return cursor_.in_progress && !is_restored_; }
  std::int64_t next_epoch() const { return is_restored_ && cursor_.in_progress ? cursor_.epoch : cursor_.epoch + 1; }

  /// Begins a range of batches. Returns the position at which the range starts, or nothing if another range owns the
  /// cursor. Throws UsageError if the range would continue a restored epoch, but the steps of `plan` are not those of
  /// the checkpoint.
  std::optional<std::uint64_t> begin(const DatasetPlan& plan, std::int64_t epoch);
  void set_position(std::uint64_t position) { cursor_.position = static_cast<std::int64_t>(position); }
  /// Ends the range that owns the cursor.
  void end();

  /// Returns the batches that keep_spare() stored, so that their memory can be reused. Returns an empty list unless
  /// they are `count` batches of `samples` samples.
  std::vector<BatchData> take_spare(std::size_t samples, std::size_t count);
  void keep_spare(std::size_t samples, std::vector<BatchData> batches) { spare_ = {samples, std::move(batches)}; }

  StageTimes& stages() { return stages_; }  ///< time of reading batches; any thread may add
  const StageTimes& stages() const { return stages_; }
  void add_waited(double seconds) { waited_s_ += seconds; }
  void add_handed_over(double seconds) { handed_over_s_ += seconds; }
  double waited_s() const { return waited_s_; }            ///< time of the train thread, waiting for batches
  double handed_over_s() const { return handed_over_s_; }  ///< time of the train thread, taking batches that were ready

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

}  // namespace trainrt
