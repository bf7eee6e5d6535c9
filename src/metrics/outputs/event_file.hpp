#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "metrics/outputs/histogram.hpp"
#include "metrics/record.hpp"

namespace trainrt::metrics {

// TensorBoard's event files: TFRecords, each of which is a protobuf message (event.proto) between checksums.
// https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details

/// Returns the first bytes of an event file: the version of the format, and a text that TensorBoard shows under `config`.
std::string event_file_head(std::string_view config);

/// Returns an event with the numbers of a record at its iteration, by name. A key of the runtime is named runtime/NAME
/// without its underscore; a user's key runtime/NAME is named metric/runtime/NAME. NaN and infinities are kept.
std::string event_of(const Record& record);

/// Returns an event with histograms, by name, at the iteration of the record. The number of NaN and infinite values, if not
/// 0, is added as NAME/not_finite.
std::string event_of(const Record& record, const std::map<std::string, Histogram>& histograms);

/// Returns the events of histograms in the bytes of an event file, by iteration, up to the first damaged or incomplete
/// event. The views refer to `file`. If an iteration has two, the first is returned.
std::map<std::int64_t, std::string_view> histogram_events(std::string_view file);

}  // namespace trainrt::metrics
