// A train function that prints by all means of C and C++. Rank [loop] rank then ends as [loop] end requests, at step
// `steps`.
//   g++ -shared -fPIC -std=c++20 -Iinclude prints.cpp -o libprints.so
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>
#include <trainrt/trainrt.hpp>

namespace {

volatile int zero = 0;
int* volatile nowhere = nullptr;

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = write(fd, text.data(), text.size());
    if (written <= 0) throw std::runtime_error("nothing can be written");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Ranks print one after another, so that the order of the lines is known.
void print_in_every_way(const std::string& rank) {
  std::printf("%s: printf\n", rank.c_str());
  std::puts((rank + ": puts").c_str());
  std::cout << rank << ": cout" << '\n';
  put(1, rank + ": write\n");
  std::cerr << rank + ": cerr\n";  // a single write; standard output could come between two writes
  std::fflush(nullptr);
  if (const auto child = fork(); child == 0) {
    std::cout << rank << ": child\n";
    std::exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  put(1, "\r 50 %\r100 %\n\xff\n");
}

void print_much(const std::string& rank, int lines) {
  for (int i = 0; i < lines; ++i) std::printf("%s: line %d\n", rank.c_str(), i);
}

void end(const std::string& way) {
  if (way == "segfault") *nowhere = 1;
  if (way == "abort") std::abort();
  if (way == "exit") std::exit(0);
  if (way == "throw") throw std::runtime_error("no such luck");
  if (way == "kill") {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // lets the reader of the pipe read first
    kill(getpid(), SIGKILL);
  }
  if (way == "daemon") zero = std::system("setsid sleep 1000 &");  // inherits the output
  if (way == "slow") std::this_thread::sleep_for(std::chrono::seconds(1000));
}

void train(trainrt::Context& ctx) {
  const auto rank = std::to_string(ctx.world_rank());
  const auto way = ctx.config<std::string>("end", "return");
  const bool here = ctx.world_rank() == ctx.config<int>("rank", 0);
  const auto steps = ctx.config<int>("steps", 2);
  int step = 0;
  trainrt::State state;
  state.value("step", step);
  ctx.restore(state);
  print_in_every_way(rank);
  print_much(rank, ctx.config<int>("lines", 1000));
  while (step < steps) {
    ctx.communicator().all_reduced(1.0, trainrt::Op::sum);
    ++step;
    std::printf("%s: step %d\n", rank.c_str(), step);
    ctx.report({{"step", step}});
  }
  ctx.save();
  if (here) end(way);
  ctx.communicator().barrier();
  std::printf("%s: end", rank.c_str());
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("prints", train)
