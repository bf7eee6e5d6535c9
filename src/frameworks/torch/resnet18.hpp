#pragma once

namespace trainrt {
class Context;
class Predictions;
}  // namespace trainrt

namespace trainrt::frameworks {

/// Trains a ResNet-18 on the images of [data.train], evaluates it on [data.test] after every epoch, and reports `loss`,
/// `test_loss` and `test_accuracy` over all ranks. The [loop] keys are listed in torch.json. BatchNorm's statistics are
/// each rank's own. For the same ranks, kind of processor and `threads`, its weights are the same bits however often the
/// run was stopped and continued.
void resnet18(Context& ctx);

/// What `trainrt check` calls (TrainFunction::check).
void check_resnet18(Context& ctx);

/// The same of predictions: `logits`, `label` and `probability` (predict_classes()), with rank 0's BatchNorm statistics.
void predict_resnet18(Context& ctx, Predictions& predictions);

}  // namespace trainrt::frameworks
