#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "metrics/outputs/histogram.hpp"
#include "metrics/record.hpp"

namespace trainrt::metrics {

// TensorBoard's event files: sequences of TFRecords, each a protobuf message (event.proto) with checksums before and after
// it.
// https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details

/// Returns the first two events of a TensorBoard event file: the version of the format, and the text `config`, which
/// TensorBoard shows under the tag "config".
std::string event_file_head(std::string_view config);

/// Returns a TensorBoard event with the numeric values of a metric record, at its iteration. A key of the runtime, such as
/// _step, gets the tag runtime/step. A user's key runtime/NAME gets the tag metric/runtime/NAME. NaN and infinities are
/// kept.
std::string event_of(const Record& record);

/// Returns a TensorBoard event with the given histograms (by tensor name), at the iteration of the record. For a histogram
/// with NaN or infinite values, the number of these values is added under the tag NAME/not_finite.
std::string event_of(const Record& record, const std::map<std::string, Histogram>& histograms);

/// Finds the events with histograms in `file`, the content of a TensorBoard event file; returns them by iteration. Stops at
/// the first corrupt or incomplete event. If an iteration has two events with histograms, the first one is returned. The
/// returned views refer to `file`.
std::map<std::int64_t, std::string_view> histogram_events(std::string_view file);

}  // namespace trainrt::metrics
