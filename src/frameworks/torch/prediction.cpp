#include "prediction.hpp"

#include <trainrt/error.hpp>

#include "interop/views.hpp"

namespace trainrt::frameworks {

namespace {

void require_rows(const std::string& name, const torch::Tensor& tensor, std::size_t samples) {
  const auto rows = static_cast<std::int64_t>(samples);
  if (tensor.dim() == 0 || tensor.size(0) != rows)
    throw UsageError("the model's output '" + name + "' has shape " + to_string(Shape(tensor.sizes().vec())) + " for " +
                     std::to_string(rows) + " samples; the first axis of a prediction must be the samples");
}

}  // namespace

void load_model(TorchModel model, Context& ctx, const Predictions& predictions) {
  State state;
  attach_model(state, model);
  ctx.load(state, predictions.checkpoint().path);
  broadcast_model(ctx.communicator(), model);
  if (!ctx.gpus().empty()) model.to_gpu(ctx.gpus().front());
}

void predict_batches(Predictions& predictions, int batch_size,
                     const std::function<Predicted(const Batch& batch)>& predict) {
  torch::NoGradGuard no_grad;
  bool begun = false;
  const auto data = predictions.dataset();
  for (const auto& batch : data.epoch(0).batches(static_cast<std::size_t>(batch_size), Remainder::whole)) {
    auto predicted = predict(batch);
    std::vector<TensorView> views;
    std::vector<Dataset::Field> fields;
    for (auto& [name, tensor] : predicted) {
      require_rows(name, tensor, batch.size());
      tensor = tensor.detach().cpu().contiguous();
      views.push_back(view_of(tensor, name));
      const auto& shape = views.back().shape;
      fields.push_back({name, views.back().dtype, {shape.begin() + 1, shape.end()}});
    }
    if (!begun) predictions.begin(fields);
    begun = true;
    predictions.add(batch, views);
  }
  if (!begun) predictions.begin({});  // this rank has no batch; begin() is collective
}

}  // namespace trainrt::frameworks
