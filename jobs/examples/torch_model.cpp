// A model in libtorch, trained on all ranks: on a rank's GPU if it has one, otherwise on the CPU.
//   g++ -O2 -shared -fPIC torch_model.cpp $(pkg-config --cflags --libs trainrt-torch) -o libmine.so
//   mpiexec.mpich -n 2 trainrt --config train_function.ini --train.library=./libmine.so
#include <torch/nn/modules/linear.h>
#include <torch/optim/adamw.h>

#include <trainrt/interop/torch.hpp>
#include <trainrt/trainrt.hpp>

#include <span>
#include <utility>

namespace {

struct Net : torch::nn::Module {
  torch::nn::Linear in = register_module("in", torch::nn::Linear(8, 32));
  torch::nn::Linear out = register_module("out", torch::nn::Linear(32, 1));

  torch::Tensor forward(const torch::Tensor& x) { return out(torch::relu(in(x))); }
};

/// Returns a field of a batch as a tensor [samples, columns] on the model's device; the batch owns the memory.
torch::Tensor tensor_of(const trainrt::TensorView& view, const torch::Device& device) {
  const auto columns = view.shape.size() > 1 ? view.shape[1] : 1;
  return torch::from_blob(view.data, {view.shape[0], columns}, torch::kFloat).to(device);
}

void train(trainrt::Context& ctx) {
  torch::manual_seed(ctx.seed());
  auto data = ctx.dataset("train");
  Net net;
  auto gradients = trainrt::prepare_model(net, ctx);  // moves net to the GPU, and copies rank 0's weights to all ranks
  torch::optim::AdamW optimizer(net.parameters(), torch::optim::AdamWOptions(ctx.config<double>("lr", 0.01)));
  const auto device = net.parameters().front().device();
  const auto batch_size = static_cast<std::size_t>(ctx.config<int>("batch_size", 32));
  int epoch = 0;
  double loss_sum = 0;  // this rank's sum since the last report

  trainrt::State state;
  trainrt::attach_model(state, net);
  trainrt::attach_optimizer(state, optimizer, net);
  state.value("epoch", epoch);
  state.tensor("loss_sum", std::span(&loss_sum, 1)).part_of_sum();
  ctx.restore(state);

  while (epoch < ctx.config<int>("epochs", 4)) {
    for (const auto& batch : data.epoch(epoch).batches(batch_size)) {
      const auto x = tensor_of(batch.field("x"), device);
      const auto y = tensor_of(batch.field("y"), device);
      const auto loss = (net.forward(x) - y).square().mean();
      gradients.zero();
      (loss * batch.weight()).backward();  // weight(): 1 unless the run is elastic; averaging overlaps
      gradients.average();
      gradients.clip(1.0);
      optimizer.step();
      loss_sum += loss.item<double>();
      ctx.step();
    }
    ++epoch;
    const auto steps = static_cast<double>(data.batch_count(batch_size));
    ctx.report({{"loss", std::exchange(loss_sum, 0) / steps}});
  }
  ctx.save();
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("my_torch_model", train)
