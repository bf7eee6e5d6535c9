// CUDA loads this library into every process that has CUDA_INJECTION64_PATH=kernel_trace.so in its environment. At the end
// of the process it prints to standard error the kernels that took longest and the time in which no kernel ran:
//   trace kernel MS COUNT NAME        (three lines)
//   trace gaps MS of MS               (between kernels, from the first to the last of the second half of all kernels)
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <cupti.h>
#include <cxxabi.h>

namespace {

struct Kernel {
  std::uint64_t start, end;  // ns
  std::string name;
};

std::mutex mutex;
std::vector<Kernel> kernels;

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *bytes = std::size_t{4} << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *bytes));
  *max_records = 0;
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  const std::lock_guard lock(mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
    kernels.push_back({kernel->start, kernel->end, kernel->name ? kernel->name : "?"});
  }
  std::free(buffer);
}

std::string readable(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = text ? text : name;
  std::free(text);
  return result.substr(0, 80);
}

void print_largest() {
  std::map<std::string, std::pair<std::uint64_t, int>> totals;
  for (const auto& kernel : kernels) {
    auto& total = totals[kernel.name];
    total.first += kernel.end - kernel.start;
    ++total.second;
  }
  std::vector<std::pair<std::string, std::pair<std::uint64_t, int>>> sorted(totals.begin(), totals.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  for (std::size_t i = 0; i < std::min<std::size_t>(3, sorted.size()); ++i)
    std::fprintf(stderr, "trace kernel %.1f %d %s\n", static_cast<double>(sorted[i].second.first) / 1e6,
                 sorted[i].second.second, readable(sorted[i].first).c_str());
}

/// Prints the gaps of the second half of all kernels. The first half contains the warm-up.
void print_gaps() {
  std::sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  std::uint64_t gaps = 0;
  std::uint64_t last = kernels[kernels.size() / 2].start;
  const auto first = last;
  for (std::size_t i = kernels.size() / 2; i < kernels.size(); ++i) {
    if (kernels[i].start > last) gaps += kernels[i].start - last;
    last = std::max(last, kernels[i].end);
  }
  std::fprintf(stderr, "trace gaps %.1f of %.1f\n", static_cast<double>(gaps) / 1e6,
               static_cast<double>(last - first) / 1e6);
}

void print() {
  cuptiActivityFlushAll(1);
  const std::lock_guard lock(mutex);
  if (kernels.empty()) return;
  print_largest();
  print_gaps();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS) return 0;
  if (cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS) return 0;
  std::atexit(print);
  return 1;
}
