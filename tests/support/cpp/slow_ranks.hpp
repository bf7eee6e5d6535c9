#pragma once
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "core/host.hpp"
#include "trainer/watching/speed_watch.hpp"

namespace trainrt::test {

/// One of four ranks that sleep instead of working. One rank may be slower than the others in one kind of work.
class SleepingRank {
 public:
  /// Milliseconds of each kind of work per step, and the additional time of one rank.
  struct Plan {
    std::map<watch::Work, double> work = {
        {watch::Work::input, 1}, {watch::Work::forward, 1.5}, {watch::Work::backward, 1.5}, {watch::Work::save, 10}};
    int rank = -1;
    watch::Work planted = watch::Work::forward;
    double more = 0;   ///< additional milliseconds of the rank
    double scale = 1;  ///< multiplies all times
    int save_every = 10;
  };

  SleepingRank(const Plan& plan, Communicator& inner, const std::string& log)
      : plan_(plan),
        communicator_(inner),
        watch_(communicator_, {log, {"n1", "n1", "n2", "n2"}, [this] { return input_s_; }}) {}

  void step(int number) {
    const auto began_s = monotonic_seconds();
    work(watch::Work::input);
    input_s_ += monotonic_seconds() - began_s;
    work(watch::Work::forward);
    communicator_.barrier();
    work(watch::Work::backward);
    communicator_.barrier();
    if (number % plan_.save_every == 0) save();
    watch_.end_step(number);
  }
  const trainer::SpeedWatch& watch() const { return watch_; }

 private:
  void save() {
    const trainer::SpeedWatch::InWork report(watch_, watch::Work::report);
    communicator_.barrier();
    const trainer::SpeedWatch::InWork at(watch_, watch::Work::save);
    work(watch::Work::save);
    communicator_.barrier();
  }
  void work(watch::Work kind) const {
    const bool is_planted = communicator_.rank() == plan_.rank && kind == plan_.planted;
    const double ms = plan_.scale * (plan_.work.at(kind) + (is_planted ? plan_.more : 0));
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
  }

  const Plan& plan_;
  comm::TimedCommunicator communicator_;
  double input_s_ = 0;
  trainer::SpeedWatch watch_;
};

}  // namespace trainrt::test
