#include "checkpoint/loading.hpp"

#include <algorithm>
#include <trainrt/error.hpp>

#include "checkpoint/block_reader.hpp"
#include "checkpoint/collective.hpp"
#include "checkpoint/device_memory.hpp"
#include "checkpoint/directory.hpp"
#include "checkpoint/loaded_values.hpp"
#include "checkpoint/pack.hpp"
#include "checkpoint/summed_parts.hpp"
#include "checkpoint/survey.hpp"
#include "checkpoint/user_files.hpp"
#include "checkpoint/view_check.hpp"
#include "core/text.hpp"
#include "io/patience.hpp"

namespace trainrt::checkpoint {

namespace {

using Lines = std::vector<std::string>;

/// Indices are given to all in rounds of about so many bytes: what a rank holds at a time does not grow with the ranks.
constexpr std::uint64_t round_bytes = std::uint64_t{64} << 20;

void append(Lines& lines, Lines more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string summary(const Lines& findings) {
  constexpr std::size_t most = 8;
  if (findings.size() <= most) return join(findings, "; ");
  return join(std::span(findings).first(most), "; ") + "; and " + std::to_string(findings.size() - most) + " more";
}

/// A result of rank 0 that may be a finding instead: {finding, result}, one of them empty.
struct Found {
  std::string finding;
  std::string result;
};
Found found_by_root(Communicator& communicator, const std::function<std::string()>& work) {
  const auto packed = from_root(communicator, [&]() -> std::string {
    try {
      return Packer().put("").put(work()).bytes();
    } catch (const std::exception& error) {
      return Packer().put(error.what()).put("").bytes();
    }
  });
  Unpacker unpacker(packed);
  Found found;
  found.finding = unpacker.text();
  found.result = unpacker.text();
  return found;
}

/// Text of the manifest, once it is known to be a good one.
std::string checked_manifest(const Candidate& candidate) {
  const auto manifest = read_manifest(candidate.directory);
  if (candidate.index && manifest.meta.index != *candidate.index)
    throw Error("'" + candidate.directory + "' holds the checkpoint of index " + std::to_string(manifest.meta.index));
  return to_text(manifest);
}

/// Other ranks than these wrote the parts of this sum.
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

/// One checkpoint on its way into the state. All calls are collective; findings are the same on all ranks.
class Loading {
 public:
  Loading(const std::string& directory, const Manifest& manifest, const Wanted& wanted, Communicator& communicator)
      : directory_(directory),
        manifest_(manifest),
        communicator_(communicator),
        check_first_(wanted.check_first),
        values_(wanted.values, plan_),
        survey_(directory, manifest, plan_, communicator.rank(), communicator.size()) {
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

  const Contents& contents() const { return survey_.contents(); }

  /// Reads all indices: each is read by its home, and told to all.
  Lines survey() {
    Lines findings;
    Lines own;  // the same on all ranks, if there are any
    for (std::size_t begin = 0; begin < survey_.parts().size();) {
      const auto end = end_of_round(begin);
      auto round = read_round(begin, end);
      append(findings, std::move(round.failures));
      for (auto number = begin; number < end && findings.empty() && own.empty(); ++number) try {
          survey_.add(number, round.texts[number % static_cast<std::size_t>(communicator_.size())]);
        } catch (const std::exception& error) {
          own.emplace_back(error.what());
        }
      begin = end;
    }
    append(findings,
           distinct_lines(communicator_, [&] { return own.empty() && findings.empty() ? survey_.findings() : own; }));
    return findings;
  }

  /// Reads and checks this rank's share of the checkpoint, and copies what is wanted unless all is to be checked first.
  Lines read() {
    const auto files = plan_.finish();
    BlockReading reading;
    reading.copy = !check_first_;
    reading.to_gpus = to_gpus_;
    auto findings = distinct_lines(communicator_, [&] {
      auto lines = uncovered();
      if (lines.empty()) lines = read_blocks(directory_, manifest_, files, reading);
      append(lines, check_other_files());
      return lines;
    });
    if (findings.empty() && check_first_) {
      reading.what = BlockReading::What::wanted;
      reading.copy = true;
      findings = distinct_lines(communicator_, [&] { return read_blocks(directory_, manifest_, files, reading); });
    }
    return findings;
  }

  /// What was read beside its place is put there.
  void install() {
    on_every_rank(communicator_, [&] {
      sums_.install(contents());
      values_.decode(contents());
      return std::string();
    });
    values_.install();
  }

 private:
  /// At most one part a rank, and not too many bytes.
  std::size_t end_of_round(std::size_t begin) const {
    const auto& parts = survey_.parts();
    const auto last = std::min(parts.size(), begin + static_cast<std::size_t>(communicator_.size()));
    auto end = begin + 1;
    for (auto bytes = parts[begin].record(manifest_).bytes; end < last; ++end) {
      bytes += parts[end].record(manifest_).bytes;
      if (bytes > round_bytes) break;
    }
    return end;
  }

  Gathered read_round(std::size_t begin, std::size_t end) {
    return try_on_every_rank(communicator_, [&] {
      std::string text;
      for (auto number = begin; number < end; ++number) {
        const auto& part = survey_.parts()[number];
        if (survey_.is_home(number))
          text = io::patiently([&] { return read_part(directory_, part.shard_of(manifest_), part.record(manifest_)); });
      }
      return text;
    });
  }

  Lines uncovered() const {
    Lines lines;
    for (const auto& name : plan_.uncovered())
      if (contents().find(name) != nullptr)
        lines.push_back("'" + directory_ + "': the slabs of '" + name + "' do not cover what " + who(communicator_) +
                        " needs of it");
    return lines;
  }

  Lines check_other_files() {
    Lines lines;
    const auto size = static_cast<std::size_t>(communicator_.size());
    for (auto i = static_cast<std::size_t>(communicator_.rank()); i < manifest_.files.size(); i += size)
      lines.push_back(damage_of(directory_, manifest_.files[i]));
    if (communicator_.rank() == communicator_.size() - 1 && has_view(directory_)) lines.push_back(view_damage(directory_));
    std::erase(lines, "");
    return lines;
  }

  const std::string& directory_;
  const Manifest& manifest_;
  Communicator& communicator_;
  bool check_first_;
  ReadPlan plan_;
  bool to_gpus_ = false;
  LoadedValues values_;
  SummedParts sums_;
  Survey survey_;
};

/// Loads from one checkpoint, or returns what is wrong with it.
Lines load_one(const Candidate& candidate, const Wanted& wanted, const Accept& accept, Communicator& communicator,
               Loaded& loaded) {
  const auto& directory = candidate.directory;
  const auto text = found_by_root(communicator, [&] { return checked_manifest(candidate); });
  if (!text.finding.empty()) return {text.finding};
  loaded.manifest = manifest_from(text.result, directory + "/" + manifest_name);
  Loading loading(directory, loaded.manifest, wanted, communicator);
  if (auto findings = loading.survey(); !findings.empty()) return findings;
  accept(directory, loaded.manifest, loading.contents());
  if (auto findings = loading.read(); !findings.empty()) return findings;
  loading.install();
  loaded.contents = loading.contents();
  loaded.result.meta = loaded.manifest.meta;
  loaded.result.directory = directory;
  return {};
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Lines distinct_lines(Communicator& communicator, const std::function<Lines()>& work) {
  Packer mine;
  try {
    Packer lines;
    for (const auto& line : work()) lines.put(line);
    mine = std::move(lines);
  } catch (const std::exception& error) {
    mine.put(who(communicator) + ": " + error.what());
  }
  Lines distinct;
  if (communicator.all_reduced(static_cast<std::int64_t>(mine.bytes().size()), Op::max) == 0) return distinct;
  for (const auto& packed : communicator.all_gather(mine.bytes()))
    for (Unpacker unpacker(packed); !unpacker.done();)
      if (auto line = unpacker.text(); std::find(distinct.begin(), distinct.end(), line) == distinct.end())
        distinct.push_back(std::move(line));
  return distinct;
}

std::optional<Loaded> load_first_whole(const std::vector<Candidate>& candidates, Wanted wanted, const Accept& accept,
                                       Communicator& communicator, Lines& skipped) {
  on_every_rank(communicator, [&] {
    for (const auto* entry : wanted.tensors) wanted.gpus.push_back(gpu_of(*entry, device::runtime()));
    return std::string();
  });
  for (const auto& candidate : candidates) {
    Loaded loaded;
    const auto findings = load_one(candidate, wanted, accept, communicator, loaded);
    if (findings.empty()) {
      loaded.result.skipped = skipped;
      return loaded;
    }
    skipped.push_back(last_name(candidate.directory) + ": " + summary(findings));
  }
  return std::nullopt;
}

std::vector<Candidate> candidates_in(const std::string& run_dir, Communicator& communicator) {
  const auto packed = from_root(communicator, [&] {
    Packer packer;
    for (const auto index : indices_in(run_dir)) packer.put(index);
    return packer.bytes();
  });
  std::vector<Candidate> candidates;
  for (Unpacker unpacker(packed); !unpacker.done();) {
    const auto index = unpacker.number();
    candidates.push_back({run_dir + "/" + directory_name(index), index});
  }
  std::reverse(candidates.begin(), candidates.end());
  return candidates;
}

Wanted all_of(const State& state) {
  Wanted wanted;
  for (const auto& entry : state.tensors()) {
    wanted.tensors.push_back(&entry);
    wanted.check_first = wanted.check_first || entry.optional;
  }
  // Values are read beside their places: those of a damaged checkpoint never get there.
  for (const auto& entry : state.values()) wanted.values.push_back(&entry);
  return wanted;
}

Accept same_model(const State& state, Communicator& communicator) {
  return [&](const std::string& directory, const Manifest& manifest, const Contents& contents) {
    const auto lines = distinct_lines(communicator, [&] {
      auto mine = differences(state, contents.items());
      append(mine, file_differences(state, manifest, communicator.rank()));
      return mine;
    });
    if (lines.empty()) return;
    throw UsageError("cannot restore from '" + directory + "': it is of another model than the State:\n  " +
                     join(lines, "\n  ") + "\nRun the model that wrote it, or choose another run.name.");
  };
}

LoadResult finish_load(const State& state, Loaded loaded, Communicator& communicator) {
  auto& result = loaded.result;
  // Rank 0 goes first: where all ranks see one file the others find it there.
  for (const bool first : {true, false})
    on_every_rank(communicator, [&] {
      if ((communicator.rank() == 0) == first) restore_files(state, result.directory, loaded.manifest, communicator.rank());
      return std::string();
    });
  const auto view = from_root(communicator, [&] { return std::string(has_view(result.directory) ? "1" : ""); });
  if (view.empty()) result.notes.push_back("state.h5 is missing (the run was killed before it was written)");
  return std::move(result);
}

}  // namespace trainrt::checkpoint
