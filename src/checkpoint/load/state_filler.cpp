#include "checkpoint/load/state_filler.hpp"

#include <algorithm>
#include <iterator>

#include "checkpoint/damage.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/read_blocks.hpp"
#include "checkpoint/other_files.hpp"
#include "core/process/cpus.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

namespace {

using Lines = std::vector<std::string>;

/// Maximum number of index bytes that the ranks exchange at a time, to bound the memory per rank. A single larger index is
/// exchanged alone.
constexpr std::uint64_t round_bytes = std::uint64_t{64} << 20;

void append(Lines& lines, Lines more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Returns whether the ranks must add up the parts of a summed tensor (TensorEntry::summed), because a different number
/// of ranks wrote the checkpoint.
bool is_regrouped(const TensorEntry& entry, const Manifest& manifest, const Communicator& communicator) {
  return entry.summed && manifest.meta.ranks != communicator.size();
}

void want_tensor(ReadPlan& plan, const TensorEntry& entry, int gpu, const Manifest& manifest,
                 const Communicator& communicator) {
  const Destination to{static_cast<std::byte*>(entry.local.data), gpu};
  const auto element = size_of(entry.local.dtype);
  const Box box{entry.offset, entry.local.shape};
  const bool shared = entry.placement == Placement::replicated && communicator.size() > 1;
  if (entry.placement == Placement::per_rank)
    plan.want_own(entry.name, element, box, communicator.rank() % manifest.meta.ranks, to);
  else
    plan.want(entry.name, element, box, to, shared);
}

}  // namespace

StateFiller::StateFiller(const std::string& directory, const Manifest& manifest, const LoadTargets& wanted,
                         Communicator& communicator)
    : directory_(directory),
      manifest_(manifest),
      communicator_(communicator),
      check_first_(wanted.check_first),
      shifted_(wanted.shares_shifted % communicator.size()),
      share_((communicator.rank() + shifted_) % communicator.size()),
      values_(wanted.values, plan_),
      fetch_(directory, manifest, plan_, share_, communicator.size()) {
  for (std::size_t i = 0; i < wanted.tensors.size(); ++i) {
    const auto& entry = *wanted.tensors[i];
    if (is_regrouped(entry, manifest, communicator)) {
      sums_.want(plan_, entry, wanted.gpus[i], communicator.rank(), communicator.size(), manifest.meta.ranks);
      continue;
    }
    want_tensor(plan_, entry, wanted.gpus[i], manifest, communicator);
    to_gpus_ = to_gpus_ || wanted.gpus[i] >= 0;
  }
}

Lines StateFiller::fetch_indices() {
  Lines findings;
  Lines own;  // errors of IndexFetch::add(), the same on all ranks
  bool out_of_memory = false;
  for (std::size_t begin = 0; begin < fetch_.parts().size();) {
    const auto end = end_of_round(begin);
    auto round = read_round(begin, end);
    append(findings, std::move(round.failures));
    for (auto number = begin; number < end && findings.empty() && own.empty(); ++number) try {
        const auto size = static_cast<std::size_t>(communicator_.size());
        fetch_.add(number, round.texts[(number + size - static_cast<std::size_t>(shifted_)) % size]);
      } catch (const std::bad_alloc&) {
        out_of_memory = true;
      } catch (const std::exception& error) {
        own.emplace_back(error.what());
      }
    begin = end;
  }
  append(findings, distinct_lines(communicator_, [&] {
           if (out_of_memory) rethrow_if_no_damage(std::bad_alloc());
           return own.empty() && findings.empty() ? fetch_.findings() : own;
         }));
  return findings;
}

/// The ranks exchange the indices of parts (one part is the bytes that one rank wrote) in rounds. Returns the number of
/// the first part after the round that begins with part `begin`. A round has at most one part per rank, and about
/// round_bytes in total.
std::size_t StateFiller::end_of_round(std::size_t begin) const {
  const auto& parts = fetch_.parts();
  const auto last = std::min(parts.size(), begin + static_cast<std::size_t>(communicator_.size()));
  auto end = begin + 1;
  for (auto bytes = parts[begin].record(manifest_).bytes; end < last; ++end) {
    bytes += parts[end].record(manifest_).bytes;
    if (bytes > round_bytes) break;
  }
  return end;
}

Gathered StateFiller::read_round(std::size_t begin, std::size_t end) const {
  return try_on_every_rank(communicator_, [&] {
    std::string text;
    for (auto number = begin; number < end; ++number) {
      const auto& part = fetch_.parts()[number];
      if (fetch_.is_home(number)) try {
          text = io::retried_in(run_of(directory_),
                                [&] { return read_part(directory_, part.shard_of(manifest_), part.record(manifest_)); });
        } catch (const std::exception& error) {
          note(error);
          has_found_ = true;
          throw;
        }
    }
    return text;
  });
}

Lines StateFiller::read() {
  const auto files = plan_.finish();
  BlockReading reading;
  reading.threads = threads_of_this_rank(reading.threads);
  reading.copy = !check_first_;
  reading.to_gpus = to_gpus_;
  reading.failed = [this](const std::exception& error) { note(error); };
  auto findings = distinct_lines(communicator_, [&] {
    auto lines = uncovered();
    if (lines.empty()) lines = read_blocks(directory_, manifest_, files, reading);
    append(lines, check_other_files());
    has_found_ = has_found_ || !lines.empty();
    return lines;
  });
  if (findings.empty() && check_first_) {
    reading.blocks = BlockReading::Blocks::wanted;
    reading.copy = true;
    findings = distinct_lines(communicator_, [&] { return read_blocks(directory_, manifest_, files, reading); });
  }
  return findings;
}

Lines StateFiller::uncovered() const {
  Lines lines;
  for (const auto& name : plan_.uncovered())
    if (contents().find(name) != nullptr)
      lines.push_back("'" + directory_ + "': the slabs of '" + name + "' do not cover the part that " +
                      rank_and_host(communicator_) + " reads");
  return lines;
}

Lines StateFiller::check_other_files() const {
  Lines lines;
  const auto size = static_cast<std::size_t>(communicator_.size());
  const auto failed = [this](const std::exception& error) { note(error); };
  for (auto i = static_cast<std::size_t>(share_); i < manifest_.files.size(); i += size)
    lines.push_back(file_damage(directory_, manifest_.files[i], {}, failed));
  if (share_ == communicator_.size() - 1 && has_view(directory_)) lines.push_back(view_damage(directory_, {}, failed));
  std::erase(lines, "");
  return lines;
}

void StateFiller::note(const std::exception& error) const {
  if (io::is_transient(error)) is_transient_ = true;
}

bool StateFiller::is_transient() const { return communicator_.all_reduced(std::int64_t{is_transient_}, Op::max) != 0; }

void StateFiller::install() {
  on_every_rank(communicator_, [&] {
    sums_.install(contents());
    values_.decode(contents());
    return std::string();
  });
  values_.install();
}

}  // namespace trainrt::checkpoint
