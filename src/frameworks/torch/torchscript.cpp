#include "torchscript.hpp"

#include <torch/csrc/jit/python/update_graph_executor_opt.h>
#include <torch/csrc/jit/serialization/import.h>

#include <optional>
#include <utility>

#include <trainrt/error.hpp>

#include "batch_tensors.hpp"
#include "named_losses.hpp"
#include "prediction.hpp"
#include "training.hpp"

namespace trainrt::frameworks {

namespace {

/// What torch says, without the stack of C++; that of the script stays.
std::string message_of(const std::exception& error) {
  const auto* const torch_error = dynamic_cast<const c10::Error*>(&error);
  return torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
}

torch::jit::Module loaded(const std::string& path) try {
  return torch::jit::load(path);
} catch (const std::exception& error) {
  throw UsageError("[loop] model = " + path + ": it cannot be loaded as a file of torch.jit.save(): " + message_of(error));
}

/// The model, and what it is trained to do.
class Script {
 public:
  Script(Context& ctx, std::string path)
      : path_(std::move(path)),
        module_(loaded(path_)),
        loss_(ctx.config<std::string>("loss") == "model" ? nullptr : &loss_of_name(ctx.config<std::string>("loss"))),
        target_(loss_ != nullptr ? ctx.config<std::string>("target") : ""),
        inputs_(ctx.config<std::string>("inputs")) {
    module_.train();
  }

  torch::jit::Module& module() { return module_; }
  bool tells_classes_apart() const { return loss_ != nullptr && loss_->over_classes; }

  /// What predictions take of a dataset, which may lack the target.
  BatchTensors inputs_of(const Dataset& data, const std::string& name, torch::Device device) const {
    return BatchTensors::without_target(data, name, inputs_, target_, device);
  }

  /// What forward() returns for these samples. UsageError if that is a loss.
  torch::Tensor output(const BatchTensors::Taken& taken) {
    if (loss_ == nullptr) throw refusal("returns the loss (`loss = model`), and nothing of each sample");
    return call(taken.inputs);
  }

  /// Its fields: UsageError if the dataset lacks one.
  BatchTensors fields_of(const Dataset& data, const std::string& name, torch::Device device) const {
    return {data, name, inputs_, target_, device};
  }

  /// The mean loss of these samples, and how many it told right (0 if there are no classes).
  std::pair<torch::Tensor, torch::Tensor> look(const BatchTensors::Taken& taken) {
    const auto output = call(taken.inputs);
    if (loss_ == nullptr) {
      if (output.numel() != 1)
        throw refusal("returns " + std::to_string(output.numel()) + " numbers; `loss = model` takes one");
      return {output.sum(), {}};
    }
    const auto target = fitted(*loss_, output, taken.target);
    return {loss_->mean(output, target), loss_->over_classes ? output.detach().argmax(1).eq(target) : torch::Tensor()};
  }

 private:
  torch::Tensor call(const std::vector<torch::jit::IValue>& inputs) try {
    auto output = module_.forward(inputs);
    if (!output.isTensor()) throw refusal("returns " + output.type()->str() + ", and a Tensor is needed");
    return output.toTensor();
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw refusal("cannot take the fields " + inputs_ + ": " + message_of(error));
  }

  UsageError refusal(const std::string& why) const {
    return UsageError("[loop] model = " + path_ + ": its forward() " + why);
  }

  std::string path_;
  torch::jit::Module module_;
  const NamedLoss* loss_;
  std::string target_, inputs_;
};

/// What this rank saw of the test set.
Metrics evaluate(Context& ctx, Script& script, const Dataset& data, const BatchTensors& fields, int batch_size) {
  torch::NoGradGuard no_grad;
  script.module().eval();
  double loss = 0, right = 0, told = 0, seen = 0;
  StopPoints stop_points(ctx, data, static_cast<std::size_t>(batch_size));
  for (const auto& batch : data.epoch(0).batches(static_cast<std::size_t>(batch_size), Remainder::uneven)) {
    stop_points.pass();
    const auto [mean, hits] = script.look(fields.from(batch, 0, static_cast<std::int64_t>(batch.size())));
    loss += mean.item<double>() * static_cast<double>(batch.size());
    seen += static_cast<double>(batch.size());
    if (!hits.defined()) continue;
    right += hits.sum().item<double>();
    told += static_cast<double>(hits.numel());
  }
  script.module().train();
  Metrics metrics{{"test_loss", ratio(loss, seen)}};
  if (script.tells_classes_apart()) metrics.push_back({"test_accuracy", ratio(right, told)});
  return metrics;
}

}  // namespace

void predict_torchscript(Context& ctx, Predictions& predictions) {
  prepare_torch(ctx);
  torch::jit::setGraphExecutorOptimize(false);  // as in training
  Script script(ctx, ctx.config<std::string>("model"));
  const auto fields = script.inputs_of(predictions.dataset(), predictions.dataset_name(), device_of(ctx));
  load_model(script.module(), ctx, predictions);
  script.module().eval();
  predict_batches(predictions, ctx.config<int>("eval_batch_size"), [&](const Batch& batch) -> Predicted {
    const Autocast autocast(precision_of(ctx), device_of(ctx).type());
    return {{"output", script.output(fields.from(batch, 0, static_cast<std::int64_t>(batch.size())))}};
  });
}

/// Loads the model, and calls it with the first batch of each dataset.
void check_torchscript(Context& ctx) {
  const auto batch_size = static_cast<std::size_t>(ctx.config<int>("batch_size"));
  training_settings(ctx);
  prepare_torch(ctx);
  Script script(ctx, ctx.config<std::string>("model"));
  const torch::NoGradGuard no_grad;
  for (const std::string name : {"train", "test"}) {
    if (!ctx.has_dataset(name)) continue;
    const auto data = ctx.dataset(name);
    const auto fields = script.fields_of(data, name, device_of(ctx));
    for (const auto& batch : data.epoch(0).batches(batch_size, Remainder::whole)) {
      script.look(fields.from(batch, 0, static_cast<std::int64_t>(batch.size())));
      break;
    }
  }
}

void torchscript(Context& ctx) {
  const auto settings = training_settings(ctx);
  const auto eval_batch_size = ctx.config<int>("eval_batch_size");
  prepare_torch(ctx);
  // The executor that optimizes watches the first calls, and runs other code then: a restart would have other bits.
  torch::jit::setGraphExecutorOptimize(false);
  Script script(ctx, ctx.config<std::string>("model"));
  const auto train_fields = script.fields_of(ctx.dataset("train"), "train", device_of(ctx));
  std::optional<Dataset> test_data;
  std::optional<BatchTensors> test_fields;
  if (ctx.has_dataset("test")) {
    test_data = ctx.dataset("test");
    test_fields.emplace(script.fields_of(*test_data, "test", device_of(ctx)));
  }
  const auto loss = [&](const Batch& batch, std::int64_t first, std::int64_t count) {
    return script.look(train_fields.from(batch, first, count)).first;
  };
  const auto evaluation = [&] {
    return test_data ? evaluate(ctx, script, *test_data, *test_fields, eval_batch_size) : Metrics{};
  };
  train(ctx, settings, {.model = script.module(), .loss = loss, .evaluate = evaluation, .draws_random_numbers = true});
}

}  // namespace trainrt::frameworks
