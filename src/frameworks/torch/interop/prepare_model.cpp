#include <trainrt/interop/torch.hpp>

namespace trainrt {

Gradients prepare_model(TorchModel model, Context& ctx) {
  broadcast_model(ctx.communicator(), model);
  if (!ctx.gpus().empty()) model.to_gpu(ctx.gpus().front());
  return Gradients(ctx.communicator(), model, ctx.gradient_options());
}

}  // namespace trainrt
