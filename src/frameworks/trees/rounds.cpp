#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/booster.hpp"
#include "frameworks/trees/private_folder.hpp"

namespace trainrt::frameworks::trees {

namespace {

/// The state of early stopping. Every checkpoint contains this state.
struct EarlyStopping {
  std::int32_t round = -1;
  double score = 0;
  bool is_over = false;  ///< whether the metric has not improved for early_stopping_rounds

  /// Updates the best round with the last metric of the last dataset, like the Python packages of XGBoost and LightGBM.
  void update(const Booster& booster, const Evaluation& evaluation, int at, int patience) {
    if (patience == 0 || evaluation.empty()) return;
    const auto& [name, value] = evaluation.back();
    const bool greater = booster.is_better_if_greater(name);
    if (round < 0 || (greater ? value > score : value < score)) {
      round = at;
      score = value;
    } else if (at - round >= patience) {
      is_over = true;
    }
  }

  /// Applies the patience of a resumed run, which may differ from the patience in the checkpoint.
  void resume_with(int patience, int reported) {
    if (patience == 0) *this = {};  // predictions then use all rounds
    is_over = round >= 0 && reported - 1 - round >= patience;
  }
};

void require_valid_set(const Context& ctx, int patience) {
  if (patience > 0 && ctx.dataset_names().size() < 2)
    throw UsageError("[loop] early_stopping_rounds needs an evaluation dataset: add [data.valid]");
}

void refuse_foreign_keys(Context& ctx, const Library& library) {
  for (const auto& key : ctx.config_keys())
    for (const auto& foreign : library.foreign_keys)
      if (key == foreign.key)
        throw UsageError(
            fmt::format("[loop] {} is not a key of the train function {}: {}", key, library.name, foreign.advice));
}

/// Returns the layout that the checkpoint contains, including the categories of texts. Throws UsageError if [loop] now
/// describes a different layout.
TableLayout restored_layout(Context& ctx, const std::string& text) {
  const auto kept = TableLayout::from_json(text);
  if (const auto difference = difference_of(kept, chosen_layout(ctx)); !difference.empty())
    throw UsageError(
        fmt::format("[loop] {}: the trees of this run were grown for the earlier columns; restore the earlier value, or "
                    "start a run with another name",
                    difference));
  return kept;
}

/// Returns the bytes of rank 0's file `path` on all ranks. Collective.
std::string broadcast_file(Context& ctx, const std::string& path) {
  std::string bytes;
  if (ctx.world_rank() == 0) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    bytes = text.str();
    if (!file || !text) throw Error(fmt::format("cannot read '{}', the model of the checkpoint", path));
  }
  return ctx.communicator().broadcast_text(std::move(bytes), 0);
}

/// Writes the model to the file `path`. If writing fails, for example on a full disk, logs the reason and removes the file.
/// All ranks then drop the checkpoint with a warning, and training continues.
void write_model(Context& ctx, const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  if (file) return;
  const std::string reason = std::strerror(errno);
  std::remove(path.c_str());  // an incomplete model must not become part of a checkpoint
  ctx.log(fmt::format("cannot write the model to {}: {}; free some space, or set TMPDIR to another folder", path, reason));
}

/// Measures the time between calls: lap_s() returns the seconds since the construction or the previous call.
class Stopwatch {
 public:
  double lap_s() {
    const auto now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(since_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_ = Clock::now();
};

void log_once(const Context& ctx, const std::string& line) {
  if (ctx.world_rank() == 0) std::fprintf(stderr, "trainrt: %s\n", line.c_str());
}

void log_data(Context& ctx, const Library& library, const TableLayout& layout, double seconds) {
  if (const auto fields = left_out_of(layout, ctx); !fields.empty())
    log_once(ctx, fmt::format("{}: fields that are not used as features: {}", library.name, fields));
  log_once(ctx, fmt::format("{}: {} rows of {} columns read in {:.3f} s", library.name, ctx.dataset("train").size(),
                            layout.columns, seconds));
}

void log_early_end(const Context& ctx, const Library& library, const EarlyStopping& best, int patience) {
  if (!best.is_over) return;
  log_once(ctx, fmt::format("{}: stopped early: no improvement for {} rounds ([loop] early_stopping_rounds) after round {} "
                            "(counted from 0)",
                            library.name, patience, best.round));
}

void log_duration(const Context& ctx, const Library& library, int rounds, double seconds) {
  log_once(ctx, fmt::format("{}: {} round{} in {:.3f} s", library.name, rounds, rounds == 1 ? "" : "s", seconds));
}

Metrics metrics_of(const Evaluation& evaluation) {
  Metrics metrics;
  for (const auto& [name, value] : evaluation) metrics.push_back({name, value});
  return metrics;
}

bool asks_for_gpu(const Parameters& parameters) {
  for (const auto* key : {"device", "device_type", "tree_method", "gpu_id"})
    if (const auto* value = parameters.find(key);
        value != nullptr && (value->starts_with("cuda") || value->starts_with("gpu") || std::string_view(key) == "gpu_id"))
      return true;
  return false;
}

}  // namespace

std::vector<std::string> dataset_names(const Context& ctx) {
  std::vector<std::string> names{"train"};
  for (const auto& name : ctx.dataset_names())
    if (name != "train") names.push_back(name);
  return names;
}

void check(Context& ctx, const Library& library) {
  refuse_foreign_keys(ctx, library);
  require_valid_set(ctx, ctx.config<int>("early_stopping_rounds"));
  const auto layout = layout_of(ctx);
  const auto parameters = Parameters::of(ctx);
  if (!asks_for_gpu(parameters)) library.open(ctx, layout, parameters, "", 0)->start();
}

void train(Context& ctx, const Library& library) {
  const auto rounds = ctx.config<int>("num_boost_round");
  const auto patience = ctx.config<int>("early_stopping_rounds");
  refuse_foreign_keys(ctx, library);
  require_valid_set(ctx, patience);
  std::string layout_text;
  const PrivateFolder folder(ctx);
  const auto path = folder.path() + "/" + std::string(library.model_file);
  std::unique_ptr<Booster> booster;
  std::int32_t round = 0, reported = 0;
  EarlyStopping best;

  State state;
  state.value("round", round);
  state.value("reported", reported);
  state.value("best_round", best.round);
  state.value("best_score", best.score);
  state.value("is_over", best.is_over);
  state.value("layout", layout_text);
  state.file(std::string(library.model_file), path);
  state.before_save([&] {
    if (booster && ctx.world_rank() == 0) write_model(ctx, path, booster->model(best.round, best.score));
  });
  const bool resumes = ctx.restore(state);
  best.resume_with(patience, reported);
  const auto layout = resumes ? restored_layout(ctx, layout_text) : layout_of(ctx);
  layout_text = layout.to_json();
  ctx.expect_iterations(rounds);
  Stopwatch watch;
  booster = library.open(ctx, layout, Parameters::of(ctx), resumes ? broadcast_file(ctx, path) : "", round);
  log_data(ctx, library, layout, watch.lap_s());
  booster->start();
  const auto first = round;
  while (true) {
    if (reported < round) {  // also true if the previous attempt stopped in step(), before the report
      const auto evaluation = booster->evaluate(reported);
      best.update(*booster, evaluation, reported, patience);
      ++reported;
      ctx.report(metrics_of(evaluation), {.of_first_rank = true});
    }
    if (round >= rounds || best.is_over) break;
    booster->update(round);
    ++round;
    ctx.step();
  }
  log_early_end(ctx, library, best, patience);
  if (round > first) log_duration(ctx, library, round - first, watch.lap_s());
  ctx.save();
}

}  // namespace trainrt::frameworks::trees
