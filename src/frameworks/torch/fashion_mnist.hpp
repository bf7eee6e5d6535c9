#pragma once

namespace trainrt {
class Context;
class Predictions;
}  // namespace trainrt

namespace trainrt::frameworks {

/// Trains an MLP on [data.train], evaluates it on [data.test] after every epoch, and reports `loss`, `test_loss` and
/// `test_accuracy` over all ranks. torch.json lists the [loop] keys. Stops and restarts do not change the bits of the
/// weights if the number of ranks, the model of CPU and `threads` stay the same.
void fashion_mnist(Context& ctx);

/// Checks [loop] and the datasets, for `trainrt check` (TrainFunction::check).
void check_fashion_mnist(Context& ctx);

/// Predicts `logits`, `label` and `probability` for each image (see predict_classes()).
void predict_fashion_mnist(Context& ctx, Predictions& predictions);

}  // namespace trainrt::frameworks
