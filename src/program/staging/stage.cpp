#include "program/staging/stage.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/rank_zero.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "program/staging/passage.hpp"

namespace trainrt::program::stage {

namespace {

using PlanJson = nlohmann::json;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// As Slurm calls it: nodes of a test may share a host's name.
std::string node_name() {
  auto name = variable("SLURMD_NODENAME");
  return name.empty() ? host_name() : name;
}

/// Of run, job, source and node: nodes may share the storage by mistake.
std::string name_of_tree(const Context& ctx, const std::string& source) {
  const auto job = variable("SLURM_JOB_ID");
  const auto whole = fmt::format("{} {} {}", ctx.run_name(), job, source);
  return fmt::format("{}-{}{:016x}-{}-{}", ctx.run_name().substr(0, 40), job.empty() ? "" : job + "-", stable_hash(whole),
                     node_name().substr(0, 60), ctx.node_rank());
}

std::string size_text(std::int64_t bytes) {
  const double size = static_cast<double>(bytes);
  return bytes < 1'000'000'000 ? fmt::format("{:.1f} MB", size / 1e6) : fmt::format("{:.1f} GB", size / 1e9);
}

}  // namespace

/// Of rank 0, for all.
struct Stage::Plan {
  std::string source;  ///< its absolute path
  std::string format;
  std::string mistake;  ///< instead
};

/// Of each rank, for all.
struct Stage::Card {
  int node = 0;
  bool unpacks = false;
  std::string path;      ///< of the tree
  std::string identity;  ///< of the tree that is there
  std::string mistake;
};

Stage::Plan Stage::plan(const StageOptions& options) const {
  PlanJson text = PlanJson::object();
  RankZero(ctx_.world_rank()).run([&] {
    const auto source = std::filesystem::absolute(options.source).lexically_normal().string();
    try {
      text = {{"source", source}, {"format", std::string(format_of(source).name)}, {"mistake", ""}};
    } catch (const UsageError& error) {
      text = {{"source", source}, {"format", ""}, {"mistake", error.what()}};
    }
  });
  const auto all =
      PlanJson::parse(ctx_.communicator().broadcast_text(text.dump(-1, ' ', false, PlanJson::error_handler_t::replace), 0));
  if (const std::string mistake = all["mistake"]; !mistake.empty()) throw UsageError(mistake);
  return {all["source"], all["format"], ""};
}

/// This rank's place, if it unpacks for its node.
Stage::Card Stage::prepare(const Plan& plan, const StageOptions& options) {
  Card card{.node = ctx_.node_rank(), .unpacks = ctx_.local_rank() == 0, .path = "", .identity = "", .mistake = ""};
  if (!card.unpacks) return card;
  try {
    folder_ = std::make_shared<StageFolder>(local_storage(options.folder), name_of_tree(ctx_, plan.source));
    card.path = folder_->path();
    card.identity = folder_->identity();
    card.mistake = find_plugin(format_table(), plan.format, "format").missing();
  } catch (const Error& error) {
    card.mistake = fmt::format("{}; program.stage_dir = DIR takes another place", error.what());
  }
  if (!card.mistake.empty()) card.mistake = fmt::format("program.stage: on {}: {}", node_name(), card.mistake);
  return card;
}

/// Whether every node has the tree of what the source is now.
bool Stage::is_there(const Plan& plan, const std::vector<Card>& cards) const {
  for (const auto& card : cards)
    if (card.unpacks && (card.identity.empty() || card.identity != cards.front().identity)) return false;
  std::string now;
  RankZero(ctx_.world_rank()).run([&] {
    try {
      now = find_plugin(format_table(), plan.format, "format").identity(plan.source);
    } catch (const Error&) {  // reading it says why
    }
  });
  return ctx_.communicator().broadcast_text(now, 0) == cards.front().identity;
}

void Stage::unpack(const Plan& plan, const StageOptions& options) {
  const auto start_s = monotonic_seconds();
  Part part{.reads = false, .before = {}, .folder = "", .node = node_name()};
  std::string mistake;
  if (folder_) {
    folder_->clear();
    part.folder = folder_->new_part();
    part.before = [folder = folder_] { folder->remove_abandoned(); };
  }
  RankZero(ctx_.world_rank()).run([&] { part.reads = true; });
  Passed passed;
  try {
    passed = Passage(ctx_, find_plugin(format_table(), plan.format, "format"), plan.source, part, options.timeout_s).run();
  } catch (...) {
    if (folder_) folder_->remove();  // it may have filled the storage
    throw;
  }
  std::int64_t nodes = 0;
  try {
    if (folder_) folder_->complete(part.folder, passed.identity), nodes = 1;
  } catch (const Error& error) {
    mistake = fmt::format("program.stage: on {}: {}", node_name(), error.what());
  }
  for (const auto& other : ctx_.communicator().all_gather(std::string_view(mistake)))
    if (!other.empty()) throw Error(other);
  nodes = ctx_.communicator().all_reduced(nodes, Op::sum);
  RankZero(ctx_.world_rank()).run([&] {
    const auto left_out =
        passed.size.left_out == 0 ? std::string() : fmt::format(", without {} devices and pipes", passed.size.left_out);
    ctx_.log(fmt::format("staged {}: {}, {} files on {} in {:.1f} s{}", plan.source, size_text(passed.size.bytes),
                         passed.size.files, counted(nodes, "node"), monotonic_seconds() - start_s, left_out));
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
                         {"mistake", mine.mistake}};
  std::vector<Card> cards;
  for (const auto& other : ctx.communicator().all_gather(text.dump())) {
    const auto json = PlanJson::parse(other);
    cards.push_back({json["node"], json["unpacks"], json["path"], json["identity"], json["mistake"]});
    if (!cards.back().mistake.empty()) throw Error(cards.back().mistake);
  }
  if (!is_there(plan, cards)) unpack(plan, options);
  for (const auto& card : cards)
    if (card.unpacks && card.node == mine.node) tree_.emplace(card.path, plan.source);
}

void Stage::remove() noexcept {
  if (!tree_) return;
  try {
    ctx_.communicator().barrier("the programs have ended");
    if (folder_) folder_->remove();
  } catch (const std::exception& error) {  // the run has its end already
    fmt::print(stderr, "trainrt: the tree of program.stage is left on {}: {}\n", printable_line(node_name()),
               printable_text(error.what()));
  }
}

void require_source(const std::string& source) {
  if (!source.empty()) format_of(source);
}

}  // namespace trainrt::program::stage
