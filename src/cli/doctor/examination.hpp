#pragma once
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <trainrt/communicator.hpp>

#include "core/environment.hpp"
#include "launch/world.hpp"

namespace trainrt::cli::doctor {

using Json = nlohmann::ordered_json;

/// What went wrong on one rank.
struct Trouble {
  int rank;
  std::string text;
};

/// What the ranks said. The same on every rank, so that all take the same way from here.
struct Answers {
  std::vector<Json> of_rank;  ///< null if there is trouble
  std::vector<Trouble> troubles;
  bool well() const { return troubles.empty(); }
};

/// What the command line asks about.
struct Subject {
  std::string storage;                   ///< a folder, absolute
  std::string gpus_per_worker = "auto";  ///< scaling.gpus_per_worker
  std::vector<std::string> command;      ///< the program that is to run, with its words; none: a train function, or nothing
  std::string interface;                 ///< program.interface
  bool is_staged = false;                ///< the program may come with program.stage
};

/// What every check of `trainrt doctor` may look at and ask.
class Examination {
 public:
  /// Collective. What is to be examined is rank 0's word.
  Examination(const World& world, Communicator& communicator, const Environment& environment, Subject subject);

  const World& world() const { return world_; }
  Communicator& communicator() const { return communicator_; }
  const Environment& environment() const { return environment_; }
  const std::string& storage() const { return subject_.storage; }
  const std::string& gpus_per_worker() const { return subject_.gpus_per_worker; }
  const std::vector<std::string>& command() const { return subject_.command; }  ///< empty if no program is named
  const std::string& interface() const { return subject_.interface; }
  bool is_staged() const { return subject_.is_staged; }
  const std::vector<std::string>& hosts() const { return hosts_; }  ///< by rank
  const std::string& host_of_node(std::size_t node) const { return hosts_[static_cast<std::size_t>(leaders_[node])]; }
  /// The lowest rank of every node, by node: it answers for what all ranks of a node share.
  const std::vector<int>& leaders() const { return leaders_; }
  bool leads_node() const { return world_.local_rank == 0; }

  /// Has every rank answer; what `work` throws is that rank's trouble. Collective. Throws AgreedError (exit 75) on all
  /// ranks if a stop signal has come to one of them.
  Answers ask(const std::function<Json()>& work) const;
  /// The same of the nodes' leaders, whose answers come by node.
  Answers ask_nodes(const std::function<Json()>& work) const;

  /// "rank 1 on n2: cannot ...; ranks 3, 4 on n3: ...": the same words once.
  std::string describe(const std::vector<Trouble>& troubles) const;

 private:
  const World& world_;
  Communicator& communicator_;
  const Environment& environment_;
  Subject subject_;
  std::vector<std::string> hosts_;
  std::vector<int> leaders_;
};

/// An InfiniBand, RoCE or Omni-Path card is in this node (or what else offers remote direct memory access).
bool has_fabric();

/// "rank 3", "ranks 1, 3, 5", "ranks 0, 1, 2, 3 and 96 more".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace trainrt::cli::doctor
