#include "trainer/advice.hpp"

#include <cerrno>
#include <string_view>

#include <trainrt/error.hpp>

#include "io/storage_error.hpp"

namespace trainrt::trainer {

namespace {

template <class E>
bool is(const std::exception& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}

template <int... numbers>
bool is_storage(const std::exception& error) {
  const auto* storage = dynamic_cast<const io::StorageError*>(&error);
  return storage != nullptr && ((storage->error_number() == numbers) || ...);
}

struct Row {
  bool (*applies)(const std::exception&);
  std::string_view advice;
};

/// The first that applies counts.
constexpr Row rows[] = {
    {is_storage<ENOSPC, EDQUOT>, "a lower checkpoint.num_to_keep needs less of it"},
    {is_storage<EROFS>, "choose another run.storage_path"},
    {is_storage<ENAMETOOLONG>, "a shorter run.storage_path or run.name makes it shorter"},
};

}  // namespace

std::string advice_for(const std::exception& error) {
  for (const auto& row : rows)
    if (row.applies(error)) return std::string(row.advice);
  return {};
}

std::string with_advice(const std::exception& error) {
  const std::string message = error.what();
  const auto advice = advice_for(error);
  if (advice.empty()) return message;
  return message + (message.find('\n') == std::string::npos ? "; " : "\n") + advice;
}

void advised(const std::function<void()>& work) try { work(); } catch (const Error& error) {
  if (advice_for(error).empty()) throw;
  throw Error(with_advice(error), error.code());
}

}  // namespace trainrt::trainer
