#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace trainrt::data {

/// What the time of reading a batch goes into.
enum class Stage : std::uint8_t {
  storage,    ///< bytes come from files
  decode,     ///< chunks are unpacked, records are parsed
  transform,  ///< values are changed, by keys or functions
  batch,      ///< the rest: samples are gathered
};
constexpr std::size_t stage_count = 4;
std::string_view name_of(Stage stage);

/// Seconds of each stage, over all threads that read a dataset. Any thread may add and look.
class StageTimes {
 public:
  void add(Stage stage, std::uint64_t ns) { ns_[static_cast<std::size_t>(stage)].fetch_add(ns, std::memory_order_relaxed); }
  std::array<double, stage_count> seconds() const;

 private:
  std::array<std::atomic<std::uint64_t>, stage_count> ns_{};
};

/// While it lives, this thread's time counts, `weight` times, as that of `times`: first as Stage::batch. `times` must live
/// longer. A weight of 0 counts nothing, and costs nothing: one batch in some is looked at, and stands for the others.
class StageClock {
 public:
  StageClock(StageTimes& times, std::uint64_t weight);
  ~StageClock();
  StageClock(const StageClock&) = delete;

 private:
  bool counts_;
};

/// While it lives, the time counts as that of `stage`, and not as that of the one before it.
class InStage {
 public:
  explicit InStage(Stage stage);
  ~InStage();
  InStage(const InStage&) = delete;

 private:
  Stage before_;
};

}  // namespace trainrt::data
