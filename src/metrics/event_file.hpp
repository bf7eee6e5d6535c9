#pragma once
#include <string>
#include <string_view>

#include "metrics/record.hpp"

namespace trainrt::metrics {

// What an event file of TensorBoard is made of: TFRecords, each a protobuf message between checksums.
// https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details

/// What such a file begins with: the version of the format, and a text that is shown under `config`.
std::string event_file_head(std::string_view config);

/// A record's numbers at its iteration, under their names; those of the runtime as runtime/NAME without the underscore. NaN
/// and infinities are shown as such.
std::string event_of(const Record& record);

}  // namespace trainrt::metrics
