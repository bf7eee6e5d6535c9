#include "gpt.hpp"

#include <torch/nn/functional/loss.h>

#include <cstring>
#include <optional>
#include <utility>

#include <trainrt/error.hpp>

#include "prediction.hpp"
#include "training.hpp"
#include "transformer.hpp"

namespace trainrt::frameworks {

namespace {

/// On GPUs, the number of logits is rounded up to a multiple of this number, because kernels for aligned matrices are
/// faster. On CPUs it is not rounded, so that the results keep the same bits.
constexpr std::int64_t aligned_vocabulary = 64;

std::optional<torch::ScalarType> token_type(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return torch::kByte;
    case DType::i16:
      return torch::kShort;
    case DType::i32:
      return torch::kInt;
    case DType::i64:
      return torch::kLong;
    default:
      return std::nullopt;
  }
}

/// Converts the windows (sequences of tokens) of a dataset to tensors. They are the values of the field 'tokens', or of
/// the only field.
class Windows {
 public:
  Windows(const Dataset& data, const std::string& name, const TransformerShape& shape, torch::Device device)
      : name_(name), vocabulary_(shape.vocabulary), device_(device) {
    for (const auto& field : data.fields())
      if (field.name == "tokens" || data.fields().size() == 1) field_ = field;
    if (!token_type(field_.dtype) || field_.sample_shape.size() != 1)
      throw UsageError("gpt: [data." + name +
                       "] has no windows of tokens; it must have a field 'tokens', or only one field, with a vector of "
                       "integers (u8, i16, i32 or i64) per sample");
    if (length() < 2 || length() > shape.positions + 1)
      throw UsageError("gpt: the windows of [data." + name + "] have " + std::to_string(length()) +
                       " tokens; valid are 2 to block_size + 1 = " + std::to_string(shape.positions + 1));
  }

  /// Returns the input tokens and their targets, the next tokens; both are i64 [count, length - 1].
  std::pair<torch::Tensor, torch::Tensor> from(const Batch& batch, std::int64_t first, std::int64_t count) const {
    auto* data = static_cast<std::byte*>(batch.field(field_.name).data) +
                 static_cast<std::size_t>(first * length()) * size_of(field_.dtype);
    const auto tokens = torch::from_blob(data, {count, length()}, *token_type(field_.dtype)).to(torch::kLong);
    require_valid(tokens);
    const auto on_device = copy_to_device(device_, tokens);
    return {on_device.narrow(1, 0, length() - 1), on_device.narrow(1, 1, length() - 1)};
  }

 private:
  std::int64_t length() const { return field_.sample_shape.front(); }

  void require_valid(const torch::Tensor& tokens) const {
    const auto min = tokens.min().item<std::int64_t>(), max = tokens.max().item<std::int64_t>();
    if (min < 0 || max >= vocabulary_)
      throw UsageError("gpt: [data." + name_ + "] contains token " + std::to_string(min < 0 ? min : max) +
                       "; vocab_size allows 0 to " + std::to_string(vocabulary_ - 1));
  }

  std::string name_;
  std::int64_t vocabulary_;
  torch::Device device_;
  Dataset::Field field_{.dtype = DType::f32};
};

torch::Tensor loss_of(Transformer& model, const std::pair<torch::Tensor, torch::Tensor>& pair) {
  return torch::cross_entropy_loss(model.forward(pair.first).flatten(0, 1), pair.second.flatten());
}

/// Returns `test_loss`, the mean over the tokens of this rank's samples of [data.test].
Metrics evaluate(Context& ctx, Transformer& model, Dataset& data, const Windows& windows, int batch_size) {
  torch::NoGradGuard no_grad;
  model.eval();
  double loss = 0, seen = 0;
  StopPoints stop_points(ctx, data, static_cast<std::size_t>(batch_size));
  for (const auto& batch : data.epoch(0).batches(static_cast<std::size_t>(batch_size), Remainder::uneven)) {
    stop_points.pass();
    const auto count = static_cast<double>(batch.size());
    loss += loss_of(model, windows.from(batch, 0, static_cast<std::int64_t>(batch.size()))).item<double>() * count;
    seen += count;
  }
  model.train();
  return {{"test_loss", ratio(loss, seen)}};
}

TransformerShape shape_of(Context& ctx) {
  TransformerShape shape{};
  shape.vocabulary = ctx.config<int>("vocab_size");
  shape.positions = ctx.config<int>("block_size");
  shape.layers = ctx.config<int>("n_layer");
  shape.heads = ctx.config<int>("n_head");
  shape.width = ctx.config<int>("n_embd");
  shape.dropout = ctx.config<double>("dropout");
  if (shape.width % shape.heads != 0)
    throw UsageError("[loop] n_embd = " + std::to_string(shape.width) +
                     " is not a multiple of n_head = " + std::to_string(shape.heads));
  if (device_of(ctx).is_cuda()) shape.vocabulary_multiple = aligned_vocabulary;
  return shape;
}

/// Returns the mean loss of each window, f32 [windows].
torch::Tensor losses_of(Transformer& model, const std::pair<torch::Tensor, torch::Tensor>& pair) {
  const auto of_tokens =
      torch::cross_entropy_loss(model.forward(pair.first).flatten(0, 1), pair.second.flatten(), {}, at::Reduction::None);
  return of_tokens.reshape_as(pair.second).mean(1);
}

}  // namespace

void predict_gpt(Context& ctx, Predictions& predictions) {
  const auto shape = shape_of(ctx);
  const Windows windows(predictions.dataset(), predictions.dataset_name(), shape, device_of(ctx));
  prepare_torch(ctx);
  Transformer model(shape);
  load_model(model, ctx, predictions);
  model.eval();
  predict_batches(predictions, ctx.config<int>("batch_size"), [&](const Batch& batch) -> Predicted {
    const Autocast autocast(precision_of(ctx), device_of(ctx).type());
    return {{"loss", losses_of(model, windows.from(batch, 0, static_cast<std::int64_t>(batch.size())))}};
  });
}

void check_gpt(Context& ctx) {
  training_settings(ctx);
  const auto shape = shape_of(ctx);
  for (const std::string name : {"train", "test"}) {
    if (!ctx.has_dataset(name)) continue;
    const auto data = ctx.dataset(name);
    const Windows windows(data, name, shape, device_of(ctx));
    for (const auto& batch :
         data.epoch(0).batches(static_cast<std::size_t>(ctx.config<int>("batch_size")), Remainder::whole))
      windows.from(batch, 0, static_cast<std::int64_t>(batch.size()));
  }
}

void gpt(Context& ctx) {
  const auto settings = training_settings(ctx);
  const auto shape = shape_of(ctx);
  const Windows train_windows(ctx.dataset("train"), "train", shape, device_of(ctx));
  std::optional<Dataset> test_data;
  std::optional<Windows> test_windows;
  if (ctx.has_dataset("test")) {
    test_data = ctx.dataset("test");
    test_windows.emplace(*test_data, "test", shape, device_of(ctx));
  }

  prepare_torch(ctx);
  Transformer model(shape);
  const auto loss = [&](const Batch& batch, std::int64_t first, std::int64_t count) {
    return loss_of(model, train_windows.from(batch, first, count));
  };
  const auto evaluation = [&] {
    return test_data ? evaluate(ctx, model, *test_data, *test_windows, settings.batch_size) : Metrics{};
  };
  train(ctx, settings, {.model = model, .loss = loss, .evaluate = evaluation, .draws_random_numbers = shape.dropout > 0});
}

}  // namespace trainrt::frameworks
