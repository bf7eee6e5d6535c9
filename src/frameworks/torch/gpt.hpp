#pragma once

namespace trainrt {
class Context;
}

namespace trainrt::frameworks {

/// Trains a GPT-2 on windows of tokens, [data.train], to predict each next token, and reports `loss`, and `test_loss` if
/// there is [data.test]. The [loop] keys are listed in torch.json. For the same ranks, kind of processor and `threads`, its
/// weights are the same bits however often the run was stopped and continued.
void gpt(Context& ctx);

}  // namespace trainrt::frameworks
