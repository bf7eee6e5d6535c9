#include "program/environments/framework_environment.hpp"
#include "program/services/xgboost_tracker.hpp"

namespace trainrt::program::plugins {

namespace {

std::vector<Variable> xgboost_variables(const Rendezvous& rendezvous, std::span<const int> ports) {
  return {{"DMLC_TRACKER_URI", rendezvous.addresses.at(0)},
          {"DMLC_TRACKER_PORT", std::to_string(ports[0])},
          {"DMLC_TASK_ID", xgboost_task_id(rendezvous)},
          {"DMLC_NUM_WORKER", std::to_string(rendezvous.size)},
          {"DMLC_ROLE", "worker"}};
}

std::unique_ptr<Service> xgboost_service(const Rendezvous& rendezvous, std::span<const int>, Descriptor listener) {
  return listener ? std::make_unique<XgboostTracker>(rendezvous, std::move(listener)) : nullptr;
}

}  // namespace

extern const FrameworkEnvironment xgboost;
const FrameworkEnvironment xgboost{.name = "xgboost",
                                   .help =
                                       "the variables of dmlc-submit, such as DMLC_TRACKER_URI and DMLC_TRACKER_PORT, "
                                       "and a tracker, for xgboost.collective",
                                   .ports_of = PortsOf::first_rank,
                                   .variables = xgboost_variables,
                                   .serve = xgboost_service};

}  // namespace trainrt::program::plugins
