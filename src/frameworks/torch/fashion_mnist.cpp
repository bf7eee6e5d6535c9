#include "fashion_mnist.hpp"

#include <torch/nn/functional/loss.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <array>
#include <cstdio>
#include <utility>

#include <trainrt/trainrt.hpp>

#include "attach.hpp"
#include "gradients.hpp"
#include "mlp.hpp"
#include "numerics.hpp"
#include "pixels.hpp"

namespace trainrt::frameworks {

namespace {

constexpr std::int64_t classes = 10;

/// The [loop] section; torch.json lists the same keys and defaults.
struct Settings {
  int epochs, batch_size, eval_batch_size, hidden, threads;
  double dropout, lr, momentum, weight_decay;
  bool relu_logits;
  std::string optimizer;
};

void check(bool valid, const std::string& key, const std::string& rule) {
  if (!valid) throw UsageError("fashion_mnist: [loop] " + key + " must be " + rule);
}

Settings settings_of(Context& ctx) {
  Settings s;
  s.epochs = ctx.config<int>("epochs", 5);
  s.batch_size = ctx.config<int>("batch_size", 64);
  s.eval_batch_size = ctx.config<int>("eval_batch_size", 1000);
  s.hidden = ctx.config<int>("hidden", 512);
  s.dropout = ctx.config<double>("dropout", 0);
  s.relu_logits = ctx.config<bool>("relu_logits", false);
  s.optimizer = ctx.config<std::string>("optimizer", "sgd");
  s.lr = ctx.config<double>("lr", 0.01);
  s.momentum = ctx.config<double>("momentum", 0);
  s.weight_decay = ctx.config<double>("weight_decay", 0);
  s.threads = ctx.config<int>("threads", 1);
  check(s.epochs >= 0, "epochs", "0 or more");
  check(s.batch_size > 0, "batch_size", "1 or more");
  check(s.eval_batch_size > 0, "eval_batch_size", "1 or more");
  check(s.hidden > 0, "hidden", "1 or more");
  check(s.threads > 0, "threads", "1 or more");
  check(s.dropout >= 0 && s.dropout < 1, "dropout", "in [0, 1)");
  check(s.lr >= 0, "lr", "0 or more");
  check(s.momentum >= 0, "momentum", "0 or more");
  check(s.weight_decay >= 0, "weight_decay", "0 or more");
  check(s.optimizer == "sgd" || s.optimizer == "adamw", "optimizer", "sgd or adamw, not '" + s.optimizer + "'");
  return s;
}

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const Settings& s, const Mlp& model) {
  using namespace torch::optim;
  if (s.optimizer == "adamw")
    return std::make_unique<AdamW>(model.parameters(), AdamWOptions(s.lr).weight_decay(s.weight_decay));
  return std::make_unique<SGD>(model.parameters(), SGDOptions(s.lr).momentum(s.momentum).weight_decay(s.weight_decay));
}

/// Elements of one image. Throws UsageError where the dataset does not hold u8 images with one u8 label each.
std::int64_t pixels_of(const Dataset& data, const std::string& name) {
  std::int64_t pixels = 0;
  bool labels = false;
  for (const auto& field : data.fields()) {
    if (field.name == "images" && field.dtype == DType::u8) pixels = element_count(field.sample_shape);
    if (field.name == "labels" && field.dtype == DType::u8) labels = element_count(field.sample_shape) == 1;
  }
  if (pixels == 0 || !labels)
    throw UsageError("fashion_mnist: [data." + name +
                     "] must have a u8 field 'images' and a u8 field 'labels' (one a sample)");
  return pixels;
}

/// Tensors that the batches of one loop are converted into; the ones of a call are valid until the next.
class Inputs {
 public:
  Inputs(std::int64_t batch_size, std::int64_t pixels)
      : pixels_(pixels),
        images_(torch::empty({batch_size, pixels}, torch::kFloat)),
        labels_(torch::empty({batch_size}, torch::kLong)) {}

  std::pair<torch::Tensor, torch::Tensor> from(const Batch& batch) {
    const auto count = static_cast<std::int64_t>(batch.size());
    const auto* bytes = static_cast<const std::uint8_t*>(batch.field("images").data);
    pixels_to_floats(bytes, static_cast<std::size_t>(count * pixels_), images_.data_ptr<float>());
    const auto* labels = static_cast<const std::uint8_t*>(batch.field("labels").data);
    std::copy_n(labels, count, labels_.data_ptr<std::int64_t>());
    return {images_.narrow(0, 0, count), labels_.narrow(0, 0, count)};
  }

 private:
  std::int64_t pixels_;
  torch::Tensor images_, labels_;
};

/// What training learns from: one optimizer step on one batch, averaged over the ranks. Returns the loss of this rank's
/// part.
double train_batch(Mlp& model, Gradients& gradients, torch::optim::Optimizer& optimizer, const torch::Tensor& images,
                   const torch::Tensor& labels) {
  gradients.zero();
  auto loss = torch::cross_entropy_loss(model.forward(images), labels);
  loss.backward();
  gradients.average();
  optimizer.step();
  return loss.item<double>();
}

/// What one rank saw of the test set.
struct Evaluation {
  double loss = 0, correct = 0, seen = 0;
};

Evaluation evaluate(Mlp& model, const Dataset& data, Inputs& inputs, std::size_t batch_size) {
  torch::NoGradGuard no_grad;
  model.eval();
  Evaluation sums;
  for (const auto& batch : data.epoch(0).batches(batch_size, Remainder::uneven)) {
    const auto [images, labels] = inputs.from(batch);
    const auto logits = model.forward(images);
    sums.loss += torch::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum).item<double>();
    sums.correct += logits.argmax(1).eq(labels).sum().item<double>();
    sums.seen += static_cast<double>(batch.size());
  }
  model.train();
  return sums;
}

void warn_of_slow_blas(const Context& ctx) {
  const auto file = ctx.world_rank() == 0 ? slow_blas() : "";
  if (!file.empty())
    std::fprintf(stderr,
                 "trainrt: torch computes with the reference BLAS (%s), tens of times slower than OpenBLAS: "
                 "install libopenblas0-pthread\n",
                 file.c_str());
}

}  // namespace

void fashion_mnist(Context& ctx) {
  const auto s = settings_of(ctx);
  auto train_data = ctx.dataset("train");
  auto test_data = ctx.dataset("test");
  const auto pixels = pixels_of(train_data, "train");
  if (pixels_of(test_data, "test") != pixels)
    throw UsageError("fashion_mnist: the images of [data.train] and [data.test] differ in size");
  set_numerics(s.threads);
  warn_of_slow_blas(ctx);

  torch::manual_seed(ctx.seed());
  Mlp model({.inputs = pixels, .hidden = s.hidden, .classes = classes, .dropout = s.dropout, .relu_logits = s.relu_logits});
  broadcast_model(ctx.communicator(), model);
  Gradients gradients(ctx.communicator(), model);
  const auto optimizer = make_optimizer(s, model);
  Inputs batch_inputs(s.batch_size, pixels), eval_inputs(s.eval_batch_size, pixels);
  int epoch = 0;
  std::array<double, 2> running{};  // of this epoch and rank: sum of losses, samples

  State state;
  attach_model(state, model);
  attach_optimizer(state, *optimizer, model);
  state.value("epoch", epoch);
  state.tensor("running", running).per_rank();
  ctx.restore(state);
  ctx.expect_iterations(s.epochs);

  while (epoch < s.epochs) {
    for (const auto& batch : train_data.epoch(epoch).batches(static_cast<std::size_t>(s.batch_size))) {
      if (s.dropout > 0) torch::manual_seed(ctx.step_seed());
      const auto [images, labels] = batch_inputs.from(batch);
      const auto count = static_cast<double>(batch.size());
      running[0] += train_batch(model, gradients, *optimizer, images, labels) * count;
      running[1] += count;
      ctx.step();
    }
    const auto test = evaluate(model, test_data, eval_inputs, static_cast<std::size_t>(s.eval_batch_size));
    const auto [loss_sum, seen] = std::exchange(running, {});
    ++epoch;
    ctx.report({{"loss", ratio(loss_sum, seen)},
                {"test_loss", ratio(test.loss, test.seen)},
                {"test_accuracy", ratio(test.correct, test.seen)}});
  }
  ctx.save();
}

}  // namespace trainrt::frameworks
