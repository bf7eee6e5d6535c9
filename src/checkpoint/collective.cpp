#include "checkpoint/collective.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <trainrt/error.hpp>

#include "checkpoint/damage.hpp"
#include "core/host.hpp"
#include "core/rank_zero.hpp"
#include "core/text/text.hpp"

namespace trainrt::checkpoint {

namespace {

/// What became of a rank's work: a text, or the message and exit code of its exception.
struct Attempt {
  bool failed = false;
  bool cannot_read = false;  // CannotRead
  ExitCode code = ExitCode::failed;
  std::string text;

  std::string packed() const { return Packer().put(failed).put(cannot_read).put(static_cast<int>(code)).put(text).bytes(); }
  static Attempt unpacked(std::string_view bytes) {
    Unpacker unpacker(bytes);
    Attempt attempt;
    attempt.failed = unpacker.number() != 0;
    attempt.cannot_read = unpacker.number() != 0;
    attempt.code = static_cast<ExitCode>(unpacker.number());
    attempt.text = unpacker.text();
    return attempt;
  }
};

Attempt attempt(const std::function<std::string()>& work, const Explain& explain) {
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

std::string who(const Communicator& communicator) {
  return "rank " + std::to_string(communicator.rank()) + " on " + host_name();
}

std::string from_root(Communicator& communicator, const std::function<std::string()>& work, const Explain& explain) {
  std::string mine;
  RankZero(communicator.rank()).run([&] { mine = attempt(work, explain).packed(); });
  const auto outcome = Attempt::unpacked(communicator.broadcast_text(mine, 0));
  if (outcome.failed) throw Error(outcome.text, outcome.code);
  return outcome.text;
}

Gathered try_on_every_rank(Communicator& communicator, const std::function<std::string()>& work, const Explain& explain) {
  auto mine = attempt(work, explain);
  if (mine.failed) mine.text = who(communicator) + ": " + mine.text;
  Gathered gathered;
  if (communicator.all_reduced(std::int64_t{mine.failed || !mine.text.empty()}, Op::max) == 0) {  // nothing to send
    gathered.texts.resize(static_cast<std::size_t>(communicator.size()));
    return gathered;
  }
  std::vector<std::string> cannot_read;
  for (const auto& bytes : communicator.all_gather(mine.packed())) {
    auto outcome = Attempt::unpacked(bytes);
    if (outcome.failed) {
      // A restart may help if it may help any rank.
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
    mine.put(who(communicator) + ": " + error.what());
    cannot_read = dynamic_cast<const CannotRead*>(&error) != nullptr;
  }
  std::array<std::int64_t, 2> most = {static_cast<std::int64_t>(mine.bytes().size()), cannot_read};
  communicator.all_reduce(most, Op::max);
  std::vector<std::string> distinct;
  if (most[0] == 0) return distinct;
  const bool fails = most[1] != 0;
  for (const auto& packed : communicator.all_gather(fails && !cannot_read ? std::string() : mine.bytes()))
    for (Unpacker unpacker(packed); !unpacker.done();)
      if (auto line = unpacker.text(); std::find(distinct.begin(), distinct.end(), line) == distinct.end())
        distinct.push_back(std::move(line));
  if (fails) throw CannotRead(join(distinct, "; "));
  return distinct;
}

}  // namespace trainrt::checkpoint
