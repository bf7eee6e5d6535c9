// A train function that fails as [loop] trouble requests, on rank `rank`, at step `at_step` of `steps`.
//   g++ -shared -fPIC -std=c++20 -Iinclude trouble.cpp -o libtrouble.so
#include <chrono>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <trainrt/trainrt.hpp>

namespace {

volatile int zero = 0;
int* volatile nowhere = nullptr;

[[gnu::noinline]] void loops_for_ever() {
  while (zero == 0) {
  }
}
[[gnu::noinline]] void writes_to_nowhere() { *nowhere = 1; }
[[gnu::noinline]] int divides_by_zero() { return 7 / zero; }
[[gnu::noinline]] void calls_abort() {
  if (zero == 0) std::abort();
}
[[gnu::noinline]] void throws_an_error() {
  if (zero == 0) throw std::runtime_error("no such luck\nsecond line");
}
[[gnu::noinline]] void reads_beyond_the_end() { zero = std::vector<int>(1).at(static_cast<std::size_t>(zero + 1)); }
[[gnu::noinline]] void throws_a_number() {
  if (zero == 0) throw 42;
}
[[gnu::noinline]] void throws_where_none_may_leave() noexcept { throws_an_error(); }
void cannot_use_the_config(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  throw trainrt::UsageError("loop.trouble: 'usage' is of no use");
}
[[gnu::noinline]] int calls_itself(int depth) {
  volatile char room[4096] = {};
  room[0] = static_cast<char>(depth);
  return zero == 0 ? calls_itself(depth + 1) + room[0] : 0;
}

[[gnu::noinline]] void wants_a_petabyte() {
  char* volatile memory = new char[zero == 0 ? std::size_t{1} << 50 : 1];
  delete[] memory;
}

void get_into(const std::string& trouble, double seconds) {
  if (trouble == "loop") loops_for_ever();
  if (trouble == "segfault") writes_to_nowhere();
  if (trouble == "divide") zero = divides_by_zero();
  if (trouble == "abort") calls_abort();
  if (trouble == "throw") throws_an_error();
  if (trouble == "index") reads_beyond_the_end();
  if (trouble == "strange") throws_a_number();
  if (trouble == "terminate") throws_where_none_may_leave();
  if (trouble == "overflow") zero = calls_itself(0);
  if (trouble == "memory") wants_a_petabyte();
  if (trouble == "sleep") std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

void train(trainrt::Context& ctx) {
  const auto trouble = ctx.config<std::string>("trouble");
  const bool here = ctx.world_rank() == ctx.config<int>("rank", 0);
  const auto at_step = ctx.config<int>("at_step", 3);
  const auto seconds = ctx.config<double>("seconds", 0);
  if (trouble == "usage") cannot_use_the_config(ctx.world_rank() * seconds);
  int step = 0;
  float weight = 0;
  trainrt::State state;
  state.value("step", step);
  state.tensor("weight", std::span(&weight, 1));
  ctx.restore(state);
  while (step < ctx.config<int>("steps", 6)) {
    if (here && step == at_step) get_into(trouble, seconds);
    if (here && step == at_step && trouble == "differ") weight = 1;
    ctx.communicator().all_reduced(1.0, trainrt::Op::sum);
    ++step;
    ctx.step();
  }
  ctx.report({{"step", step}});
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("trouble", train)
