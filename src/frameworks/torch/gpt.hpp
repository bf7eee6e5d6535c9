#pragma once

namespace trainrt {
class Context;
class Predictions;
}  // namespace trainrt

namespace trainrt::frameworks {

/// Trains a GPT-2 on windows of tokens, [data.train], to predict each next token, and reports `loss`, and `test_loss` if
/// there is [data.test]. The [loop] keys are listed in torch.json. For the same ranks, kind of processor and `threads`, its
/// weights are the same bits however often the run was stopped and continued.
void gpt(Context& ctx);

/// What `trainrt check` calls (TrainFunction::check).
void check_gpt(Context& ctx);

/// `loss` f32 of each window: the mean cross entropy of its tokens but the first.
void predict_gpt(Context& ctx, Predictions& predictions);

}  // namespace trainrt::frameworks
