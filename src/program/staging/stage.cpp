#include "program/staging/stage.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/rank_zero.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "program/staging/transfer.hpp"

namespace trainrt::program::stage {

namespace {

using PlanJson = nlohmann::json;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Returns the name that Slurm gives to this node, or else the host name. In tests, several nodes may have an equal
/// host name.
std::string node_name() {
  auto name = variable("SLURMD_NODENAME");
  return name.empty() ? host_name() : name;
}

/// Returns the name of the tree's folder. The name contains the node, since nodes may share the storage by mistake.
std::string name_of_tree(const Context& ctx, const std::string& source) {
  const auto job = variable("SLURM_JOB_ID");
  const auto key = fmt::format("{} {} {}", ctx.run_name(), job, source);
  return fmt::format("{}-{}{:016x}-{}-{}", ctx.run_name().substr(0, 40), job.empty() ? "" : job + "-", stable_hash(key),
                     node_name().substr(0, 60), ctx.node_rank());
}

std::string size_text(std::int64_t bytes) {
  const double size = static_cast<double>(bytes);
  return bytes < 1'000'000'000 ? fmt::format("{:.1f} MB", size / 1e6) : fmt::format("{:.1f} GB", size / 1e9);
}

}  // namespace

/// Source and format of the tree. Rank 0 determines the Plan and broadcasts it.
struct Stage::Plan {
  std::string source;  ///< absolute path of the source
  std::string format;
};

/// State of the tree on the node of a rank. All ranks gather the states of all nodes.
struct Stage::NodeState {
  int node = 0;
  bool unpacks = false;
  std::string path;      ///< path of the tree on the node
  std::string identity;  ///< identity of an existing tree; "" if there is no tree
  std::string error;     ///< why the node cannot unpack the tree; "" if it can
};

Stage::Plan Stage::plan(const StageOptions& options) const {
  PlanJson text = PlanJson::object();
  RankZero(ctx_.world_rank()).run([&] {
    const auto source = std::filesystem::absolute(options.source).lexically_normal().string();
    try {
      text = {{"source", source}, {"format", std::string(format_of(source).name)}, {"error", ""}};
    } catch (const UsageError& error) {
      text = {{"source", source}, {"format", ""}, {"error", error.what()}};
    }
  });
  const auto all =
      PlanJson::parse(ctx_.communicator().broadcast_text(text.dump(-1, ' ', false, PlanJson::error_handler_t::replace), 0));
  if (const std::string error = all["error"]; !error.empty()) throw UsageError(error);
  return {all["source"], all["format"]};
}

/// Returns the state of the tree on this node. If this rank unpacks for the node, the function also locks the tree's
/// folder.
Stage::NodeState Stage::prepare(const Plan& plan, const StageOptions& options) {
  NodeState state{.node = ctx_.node_rank(), .unpacks = ctx_.local_rank() == 0, .path = "", .identity = "", .error = ""};
  if (!state.unpacks) return state;
  try {
    folder_ = std::make_shared<StageFolder>(local_storage(options.folder), name_of_tree(ctx_, plan.source));
    state.path = folder_->path();
    state.identity = folder_->identity();
    state.error = find_plugin(format_table(), plan.format, "format").missing();
  } catch (const Error& error) {
    state.error = fmt::format("{}. Choose another folder with program.stage_dir = DIR", error.what());
  }
  if (!state.error.empty()) state.error = fmt::format("program.stage: on {}: {}", node_name(), state.error);
  return state;
}

/// Returns whether every node has a tree of the current source.
bool Stage::is_staged(const Plan& plan, const std::vector<NodeState>& ranks) const {
  for (const auto& rank : ranks)
    if (rank.unpacks && (rank.identity.empty() || rank.identity != ranks.front().identity)) return false;
  std::string now;
  RankZero(ctx_.world_rank()).run([&] {
    try {
      now = find_plugin(format_table(), plan.format, "format").identity(plan.source);
    } catch (const Error&) {  // the Transfer will report this error
    }
  });
  return ctx_.communicator().broadcast_text(now, 0) == ranks.front().identity;
}

void Stage::unpack(const Plan& plan, const StageOptions& options) {
  const auto start_s = monotonic_seconds();
  TransferRole role{.reads = false, .before = {}, .folder = "", .node = node_name()};
  std::string problem;
  if (folder_) {
    folder_->clear();
    role.folder = folder_->new_part();
    role.before = [folder = folder_] { folder->remove_abandoned(); };
  }
  RankZero(ctx_.world_rank()).run([&] { role.reads = true; });
  TransferResult result;
  try {
    result = Transfer(ctx_, find_plugin(format_table(), plan.format, "format"), plan.source, role, options.timeout_s).run();
  } catch (...) {
    if (folder_) folder_->remove();  // frees the storage, which may be full
    throw;
  }
  std::int64_t nodes = 0;
  try {
    if (folder_) folder_->complete(role.folder, result.identity), nodes = 1;
  } catch (const Error& error) {
    problem = fmt::format("program.stage: on {}: {}", node_name(), error.what());
  }
  for (const auto& other : ctx_.communicator().all_gather(std::string_view(problem)))
    if (!other.empty()) throw Error(other);
  nodes = ctx_.communicator().all_reduced(nodes, Op::sum);
  RankZero(ctx_.world_rank()).run([&] {
    const auto left_out =
        result.size.left_out == 0 ? std::string() : fmt::format(", without {} devices and pipes", result.size.left_out);
    ctx_.log(fmt::format("staged {}: {}, {} files on {} in {:.1f} s{}", plan.source, size_text(result.size.bytes),
                         result.size.files, counted(nodes, "node"), monotonic_seconds() - start_s, left_out));
  });
}

Stage::Stage(Context& ctx, const StageOptions& options) : ctx_(ctx) {
  if (options.source.empty()) return;
  const auto plan = this->plan(options);
  const auto mine = prepare(plan, options);
  const PlanJson text = {{"node", mine.node},
                         {"unpacks", mine.unpacks},
                         {"path", mine.path},
                         {"identity", mine.identity},
                         {"error", mine.error}};
  std::vector<NodeState> ranks;
  for (const auto& other : ctx.communicator().all_gather(text.dump())) {
    const auto json = PlanJson::parse(other);
    ranks.push_back({json["node"], json["unpacks"], json["path"], json["identity"], json["error"]});
    if (!ranks.back().error.empty()) throw Error(ranks.back().error);
  }
  if (!is_staged(plan, ranks)) unpack(plan, options);
  for (const auto& rank : ranks)
    if (rank.unpacks && rank.node == mine.node) tree_.emplace(rank.path, plan.source);
}

void Stage::remove() noexcept {
  if (!tree_) return;
  try {
    ctx_.communicator().barrier("the programs have ended");
    if (folder_) folder_->remove();
  } catch (const std::exception& error) {  // only a warning, since the run has ended
    fmt::print(stderr, "trainrt: cannot remove the tree of program.stage on {}: {}\n", printable_line(node_name()),
               printable_text(error.what()));
  }
}

void require_source(const std::string& source) {
  if (!source.empty()) format_of(source);
}

}  // namespace trainrt::program::stage
