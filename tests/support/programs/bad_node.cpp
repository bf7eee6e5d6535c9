// A train function that fails or is slow on chosen nodes: [loop] kill, crash, hang and slow are names of nodes, or empty.
//   g++ -shared -fPIC -std=c++20 -Iinclude bad_node.cpp -o libbad_node.so
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include <unistd.h>
#include <trainrt/trainrt.hpp>

namespace {

constexpr int at_step = 3;  // step of each attempt at which the trouble begins

void pause_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Returns whether this rank is the first rank of a node that the key names, and the node's step has come. The second
/// node in "n2,n3" fails a few steps after the first node.
bool is_here(trainrt::Context& ctx, const std::string& key, int steps_here) {
  const auto* node = std::getenv("SLURMD_NODENAME");
  const auto* local_rank = std::getenv("SLURM_LOCALID");
  if (node == nullptr || local_rank == nullptr || std::string(local_rank) != "0" || steps_here % at_step != 0 ||
      steps_here == 0)
    return false;
  const auto place = ctx.config<std::string>(key, "").find(node);
  return place != std::string::npos && static_cast<int>(place) / 3 == steps_here / at_step - 1;
}

void train(trainrt::Context& ctx) {
  const auto slow = ctx.config<std::string>("slow", "");
  const auto* node = std::getenv("SLURMD_NODENAME");
  const double work_s = node != nullptr && slow == node ? 0.02 : 0.005;
  int step = 0;
  trainrt::State state;
  state.value("step", step);
  ctx.restore(state);
  const int first = step;
  while (step < ctx.config<int>("steps", 20)) {
    const int steps_here = step - first;
    if (is_here(ctx, "kill", steps_here)) kill(getpid(), SIGKILL);
    if (is_here(ctx, "crash", steps_here)) kill(getpid(), SIGSEGV);
    if (is_here(ctx, "hang", steps_here)) pause_for(600);
    pause_for(work_s);
    ctx.communicator().all_reduced(1.0, trainrt::Op::sum);
    ++step;
    ctx.step();
  }
  ctx.report({{"step", step}});
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("bad_node", train)
