#pragma once

namespace trainrt {
class Context;
class Predictions;
}  // namespace trainrt

namespace trainrt::frameworks {

/// Trains a GPT-2 on the token windows of [data.train] to predict each next token. Reports `loss`, and `test_loss` if
/// [data.test] exists. torch.json lists the [loop] keys. Stops and restarts do not change the bits of the weights if the
/// number of ranks, the model of CPU or GPU and `threads` stay the same.
void gpt(Context& ctx);

/// Checks [loop] and the datasets, for `trainrt check` (TrainFunction::check).
void check_gpt(Context& ctx);

/// Predicts one f32 field `loss` per window: the mean cross entropy of its tokens, without the first token.
void predict_gpt(Context& ctx, Predictions& predictions);

}  // namespace trainrt::frameworks
