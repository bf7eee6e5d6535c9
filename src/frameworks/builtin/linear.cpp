// Linear regression y = x w + b, trained by data-parallel SGD or AdamW, with optional dropout on the inputs. It uses no
// framework. It is a small, complete example of a training loop: its checkpoints contain the weights, the optimizer state,
// the running sums and the position in the data.
#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <trainrt/trainrt.hpp>

namespace trainrt::plugins {

namespace {

struct Optimizer {
  bool adamw;
  double lr;
  double momentum;
  std::vector<float> first;   ///< SGD: velocity; AdamW: running mean of the gradients
  std::vector<float> second;  ///< AdamW: running mean of the squared gradients; SGD: not used
  std::int64_t step = 0;

  /// Updates `weights` by one step. AdamW as in Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019,
  /// with weight decay 0.01.
  void apply(std::vector<float>& weights, std::span<const float> gradient) {
    ++step;
    const double correction1 = 1 - std::pow(0.9, static_cast<double>(step));
    const double correction2 = 1 - std::pow(0.999, static_cast<double>(step));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (adamw) {
        first[i] = 0.9F * first[i] + 0.1F * gradient[i];
        second[i] = 0.999F * second[i] + 0.001F * gradient[i] * gradient[i];
        const double update = first[i] / correction1 / (std::sqrt(second[i] / correction2) + 1e-8) + 0.01 * weights[i];
        weights[i] -= static_cast<float>(lr * update);
      } else {
        first[i] = static_cast<float>(momentum) * first[i] + gradient[i];
        weights[i] -= static_cast<float>(lr) * first[i];
      }
    }
  }
};

/// Returns w x + b, the prediction for one sample `x`.
float value_of(const float* x, const std::vector<float>& weights) {
  const auto features = weights.size() - 1;
  float value = weights[features];
  for (std::size_t i = 0; i < features; ++i) value += x[i] * weights[i];
  return value;
}

/// Adds this rank's part of the gradient of the mean squared error over the global batch to `gradient`. Returns the squared
/// error, summed over this rank's samples.
double add_gradient(const Batch& batch, const std::vector<float>& weights, double dropout, Random random,
                    std::span<float> gradient) {
  const auto features = weights.size() - 1;
  const auto* x = batch.field<float>("x").data();
  const auto* y = batch.field<float>("y").data();
  std::vector<float> input(features);
  double loss = 0;
  for (std::size_t sample = 0; sample < batch.size(); ++sample) {
    float predicted = weights[features];
    for (std::size_t i = 0; i < features; ++i) {
      const bool kept = dropout == 0 || random.uniform() >= dropout;
      input[i] = kept ? x[sample * features + i] / static_cast<float>(1 - dropout) : 0.0F;
      predicted += input[i] * weights[i];
    }
    const float error = predicted - y[sample];
    loss += static_cast<double>(error) * error;
    float scale = 2 * error / static_cast<float>(batch.size());
    if (batch.weight() != 1) scale *= static_cast<float>(batch.weight());
    for (std::size_t i = 0; i < features; ++i) gradient[i] += scale * input[i];
    gradient[features] += scale;
  }
  return loss;
}

constexpr double max_int = std::numeric_limits<int>::max();

constexpr LoopKey keys[] = {
    {.key = "epochs",
     .type = LoopType::integer,
     .default_value = "2",
     .help = "passes over the training set",
     .least = 0,
     .most = max_int},
    {.key = "batch_size",
     .type = LoopType::integer,
     .default_value = "32",
     .help = "samples per rank per step",
     .least = 1,
     .most = max_int},
    {.key = "optimizer", .default_value = "sgd", .help = "algorithm that updates the weights", .choices = "sgd, adamw"},
    {.key = "lr", .type = LoopType::real, .default_value = "0.01", .help = "learning rate", .least = 0},
    {.key = "momentum", .type = LoopType::real, .default_value = "0.9", .help = "momentum of sgd", .least = 0},
    {.key = "dropout",
     .type = LoopType::real,
     .default_value = "0",
     .help = "probability that an input is set to 0 during training",
     .least = 0,
     .below = 1},
    {.key = "report_every",
     .type = LoopType::integer,
     .default_value = "0",
     .help = "steps between reports; 0: one report per epoch",
     .least = 0,
     .most = max_int},
    {.key = "step_pause",
     .type = LoopType::real,
     .default_value = "0",
     .help = "seconds to wait in each step, to try out stops and restarts",
     .least = 0,
     .most = 1e6},
};

/// Returns the field `name` of [data.`set`]. Throws UsageError if the field does not exist, is not f32, or if a sample of
/// it does not have `axes` axes.
const Dataset::Field& required_field(const Dataset& data, const std::string& set, const std::string& name,
                                     std::size_t axes) {
  std::string names;
  for (const auto& field : data.fields()) {
    names += (names.empty() ? "" : ", ") + field.name;
    if (field.name != name) continue;
    if (field.dtype == DType::f32 && !field.varies && field.sample_shape.size() == axes) return field;
    throw UsageError("[data." + set + "] field '" + name + "' has " +
                     (field.varies ? "a varying length" : "shape " + to_string(field.sample_shape)) + " and type " +
                     std::string(name_of(field.dtype)) + "; train function linear needs " +
                     (axes == 1 ? "a vector" : "one number") + " of f32 per sample (in a table, types = " + name +
                     ":f32 sets the type of a column)");
  }
  throw UsageError("[data." + set + "] has no field '" + name + "', which train function linear needs; it has: " + names +
                   (axes == 1 ? " (in a table, vector = x joins columns of numbers to a field x)"
                              : " (in a table, the target must be a column y; with vector = x, also set types = y:f32, so "
                                "that the column does not become a part of x)"));
}

std::size_t parameters_for(const Dataset& data, const std::string& set) {
  return static_cast<std::size_t>(required_field(data, set, "x", 1).sample_shape[0]) + 1;
}

/// Checks the fields of [data.train] and returns the number of weights.
std::size_t parameters_of_training(Context& ctx) {
  const auto data = ctx.dataset("train");
  const auto parameters = parameters_for(data, "train");
  required_field(data, "train", "y", 0);
  return parameters;
}

void check(Context& ctx) { parameters_of_training(ctx); }

void predict(Context& ctx, Predictions& predictions) {
  constexpr std::size_t batch_size = 1024;
  auto data = predictions.dataset();
  std::vector<float> weights(parameters_for(data, predictions.dataset_name()));
  State state;
  state.tensor("model/weights", weights);
  ctx.load(state, predictions.checkpoint().path);
  predictions.begin({{"prediction", DType::f32, {}}});
  for (const auto& batch : data.epoch(0).batches(batch_size, Remainder::whole)) {
    std::vector<float> values;
    const auto* x = batch.field<float>("x").data();
    for (std::size_t i = 0; i < batch.size(); ++i) values.push_back(value_of(x + i * (weights.size() - 1), weights));
    predictions.add(batch, {{values.data(), DType::f32, {std::ssize(values)}}});
  }
}

void train(Context& ctx) {
  const auto epochs = ctx.config<int>("epochs");
  const auto batch_size = ctx.config<int>("batch_size");
  const auto dropout = ctx.config<double>("dropout");
  const auto report_every = ctx.config<int>("report_every");
  const std::chrono::duration<double> pause(ctx.config<double>("step_pause"));
  const bool adamw = ctx.config<std::string>("optimizer") == "adamw";

  const auto data = ctx.dataset("train");
  const auto parameters = parameters_of_training(ctx);
  std::vector<float> weights(parameters, 0.0F);
  Optimizer optimizer{adamw, ctx.config<double>("lr"), ctx.config<double>("momentum"), std::vector<float>(parameters),
                      std::vector<float>(parameters)};
  const GradientBuckets::Parameter weight{"model/weights", parameters};
  GradientBuckets buckets(ctx.communicator(), {&weight, 1}, ctx.gradient_options());
  const std::span gradient(static_cast<float*>(buckets.gradient(0)), parameters);
  int epoch = 0;
  double loss_sum = 0;
  double seen = 0;
  int steps_since_report = 0;

  State state;
  state.tensor("model/weights", weights);
  state.tensor("optimizer/first", optimizer.first);
  state.tensor("optimizer/second", optimizer.second);
  state.value("optimizer/step", optimizer.step);
  state.value("epoch", epoch);
  // Each rank sums over its own samples since the last report; part_of_sum() adds these sums up if the ranks change.
  state.tensor("sums/loss", std::span(&loss_sum, 1)).part_of_sum();
  state.tensor("sums/seen", std::span(&seen, 1)).part_of_sum();
  state.value("steps_since_report", steps_since_report);
  ctx.restore(state);
  if (report_every == 0) ctx.expect_iterations(epochs);

  const auto report = [&] {
    steps_since_report = 0;
    const Metrics metrics = {{"loss", ratio(std::exchange(loss_sum, 0), std::exchange(seen, 0))}, {"epoch", epoch}};
    ctx.report(metrics);
  };
  const auto report_if_due = [&] {
    if (report_every > 0 && steps_since_report == report_every) report();
  };
  report_if_due();  // a run that was stopped in step(), before a report, makes this report when it resumes
  while (epoch < epochs) {
    for (const auto& batch : data.epoch(epoch).batches(static_cast<std::size_t>(batch_size))) {
      buckets.zero();
      loss_sum += add_gradient(batch, weights, dropout, ctx.random(), gradient);
      seen += static_cast<double>(batch.size());
      buckets.average();
      optimizer.apply(weights, gradient);
      ++steps_since_report;
      if (pause.count() > 0) std::this_thread::sleep_for(pause);
      ctx.step();
      report_if_due();
    }
    ++epoch;
    if (report_every == 0) report();
  }
  ctx.save();
}

}  // namespace

extern const TrainFunction linear;
const TrainFunction linear{.name = "linear",
                           .help = "linear regression on [data.train] with fields x and y",
                           .train = train,
                           .loop = keys,
                           .datasets = "train",
                           .predict = predict,
                           .check = check};

}  // namespace trainrt::plugins
