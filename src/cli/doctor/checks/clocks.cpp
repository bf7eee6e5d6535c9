// Do the nodes' clocks agree? Read together after a barrier, several times: the median leaves out who came late.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "cli/doctor/doctor_check.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr int rounds = 9;
constexpr double tolerance_seconds = 0.5;
using Readings = std::array<double, rounds>;

Readings read_clock(Communicator& communicator) {
  Readings readings;
  for (auto& reading : readings) {
    communicator.barrier();
    reading = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  return readings;
}

double median_difference(const Readings& a, const Readings& b) {
  Readings differences;
  std::ranges::transform(a, b, differences.begin(), std::minus<>());
  std::ranges::nth_element(differences, differences.begin() + rounds / 2);
  return differences[rounds / 2];
}

Finding examine_clocks(const Examination& examination) {
  if (examination.world().node_count == 1) return ok("one node, one clock");
  const auto mine = read_clock(examination.communicator());
  const auto answers = examination.ask_nodes([&] { return Json(mine); });
  if (!answers.well()) return error(examination.describe(answers.troubles), "start the doctor again");
  const auto first = answers.of_rank.front().get<Readings>();
  double largest = 0;
  std::vector<Trouble> off;
  for (std::size_t node = 1; node < answers.of_rank.size(); ++node) {
    const auto difference = median_difference(answers.of_rank[node].get<Readings>(), first);
    largest = std::max(largest, std::abs(difference));
    if (std::abs(difference) > tolerance_seconds)
      off.push_back(
          {examination.leaders()[node], fmt::format("its clock is {:+.1f} s off that of rank 0's node", difference)});
  }
  const Json figures = {{"largest_difference_seconds", largest}};
  if (!off.empty())
    return warning(examination.describe(off),
                   "times in logs and files mislead, and munge fails at 5 minutes: have chrony or ntpd run there", figures);
  return ok(fmt::format("{} nodes agree within {:.1f} ms", examination.world().node_count, std::max(0.1, largest * 1000)),
            figures);
}

}  // namespace

extern const Check clocks;
const Check clocks{.name = "clocks", .help = "whether the nodes' clocks agree", .place = 120, .run = examine_clocks};

}  // namespace trainrt::cli::doctor::plugins
