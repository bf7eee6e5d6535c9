// A train function with a State of `mebibytes` MiB (a key of [loop]), so that its checkpoints go to a store in several
// parts.
//   g++ -shared -fPIC -std=c++20 -Iinclude big_state.cpp -o libbig_state.so
#include <vector>

#include <trainrt/trainrt.hpp>

namespace {

void train(trainrt::Context& ctx) {
  std::vector<float> values(static_cast<std::size_t>(ctx.config<int>("mebibytes")) << 18);
  int epoch = 0;
  trainrt::State state;
  state.tensor("values", values);
  state.value("epoch", epoch);
  ctx.restore(state);
  while (epoch < ctx.config<int>("epochs")) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += static_cast<float>((i * 7 + 3) % 1013);
    ctx.step();
    ++epoch;
    ctx.report({{"epoch", epoch}});
  }
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("big_state", train)
