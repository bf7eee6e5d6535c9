#include "cli/datasets/measured_rates.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <trainrt/random.hpp>

#include "batch/signals.hpp"
#include "cli/datasets/whole_datasets.hpp"
#include "core/host.hpp"
#include "core/process/thread.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::cli::datasets {

namespace {

/// Threads that do the same until time is up. What one of them throws is thrown.
class Until {
 public:
  explicit Until(double seconds) : began_s_(monotonic_seconds()), seconds_(seconds) {}

  /// `turn(thread)`, again and again; false ends that thread.
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

std::vector<data::DataFile> files_of(const data::Listing& listing) {
  std::vector<data::DataFile> files;
  for (const auto& entry : listing.entries)
    if (entry.file.size > 0) files.push_back(entry.file);
  return files;
}

/// As if nobody had read it: what was written and is not on disk yet stays.
void forget(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

std::uint64_t bytes_of(const std::vector<data::Column>& columns) {
  std::uint64_t bytes = 0;
  for (const auto& column : columns) bytes += column.values.size();
  return bytes;
}

/// Where the next pieces of a file lie.
class Pieces {
 public:
  Pieces(std::uint64_t file_bytes, std::uint64_t piece, bool at_random)
      : file_bytes_(file_bytes), piece_(std::min(piece, file_bytes)), at_random_(at_random) {}
  std::uint64_t piece() const { return piece_; }
  std::uint64_t at(std::uint64_t number) const {
    const auto places = file_bytes_ / piece_;
    return (at_random_ ? Random(1, number).below(places) : number % places) * piece_;
  }

 private:
  std::uint64_t file_bytes_, piece_;
  bool at_random_;
};

}  // namespace

Rate measure_storage(const OpenedData& opened, const data::ReadWay& way, bool at_random, std::uint64_t piece, int threads,
                     double seconds) {
  constexpr std::uint64_t large = 1 << 20;
  constexpr std::size_t together = 64;
  auto file = std::ranges::max(files_of(opened.listing), {}, &data::DataFile::size);
  file.way = &way;
  forget(file.path);
  const data::InputFile input(file);
  const Pieces pieces(file.size, at_random ? piece : large, at_random);
  const std::size_t parts = at_random ? together : 1;
  std::vector<std::vector<std::byte>> memory(static_cast<std::size_t>(threads));
  for (auto& each : memory) each.resize(parts * pieces.piece());
  std::atomic<std::uint64_t> next = 0;
  Until until(seconds);
  until.run(threads, [&](int thread) {
    const std::span<std::byte> into = memory[static_cast<std::size_t>(thread)];
    std::vector<data::FilePart> wanted;
    for (std::size_t i = 0; i < parts; ++i)
      wanted.push_back({pieces.at(next++), into.subspan(i * pieces.piece(), pieces.piece())});
    input.read(wanted);
    return next * pieces.piece() < file.size;  // the second time it comes from the page cache
  });
  return {.what = fmt::format("bytes {} by {}", at_random ? "at random" : "in order", way.name),
          .threads = threads,
          .seconds = until.elapsed_s(),
          .bytes = next * pieces.piece()};
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
    bytes += bytes_of(read_samples(opened.source(), fields, first, count));
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
  const auto impl = WholeDatasets(std::move(sections), opened.seed).open(opened.name);
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

/// The best of those that begin so; nullptr if there is none.
const Rate* best_of(const std::vector<Rate>& rates, std::string_view beginning) {
  const Rate* best = nullptr;
  for (const auto& rate : rates)
    if (rate.what.starts_with(beginning) && (best == nullptr || rate.bytes_a_second() > best->bytes_a_second()))
      best = &rate;
  return best;
}

const Rate* first_of(const std::vector<Rate>& rates, std::string_view what) {
  for (const auto& rate : rates)
    if (rate.what == what) return &rate;
  return nullptr;
}

constexpr double clearly = 1.3;

std::string advice_for_threads(const std::vector<Rate>& rates) {
  const auto *const one = first_of(rates, "batches shuffled"), *const best = best_of(rates, "batches shuffled");
  if (one == nullptr || best->samples_a_second() < clearly * one->samples_a_second()) return {};
  return fmt::format("threads = {} give {:.1f} times the samples of {}", best->threads,
                     best->samples_a_second() / one->samples_a_second(), one->threads);
}

std::string advice_for_order(const std::vector<Rate>& rates) {
  const auto *const shuffled = best_of(rates, "batches shuffled"), *const in_order = best_of(rates, "batches in order");
  if (shuffled == nullptr || in_order == nullptr || in_order->samples_a_second() < clearly * shuffled->samples_a_second())
    return {};
  return fmt::format(
      "a shuffled order costs {:.1f} times as much as the order of the files: keep the values in memory (memory =), "
      "shuffle "
      "in blocks (block =), or convert the files",
      in_order->samples_a_second() / shuffled->samples_a_second());
}

/// Of a small file mmap(2) has soon read all of it ahead: its rate says nothing of a large one.
std::string advice_for_way(std::vector<Rate> rates) {
  std::erase_if(rates, [](const auto& rate) { return rate.what.ends_with(" mmap"); });
  const auto *const usual = best_of(rates, "bytes at random by pread"), *const best = best_of(rates, "bytes at random");
  if (usual == nullptr || best->bytes_a_second() < clearly * usual->bytes_a_second()) return {};
  const auto name = best->what.substr(best->what.rfind(' ') + 1);
  return fmt::format("read = {} gives {:.1f} times the bytes at random of pread, if they lie in no cache", name,
                     best->bytes_a_second() / usual->bytes_a_second());
}

std::string advice_for_stage(const std::vector<Rate>& rates) {
  const auto* const batches = best_of(rates, "batches shuffled");
  if (batches == nullptr) return {};
  double all = 0;
  for (const auto seconds : batches->stage_s) all += seconds;
  constexpr double most = 0.5;
  if (all < most * batches->seconds) return {};  // they come from memory
  if (batches->stage_s[static_cast<std::size_t>(data::Stage::decode)] > most * all)
    return "most of the time goes into unpacking and parsing: trainrt data convert does it once";
  if (batches->stage_s[static_cast<std::size_t>(data::Stage::transform)] > most * all)
    return "most of the time goes into keys that change values: materialize = true, or trainrt data convert with these "
           "keys, "
           "does it once";
  return {};
}

}  // namespace

std::vector<std::string> advice_for(const std::vector<Rate>& rates) {
  std::vector<std::string> advice;
  for (auto text : {advice_for_threads(rates), advice_for_order(rates), advice_for_way(rates), advice_for_stage(rates)})
    if (!text.empty()) advice.push_back(std::move(text));
  return advice;
}

}  // namespace trainrt::cli::datasets
