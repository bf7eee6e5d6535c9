#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "core/text/text.hpp"
#include "launch/world.hpp"
#include "program/services/address_survey.hpp"

namespace trainrt::cli::doctor {

using Json = nlohmann::ordered_json;

/// A failure or another problem on one rank.
struct Problem {
  int rank = 0;
  std::string text;
};

/// The results of a probe that ran on all ranks, or on the lowest rank of each node. Each rank has all results.
struct Answers {
  std::vector<int> ranks;         ///< the rank of each value, ascending
  std::vector<Json> values;       ///< null if the probe failed on that rank
  std::vector<Problem> failures;  ///< errors that the probe threw

  const Json& first() const { return values.front(); }
  /// Returns the value of `key` in each answer.
  template <class T>
  std::vector<T> all(const char* key) const {
    std::vector<T> found;
    for (const auto& value : values) found.push_back(value.at(key).get<T>());
    return found;
  }
};

/// Thrown on all ranks by DoctorRanks::ask() if the probe failed on a rank. The message names the ranks and their hosts.
class ProbeFailed : public Error {
 public:
  using Error::Error;
};

/// The storage and the program to check, from the command line and the config.
struct Subject {
  std::string storage;                   ///< absolute path of a folder
  std::string gpus_per_worker = "auto";  ///< scaling.gpus_per_worker
  std::vector<std::string> command;      ///< the program with its arguments; empty if no program was given
  std::string interface;                 ///< program.interface
  bool is_staged = false;                ///< whether program.stage is set, which may copy the program to the nodes
};

/// Runs probes on the ranks of `trainrt doctor` and collects the results, so that all ranks have the same results and
/// reach the same finding.
class DoctorRanks {
 public:
  /// Collective. All ranks use rank 0's `subject`, except for its `gpus_per_worker`. The object keeps references to the
  /// first three arguments.
  DoctorRanks(const World& world, Communicator& communicator, const Environment& environment, Subject subject);

  const World& world() const { return world_; }
  Communicator& communicator() const { return communicator_; }
  const Environment& environment() const { return environment_; }
  const Subject& subject() const { return subject_; }
  const std::string& host_of_node(std::size_t node) const { return hosts_[static_cast<std::size_t>(leaders_[node])]; }
  const std::vector<std::string>& hosts() const { return hosts_; }  ///< by rank
  bool leads_node() const { return world_.local_rank == 0; }        ///< whether this is the lowest rank of its node

  /// Runs `probe` on every rank and returns its results and errors. Collective. Throws AgreedError (exit code 75) on all
  /// ranks if one of them received a stop signal.
  Answers collect(const std::function<Json()>& probe) const;
  /// As collect(), but throws ProbeFailed if the probe failed on a rank.
  Answers ask(const std::function<Json()>& probe) const;
  /// As ask(), but runs `probe` only on the lowest rank of each node, and returns one value per node.
  Answers ask_nodes(const std::function<Json()>& probe) const;

  /// Returns `of_ranks`, the values of all ranks, grouped by node.
  template <class Value>
  std::vector<std::vector<Value>> by_node(const std::vector<Value>& of_ranks) const {
    std::vector<std::vector<Value>> groups(leaders_.size());
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
      groups[static_cast<std::size_t>(world_.node_of_rank[rank])].push_back(of_ranks[rank]);
    return groups;
  }

  /// Returns the address of each node, as it is passed to the programs. Collective. Throws ProbeFailed if a node cannot
  /// connect to rank 0's node.
  program::NodeAddresses program_addresses() const;

  /// Returns "rank 1 on n2: cannot ...; ranks 3, 4 on n3: ..."; equal problems are combined. "" if `problems` is empty.
  std::string describe(const std::vector<Problem>& problems) const;
  /// Returns a text, as describe() does, with the problems of all answers. `problem_of` returns the problem of an
  /// answer, or "" if there is none.
  std::string problems_in(const Answers& answers, const std::function<std::string(const Json&)>& problem_of) const;
  /// Returns this text for answers that are JSON objects with the problem as the value of `key`; "" means that there is
  /// none.
  std::string problems_in(const Answers& answers, const char* key) const;

 private:
  const World& world_;
  Communicator& communicator_;
  const Environment& environment_;
  Subject subject_;
  std::vector<std::string> hosts_;
  std::vector<int> leaders_;  ///< the lowest rank of each node, by node
};

/// Returns "rank 3", "ranks 1, 3, 5" or "ranks 0, 1, 2, 3 and 96 more". Pure function.
std::string ranks_text(const std::vector<int>& ranks);

/// Returns the lowest and the highest of `numbers`, which must not be empty: "1 core", "2 cores" or "1 to 2 cores".
template <class Number>
std::string range_text(const std::vector<Number>& numbers, std::string_view noun) {
  const auto [min, max] = std::ranges::minmax(numbers);
  return (min == max ? "" : fmt::format("{} to ", min)) + counted(static_cast<std::int64_t>(max), noun);
}

/// Appends `text` to `texts` unless it is already there.
void add_if_new(std::vector<std::string>& texts, const std::string& text);

/// Returns whether this node has a network card with remote direct memory access (RDMA), such as InfiniBand, RoCE or
/// Omni-Path.
bool has_rdma_device();

}  // namespace trainrt::cli::doctor
