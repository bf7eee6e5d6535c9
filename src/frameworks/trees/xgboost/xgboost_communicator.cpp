#include "frameworks/trees/xgboost/xgboost_communicator.hpp"

#include <utility>

#include <fmt/format.h>

#include "frameworks/trees/xgboost/held_signals.hpp"

namespace trainrt::frameworks::trees {

namespace {

/// Under the names of all versions: 1.7 and 2.0 take the first and DMLC_*, later ones the second and the same; so with the
/// limits on waits, rabit_timeout_sec and dmlc_timeout. They are set so high that they never end a run: others may read
/// their data for long, and the runtime has limits.
std::string communicator_config(const FrameworkMeeting& meeting) {
  constexpr int timeout_s = 1'000'000;
  return fmt::format(R"({{"xgboost_communicator":"rabit","dmlc_communicator":"rabit","DMLC_TRACKER_URI":"{}",)"
                     R"("DMLC_TRACKER_PORT":{},"DMLC_TASK_ID":"{}","dmlc_timeout":{},)"
                     R"("rabit_timeout_sec":"{}","rabit_enable_tcp_no_delay":"true"}})",
                     meeting.variables.at("DMLC_TRACKER_URI"), meeting.variables.at("DMLC_TRACKER_PORT"),
                     meeting.variables.at("DMLC_TASK_ID"), timeout_s, timeout_s);
}

/// By an attempt of this thread that has failed: XGBoost has one communicator a thread, and opens no second one.
thread_local bool is_left_open = false;

}  // namespace

XgboostCommunicator::XgboostCommunicator(const XgboostLibrary& library, Context& ctx) : xgboost_(library) {
  if (ctx.world_size() == 1) return;
  meeting_ = ctx.framework("xgboost");
  const HeldSignals held;
  if (std::exchange(is_left_open, false)) xgboost_.communicator_finalize();
  xgboost_.check(xgboost_.communicator_init(communicator_config(meeting_).c_str()));
}

XgboostCommunicator::~XgboostCommunicator() {
  if (!meeting_.service) return;
  const HeldSignals held;
  if (has_failed_)
    is_left_open = true;
  else
    xgboost_.communicator_finalize();
}

}  // namespace trainrt::frameworks::trees
