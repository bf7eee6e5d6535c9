#pragma once
#include <exception>

#include <trainrt/context.hpp>

#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// XGBoost's own communicator between the ranks, for the thread that creates it. The ranks get the addresses of the
/// other ranks from the tracker of rank 0's runtime. With one rank, no connection is opened.
class XgboostCommunicator {
 public:
  /// Collective.
  XgboostCommunicator(const XgboostLibrary& library, Context& ctx);
  /// Closes the connections, unless a call of may_fail() has failed. Does not wait for other ranks.
  ~XgboostCommunicator();
  XgboostCommunicator(const XgboostCommunicator&) = delete;

  /// Calls a function in which XGBoost communicates. If the function throws, the connections stay open. Closing them
  /// would make calls on the other ranks fail, and their errors would end the run before this rank reports its own
  /// error.
  template <class Call>
  auto may_fail(const Call& call) try {
    return call();
  } catch (const std::exception&) {
    has_failed_ = true;
    throw;
  }

 private:
  const XgboostLibrary& xgboost_;
  FrameworkMeeting meeting_;  ///< empty with one rank
  bool has_failed_ = false;
};

}  // namespace trainrt::frameworks::trees
