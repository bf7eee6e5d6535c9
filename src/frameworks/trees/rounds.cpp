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

/// What early stopping knows: part of every checkpoint.
struct Best {
  std::int32_t round = -1;
  double score = 0;
  bool is_over = false;  ///< it has not become better for early_stopping_rounds

  /// The last metric of the last set counts, as in the libraries' own Python.
  void take(const Booster& booster, const Evaluation& evaluation, int at, int patience) {
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

  /// Of a run that goes on, whose [loop] may have another patience than before.
  void go_on_with(int patience, int reported) {
    if (patience == 0) *this = {};  // all rounds count
    is_over = round >= 0 && reported - 1 - round >= patience;
  }
};

void require_valid_set(const Context& ctx, int patience) {
  if (patience > 0 && ctx.dataset_names().size() < 2)
    throw UsageError("[loop] early_stopping_rounds needs a set to watch: add [data.valid]");
}

void refuse_keys_of_others(Context& ctx, const Library& library) {
  for (const auto& key : ctx.config_keys())
    for (const auto& other : library.not_its_keys)
      if (key == other.key)
        throw UsageError(fmt::format("[loop] {} is no key of the train function {}: {}", key, library.name, other.why));
}

/// What the model's columns are since its first round; the texts of categories too. UsageError if [loop] names others now.
TableLayout kept_layout(Context& ctx, const std::string& text) {
  const auto kept = TableLayout::from_json(text);
  if (const auto difference = difference_of(kept, chosen_layout(ctx)); !difference.empty())
    throw UsageError(
        fmt::format("[loop] {}: the trees that the run has grown so far are made for these columns: give back what "
                    "it had, or start a run of another name",
                    difference));
  return kept;
}

/// Bytes of a file on rank 0, on all ranks.
std::string shared_file(Context& ctx, const std::string& path) {
  std::string bytes;
  if (ctx.world_rank() == 0) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    bytes = text.str();
    if (!file || !text) throw Error(fmt::format("{}: the model of the checkpoint cannot be read", path));
  }
  return ctx.communicator().broadcast_text(std::move(bytes), 0);
}

/// Full disks cost a checkpoint, not the run: without the file the save is dropped on all ranks, with a warning.
void write_model(Context& ctx, const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  if (file) return;
  const std::string why = std::strerror(errno);
  std::remove(path.c_str());  // half a model must not get into a checkpoint
  ctx.log(
      fmt::format("{}: the model cannot be written there: {}: make room, or let TMPDIR name another folder", path, why));
}

/// Seconds since it was made, or asked the last time.
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

void say(const Context& ctx, const std::string& line) {
  if (ctx.world_rank() == 0) std::fprintf(stderr, "trainrt: %s\n", line.c_str());
}

void say_what_was_read(Context& ctx, const Library& library, const TableLayout& layout, double seconds) {
  if (const auto fields = left_out_of(layout, ctx); !fields.empty())
    say(ctx, fmt::format("{}: not features: {}", library.name, fields));
  say(ctx, fmt::format("{}: {} rows of {} columns read in {:.3f} s", library.name, ctx.dataset("train").size(),
                       layout.columns, seconds));
}

void say_how_it_ended(const Context& ctx, const Library& library, const Best& best, int patience) {
  if (!best.is_over) return;
  say(ctx, fmt::format("{}: ended early: no better for {} rounds ([loop] early_stopping_rounds) than round {} (from 0)",
                       library.name, patience, best.round));
}

void say_how_long(const Context& ctx, const Library& library, int rounds, double seconds) {
  say(ctx, fmt::format("{}: {} round{} in {:.3f} s", library.name, rounds, rounds == 1 ? "" : "s", seconds));
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

void check(Context& ctx, const Library& library) {
  refuse_keys_of_others(ctx, library);
  require_valid_set(ctx, ctx.config<int>("early_stopping_rounds"));
  const auto layout = layout_of(ctx);
  const auto parameters = Parameters::of(ctx);
  if (!asks_for_gpu(parameters)) library.open(ctx, layout, parameters, "", 0)->start();
}

void train(Context& ctx, const Library& library) {
  const auto rounds = ctx.config<int>("num_boost_round");
  const auto patience = ctx.config<int>("early_stopping_rounds");
  refuse_keys_of_others(ctx, library);
  require_valid_set(ctx, patience);
  std::string layout_text;
  const PrivateFolder folder(ctx);
  const auto path = folder.path() + "/" + std::string(library.model_file);
  std::unique_ptr<Booster> booster;
  std::int32_t round = 0, reported = 0;
  Best best;

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
  const bool goes_on = ctx.restore(state);
  best.go_on_with(patience, reported);
  const auto layout = goes_on ? kept_layout(ctx, layout_text) : layout_of(ctx);
  layout_text = layout.to_json();
  ctx.expect_iterations(rounds);
  Stopwatch watch;
  booster = library.open(ctx, layout, Parameters::of(ctx), goes_on ? shared_file(ctx, path) : "", round);
  say_what_was_read(ctx, library, layout, watch.lap_s());
  booster->start();
  const auto first = round;
  while (true) {
    if (reported < round) {  // also of a run that stopped in the step() before its report
      const auto evaluation = booster->evaluate(reported);
      best.take(*booster, evaluation, reported, patience);
      ++reported;
      ctx.report(metrics_of(evaluation), {.of_first_rank = true});
    }
    if (round >= rounds || best.is_over) break;
    booster->update(round);
    ++round;
    ctx.step();
  }
  say_how_it_ended(ctx, library, best, patience);
  if (round > first) say_how_long(ctx, library, round - first, watch.lap_s());
  ctx.save();
}

}  // namespace trainrt::frameworks::trees
