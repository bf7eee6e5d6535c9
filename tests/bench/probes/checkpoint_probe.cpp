// A rank that bench_checkpoint.py starts under mpiexec. It holds a state and executes the commands in FOLDER/commands.RANK,
// one per line. After each command, rank 0 prints a line "= NUMBER..." with the seconds or bytes of the slowest rank.
//
//   checkpoint_probe FOLDER BYTES TENSORS sharded|replicated STAGING_BYTES      BYTES: size of the state of all ranks
//
//   save INDEX   saves the state; prints the seconds until the commit, and those during which the train thread is blocked
//   copy         copies the tensors of the rank by one memcpy each into touched memory
//   copy_while_writing   the same, while 4 threads per rank write as many bytes by O_DIRECT, as during a save
//   load         loads the checkpoint with an empty page cache; prints also the seconds of all threads in digests
//   raw_write, raw_read   the same number of bytes by O_DIRECT, in pieces of 8 MiB, by 4 threads per rank, and an fsync
//   peak_save INDEX, peak_load   peak resident memory of a save or a load, minus the size of the state
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <trainrt/error.hpp>

#include "checkpoint/load/load.hpp"
#include "checkpoint/save/results.hpp"
#include "checkpoint/save/saver.hpp"
#include "comm/backend.hpp"
#include "core/host.hpp"
#include "io/files/aligned_memory.hpp"
#include "io/files/digest.hpp"

namespace {

std::atomic<std::int64_t> digest_ns{0};

}  // namespace

// The linker redirects calls of io::digest_of() to these functions (--wrap), so that its time is measured without a change
// of the product.
std::string real_digest_of(std::span<const std::byte> bytes) asm("__real_" TRAINRT_DIGEST_OF);
std::string wrapped_digest_of(std::span<const std::byte> bytes) asm("__wrap_" TRAINRT_DIGEST_OF);

std::string wrapped_digest_of(std::span<const std::byte> bytes) {
  const auto start = trainrt::monotonic_seconds();
  auto digest = real_digest_of(bytes);
  digest_ns += static_cast<std::int64_t>((trainrt::monotonic_seconds() - start) * 1e9);
  return digest;
}

using namespace trainrt;

namespace {

constexpr int threads = 4;
constexpr std::uint64_t piece = std::uint64_t{8} << 20;
constexpr std::uint64_t most_copied = std::uint64_t{512} << 20;  // bytes per copy, much larger than any cache

[[noreturn]] void fail_with_errno(const std::string& what) { throw Error(what + ": " + std::strerror(errno)); }

void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    auto x = seed + at * 0x9e3779b97f4a7c15;  // SplitMix64 (Steele, Lea, Flood 2014)
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x ^= x >> 27;
    std::memcpy(bytes.data() + at, &x, 8);
  }
}

/// A file that threads write or read at given offsets by O_DIRECT, without the page cache.
class RawFile {
 public:
  RawFile(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_DIRECT | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail_with_errno("open '" + path + "'");
  }
  RawFile(const RawFile&) = delete;
  ~RawFile() { ::close(fd_); }

  void reserve(std::uint64_t bytes) const { ::fallocate(fd_, 0, 0, static_cast<off_t>(bytes)); }
  void write(std::uint64_t at, std::span<const std::byte> bytes) const {
    if (::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at)) != static_cast<ssize_t>(bytes.size()))
      fail_with_errno("write");
  }
  void read(std::uint64_t at, std::span<std::byte> bytes) const {
    if (::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at)) != static_cast<ssize_t>(bytes.size()))
      fail_with_errno("read");
  }
  void sync() const {
    if (::fsync(fd_) != 0) fail_with_errno("fsync");
  }

 private:
  int fd_;
};

/// Splits `bytes` into pieces and calls work(thread, offset, count) for each, in `threads` threads.
template <class Work>
void in_pieces(std::uint64_t bytes, Work&& work) {
  std::atomic<std::uint64_t> next{0};
  std::vector<std::jthread> all;
  for (int thread = 0; thread < threads; ++thread)
    all.emplace_back([&, thread] {
      for (auto at = next.fetch_add(piece); at < bytes; at = next.fetch_add(piece))
        work(thread, at, std::min(piece, bytes - at));
    });
}

/// Returns the peak resident memory of this process in bytes since forget_peak().
std::uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
  throw Error("no VmHWM in /proc/self/status");
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// Writes all files of the folder to disk and drops them from the page cache.
void drop_from_cache(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    ::fsync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
}

class Probe {
 public:
  Probe(Communicator& communicator, std::vector<std::string> words)
      : communicator_(communicator), folder_(words.at(0)), run_dir_(folder_ + "/run") {
    const auto tensors = std::stoull(words.at(2));
    const bool sharded = words.at(3) == "sharded";
    const auto elements = static_cast<std::int64_t>(std::stoull(words.at(1)) / tensors / sizeof(float));
    const auto first = sharded ? elements * communicator.rank() / communicator.size() : 0;
    const auto last = sharded ? elements * (communicator.rank() + 1) / communicator.size() : elements;
    const auto bytes = static_cast<std::size_t>(last - first) * sizeof(float);
    memory_ = io::AlignedMemory(bytes * tensors);
    fill(memory_.bytes(), sharded ? static_cast<std::uint64_t>(communicator.rank()) << 50 : 0);
    for (std::size_t i = 0; i < tensors; ++i) {
      TensorView view{memory_.bytes().data() + i * bytes, DType::f32, {last - first}};
      auto& entry = state_.tensor("model/layer" + std::to_string(i) + "/weight", view);
      if (sharded) entry.sharded(0, first, elements);
    }
    options_.run_dir = run_dir_;
    options_.private_dir = run_dir_ + "/private";
    options_.writer.threads = threads;
    options_.writer.staging_bytes = std::stoull(words.at(4));
    if (!sharded) raw_share_ = communicator.size();
  }

  std::vector<double> answer(const std::string& command, std::int64_t index) {
    if (command == "save") return save(index);
    if (command == "load") return load();
    if (command == "copy") return copy();
    if (command == "copy_while_writing") return copy_while_writing();
    if (command == "raw_write") return {raw_write()};
    if (command == "raw_read") return {raw_read()};
    if (command == "peak_save") return peak([&] { save(index); });
    if (command == "peak_load") return peak([&] { load(); });
    throw Error("no such command: " + command);
  }

 private:
  double slowest(double value) { return communicator_.all_reduced(value, Op::max); }

  template <class Work>
  double seconds_of(Work&& work) {
    communicator_.barrier();
    const auto start = monotonic_seconds();
    work();
    return slowest(monotonic_seconds() - start);
  }

  std::vector<double> save(std::int64_t index) {
    if (!saver_) saver_ = std::make_unique<checkpoint::Saver>(options_, communicator_);
    checkpoint::Saver::Request request;
    request.meta.number = index;
    double stall = 0;
    std::optional<checkpoint::SaveResult> result;
    const auto durable = seconds_of([&] {
      const auto start = monotonic_seconds();
      result = saver_->start(state_, request);
      stall = monotonic_seconds() - start;
      if (!result) result = saver_->finish();
    });
    if (!result->committed) throw Error(result->error);
    saver_->drain();
    communicator_.barrier();
    return {durable, slowest(stall)};
  }

  std::vector<double> load() {
    const auto before = io::digest_of(memory_.bytes());
    std::memset(memory_.bytes().data(), 0xff, memory_.bytes().size());
    if (communicator_.rank() == 0) drop_from_cache(run_dir_);
    std::optional<checkpoint::LoadResult> result;
    digest_ns = 0;
    const auto seconds = seconds_of([&] { result = checkpoint::load_latest(state_, run_dir_, communicator_); });
    const auto digest_seconds = slowest(static_cast<double>(digest_ns) * 1e-9);
    if (!result || io::digest_of(memory_.bytes()) != before) throw Error("the loaded bytes differ from the saved bytes");
    return {seconds, digest_seconds};
  }

  std::vector<double> copy() {
    if (copied_.bytes().empty()) copied_ = io::AlignedMemory(std::min<std::uint64_t>(memory_.bytes().size(), most_copied));
    const auto room = copied_.bytes();
    return {seconds_of([&] {
      std::size_t at = 0;
      for (const auto& entry : state_.tensors()) {
        const auto bytes = entry.local.bytes();
        if (at + bytes > room.size()) at = 0;
        std::memcpy(room.data() + at, entry.local.data, bytes);
        at += bytes;
      }
    })};
  }

  std::vector<double> copy_while_writing() {
    const auto bytes = raw_bytes();
    std::filesystem::remove(raw_path());
    const RawFile file(raw_path(), O_WRONLY | O_CREAT);
    file.reserve(bytes.size());
    std::jthread writing([&] {
      in_pieces(bytes.size(),
                [&](int, std::uint64_t at, std::uint64_t count) { file.write(at, bytes.subspan(at, count)); });
    });
    return copy();
  }

  std::string raw_path() const { return folder_ + "/raw." + std::to_string(communicator_.rank()); }
  std::span<std::byte> raw_bytes() const {
    return memory_.bytes().first(io::align_down(memory_.bytes().size() / static_cast<std::size_t>(raw_share_)));
  }

  double raw_write() {
    const auto bytes = raw_bytes();
    std::filesystem::remove(raw_path());
    return seconds_of([&] {
      const RawFile file(raw_path(), O_WRONLY | O_CREAT);
      file.reserve(bytes.size());
      in_pieces(bytes.size(),
                [&](int, std::uint64_t at, std::uint64_t count) { file.write(at, bytes.subspan(at, count)); });
      file.sync();
    });
  }

  double raw_read() {
    const auto bytes = raw_bytes().size();
    std::vector<io::AlignedMemory> buffers;
    for (int thread = 0; thread < threads; ++thread) buffers.emplace_back(piece);
    return seconds_of([&] {
      const RawFile file(raw_path(), O_RDONLY);
      in_pieces(bytes, [&](int thread, std::uint64_t at, std::uint64_t count) {
        file.read(at, buffers[static_cast<std::size_t>(thread)].bytes().first(count));
      });
    });
  }

  template <class Work>
  std::vector<double> peak(Work&& work) {
    forget_peak();
    work();
    return {slowest(static_cast<double>(peak_bytes()) - static_cast<double>(memory_.bytes().size()))};
  }

  Communicator& communicator_;
  std::string folder_, run_dir_;
  io::AlignedMemory memory_, copied_;
  State state_;
  checkpoint::SaverOptions options_;
  int raw_share_ = 1;  // number of ranks that share the writing of a replicated state; 1 if sharded
  std::unique_ptr<checkpoint::Saver> saver_;
};

void serve(Communicator& communicator, const std::vector<std::string>& words) {
  Probe probe(communicator, words);
  std::ifstream commands(words.at(0) + "/commands." + std::to_string(communicator.rank()));
  for (std::string line; std::getline(commands, line) && line != "end";) {
    std::istringstream parts(line);
    std::string command;
    std::int64_t index = 0;
    parts >> command >> index;
    const auto numbers = probe.answer(command, index);
    if (communicator.rank() != 0) continue;
    std::printf("=");
    for (const double number : numbers) std::printf(" %.9g", number);
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) {
  const auto launch = launch::discover(Environment::of_process(), {});
  try {
    const auto communicator = comm::open_communicator(*launch, {.timeout_seconds = 300});
    serve(*communicator, std::vector<std::string>(words + 1, words + count));
    communicator->barrier();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "checkpoint_probe: %s\n", error.what());
    launch->abort(1);
    return 1;
  }
  launch->finalize();
  return 0;
}
