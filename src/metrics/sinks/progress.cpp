#include "metrics/outputs/progress.hpp"

#include "core/host.hpp"
#include "core/output/output_capture.hpp"

namespace trainrt::metrics {

namespace {

void write_to_standard_output(std::string_view text) { OutputCapture::write(OutputCapture::Stream::output, text); }

}  // namespace

namespace plugins {

extern const SinkKind progress{.name = "progress",
                               .help = "progress of the run on standard output",
                               .options = {},
                               .open = [](const SinkContext& context) -> std::unique_ptr<Sink> {
                                 return std::make_unique<ProgressSink>(
                                     context.run_name,
                                     ProgressOutput{terminal_of_output, write_to_standard_output, context.every_report},
                                     monotonic_seconds, context.time_left);
                               }};

}  // namespace plugins

}  // namespace trainrt::metrics
