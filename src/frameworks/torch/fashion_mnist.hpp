#pragma once

namespace trainrt {
class Context;
class Predictions;
}  // namespace trainrt

namespace trainrt::frameworks {

/// Trains an MLP on [data.train], evaluates it on [data.test] after every epoch, and reports `loss`, `test_loss` and
/// `test_accuracy` over all ranks. The [loop] keys are listed in torch.json. For the same ranks, kind of CPU and
/// `threads`, its weights are the same bits however often the run was stopped and continued.
void fashion_mnist(Context& ctx);

/// What `trainrt check` calls (TrainFunction::check).
void check_fashion_mnist(Context& ctx);

/// `logits`, `label` and `probability` of each image (predict_classes()).
void predict_fashion_mnist(Context& ctx, Predictions& predictions);

}  // namespace trainrt::frameworks
