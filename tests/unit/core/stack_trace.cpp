#include "core/process/stack_trace.hpp"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "core/process/symbols.hpp"
#include "core/process/wait_reason.hpp"

using namespace trainrt;
using Catch::Matchers::Contains;

namespace {

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

/// A file-local function, as many train functions are. The loader does not know its name.
[[gnu::noinline]] StackFrames a_function_of_this_file_alone() {
  auto frames = stack_here();
  asm volatile("nop" ::: "memory");  // prevents a tail call, and merging with an identical function
  return frames;
}

std::atomic<bool> end_computing = false;

[[gnu::noinline]] void compute_until_released() {
  while (!end_computing) asm volatile("" ::: "memory");
}

std::mutex mutex;
std::condition_variable changed;
bool end_waiting = false;

[[gnu::noinline]] void sleep_on_a_lock_until_released() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [] { return end_waiting; });
  asm volatile("" ::: "memory");
}

/// Returns the stack of a thread that runs `work`, as soon as the thread has entered `function`.
std::string stack_of_a_thread_in(void (*work)(), const std::string& function) {
  std::atomic<pid_t> id = 0;
  std::string text;
  end_computing = end_waiting = false;
  std::thread thread([&] {
    id = this_thread();
    work();
  });
  while (id == 0) std::this_thread::yield();
  for (int tries = 0; tries < 1000 && text.find(function) == std::string::npos; ++tries) text = describe(stack_of(id, 10));
  {
    const std::lock_guard lock(mutex);
    end_computing = end_waiting = true;
  }
  changed.notify_all();
  thread.join();
  return text;
}

}  // namespace

extern "C" [[gnu::noinline]] StackFrames an_extern_function() {
  auto frames = stack_here();
  asm volatile("" ::: "memory");
  return frames;
}

TEST_CASE("a stack names its functions, including file-local ones") {
  CHECK_THAT(describe(an_extern_function()), Contains("#0 an_extern_function+0x"));
  CHECK_THAT(describe(a_function_of_this_file_alone()), Contains("a_function_of_this_file_alone()+0x"));
}

TEST_CASE("an address outside code has no symbol") {
  Symbol symbol;
  find_symbol(nullptr, symbol);
  CHECK(symbol.name[0] == '\0');
  CHECK(symbol.file == nullptr);
}

TEST_CASE("stack_of works while the thread computes and while it waits for a lock") {
  CHECK_THAT(stack_of_a_thread_in(compute_until_released, "compute_until_released"), Contains("compute_until_released"));
  CHECK_THAT(stack_of_a_thread_in(sleep_on_a_lock_until_released, "sleep_on_a_lock_until_released"),
             Contains("sleep_on_a_lock_until_released"));
}

TEST_CASE("an ended thread has no stack, and the next request works") {
  pid_t id = 0;
  std::thread([&] { id = this_thread(); }).join();
  CHECK(stack_of(id, 0.01).count == 0);
  CHECK_THAT(stack_of_a_thread_in(compute_until_released, "compute_until_released"), Contains("compute_until_released"));
}

TEST_CASE("a wait is reported only while it lasts") {
  auto& note = WaitReason::of_this_thread();
  {
    ReportedWait waiting;
    CHECK(note.text().empty());
    waiting.report("barrier at step 3");
    CHECK(note.text() == "barrier at step 3");
  }
  CHECK(note.text().empty());
}

TEST_CASE("work on a device is reported if the thread itself does not wait") {
  auto& note = WaitReason::of_this_thread();
  note.set_on_device("all_reduce on the GPU");
  {
    ReportedWait waiting;
    waiting.report("barrier");
    CHECK(note.text() == "barrier");
  }
  CHECK(note.text() == "all_reduce on the GPU");
  note.set_on_device("");
  CHECK(note.text().empty());
}
