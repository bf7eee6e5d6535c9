#pragma once

namespace trainrt {
class Context;
}

namespace trainrt::frameworks {

/// Trains a ResNet-18 on the images of [data.train], evaluates it on [data.test] after every epoch, and reports `loss`,
/// `test_loss` and `test_accuracy` over all ranks. The [loop] keys are listed in torch.json. BatchNorm's statistics are
/// each rank's own. For the same ranks, kind of processor and `threads`, its weights are the same bits however often the
/// run was stopped and continued.
void resnet18(Context& ctx);

}  // namespace trainrt::frameworks
