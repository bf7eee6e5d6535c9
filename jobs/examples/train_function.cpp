// A train function as a plug-in: data-parallel linear regression by SGD with momentum.
//   g++ -std=c++20 -O2 -shared -fPIC $(pkg-config --cflags trainrt) train_function.cpp -o libmine.so
//   mpiexec.mpich -n 2 trainrt --config train_function.ini --train.library=./libmine.so
#include <trainrt/trainrt.hpp>

#include <span>
#include <utility>
#include <vector>

namespace {

/// Adds the gradient of this rank's mean squared error to `gradient`, which has one element per feature. Returns the sum
/// of the squared errors.
double add_gradient(const trainrt::Batch& batch, const std::vector<float>& weights, std::vector<float>& gradient) {
  const auto x = batch.field<float>("x");  // [size, features]
  const auto y = batch.field<float>("y");  // [size]
  const auto features = weights.size();
  // weight() is 1, unless the ranks' batches differ in size (elastic runs).
  const auto scale = static_cast<float>(2 * batch.weight() / static_cast<double>(batch.size()));
  double sum = 0;
  for (std::size_t sample = 0; sample < batch.size(); ++sample) {
    float error = -y[sample];
    for (std::size_t i = 0; i < features; ++i) error += x[sample * features + i] * weights[i];
    for (std::size_t i = 0; i < features; ++i) gradient[i] += scale * error * x[sample * features + i];
    sum += static_cast<double>(error) * error;
  }
  return sum;
}

/// Returns the number of values in field x of [data.train]. Throws UsageError if field x or y is missing, or has another
/// type or shape; the run or `trainrt check` then ends with exit code 64.
std::size_t features_of(trainrt::Context& ctx) {
  std::size_t features = 0;
  bool has_target = false;
  const auto dataset = ctx.dataset("train");
  for (const auto& field : dataset.fields()) {
    const bool is_float = field.dtype == trainrt::DType::f32 && !field.varies;
    if (field.name == "x" && is_float && field.sample_shape.size() == 1)
      features = static_cast<std::size_t>(field.sample_shape[0]);
    if (field.name == "y" && is_float && field.sample_shape.empty()) has_target = true;
  }
  if (features == 0 || !has_target)
    throw trainrt::UsageError(
        "[data.train] needs a field x, a vector of f32 per sample, and a field y, one f32 per sample");
  return features;
}

void check(trainrt::Context& ctx) { features_of(ctx); }

void train(trainrt::Context& ctx) {
  const auto lr = static_cast<float>(ctx.config<double>("lr"));
  const auto momentum = static_cast<float>(ctx.config<double>("momentum"));
  const auto batch_size = static_cast<std::size_t>(ctx.config<int>("batch_size"));
  const int epochs = ctx.config<int>("epochs");
  const auto data = ctx.dataset("train");
  const auto features = features_of(ctx);
  std::vector<float> weights(features), velocity(features);
  int epoch = 0;
  double loss_sum = 0;  // this rank's sum since the last report
  double seen = 0;

  // Everything that later steps and reports depend on, except random numbers and the position in the data.
  trainrt::State state;
  state.tensor("model/weights", weights);
  state.tensor("optimizer/velocity", velocity);
  state.value("epoch", epoch);
  state.tensor("sums/loss", std::span(&loss_sum, 1)).part_of_sum();
  state.tensor("sums/seen", std::span(&seen, 1)).part_of_sum();
  ctx.restore(state);  // loads the newest checkpoint, if the run has one

  while (epoch < epochs) {
    for (const auto& batch : data.epoch(epoch).batches(batch_size)) {  // after a restart: from the saved position on
      std::vector<float> gradient(features);
      loss_sum += add_gradient(batch, weights, gradient);
      seen += static_cast<double>(batch.size());
      ctx.communicator().all_reduce(gradient, trainrt::Op::mean);  // the same bits on every rank
      for (std::size_t i = 0; i < features; ++i) {
        velocity[i] = momentum * velocity[i] + gradient[i];
        weights[i] -= lr * velocity[i];
      }
      ctx.step();  // the state is consistent: the run may stop here
    }
    ++epoch;  // the state is complete before it is reported
    const trainrt::Metrics metrics = {{"loss", trainrt::ratio(std::exchange(loss_sum, 0), std::exchange(seen, 0))}};
    ctx.report(metrics);  // saves a checkpoint if one is due
  }
  ctx.save();  // saves a checkpoint if the last report did not
}

/// Computes x * w for each sample of a dataset: `trainrt predict runs/NAME -o predictions.csv`.
void predict(trainrt::Context& ctx, trainrt::Predictions& predictions) {
  auto data = predictions.dataset();
  const auto features = static_cast<std::size_t>(data.fields().at(0).sample_shape.at(0));
  std::vector<float> weights(features);
  trainrt::State state;
  state.tensor("model/weights", weights);
  ctx.load(state, predictions.checkpoint().path);
  predictions.begin({{"prediction", trainrt::DType::f32, {}}});
  for (const auto& batch : data.epoch(0).batches(256, trainrt::Remainder::whole)) {
    const auto x = batch.field<float>("x");
    std::vector<float> values(batch.size());
    for (std::size_t sample = 0; sample < batch.size(); ++sample)
      for (std::size_t i = 0; i < features; ++i) values[sample] += x[sample * features + i] * weights[i];
    predictions.add(batch, {{values.data(), trainrt::DType::f32, {std::ssize(values)}}});
  }
}

// Declared keys are checked before a run starts, and by `trainrt check`.
constexpr trainrt::LoopKey keys[] = {
    {.key = "epochs", .type = trainrt::LoopType::integer, .default_value = "4", .help = "passes over the data", .least = 0},
    {.key = "batch_size",
     .type = trainrt::LoopType::integer,
     .default_value = "32",
     .help = "samples per rank",
     .least = 1},
    {.key = "lr", .type = trainrt::LoopType::real, .default_value = "0.01", .help = "learning rate", .least = 0},
    {.key = "momentum", .type = trainrt::LoopType::real, .default_value = "0.9", .help = "momentum of SGD", .least = 0}};

}  // namespace

TRAINRT_TRAIN_FUNCTION("my_regression", train, .loop = keys, .datasets = "train", .predict = predict, .check = check)
