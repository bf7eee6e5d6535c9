#include "io/patience.hpp"

#include <atomic>

#include "core/log.hpp"
#include "core/retry.hpp"
#include "io/storage_error.hpp"

namespace trainrt::io {

namespace {

std::atomic<double> patience_s{0};

bool may_pass(const std::exception& error) {
  const auto* storage = dynamic_cast<const StorageError*>(&error);
  return storage != nullptr && is_transient(storage->error_number());
}

}  // namespace

void set_patience(double seconds) { patience_s = seconds; }

void patiently(const std::function<void()>& work) {
  Patience patience;
  patience.limit_s = patience_s;
  patience.tell = log::warning;
  retry("storage", work, may_pass, patience);
}

}  // namespace trainrt::io
