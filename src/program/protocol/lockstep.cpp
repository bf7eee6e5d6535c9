#include "program/protocol/lockstep.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"

namespace trainrt::program {

namespace {

constexpr double between_names_s = 0.75;
constexpr double most_at_once_s = 2;  // between two looks: a process that was stopped did not wait

/// Of all ranks, by their maximum.
enum Census : std::size_t { some_compute, some_wait, some_fell, some_ended, some_call, call, other_call, entries };

/// Equal on ranks that can go on together.
std::string tag_of(const Turn& turn) { return turn.kind == Turn::Kind::ended ? "" : turn.call; }

}  // namespace

Lockstep::Verdict Lockstep::look(const Turn& mine, std::int64_t step, double look_s) {
  const bool computes = mine.kind == Turn::Kind::computes;
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>{}(tag_of(mine)));
  std::array<std::int64_t, entries> census{};
  census[some_compute] = computes ? 1 : 0;
  census[some_wait] = computes ? 0 : 1;
  census[some_fell] = mine.kind == Turn::Kind::fell ? 1 : 0;
  census[some_ended] = mine.kind == Turn::Kind::ended ? 1 : 0;
  census[some_call] = mine.kind == Turn::Kind::calls ? 1 : 0;
  census[call] = hash;
  census[other_call] = ~hash;  // the least, as a maximum
  communicator_.all_reduce(census, Op::max, "how the programs stand");
  if (census[some_fell] != 0) return Verdict::fell;
  // A call that needs all ranks cannot complete after one has left, however long others compute.
  if (census[some_ended] != 0 && census[some_call] != 0)
    throw Error(difference_in_words(gather_arrivals(communicator_, mine.arrival)));
  if (census[some_compute] != 0) {
    if (census[some_wait] != 0) wait(mine, step, look_s);
    return Verdict::wait;
  }
  if (census[call] != ~census[other_call]) throw Error(difference_in_words(gather_arrivals(communicator_, mine.arrival)));
  looked_s_ = unnamed_s_ = waited_s_ = 0;
  note_.clear();
  return Verdict::go;
}

/// All have counted the same seconds, and so name together those that are missing.
void Lockstep::wait(const Turn& mine, std::int64_t step, double look_s) {
  const double now = monotonic_seconds();
  const double since_last = looked_s_ == 0 ? 0 : std::min(now - last_s_, most_at_once_s);
  last_s_ = now;
  looked_s_ += look_s;
  unnamed_s_ += look_s;
  std::string missing;
  if (unnamed_s_ >= between_names_s) {
    missing = missing_in_words(gather_arrivals(communicator_, mine.arrival));
    unnamed_s_ = 0;
  }
  if (mine.kind == Turn::Kind::computes) return;
  waited_s_ += since_last;
  if (missing.empty()) return;
  const auto place = mine.kind == Turn::Kind::ended ? "the end of its program" : mine.arrival.place;
  note_.report(fmt::format("{} at step {}, for {}", place, step, missing));
  if (waited_s_ > limit_s_)
    throw Error(fmt::format("rank {} has waited {:g} s (failure.collective_timeout) in {} for {}", communicator_.rank(),
                            limit_s_, place, missing));
}

}  // namespace trainrt::program
