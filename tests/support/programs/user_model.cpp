// A train function with its own model in libtorch, written as a user writes one:
//   g++ -shared -fPIC user_model.cpp $(pkg-config --cflags --libs trainrt-torch) -o libmine.so
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adamw.h>

#include <trainrt/interop/torch.hpp>
#include <trainrt/trainrt.hpp>

#include <functional>
#include <utility>

namespace {

struct Net : torch::nn::Module {
  torch::nn::Linear in = register_module("in", torch::nn::Linear(8, 32));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(32));
  torch::nn::Linear out = register_module("out", torch::nn::Linear(32, 1));

  torch::Tensor forward(const torch::Tensor& x) { return out(torch::relu(norm(in(x)))); }
};

torch::jit::Module make_script() {
  torch::jit::setGraphExecutorOptimize(false);  // otherwise, torch 2.6 of Debian 13 fails in the third step: wrong sizes
  torch::jit::Module script("net");
  script.register_parameter("w", torch::randn({8, 1}).set_requires_grad(true), false);
  script.register_parameter("b", torch::randn({1}).set_requires_grad(true), false);
  script.define("def forward(self, x):\n    return torch.matmul(x, self.w) + self.b\n");
  return script;
}

torch::Tensor tensor_of(const trainrt::TensorView& view) {
  const auto columns = view.shape.size() > 1 ? view.shape[1] : 1;
  return torch::from_blob(view.data, {view.shape[0], columns}, torch::kFloat);
}

using Forward = std::function<torch::Tensor(const torch::Tensor&)>;

void train_model(trainrt::Context& ctx, trainrt::TorchModel model, const std::vector<torch::Tensor>& parameters,
                 const Forward& forward) {
  auto data = ctx.dataset("train");
  auto gradients = trainrt::prepare_model(model, ctx);
  torch::optim::AdamW optimizer(parameters, torch::optim::AdamWOptions(0.01));
  int epoch = 0;

  trainrt::State state;
  trainrt::attach_model(state, model);
  trainrt::attach_optimizer(state, optimizer, model);
  state.value("epoch", epoch);
  ctx.restore(state);

  while (epoch < ctx.config<int>("epochs")) {
    double loss_sum = 0;
    for (const auto& batch : data.epoch(epoch).batches(16)) {
      const auto loss = (forward(tensor_of(batch.field("x"))) - tensor_of(batch.field("y"))).square().mean();
      gradients.zero();
      loss.backward();
      gradients.average();
      gradients.clip(1);
      optimizer.step();
      loss_sum += loss.item<double>();
      ctx.step();
    }
    ++epoch;
    const double sum = parameters.front().sum().item<double>();
    ctx.report({{"loss", loss_sum},
                {"buckets", static_cast<double>(gradients.bucket_count())},
                {"least_weights", trainrt::min(sum)},
                {"most_weights", trainrt::max(sum)}});
  }
  ctx.save();
}

void train(trainrt::Context& ctx) {
  torch::manual_seed(static_cast<std::uint64_t>(ctx.world_rank()));  // prepare_model makes the ranks agree
  if (ctx.config<bool>("script", false)) {
    auto script = make_script();
    const auto forward = [&](const torch::Tensor& x) { return script.forward({x}).toTensor(); };
    return train_model(ctx, script, {script.attr("w").toTensor(), script.attr("b").toTensor()}, forward);
  }
  Net net;
  train_model(ctx, net, net.parameters(), [&](const torch::Tensor& x) { return net.forward(x); });
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("mine", train)
