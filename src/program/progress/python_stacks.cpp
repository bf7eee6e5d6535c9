#include "program/progress/python_stacks.hpp"

#include <chrono>
#include <csignal>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "core/host.hpp"
#include "core/output/output_tee.hpp"
#include "core/process/processes.hpp"

namespace trainrt::program {

namespace {

constexpr std::size_t max_stacks = 8;
constexpr double max_wait_s = 2;
constexpr double max_drain_s = 0.5;
constexpr std::string_view fault_headline = "Fatal Python error: Aborted";

struct Frame {
  std::string file;
  std::string place;  ///< line and function: "line 7 in step"
};

void wait_for_end(pid_t process) {
  const double end_s = monotonic_seconds() + max_wait_s;
  while (runs(process) && monotonic_seconds() < end_s) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

std::string stacks_of(pid_t process, const Child& program) {
  auto text = fmt::format("process {}: {}\n", process, command_text(process));
  const rlimit none{};
  prlimit(process, RLIMIT_CORE, &none, nullptr);
  const auto before = program.output_bytes();
  kill(process, SIGABRT);
  kill(process, SIGCONT);
  wait_for_end(process);
  const auto output = program.output_tail();
  const auto start = program.output_bytes() == before ? std::string::npos : output.rfind(fault_headline);
  kill(process, SIGKILL);
  if (start == std::string::npos)
    return text + "  (no stack was printed: standard error is redirected, or faulthandler is missing)\n";
  return text + output.substr(start) + "\n";
}

/// Returns the frame in one line of a stack, such as `  File "/x/train.py", line 7 in step`.
std::optional<Frame> frame_of(std::string_view line) {
  constexpr std::string_view beginning = "  File \"";
  const auto end = line.rfind("\", ");
  if (!line.starts_with(beginning) || end == std::string_view::npos || end < beginning.size()) return std::nullopt;
  return Frame{std::string(line.substr(beginning.size(), end - beginning.size())), std::string(line.substr(end + 3))};
}

/// Returns the stack of the main thread of each process, innermost frame first. In the output of a process, the main
/// thread comes last.
std::vector<std::vector<Frame>> main_threads(std::string_view stacks) {
  std::vector<std::vector<Frame>> threads;
  std::istringstream in{std::string(stacks)};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(fault_headline) || line == live_headline) threads.emplace_back();
    if (threads.empty()) continue;
    if (line.starts_with("Thread 0x") || line.starts_with("Current thread 0x")) threads.back().clear();
    if (const auto frame = frame_of(line)) threads.back().push_back(*frame);
  }
  return threads;
}

/// Returns the innermost function of torch.distributed or torch.autograd on the stack `frames`. Returns "" if a frame
/// outside of torch is further in, or if there is no such function.
std::string collective_of(const std::vector<Frame>& frames) {
  for (const auto& [file, place] : frames) {
    if (file.find("/torch/") == std::string::npos) return {};
    if (file.find("/torch/distributed/") != std::string::npos || file.find("/torch/autograd/") != std::string::npos)
      return place.substr(place.rfind(' ') + 1);
  }
  return {};
}

}  // namespace

void freeze(const Child& program) {
  for (const pid_t process : with_descendants(program.pid())) kill(process, SIGSTOP);
}

std::string end_with_python_stacks(const Child& program) {
  std::string text;
  std::size_t count = 0;
  const auto processes = with_descendants(program.pid());
  if (const auto output = program.output()) {
    output->drain(max_drain_s);
    output->show(false);
  }
  for (const pid_t process : processes)
    if (is_python(process) && count++ < max_stacks) text += stacks_of(process, program);
  for (const pid_t process : processes) kill(process, SIGCONT);  // for processes that outlive the program
  return text.empty() ? fmt::format("process {}: {}\n  (the program has no Python process)\n", program.pid(),
                                    command_text(program.pid()))
                      : text;
}

PythonPosition python_position(std::string_view stacks) {
  PythonPosition first;
  for (const auto& frames : main_threads(stacks)) {
    if (frames.empty()) continue;
    const auto& [file, place] = frames.front();
    PythonPosition position{collective_of(frames), fmt::format("{}, {}", file.substr(file.rfind('/') + 1), place)};
    if (!position.collective.empty()) return position;
    if (first.innermost.empty()) first = position;
  }
  return first;
}

}  // namespace trainrt::program
