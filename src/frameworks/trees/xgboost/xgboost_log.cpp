#include "frameworks/trees/xgboost/xgboost_log.hpp"

#include <utility>

namespace trainrt::frameworks::trees {

namespace {

thread_local XgboostLog* log_of_thread = nullptr;

/// Removes the time from "[12:30:01] WARNING: ...", since the run's log adds its own.
std::string_view without_time(std::string_view text) {
  const auto end = text.find("] ");
  return text.starts_with('[') && end != std::string_view::npos ? text.substr(end + 2) : text;
}

}  // namespace

XgboostLog::XgboostLog(const XgboostLibrary& library, const Context& ctx) : ctx_(ctx) {
  log_of_thread = this;
  library.check(library.register_log_callback(take));
}

XgboostLog::~XgboostLog() { log_of_thread = nullptr; }

void XgboostLog::take(const char* text) try {
  auto* const log = log_of_thread;
  if (log == nullptr) return;
  if (log->is_held_)
    log->held_.append(text).append("\n");
  else if (log->ctx_.world_rank() == 0)
    log->ctx_.log("XGBoost: " + std::string(without_time(text)));
} catch (...) {
  return;  // exceptions cannot pass through XGBoost's C API; the line is lost
}

void XgboostLog::hold() {
  is_held_ = true;
  held_.clear();
}

std::string XgboostLog::release() {
  is_held_ = false;
  return std::exchange(held_, {});
}

}  // namespace trainrt::frameworks::trees
