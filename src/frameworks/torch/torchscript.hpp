#pragma once

namespace trainrt {
class Context;
class Predictions;
}  // namespace trainrt

namespace trainrt::frameworks {

/// Trains a model that torch.jit.script() or torch.jit.trace() made in Python and its save() wrote, on [data.train], and
/// reports `loss`, and over [data.test], if it is there, `test_loss` and, where the loss is over classes, `test_accuracy`.
/// The [loop] keys are listed in torch.json. The file is code, as a library is: it runs as the user. For the same ranks,
/// kind of processor and `threads`, the weights are the same bits however often the run was stopped and continued.
void torchscript(Context& ctx);

/// What `trainrt check` calls (TrainFunction::check).
void check_torchscript(Context& ctx);

/// `output`: what forward() returns for each sample, as a tensor whose first axis is over the samples. The fields are those
/// of [loop] inputs; the target need not be there.
void predict_torchscript(Context& ctx, Predictions& predictions);

}  // namespace trainrt::frameworks
