#include "cli/data/bench/measured_rates.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <trainrt/random.hpp>

#include "batch/signals.hpp"
#include "cli/data/opened_data.hpp"
#include "core/host.hpp"
#include "core/process/thread.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::cli::datasets {

namespace {

/// Repeats an action in several threads until a time limit is reached or a stop signal arrives.
class Until {
 public:
  explicit Until(double seconds) : began_s_(monotonic_seconds()), seconds_(seconds) {}

  /// Calls `turn(thread)` repeatedly in each of `threads` threads. A thread ends when `turn` returns false. Rethrows an
  /// exception of a thread.
  void run(int threads, const std::function<bool(int thread)>& turn) {
    std::vector<std::thread> others;
    for (int thread = 1; thread < threads; ++thread)
      others.push_back(thread_without_signals([this, &turn, thread] { walk(thread, turn); }));
    walk(0, turn);
    for (auto& thread : others) thread.join();
    if (error_) std::rethrow_exception(error_);
  }
  double elapsed_s() const { return std::max(monotonic_seconds() - began_s_, 1e-9); }
  bool is_over() const { return elapsed_s() >= seconds_ || batch::stop_signal() != 0; }

 private:
  void walk(int thread, const std::function<bool(int)>& turn) try {
    while (!is_over() && turn(thread)) {
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
  }

  double began_s_, seconds_;
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// Drops a file's clean pages from the page cache.
void drop_from_page_cache(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

}  // namespace

Rate measure_storage(const OpenedData& opened, const data::ReadMethod& method, bool at_random, std::uint64_t piece,
                     int threads, double seconds) {
  constexpr std::uint64_t large_piece = 1 << 20;
  data::DataFile file;
  for (const auto& entry : opened.listing.entries)
    if (entry.file.size > file.size) file = entry.file;
  file.read_method = &method;
  drop_from_page_cache(file.path);
  const data::InputFile input(file);
  const auto bytes = std::min(at_random ? piece : large_piece, file.size), pieces = file.size / bytes;
  const std::size_t per_call = at_random ? 64 : 1;
  std::vector<std::vector<std::byte>> memory(static_cast<std::size_t>(threads), std::vector<std::byte>(per_call * bytes));
  std::atomic<std::uint64_t> next = 0;
  Until until(seconds);
  until.run(threads, [&](int thread) {
    const std::span<std::byte> into = memory[static_cast<std::size_t>(thread)];
    std::vector<data::FilePart> parts;
    for (std::size_t i = 0; i < per_call; ++i) {
      const auto number = next++;
      parts.push_back(
          {(at_random ? Random(1, number).below(pieces) : number % pieces) * bytes, into.subspan(i * bytes, bytes)});
    }
    input.read(parts);
    return next * bytes < file.size;  // a second pass would read from the page cache
  });
  return {.what = fmt::format("bytes {} by {}", at_random ? "at random" : "in order", method.name),
          .threads = threads,
          .seconds = until.elapsed_s(),
          .bytes = next * bytes};
}

Rate measure_samples(const OpenedData& opened, int threads, double seconds) {
  const auto each = samples_at_once(opened), size = opened.size();
  const auto fields = all_fields(opened);
  std::atomic<std::uint64_t> next = 0, samples = 0, bytes = 0;
  data::StageTimes times;
  Until until(seconds);
  until.run(threads, [&](int) {
    const auto first = next++ % ((size + each - 1) / each) * each;
    const data::StageClock clock(times, 1);
    const auto count = std::min(each, size - first);
    for (const auto& column : read_samples(opened.source(), fields, first, count)) bytes += column.values.size();
    samples += count;
    return true;
  });
  return {.what = "samples in order",
          .threads = threads,
          .seconds = until.elapsed_s(),
          .samples = samples,
          .bytes = bytes,
          .stage_s = times.seconds()};
}

Rate measure_batches(const OpenedData& opened, std::size_t batch_size, bool shuffled, int threads, double seconds) {
  auto keys = opened.keys;
  keys.set("shuffle", {shuffled || keys.has("weights") ? "true" : "false", std::string(command_line)});
  keys.set("threads", {std::to_string(threads), std::string(command_line)});
  auto sections = opened.others;
  sections.insert_or_assign(opened.name, keys);
  const auto impl = LocalDatasets(std::move(sections), opened.seed).open(opened.name);
  const Dataset dataset(impl);
  Rate rate{.what = fmt::format("batches {}", shuffled ? "shuffled" : "in order"), .threads = threads};
  const Until until(seconds);
  for (std::int64_t epoch = 0; !until.is_over(); ++epoch)
    for (const auto& batch : dataset.epoch(epoch).batches(batch_size, Remainder::uneven)) {
      for (const auto& field : dataset.fields())
        rate.bytes += field.varies ? batch.varying(field.name, 0).bytes() * batch.size() : batch.field(field.name).bytes();
      rate.samples += batch.size();
      if (until.is_over()) break;
    }
  rate.seconds = until.elapsed_s();
  rate.stage_s = impl->walk().stages().seconds();
  return rate;
}

namespace {

/// Returns the rate with the most bytes per second among those whose `what` begins with `prefix`; nullptr if there is
/// none.
const Rate* best_of(const std::vector<Rate>& rates, std::string_view prefix) {
  const Rate* best = nullptr;
  for (const auto& rate : rates)
    if (rate.what.starts_with(prefix) && (best == nullptr || rate.bytes_per_second() > best->bytes_per_second()))
      best = &rate;
  return best;
}

constexpr double clearly = 1.3;  // minimum ratio of two rates for which advice is given

std::string advice_for_threads(const std::vector<Rate>& rates) {
  const auto one = std::ranges::find(rates, "batches shuffled", &Rate::what);
  const auto* const best = best_of(rates, "batches shuffled");
  if (one == rates.end() || best->samples_per_second() < clearly * one->samples_per_second()) return {};
  return fmt::format("threads = {} reads {:.1f} times as many samples per second as threads = {}", best->threads,
                     best->samples_per_second() / one->samples_per_second(), one->threads);
}

std::string advice_for_order(const std::vector<Rate>& rates) {
  const auto *const shuffled = best_of(rates, "batches shuffled"), *const in_order = best_of(rates, "batches in order");
  if (shuffled == nullptr || in_order == nullptr ||
      in_order->samples_per_second() < clearly * shuffled->samples_per_second())
    return {};
  return fmt::format(
      "a shuffled order takes {:.1f} times as long as the order of the files: keep the values in memory "
      "(memory =), shuffle in blocks (block =), or convert the files",
      in_order->samples_per_second() / shuffled->samples_per_second());
}

/// Returns advice on the key read_method, or "" if pread is about as fast as the other methods. Ignores the rate of
/// mmap: mmap reads small files ahead completely, so its rate does not apply to large files.
std::string advice_for_read_method(std::vector<Rate> rates) {
  std::erase_if(rates, [](const auto& rate) { return rate.what.ends_with(" mmap"); });
  const auto *const pread = best_of(rates, "bytes at random by pread"), *const best = best_of(rates, "bytes at random");
  if (pread == nullptr || best->bytes_per_second() < clearly * pread->bytes_per_second()) return {};
  const auto name = best->what.substr(best->what.rfind(' ') + 1);
  return fmt::format("read_method = {} reads uncached bytes at random offsets {:.1f} times as fast as pread", name,
                     best->bytes_per_second() / pread->bytes_per_second());
}

std::string advice_for_stage(const std::vector<Rate>& rates) {
  const auto* const batches = best_of(rates, "batches shuffled");
  if (batches == nullptr) return {};
  const double all = std::accumulate(batches->stage_s.begin(), batches->stage_s.end(), 0.0);
  if (all < batches->seconds / 2) return {};  // the samples come from memory
  if (batches->stage_s[static_cast<std::size_t>(data::Stage::decode)] > all / 2)
    return "unpacking and parsing take most of the time: "
           "convert the files once with trainrt data convert";
  if (batches->stage_s[static_cast<std::size_t>(data::Stage::transform)] > all / 2)
    return "keys that change values take most of the time: set materialize = true, or apply these keys once with trainrt "
           "data convert";
  return {};
}

}  // namespace

std::vector<std::string> advice_for(const std::vector<Rate>& rates) {
  std::vector<std::string> advice;
  for (auto text :
       {advice_for_threads(rates), advice_for_order(rates), advice_for_read_method(rates), advice_for_stage(rates)})
    if (!text.empty()) advice.push_back(std::move(text));
  return advice;
}

}  // namespace trainrt::cli::datasets
