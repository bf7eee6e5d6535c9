#pragma once
#include <bit>
#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <trainrt/trainrt.hpp>

#include "comm/tree.hpp"
#include "support/cpp/counting_communicator.hpp"
#include "support/cpp/ranks.hpp"
#include "trainer/run/run.hpp"

namespace trainrt::test {

/// The collectives and the time of one operation of a run on rank 0.
struct Operation {
  Tally tally;
  double seconds = 0;
};

/// Returns the maximum number of successive waits in one collective of `ranks` ranks: the longest path through the tree of
/// sums (tree.hpp), which MPI's broadcasts and barriers do not exceed. rounds_of() adds two waits for entering and leaving;
/// a gather waits once.
inline std::int64_t tree_depth(int ranks) {
  std::vector<std::int64_t> depth(static_cast<std::size_t>(ranks));
  for (const auto& step : comm::tree_steps(ranks)) {
    auto& into = depth[static_cast<std::size_t>(step.into)];
    into = 1 + std::max(into, depth[static_cast<std::size_t>(step.from)]);
  }
  return depth.front();
}
inline std::int64_t rounds_of(const Tally& tally, int ranks) {
  return (tally.reductions + tally.maxima + tally.others) * (2 + tree_depth(ranks)) + tally.gathers * 3;
}

/// Numbers of saved tensors: `replicated` replicated ones, `of_ranks` per-rank ones and `of_ranks` sharded ones.
struct Tensors {
  int replicated = 0;
  int of_ranks = 0;
};

/// Runs two attempts with ranks that are threads, `ranks_of_a_node` to a node, and counts the operations of rank 0 in the
/// second. The run directory is made inside `folder`.
class ScaleRun {
 public:
  static constexpr int ranks_of_a_node = 8;

  ScaleRun(int ranks, Tensors tensors, std::string folder) : ranks_(ranks), tensors_(tensors), folder_(std::move(folder)) {}

  std::map<std::string, Operation> measure() {
    attempt("first");
    operations_.erase("restore");  // the first attempt restores nothing
    attempt("second");
    return operations_;
  }

 private:
  config::RunSpec spec_of(const std::string& attempt) const {
    Options options;
    const auto set = [&](const char* key, const std::string& value) { options.set(key, {value, "test"}); };
    set("run.name", "scale");
    set("run.storage_path", folder_);
    set("train.function", "scale");
    set("checkpoint.every", "1000000 reports");
    set("checkpoint.io_threads", "1");                       // the threads of all ranks are in one process
    set("checkpoint.layout", "rank");                        // the most files, and indices of one rank each
    set("loop.num_epochs", attempt == "first" ? "1" : "2");  // the second attempt continues the run
    return config::make_run_spec(options);
  }

  /// A launch of threads that pretends to have nodes of `ranks_of_a_node` ranks each.
  class Nodes : public comm::ThreadLaunch {
   public:
    Nodes(const std::shared_ptr<comm::ThreadGroup>& group, int rank) : ThreadLaunch(group, rank) {
      for (std::size_t other = 0; other < world_.node_of_rank.size(); ++other)
        world_.node_of_rank[other] = static_cast<int>(other) / ranks_of_a_node;
      derive_topology(world_);
    }
  };

  using Clock = std::chrono::steady_clock;

  void attempt(const std::string& name) {
    current_ = this;
    spec_ = spec_of(name);
    const auto group = std::make_shared<comm::ThreadGroup>(ranks_, 300.0);
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks_));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_; ++rank)
      threads.emplace_back([&, rank] {
        try {
          rank_main(group, rank);
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(rank)] = std::current_exception();
          group->abandon(error.what());
        }
      });
    for (auto& thread : threads) thread.join();
    for (const auto& error : errors)
      if (error) std::rethrow_exception(error);
  }

  void rank_main(const std::shared_ptr<comm::ThreadGroup>& group, int rank) {
    Nodes launch(group, rank);
    CountingCommunicator communicator(comm::open_communicator(launch, {}));
    if (rank == 0) begin(communicator);
    trainer::run(spec_, {"scale", [](Context& ctx) { current_->train(ctx); }}, launch, communicator);
  }

  void begin(const CountingCommunicator& communicator) {
    of_rank_0_ = &communicator;
    before_ = communicator.tally();
    since_ = Clock::now();
  }
  void note(Context& ctx, const char* name) {
    if (ctx.world_rank() != 0) return;
    operations_[name] = {of_rank_0_->tally() - before_, std::chrono::duration<double>(Clock::now() - since_).count()};
    begin(*of_rank_0_);
  }

  void train(Context& ctx) {
    note(ctx, "start");
    ctx.config<int>("num_epochs");
    const auto replicated = static_cast<std::size_t>(tensors_.replicated),
               own = static_cast<std::size_t>(tensors_.of_ranks);
    std::vector<float> data(4 * (replicated + 2 * own));
    State state;
    for (std::size_t i = 0; i < replicated + 2 * own; ++i) {
      auto& entry = state.tensor("tensor/" + std::to_string(i), std::span(data).subspan(4 * i, 4));
      if (i >= replicated + own)
        entry.sharded(0, 4 * ctx.world_rank(), 4 * ctx.world_size());
      else if (i >= replicated)
        entry.per_rank();
    }
    ctx.restore(state);
    note(ctx, "restore");
    ctx.step();
    ctx.step();
    note(ctx, "two_steps");
    ctx.report({{"loss", 1.0}, {"accuracy", ratio(1, 2)}});
    note(ctx, "report");
    ctx.save();
    note(ctx, "first_commit");
    ctx.step();
    ctx.save();
    note(ctx, "commit");
  }

  static inline ScaleRun* current_ = nullptr;
  int ranks_;
  Tensors tensors_;
  std::string folder_;
  config::RunSpec spec_;
  std::map<std::string, Operation> operations_;
  const CountingCommunicator* of_rank_0_ = nullptr;
  Tally before_;
  Clock::time_point since_;
};

}  // namespace trainrt::test
