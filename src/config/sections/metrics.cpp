#include "config/section.hpp"

namespace trainrt::config::plugins {

extern const Section metrics;
const Section metrics{
    .name = "metrics",
    .order = 5,
    .help = "content and destinations of reports, in addition to result.json",
    .keys = {
        key(&MetricsKeys::sinks,
            {.key = "metrics.sinks",
             .default_value = "csv, hdf5, progress",
             .help = "sinks that reports are written to; `trainrt list` shows them, and [sink.NAME] has their options",
             .form = "names of sinks, separated by commas, or `none`"},
            names_in),
        key(&MetricsKeys::detailed,
            {.key = "metrics.detailed",
             .default_value = "false",
             .help = "add _date, _hostname, _node_ip, _pid, _step, _time_total_s, _time_startup_s, _time_checkpoint_s, "
                     "_time_data_s, _time_data_STAGE_s and _goodput to every report"}),
        key(&MetricsKeys::every_report,
            {.key = "metrics.progress",
             .default_value = "auto",
             .help =
                 "display of progress: auto shows a bar on a terminal and occasional lines in a log, all shows one line "
                 "per report"},
            {{"auto", false}, {"all", true}}),
        key(&MetricsKeys::aggregate,
            {.key = "metrics.aggregate",
             .default_value = "false",
             .help =
                 "true: trainrt.train.report() combines the metrics of all ranks, as trainrt.context().report() does; "
                 "false: only the metrics of rank 0 are reported. The argument aggregate of a call takes precedence"})}};

}  // namespace trainrt::config::plugins
