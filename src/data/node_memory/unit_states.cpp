#include "data/node_memory/unit_states.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include <fmt/format.h>
#include <pthread.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t cache_line = 64;  // bytes; states in different cache lines do not slow each other down

void require(int code, const char* what) {
  if (code != 0) throw Error(fmt::format("{}: {}", what, std::strerror(code)));
}

constexpr double first_pause_s = 20e-6, max_pause_s = 1e-3;  // seconds between two attempts to get a lock

}  // namespace

/// The state of one field of one unit. `lock` is a robust mutex (pthread_mutexattr_setrobust(3)): if the process that
/// holds it dies, another process can lock it.
struct alignas(cache_line) UnitStates::State {
  pthread_mutex_t lock;
  std::atomic<int> rank;
  std::atomic<bool> is_filled;
};

struct alignas(cache_line) UnitStates::Count {
  std::atomic<std::size_t> filled;
};

std::size_t UnitStates::bytes(const UnitLayout& layout) {
  return layout.fields() * sizeof(Count) + layout.fields() * layout.units() * sizeof(State);
}

void UnitStates::make(std::byte* memory, const UnitLayout& layout) {
  pthread_mutexattr_t kind;
  require(pthread_mutexattr_init(&kind), "pthread_mutexattr_init");
  require(pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED), "pthread_mutexattr_setpshared");
  require(pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST), "pthread_mutexattr_setrobust");
  const UnitStates states(memory, layout);
  for (std::size_t i = 0; i < layout.fields(); ++i) new (states.counts_ + i) Count{};
  for (std::size_t i = 0; i < layout.fields() * layout.units(); ++i) {
    auto* const state = new (states.states_ + i) State{};
    require(pthread_mutex_init(&state->lock, &kind), "pthread_mutex_init");
  }
  pthread_mutexattr_destroy(&kind);
}

UnitStates::UnitStates(std::byte* memory, const UnitLayout& layout)
    : fields_(layout.fields()),
      counts_(reinterpret_cast<Count*>(memory)),
      states_(reinterpret_cast<State*>(memory + layout.fields() * sizeof(Count))) {}

UnitStates::State& UnitStates::state(std::size_t unit, std::size_t field) const { return states_[unit * fields_ + field]; }

bool UnitStates::is_filled(std::size_t unit, std::size_t field) const {
  return state(unit, field).is_filled.load(std::memory_order_acquire);
}

std::size_t UnitStates::filled(std::size_t field) const { return counts_[field].filled.load(std::memory_order_acquire); }

UnitStates::Claim UnitStates::claim(std::size_t unit, std::size_t field, int rank, double wait_s) {
  auto& state = this->state(unit, field);
  const auto began_s = monotonic_seconds();
  int code = 0;
  for (auto pause_s = first_pause_s; (code = pthread_mutex_trylock(&state.lock)) == EBUSY;
       pause_s = std::min(2 * pause_s, max_pause_s)) {
    if (monotonic_seconds() - began_s >= wait_s) return Claim::timed_out;
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
    if (is_filled(unit, field)) return Claim::is_filled;
  }
  if (code == EOWNERDEAD)
    pthread_mutex_consistent(&state.lock);  // the owner died: if it had not set is_filled, the caller reads the unit again
  else
    require(code, "pthread_mutex_trylock");
  state.rank = rank;
  if (!is_filled(unit, field)) return Claim::granted;
  pthread_mutex_unlock(&state.lock);
  return Claim::is_filled;
}

void UnitStates::release(std::size_t unit, std::size_t field, bool is_filled) {
  auto& state = this->state(unit, field);
  if (is_filled) {
    state.is_filled.store(true, std::memory_order_release);
    counts_[field].filled.fetch_add(1, std::memory_order_acq_rel);
  }
  pthread_mutex_unlock(&state.lock);
}

int UnitStates::busy_rank(std::size_t unit, std::size_t field) const { return state(unit, field).rank; }

}  // namespace trainrt::data
