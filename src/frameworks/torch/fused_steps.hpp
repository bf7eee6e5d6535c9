#pragma once

namespace torch::optim {
class Optimizer;
}

namespace trainrt::frameworks {

/// Takes one step of the optimizer. For SGD, Adam and AdamW on a GPU, one kernel updates many parameters, whereas the
/// optimizer's step() launches several kernels per parameter. The results of both differ in their last bits. Calls
/// step() instead if attach_optimizer() has not created the optimizer's state, or if a parameter has no gradient.
void take_step(torch::optim::Optimizer& optimizer);

}  // namespace trainrt::frameworks
