#pragma once

namespace trainrt {
class Context;
class Predictions;
}  // namespace trainrt

namespace trainrt::frameworks {

/// Trains a TorchScript model on [data.train]. The model was created by torch.jit.script() or torch.jit.trace() and written
/// by torch.jit.save(). Reports `loss`; if [data.test] exists, also `test_loss`, and `test_accuracy` for losses over
/// classes. torch.json lists the [loop] keys. The model file is code, which runs with the user's permissions. Stops and
/// restarts do not change the bits of the weights if the number of ranks, the model of CPU or GPU and `threads` stay the
/// same.
void torchscript(Context& ctx);

/// Checks [loop], the model and the datasets, for `trainrt check` (TrainFunction::check).
void check_torchscript(Context& ctx);

/// Predicts one field `output`, the result of forward(). The first axis of this tensor must be the samples. The dataset
/// must have the fields of the [loop] key inputs, and may lack the target.
void predict_torchscript(Context& ctx, Predictions& predictions);

}  // namespace trainrt::frameworks
