#include "io/files/striping.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/process/child_process.hpp"
#include "core/text/text.hpp"

namespace trainrt::io {

namespace {

constexpr std::size_t max_reason_bytes = 1000;  // maximum number of bytes of the output of `lfs` in a message
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

std::string in_one_line(std::string text) {
  text = trim(text);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Returns "" if `lfs` exited with 0, otherwise the reason for its failure.
std::string failure_of(const ChildOutput& child) {
  if (child.exit_code == 0) return "";
  if (child.exit_code == 127) return "cannot start the program 'lfs': " + child.text;
  const auto output = in_one_line(child.text.substr(0, max_reason_bytes));
  return "lfs setstripe: " +
         (child.exit_code > 128 ? fmt::format("killed by signal {}", child.exit_code - 128)
                                : fmt::format("exit code {}", child.exit_code)) +
         (output.empty() ? "" : ": " + output);
}

}  // namespace

Striping striping_for(std::uint64_t file_bytes, int files) {
  if (file_bytes < gibibyte) return {};
  const int targets = file_bytes < 64 * gibibyte ? 4 : 8;  // number of object storage targets for all files together
  // Large stripes on Lustre need fewer locks, and one request to a Lustre server usually carries 4 MiB.
  return {.count = std::max(1, targets / std::max(1, files)), .stripe_bytes = 4 * mebibyte};
}

std::string set_striping(const std::string& directory, const Striping& striping, double limit_seconds) {
  const auto child = run_child(
      {"lfs", "setstripe", "-c", std::to_string(striping.count), "-S", std::to_string(striping.stripe_bytes), directory},
      limit_seconds, ChildErrors::with_output);
  return child ? failure_of(*child) : fmt::format("lfs setstripe did not exit within {} s", limit_seconds);
}

}  // namespace trainrt::io
