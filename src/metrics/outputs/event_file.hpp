#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "metrics/outputs/histogram.hpp"
#include "metrics/record.hpp"

namespace trainrt::metrics {

// What an event file of TensorBoard is made of: TFRecords, each a protobuf message between checksums.
// https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details

/// What such a file begins with: the version of the format, and a text that is shown under `config`.
std::string event_file_head(std::string_view config);

/// A record's numbers at its iteration, under their names; those of the runtime as runtime/NAME without the underscore, and
/// a user's runtime/NAME as metric/runtime/NAME. NaN and infinities are shown as such.
std::string event_of(const Record& record);

/// Histograms by name at the record's iteration; of those with NaN or infinities also how many, as NAME/not_finite.
std::string event_of(const Record& record, const std::map<std::string, Histogram>& histograms);

/// The events of histograms in the bytes of such a file, as they are, by iteration; up to the first event that is damaged
/// or cut. They refer to the bytes. Of two of an iteration, the first.
std::map<std::int64_t, std::string_view> histogram_events(std::string_view file);

}  // namespace trainrt::metrics
