#include <memory>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/booster.hpp"
#include "frameworks/trees/lightgbm/lightgbm_dataset.hpp"
#include "frameworks/trees/lightgbm/lightgbm_library.hpp"
#include "frameworks/trees/lightgbm/lightgbm_log.hpp"
#include "frameworks/trees/lightgbm/lightgbm_metrics.hpp"
#include "frameworks/trees/lightgbm/lightgbm_network.hpp"
#include "frameworks/trees/lightgbm/lightgbm_parameters.hpp"
#include "frameworks/trees/lightgbm/lightgbm_prediction.hpp"

namespace trainrt::frameworks::trees {

namespace {

const LightgbmLibrary& with_log(const LightgbmLibrary& library) {
  library.check(library.register_log(print_lightgbm_log));
  return library;
}

LightgbmHandle loaded_model(const LightgbmLibrary& library, const std::string& model) {
  LightgbmHandle handle(library.booster_free);
  int rounds = 0;
  library.check(library.load_model(model.c_str(), &rounds, handle.out()));
  return handle;
}

class LightgbmBooster final : public Booster {
 public:
  LightgbmBooster(Context& ctx, const TableLayout& layout, const Parameters& given, const std::string& model, int rounds)
      : ctx_(ctx),
        library_(ctx),
        network_(with_log(library_), ctx.communicator()),
        layout_(layout),
        parameters_(ctx, library_, layout, given),
        model_(rounds > 0 ? model : ""),
        rounds_(rounds),
        before_(library_.booster_free),
        booster_(library_.booster_free) {
    if (!parameters_.is_deterministic())
      log_once("[loop] deterministic = false: after a restart, the model of the run may differ");
    auto run = this_run();
    if (!model_.empty() && !must_repeat_rounds()) {
      before_ = loaded_model(library_, model_);
      run.model = before_.get();
      library_.check(library_.trees_per_round(run.model, &run.trees_per_round));
      run.rounds = rounds_;
    }
    read_sets(run);
  }

  void start() override {
    make_booster();
    if (before_) library_.check(library_.merge(booster_.get(), before_.get()));
    before_.reset();
    metrics_ = std::make_unique<LightgbmMetrics>(this_run(), booster_.get());
    if (must_repeat_rounds()) repeat_rounds();
    model_.clear();
  }

  void update(int round) override {
    for (const auto& text : parameters_.parameters_of_round(round))
      library_.check(library_.reset_parameters(booster_.get(), text.c_str()), true);
    int is_finished = 0;
    network_.check(library_.update(booster_.get(), &is_finished));
  }

  Evaluation evaluate(int) override { return metrics_->evaluate(this_run(), booster_.get(), sets_); }

  std::string model(int, double) override {
    if (const auto seeds = parameters_.given_seeds(); !seeds.empty())
      library_.check(library_.reset_parameters(booster_.get(), seeds.c_str()), true);
    std::int64_t bytes = 0;
    library_.check(library_.model_text(booster_.get(), 0, -1, 0, 0, &bytes, nullptr));
    std::string text(static_cast<std::size_t>(bytes), '\0');
    library_.check(library_.model_text(booster_.get(), 0, -1, 0, bytes, &bytes, text.data()));
    text.resize(static_cast<std::size_t>(bytes) - 1);  // without the terminating null
    return text;
  }

  bool is_better_if_greater(std::string_view metric) const override { return is_better_if_greater_of_lightgbm(metric); }

 private:
  /// Logs `text` on rank 0; does nothing on other ranks.
  void log_once(const std::string& text) const {
    if (ctx_.world_rank() == 0) ctx_.log(text);
  }

  bool must_repeat_rounds() const { return !model_.empty() && !parameters_.stateful_parameter().empty(); }

  LightgbmRun this_run() { return {ctx_, library_, network_, layout_, parameters_}; }

  void read_sets(const LightgbmRun& run) {
    for (const auto& name : dataset_names(ctx_))
      sets_.push_back(std::make_unique<LightgbmDataset>(run, name, sets_.empty() ? nullptr : sets_.front().get()));
  }

  void make_booster() {
    network_.check(library_.booster_create(sets_.front()->handle(), parameters_.text().c_str(), booster_.out()), true);
    for (std::size_t i = 1; i < sets_.size(); ++i)
      if (sets_[i]->rows() > 0) network_.check(library_.add_valid_data(booster_.get(), sets_[i]->handle()), true);
  }

  /// Trains the rounds of the checkpoint again.
  void repeat_rounds() {
    log_once(
        fmt::format("[loop] {}: LightGBM keeps a state between rounds that is not part of its model, so the {} rounds of "
                    "the checkpoint are trained again",
                    parameters_.stateful_parameter(), rounds_));
    for (int round = 0; round < rounds_; ++round) {
      update(round);
      ctx_.stop_point();
    }
    if (model(-1, 0) != model_)
      throw UsageError(
          fmt::format("[loop] {}: a run with this parameter resumes by training the rounds of the checkpoint again, but "
                      "the resulting model differs from that of the checkpoint; restore the earlier parameters, data, "
                      "threads and ranks, or start a new run",
                      parameters_.stateful_parameter()));
  }

  Context& ctx_;
  const LightgbmLibrary library_;
  LightgbmNetwork network_;
  const TableLayout layout_;
  const LightgbmParameters parameters_;
  /// The checkpoint's model, until start() has loaded it; "" if that model has no rounds. Such a model must not be loaded:
  /// it would set the initial scores to zeros, and LightGBM starts from the average of the labels only if none are set.
  std::string model_;
  const int rounds_;  ///< number of rounds of the checkpoint's model
  LightgbmHandle before_;
  std::vector<std::unique_ptr<LightgbmDataset>> sets_;  ///< train first
  LightgbmHandle booster_;
  std::unique_ptr<LightgbmMetrics> metrics_;
};

class LightgbmModel final : public TrainedModel {
 public:
  LightgbmModel(Context& ctx, const TableLayout& layout, const std::string& model, int rounds)
      : library_(ctx), model_(loaded_model(with_log(library_), model)), prediction_{model_.get(), layout} {
    const auto given = Parameters::of(ctx);
    const auto* const threads = given.find_any({"num_threads", "num_thread", "nthread", "nthreads", "n_jobs"});
    const auto cpus = cpus_of_rank(ctx);
    prediction_.parameters = fmt::format("num_threads={}", threads != nullptr ? *threads : std::to_string(cpus));
    prediction_.rounds = rounds > 0 ? rounds : -1;
    library_.check(library_.outputs(model_.get(), 1, LightgbmLibrary::normal, 0, prediction_.rounds, &outputs_));
  }

  std::size_t outputs() const override { return static_cast<std::size_t>(outputs_); }
  void predict(const RowBlock& block, std::vector<double>& values) override {
    values.resize(block.rows * outputs());
    library_.check(predict_block(library_, prediction_, block, values.data()));
  }

 private:
  const LightgbmLibrary library_;
  const LightgbmHandle model_;
  LightgbmPrediction prediction_;
  std::int64_t outputs_ = 0;
};

}  // namespace

extern const Library lightgbm;
const Library lightgbm{.name = "lightgbm",
                       .model_file = "model.txt",
                       .foreign_keys = {{{"base_margin", "use init_score"},
                                         {"label_lower_bound", "LightGBM has no objective that uses bounds"},
                                         {"label_upper_bound", "LightGBM has no objective that uses bounds"}}},
                       .open = [](Context& ctx, const TableLayout& layout, const Parameters& parameters,
                                  const std::string& model, int rounds) -> std::unique_ptr<Booster> {
                         return std::make_unique<LightgbmBooster>(ctx, layout, parameters, model, rounds);
                       },
                       .load = [](Context& ctx, const TableLayout& layout, const std::string& model,
                                  int rounds) -> std::unique_ptr<TrainedModel> {
                         return std::make_unique<LightgbmModel>(ctx, layout, model, rounds);
                       }};

}  // namespace trainrt::frameworks::trees
