#include "training.hpp"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <trainrt/error.hpp>
#include <trainrt/interop/torch.hpp>

#include "fused_steps.hpp"
#include "shared_weights.hpp"

namespace trainrt::frameworks {

namespace {

std::vector<torch::Tensor> trained_parameters(const TorchModel& model) {
  std::vector<torch::Tensor> parameters;
  for (const auto& [name, parameter] : model.parameters())
    if (parameter.requires_grad()) parameters.push_back(parameter);
  return parameters;
}

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const TrainingSettings& s,
                                                        const std::vector<torch::Tensor>& parameters) {
  using namespace torch::optim;
  if (s.optimizer == "adamw") return std::make_unique<AdamW>(parameters, AdamWOptions(s.lr).weight_decay(s.weight_decay));
  if (s.optimizer == "adam") return std::make_unique<Adam>(parameters, AdamOptions(s.lr).weight_decay(s.weight_decay));
  return std::make_unique<SGD>(parameters, SGDOptions(s.lr).momentum(s.momentum).weight_decay(s.weight_decay));
}

/// The mean loss of this rank in the current epoch. It is stored on the model's device, so add() does not wait for the GPU.
class RunningLoss {
 public:
  explicit RunningLoss(torch::Device device)
      : values_(torch::zeros({2}, torch::TensorOptions(torch::kDouble).device(device))),
        sum_(values_.select(0, 0)),
        samples_(values_.select(0, 1)) {}

  void add(const torch::Tensor& loss, std::int64_t count) {
    torch::NoGradGuard no_grad;
    sum_.add_(loss.detach(), count);
    samples_.add_(count);
  }
  Number take() {
    const auto values = values_.cpu();
    const auto* numbers = values.data_ptr<double>();
    const auto mean = ratio(numbers[0], numbers[1]);
    values_.zero_();
    return mean;
  }
  TensorView view() const { return {values_.data_ptr(), DType::f64, {2}, values_.is_cuda() ? Device::cuda : Device::host}; }

 private:
  torch::Tensor values_, sum_, samples_;
};

/// Trains on this rank's batch, which is processed in parts of s.batch_size samples, and calls `update` when the gradients
/// are complete. A rank whose batch is empty takes part with gradients of zero. Collective.
void train_step(const TrainingSettings& s, const Task& task, const Batch& batch, Gradients& gradients,
                const std::function<void()>& update, RunningLoss& running) {
  const auto samples = static_cast<std::int64_t>(batch.size());
  gradients.zero();
  for (std::int64_t first = 0; first < samples; first += s.batch_size) {
    const auto count = std::min<std::int64_t>(s.batch_size, samples - first);
    gradients.accumulate(first + count < samples);
    const auto loss = [&] {
      const Autocast autocast(s.precision, s.device);
      return task.loss(batch, first, count);
    }();
    running.add(loss, count);
    const auto share = static_cast<double>(count) / static_cast<double>(samples) * batch.weight();
    (share == 1 ? loss : loss * share).backward();
  }
  gradients.average();
  if (s.clip_norm > 0) gradients.clip(s.clip_norm);
  update();
}

/// Returns nullptr if each rank keeps its own copy of the weights. Collective.
std::unique_ptr<SharedWeights> share_weights(Context& ctx, const TrainingSettings& s, const Task& task,
                                             torch::optim::Optimizer& optimizer) {
  if (!s.share_weights || ctx.world_size() == 1) return nullptr;
  const auto make = [&s](const std::vector<torch::Tensor>& tensors) { return make_optimizer(s, tensors); };
  auto shared = s.device == torch::kCPU ? SharedWeights::make(ctx.communicator(), task.model, optimizer, make) : nullptr;
  if (ctx.world_rank() == 0 && shared)
    std::fprintf(stderr, "trainrt: torch: the ranks share one copy of the weights and of the optimizer's state (%.1f MB)\n",
                 static_cast<double>(shared->bytes()) / 1e6);
  else if (ctx.world_rank() == 0)
    std::fprintf(stderr,
                 "trainrt: torch: warning: loop.share_weights has no effect: the ranks have GPUs, run on several nodes, or "
                 "cannot share memory. Each rank keeps its own copy of the weights\n");
  return shared;
}

void warn_of_slow_blas(const Context& ctx) {
  const auto file = ctx.world_rank() == 0 ? slow_blas() : "";
  if (!file.empty())
    std::fprintf(stderr,
                 "trainrt: torch uses the reference BLAS (%s), which is tens of times slower than OpenBLAS. "
                 "Install libopenblas0-pthread\n",
                 file.c_str());
}

void log_overlap(const Context& ctx, const Gradients& gradients, double overlapped, std::int64_t steps) {
  if (ctx.world_rank() != 0 || ctx.world_size() == 1 || steps == 0) return;
  const auto parts = gradients.bucket_count();
  std::fprintf(stderr,
               "trainrt: torch: gradients were averaged in %zu bucket%s (scaling.bucket_size sets their size); %.0f %% of "
               "their bytes were averaged while the backward pass still ran\n",
               parts, parts == 1 ? "" : "s", 100 * overlapped / static_cast<double>(steps));
}

}  // namespace

TrainingSettings training_settings(Context& ctx) {
  return {.epochs = ctx.config<int>("epochs"),
          .batch_size = ctx.config<int>("batch_size"),
          .accumulate = ctx.config<int>("accumulate"),
          .optimizer = ctx.config<std::string>("optimizer"),
          .lr = ctx.config<double>("lr"),
          .momentum = ctx.config<double>("momentum"),
          .weight_decay = ctx.config<double>("weight_decay"),
          .clip_norm = ctx.config<double>("clip_norm"),
          .share_weights = ctx.config<bool>("share_weights"),
          .precision = precision_of(ctx),
          .device = device_of(ctx).type()};
}

Precision precision_of(Context& ctx) { return precision_from(ctx.config<std::string>("precision")); }

void prepare_torch(Context& ctx) {
  set_numerics(ctx.config<int>("threads"), precision_of(ctx));
  warn_of_slow_blas(ctx);
  torch::manual_seed(ctx.seed());
}

torch::Device device_of(const Context& ctx) {
  const auto gpus = ctx.gpus();
  return gpus.empty() ? torch::Device(torch::kCPU)
                      : torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(gpus.front()));
}

torch::Tensor copy_to_device(torch::Device device, const torch::Tensor& values) {
  if (device.is_cpu()) return values;
  auto pinned = torch::empty(values.sizes(), values.options().pinned_memory(true));
  pinned.copy_(values);
  return pinned.to(device, /*non_blocking=*/true);  // torch does not reuse the pinned memory before the copy is complete
}

void train(Context& ctx, const TrainingSettings& s, const Task& task) {
  auto data = ctx.dataset("train");
  auto gradients = prepare_model(task.model, ctx);
  const auto optimizer = make_optimizer(s, trained_parameters(task.model));
  const auto shared = share_weights(ctx, s, task, *optimizer);  // moves tensors, so it comes before they are attached
  const auto update = [&] { shared ? shared->step() : take_step(*optimizer); };
  RunningLoss running(device_of(ctx));
  int epoch = 0;

  State state;
  attach_model(state, task.model);
  attach_optimizer(state, *optimizer, task.model);
  state.value("epoch", epoch);
  state.tensor("running", running.view()).part_of_sum();
  ctx.restore(state);
  ctx.expect_iterations(s.epochs);

  const auto batch_size = static_cast<std::size_t>(s.batch_size) * static_cast<std::size_t>(s.accumulate);
  double overlapped = 0;
  std::int64_t steps = 0;
  while (epoch < s.epochs) {
    for (const auto& batch : data.epoch(epoch).batches(batch_size)) {
      if (task.draws_random_numbers) torch::manual_seed(ctx.step_seed());
      train_step(s, task, batch, gradients, update, running);
      overlapped += gradients.overlapped();
      ++steps;
      ctx.step();
    }
    auto metrics = [&] {
      const Autocast autocast(s.precision, s.device);
      return task.evaluate();
    }();
    metrics.insert(metrics.begin(), {"loss", running.take()});
    ++epoch;
    ctx.report(metrics);
  }
  log_overlap(ctx, gradients, overlapped, steps);
  ctx.save();
}

}  // namespace trainrt::frameworks
