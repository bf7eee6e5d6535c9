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

/// Returns torch's message with the stack of the script, but without the C++ stack.
std::string message_of(const std::exception& error) {
  const auto* const torch_error = dynamic_cast<const c10::Error*>(&error);
  return torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
}

torch::jit::Module loaded(const std::string& path) try {
  return torch::jit::load(path);
} catch (const std::exception& error) {
  throw UsageError("[loop] model = " + path +
                   ": cannot load this file; it must be written by torch.jit.save(): " + message_of(error));
}

/// The TorchScript model with its inputs, target and loss.
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
  bool is_classifier() const { return loss_ != nullptr && loss_->over_classes; }

  /// Returns an object that converts the model's inputs to tensors, for predictions. The dataset may lack the target.
  BatchTensors inputs_of(const Dataset& data, const std::string& name, torch::Device device) const {
    return BatchTensors::without_target(data, name, inputs_, target_, device);
  }

  /// Returns the result of forward() for these samples. Throws UsageError if forward() returns the loss.
  torch::Tensor output(const BatchTensors::Converted& tensors) {
    if (loss_ == nullptr)
      throw forward_error("returns the loss (`loss = model`), so there is no output per sample to predict");
    return call(tensors.inputs);
  }

  /// Returns an object that converts the model's inputs and target to tensors. Throws UsageError if the dataset lacks one
  /// of these fields.
  BatchTensors fields_of(const Dataset& data, const std::string& name, torch::Device device) const {
    return {data, name, inputs_, target_, device};
  }

  /// Returns the mean loss of these samples. For a loss over classes, also returns which samples were classified
  /// correctly.
  std::pair<torch::Tensor, torch::Tensor> loss_and_hits(const BatchTensors::Converted& tensors) {
    const auto output = call(tensors.inputs);
    if (loss_ == nullptr) {
      if (output.numel() != 1)
        throw forward_error("returns " + std::to_string(output.numel()) +
                            " numbers; with `loss = model` it must return one");
      return {output.sum(), {}};
    }
    const auto target = match_target(*loss_, output, tensors.target);
    return {loss_->mean(output, target), loss_->over_classes ? output.detach().argmax(1).eq(target) : torch::Tensor()};
  }

 private:
  torch::Tensor call(const std::vector<torch::jit::IValue>& inputs) try {
    auto output = module_.forward(inputs);
    if (!output.isTensor()) throw forward_error("returns " + output.type()->str() + "; it must return a Tensor");
    return output.toTensor();
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw forward_error("failed with the input fields '" + inputs_ + "': " + message_of(error));
  }

  UsageError forward_error(const std::string& why) const {
    return UsageError("[loop] model = " + path_ + ": its forward() " + why);
  }

  std::string path_;
  torch::jit::Module module_;
  const NamedLoss* loss_;
  std::string target_, inputs_;
};

/// Returns `test_loss` and, for losses over classes, `test_accuracy` over this rank's samples of [data.test].
Metrics evaluate(Context& ctx, Script& script, const Dataset& data, const BatchTensors& fields, int batch_size) {
  torch::NoGradGuard no_grad;
  script.module().eval();
  double loss = 0, correct = 0, counted = 0, seen = 0;
  StopPoints stop_points(ctx, data, static_cast<std::size_t>(batch_size));
  for (const auto& batch : data.epoch(0).batches(static_cast<std::size_t>(batch_size), Remainder::uneven)) {
    stop_points.pass();
    const auto [mean, hits] = script.loss_and_hits(fields.from(batch, 0, static_cast<std::int64_t>(batch.size())));
    loss += mean.item<double>() * static_cast<double>(batch.size());
    seen += static_cast<double>(batch.size());
    if (!hits.defined()) continue;
    correct += hits.sum().item<double>();
    counted += static_cast<double>(hits.numel());
  }
  script.module().train();
  Metrics metrics{{"test_loss", ratio(loss, seen)}};
  if (script.is_classifier()) metrics.push_back({"test_accuracy", ratio(correct, counted)});
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
      script.loss_and_hits(fields.from(batch, 0, static_cast<std::int64_t>(batch.size())));
      break;  // one batch per dataset
    }
  }
}

void torchscript(Context& ctx) {
  const auto settings = training_settings(ctx);
  const auto eval_batch_size = ctx.config<int>("eval_batch_size");
  prepare_torch(ctx);
  // The optimizing executor profiles the first calls and then runs different code, so a restart would change the bits.
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
    return script.loss_and_hits(train_fields.from(batch, first, count)).first;
  };
  const auto evaluation = [&] {
    return test_data ? evaluate(ctx, script, *test_data, *test_fields, eval_batch_size) : Metrics{};
  };
  train(ctx, settings, {.model = script.module(), .loss = loss, .evaluate = evaluation, .draws_random_numbers = true});
}

}  // namespace trainrt::frameworks
