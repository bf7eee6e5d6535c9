#pragma once

namespace trainrt {
class Context;
class Predictions;
}  // namespace trainrt

namespace trainrt::frameworks {

/// Trains a ResNet-18 on the images of [data.train], evaluates it on [data.test] after every epoch, and reports `loss`,
/// `test_loss` and `test_accuracy` over all ranks. torch.json lists the [loop] keys. Each rank has its own BatchNorm
/// statistics. Stops and restarts do not change the bits of the weights if the number of ranks, the model of CPU or GPU and
/// `threads` stay the same.
void resnet18(Context& ctx);

/// Checks [loop] and the datasets, for `trainrt check` (TrainFunction::check).
void check_resnet18(Context& ctx);

/// Predicts `logits`, `label` and `probability` for each image (see predict_classes()). Uses the BatchNorm statistics
/// of rank 0.
void predict_resnet18(Context& ctx, Predictions& predictions);

}  // namespace trainrt::frameworks
