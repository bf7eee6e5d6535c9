// Train function that reads every byte of every field of [data.train] and prints the samples per second of the second
// epoch. If the keys file and row_bytes of [loop] are set, it also reads the rows of that file in the same order by pread,
// with neighbouring rows in one call, and copies them in memory: the limits of the machine. cold = true removes the file
// from the page cache and measures the first epoch. batches is the maximum number of batches per epoch.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <trainrt/trainrt.hpp>

namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t touched(const void* data, std::size_t bytes) {
  std::uint64_t sum = 0, word = 0;
  const auto* at = static_cast<const std::byte*>(data);
  for (std::size_t i = 0; i + sizeof(word) <= bytes; i += sizeof(word)) {
    std::memcpy(&word, at + i, sizeof(word));
    sum += word;
  }
  return sum;
}

std::uint64_t walk(const trainrt::Dataset& data, std::int64_t epoch, std::size_t batch_size, std::uint64_t batches) {
  std::uint64_t sum = 0;
  for (const auto& batch : data.epoch(epoch).batches(batch_size)) {
    if (batches-- == 0) break;
    for (const auto& field : data.fields()) {
      for (std::size_t i = 0; field.varies && i < batch.size(); ++i) {
        const auto values = batch.varying(field.name, i);
        sum += touched(values.data, values.bytes());
      }
      if (field.varies) continue;
      const auto values = batch.field(field.name);
      sum += touched(values.data, values.bytes());
    }
  }
  return sum;
}

/// Reads the rows of a file in the order of the dataset's samples.
struct Rows {
  int fd = -1;
  std::uint64_t offset = 0, bytes = 0;
  std::vector<std::byte> memory;  ///< all rows; empty: rows are read from the file

  void read(std::uint64_t row, std::uint64_t count, std::byte* out) const {
    if (!memory.empty())
      std::memcpy(out, memory.data() + row * bytes, count * bytes);
    else if (::pread(fd, out, count * bytes, static_cast<off_t>(offset + row * bytes)) !=
             static_cast<ssize_t>(count * bytes))
      throw trainrt::Error("the file is too short");
  }
};

std::uint64_t walk(const Rows& rows, const std::vector<std::uint64_t>& order, std::size_t batch_size) {
  std::vector<std::byte> batch(batch_size * rows.bytes);
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + batch_size <= order.size(); at += batch_size) {
    for (std::size_t i = 0, count = 1; i < batch_size; i += count) {
      for (count = 1; i + count < batch_size && order[at + i + count] == order[at + i] + count;) ++count;
      rows.read(order[at + i], count, batch.data() + i * rows.bytes);
    }
    sum += touched(batch.data(), batch.size());
  }
  return sum;
}

void forget(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || ::fdatasync(fd) != 0 || ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
    throw trainrt::Error("the file stays in the page cache");
  ::close(fd);
}

/// Prints the speed of `work` in one epoch. If `cold_file` is empty, a warm-up epoch comes first; otherwise the file is
/// dropped from the cache.
template <class Work>
void time(const char* what, std::uint64_t samples, const std::string& cold_file, const Work& work) {
  if (cold_file.empty())
    work(0);
  else
    forget(cold_file);
  const auto began = Clock::now();
  const auto cpu_began = std::clock();
  const auto sum = work(1);
  const std::chrono::duration<double> took = Clock::now() - began;
  const auto cpu_s = static_cast<double>(std::clock() - cpu_began) / CLOCKS_PER_SEC;  // of all threads
  std::printf("%s_per_s=%.0f %s_per_cpu_s=%.0f sum=%llu\n", what, static_cast<double>(samples) / took.count(), what,
              static_cast<double>(samples) / cpu_s, static_cast<unsigned long long>(sum));
}

void train(trainrt::Context& ctx) {
  const auto data = ctx.dataset("train");
  const auto batch_size = static_cast<std::size_t>(ctx.config<int>("batch_size", 64));
  const auto file = ctx.config<std::string>("file", "");
  const auto cold_file = ctx.config<bool>("cold", false) ? file : "";
  const auto batches = std::min<std::uint64_t>(data.batch_count(batch_size), ctx.config<int>("batches", 1 << 30));
  time("samples", std::min(data.size(), batches * batch_size), cold_file,
       [&](std::int64_t epoch) { return walk(data, epoch, batch_size, batches); });
  if (ctx.config<int>("row_bytes", 0) == 0) return;
  std::vector<std::uint64_t> order;
  for (const auto& batch : data.epoch(1).batches(batch_size))
    order.insert(order.end(), batch.indices().begin(), batch.indices().end());
  Rows rows{::open(file.c_str(), O_RDONLY | O_CLOEXEC),
            static_cast<std::uint64_t>(ctx.config<int>("offset", 0)),
            static_cast<std::uint64_t>(ctx.config<int>("row_bytes", 0)),
            {}};
  time("pread", data.size(), cold_file, [&](std::int64_t) { return walk(rows, order, batch_size); });
  if (!cold_file.empty()) return;
  std::vector<std::byte> all(data.size() * rows.bytes);
  if (::pread(rows.fd, all.data(), all.size(), static_cast<off_t>(rows.offset)) != static_cast<ssize_t>(all.size()))
    throw trainrt::Error("the file is too short");
  rows.memory = std::move(all);
  time("memory", data.size(), "", [&](std::int64_t) { return walk(rows, order, batch_size); });
  ::close(rows.fd);
}

}  // namespace

TRAINRT_TRAIN_FUNCTION("data_loop", train)
