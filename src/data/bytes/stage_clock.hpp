#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace trainrt::data {

/// The stages of reading a batch, for statistics of the time that each of them takes.
enum class Stage : std::uint8_t {
  storage,    ///< read bytes from files
  decode,     ///< decompress chunks, parse records
  transform,  ///< change values: transforms, preprocessors, functions
  batch,      ///< everything else, such as copying samples into the batch
};
constexpr std::size_t stage_count = 4;
std::string_view name_of(Stage stage);

/// The time spent in each stage, summed over all threads that read a dataset. Thread-safe.
class StageTimes {
 public:
  void add(Stage stage, std::uint64_t ns) { ns_[static_cast<std::size_t>(stage)].fetch_add(ns, std::memory_order_relaxed); }
  std::array<double, stage_count> seconds() const;

 private:
  std::array<std::atomic<std::uint64_t>, stage_count> ns_{};
};

/// Measures the time of this thread while the object lives, and adds it to `times`. The time is added to the stage of
/// the thread's innermost InStage, or to Stage::batch if the thread has no InStage.
///
/// Each time is multiplied by `weight`: a caller that measures one batch in N uses the weight N. A weight of 0 measures
/// nothing.
///
/// If the thread already has a StageClock, a second one measures nothing. `times` must outlive this object.
class StageClock {
 public:
  StageClock(StageTimes& times, std::uint64_t weight);
  ~StageClock();
  StageClock(const StageClock&) = delete;

 private:
  bool is_running_;
};

/// While this object lives, the StageClock of this thread adds the time to `stage`.
class InStage {
 public:
  explicit InStage(Stage stage);
  ~InStage();
  InStage(const InStage&) = delete;

 private:
  Stage before_;
};

}  // namespace trainrt::data
