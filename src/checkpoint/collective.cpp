#include "checkpoint/collective.hpp"

#include <algorithm>
#include <array>

#include "checkpoint/damage.hpp"
#include "core/host.hpp"
#include "core/rank_zero.hpp"
#include "core/text/text.hpp"

namespace trainrt::checkpoint {

namespace {

/// The result of calling `work` on one rank: the returned string, or the message and exit code of the exception.
struct WorkOutcome {
  bool failed = false;
  bool cannot_read = false;  // true if the exception was a CannotRead
  ExitCode code = ExitCode::failed;
  std::string text;

  std::string packed() const { return Packer().all(failed, cannot_read, static_cast<int>(code), text).bytes(); }
  static WorkOutcome unpacked(std::string_view bytes) {
    WorkOutcome outcome;
    int code = 0;
    Unpacker(bytes).all(outcome.failed, outcome.cannot_read, code, outcome.text);
    outcome.code = static_cast<ExitCode>(code);
    return outcome;
  }
};

WorkOutcome attempt(const std::function<std::string()>& work, const Explain& explain) {
  try {
    return {false, false, ExitCode::finished, work()};
  } catch (const CannotRead& error) {
    return {true, true, error.code(), explain(error)};
  } catch (const Error& error) {
    return {true, false, error.code(), explain(error)};
  } catch (const std::exception& error) {
    return {true, false, ExitCode::failed, explain(error)};
  }
}

}  // namespace

std::string rank_and_host(const Communicator& communicator) {
  return "rank " + std::to_string(communicator.rank()) + " on " + host_name();
}

std::string from_root(Communicator& communicator, const std::function<std::string()>& work, const Explain& explain) {
  std::string mine;
  RankZero(communicator.rank()).run([&] { mine = attempt(work, explain).packed(); });
  const auto outcome = WorkOutcome::unpacked(communicator.broadcast_text(mine, 0));
  if (outcome.failed) throw Error(outcome.text, outcome.code);
  return outcome.text;
}

Gathered try_on_every_rank(Communicator& communicator, const std::function<std::string()>& work, const Explain& explain) {
  auto mine = attempt(work, explain);
  if (mine.failed) mine.text = rank_and_host(communicator) + ": " + mine.text;
  Gathered gathered;
  if (communicator.all_reduced(std::int64_t{mine.failed || !mine.text.empty()}, Op::max) ==
      0) {  // all ranks returned "" and no rank failed
    gathered.texts.resize(static_cast<std::size_t>(communicator.size()));
    return gathered;
  }
  std::vector<std::string> cannot_read;
  for (const auto& bytes : communicator.all_gather(mine.packed())) {
    auto outcome = WorkOutcome::unpacked(bytes);
    if (outcome.failed) {
      // trainrt restarts a run that ended with ExitCode::failed. If any rank failed with this code, all ranks therefore
      // use it.
      const bool is_first = gathered.failures.empty();
      if (is_first || outcome.code == ExitCode::failed) gathered.code = outcome.code;
      gathered.failures.push_back(outcome.text);
    }
    if (outcome.cannot_read) cannot_read.push_back(outcome.text);
    gathered.texts.push_back(std::move(outcome.text));
  }
  if (!cannot_read.empty()) throw CannotRead(join(cannot_read, "; "));
  return gathered;
}

std::vector<std::string> on_every_rank(Communicator& communicator, const std::function<std::string()>& work,
                                       const Explain& explain) {
  auto gathered = try_on_every_rank(communicator, work, explain);
  if (!gathered.failures.empty()) throw Error(join(gathered.failures, "; "), gathered.code);
  return std::move(gathered.texts);
}

std::vector<std::string> distinct_lines(Communicator& communicator, const std::function<std::vector<std::string>()>& work) {
  Packer mine;
  bool cannot_read = false;
  try {
    Packer lines;
    for (const auto& line : work()) lines.put(line);
    mine = std::move(lines);
  } catch (const std::exception& error) {
    mine.put(rank_and_host(communicator) + ": " + error.what());
    cannot_read = dynamic_cast<const CannotRead*>(&error) != nullptr;
  }
  std::array<std::int64_t, 2> maxima = {static_cast<std::int64_t>(mine.bytes().size()), cannot_read};
  communicator.all_reduce(maxima, Op::max);
  std::vector<std::string> distinct;
  if (maxima[0] == 0) return distinct;
  const bool fails = maxima[1] != 0;
  for (const auto& packed : communicator.all_gather(fails && !cannot_read ? std::string() : mine.bytes()))
    for (Unpacker unpacker(packed); !unpacker.done();)
      if (auto line = unpacker.text(); std::find(distinct.begin(), distinct.end(), line) == distinct.end())
        distinct.push_back(std::move(line));
  if (fails) throw CannotRead(join(distinct, "; "));
  return distinct;
}

}  // namespace trainrt::checkpoint
