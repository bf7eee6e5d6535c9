#pragma once

namespace torch::optim {
class Optimizer;
}

namespace trainrt::frameworks {

/// Takes one step of the optimizer. For SGD, Adam and AdamW on a GPU one kernel updates many parameters, where libtorch's
/// own step launches several kernels per parameter; bits differ from those of libtorch's step. Requires that
/// attach_optimizer has made the optimizer's state, and that every parameter has a gradient; takes libtorch's step
/// otherwise.
void take_step(torch::optim::Optimizer& optimizer);

}  // namespace trainrt::frameworks
