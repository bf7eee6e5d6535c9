#pragma once
#include <memory>
#include <utility>

namespace trainrt::data {

/// Returns a shared pointer to `value`. When the last copy of the pointer is destroyed, in any thread, passes the value to
/// `home`->give_back(), so that `home` can reuse its memory; frees the value if `home` no longer exists. give_back() must
/// be thread-safe.
template <class T, class Home>
std::shared_ptr<const T> lent(T value, std::weak_ptr<Home> home) {
  auto owned = std::make_unique<T>(std::move(value));
  return {owned.release(), [home = std::move(home)](T* unused) {
            const std::unique_ptr<T> deleted(unused);
            if (const auto existing = home.lock()) existing->give_back(std::move(*deleted));
          }};
}

}  // namespace trainrt::data
