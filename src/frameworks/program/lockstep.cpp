#include "frameworks/program/lockstep.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/text.hpp"

namespace trainrt::program {

namespace {

constexpr std::size_t most_ranks_named = 8;
constexpr double between_names_s = 0.75;
constexpr double most_at_once_s = 2;  // between two looks: a process that was stopped did not wait

/// Of all ranks, by their maximum.
enum Census : std::size_t { some_compute, some_wait, some_fell, call, other_call, entries };

std::string in_words(const Turn& turn) {
  return turn.kind == Turn::Kind::ended ? "the end of its program" : turn.call + "()";
}

}  // namespace

void refuse_difference(std::span<const std::string> ranks) {
  std::size_t other = 1;
  while (ranks[other] == ranks[0]) ++other;
  throw Error(fmt::format("train.program: the ranks do not make the same call: rank 0 came with {}, rank {} with {}",
                          ranks[0], other, ranks[other]));
}

Lockstep::Verdict Lockstep::look(const Turn& mine, std::int64_t step, double look_s) {
  const bool computes = mine.kind == Turn::Kind::computes;
  const auto words = in_words(mine);
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>{}(words));
  std::array<std::int64_t, entries> census{};
  census[some_compute] = computes ? 1 : 0;
  census[some_wait] = computes ? 0 : 1;
  census[some_fell] = mine.kind == Turn::Kind::fell ? 1 : 0;
  census[call] = hash;
  census[other_call] = ~hash;  // the least, as a maximum
  communicator_.all_reduce(census, Op::max, "how the programs stand");
  if (census[some_fell] != 0) return Verdict::fell;
  if (census[some_compute] != 0) {
    if (census[some_wait] != 0) wait(mine, step, look_s);
    return Verdict::wait;
  }
  if (census[call] != ~census[other_call]) refuse_difference(communicator_.all_gather(words));
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
    missing = missing_programs(mine);
    unnamed_s_ = 0;
  }
  if (mine.kind == Turn::Kind::computes) return;
  waited_s_ += since_last;
  if (missing.empty()) return;
  note_.say(fmt::format("{} of the program at step {}, for {}", in_words(mine), step, missing));
  if (waited_s_ > limit_s_)
    throw Error(
        fmt::format("train.program: the program of rank {} has come to {}, and waited {:g} s "
                    "(failure.collective_timeout) for {}",
                    communicator_.rank(), in_words(mine), limit_s_, missing));
}

std::string Lockstep::missing_programs(const Turn& mine) {
  std::vector<std::string> missing;
  const auto marks = communicator_.all_gather(mine.kind == Turn::Kind::computes ? "1" : "");
  for (std::size_t rank = 0; rank < marks.size(); ++rank)
    if (!marks[rank].empty()) missing.push_back(std::to_string(rank));
  const auto count = missing.size();
  missing.resize(std::min(count, most_ranks_named));
  return fmt::format("{} {}{}", count == 1 ? "that of rank" : "those of ranks", join(missing),
                     count > most_ranks_named ? fmt::format(" and {} more", count - most_ranks_named) : "");
}

}  // namespace trainrt::program
