#include "config/section.hpp"

namespace trainrt::config {

namespace {

std::vector<std::string> names_of_sinks(const std::string& text) {
  return text == "none" ? std::vector<std::string>() : words_in(text);
}

}  // namespace

namespace plugins {

extern const Section metrics;
const Section metrics{
    .name = "metrics",
    .order = 5,
    .help = "where reports go, besides result.json",
    .keys = {
        key(&MetricsKeys::sinks,
            {.key = "metrics.sinks",
             .default_value = "csv, hdf5, progress",
             .help = "what is made of reports: `trainrt list` shows the sinks, whose options are in [sink.NAME]",
             .form = "names of sinks, separated by commas, or none"},
            names_of_sinks),
        key(&MetricsKeys::detailed,
            {.key = "metrics.detailed",
             .default_value = "false",
             .help = "adds _date, _hostname, _node_ip, _pid, _step, _time_total_s, _time_startup_s, _time_checkpoint_s, "
                     "_time_data_s, _time_data_STAGE_s, "
                     "_goodput to every report"}),
        key(&MetricsKeys::every_report,
            {.key = "metrics.progress",
             .default_value = "auto",
             .help = "what is shown while the run goes on; auto: a bar on a terminal, in a log a line from time to "
                     "time; all: every report, a line each"},
            {{"auto", false}, {"all", true}}),
        key(&MetricsKeys::aggregate,
            {.key = "metrics.aggregate",
             .default_value = "false",
             .help = "whose metrics count in trainrt.train.report() if the call does not say it: false: rank 0's; true: "
                     "those of all ranks, which become one as in trainrt.context().report()"})}};

}  // namespace plugins

}  // namespace trainrt::config
