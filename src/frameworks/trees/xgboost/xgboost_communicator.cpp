#include "frameworks/trees/xgboost/xgboost_communicator.hpp"

#include <utility>

#include <fmt/format.h>

#include "frameworks/trees/xgboost/blocked_signals.hpp"

namespace trainrt::frameworks::trees {

namespace {

/// Returns the configuration with the key names of all versions: xgboost_communicator and rabit_timeout_sec for 1.7
/// and 2.0, dmlc_communicator and dmlc_timeout for later versions. The timeouts never expire in practice, since a rank may
/// read data for a long time; the runtime has timeouts of its own.
std::string communicator_config(const FrameworkMeeting& meeting) {
  constexpr int timeout_s = 1'000'000;
  return fmt::format(R"({{"xgboost_communicator":"rabit","dmlc_communicator":"rabit","DMLC_TRACKER_URI":"{}",)"
                     R"("DMLC_TRACKER_PORT":{},"DMLC_TASK_ID":"{}","dmlc_timeout":{},)"
                     R"("rabit_timeout_sec":"{}","rabit_enable_tcp_no_delay":"true"}})",
                     meeting.variables.at("DMLC_TRACKER_URI"), meeting.variables.at("DMLC_TRACKER_PORT"),
                     meeting.variables.at("DMLC_TASK_ID"), timeout_s, timeout_s);
}

/// Whether a failed attempt has left the communicator of this thread open. XGBoost opens only one per thread.
thread_local bool is_left_open = false;

}  // namespace

XgboostCommunicator::XgboostCommunicator(const XgboostLibrary& library, Context& ctx) : xgboost_(library) {
  if (ctx.world_size() == 1) return;
  meeting_ = ctx.framework("xgboost");
  const BlockedSignals held;
  if (std::exchange(is_left_open, false)) xgboost_.communicator_finalize();
  xgboost_.check(xgboost_.communicator_init(communicator_config(meeting_).c_str()));
}

XgboostCommunicator::~XgboostCommunicator() {
  if (!meeting_.service) return;
  const BlockedSignals held;
  if (has_failed_)
    is_left_open = true;
  else
    xgboost_.communicator_finalize();
}

}  // namespace trainrt::frameworks::trees
