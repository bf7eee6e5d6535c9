#include "metrics/outputs/event_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <boost/crc.hpp>

#include <event.pb.h>

namespace trainrt::metrics {

namespace {

constexpr int byte_bits = 8;

/// Returns the CRC-32C (RFC 3720, B.4) of `bytes` in the masked form that TFRecord uses for stored checksums.
std::uint32_t masked_crc(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  const std::uint32_t sum = crc.checksum();
  return ((sum >> 15U) | (sum << 17U)) + 0xa282ead8U;
}

template <class Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Number); ++i, number >>= static_cast<unsigned>(byte_bits))
    bytes += static_cast<char>(number & 0xffU);
  return bytes;
}

std::string framed(const tensorboard::Event& event) {
  const auto data = event.SerializeAsString();
  const auto length = little_endian(std::uint64_t{data.size()});
  return length + little_endian(masked_crc(length)) + data + little_endian(masked_crc(data));
}

// An event in a TensorBoard file: length of the data (8 bytes), CRC of the length (4), data, CRC of the data (4).
constexpr std::size_t head_bytes = 12, tail_bytes = 4;

template <class Number>
Number read_little_endian(std::string_view bytes) {
  Number number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    number = static_cast<Number>(number << static_cast<unsigned>(byte_bits)) | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// Returns the TensorBoard event at the beginning of `bytes`, including its checksums; "" if the event is incomplete or
/// corrupt.
std::string_view first_event(std::string_view bytes) {
  if (bytes.size() < head_bytes + tail_bytes) return {};
  const auto length = read_little_endian<std::uint64_t>(bytes);
  if (read_little_endian<std::uint32_t>(bytes.substr(sizeof length)) != masked_crc(bytes.substr(0, sizeof length)))
    return {};
  if (length > bytes.size() - head_bytes - tail_bytes) return {};
  const auto data = bytes.substr(head_bytes, length);
  if (read_little_endian<std::uint32_t>(bytes.substr(head_bytes + length)) != masked_crc(data)) return {};
  return bytes.substr(0, head_bytes + length + tail_bytes);
}

tensorboard::Event empty_event(const Record& record) {
  tensorboard::Event event;
  event.set_wall_time(record.number("_timestamp").value_or(0));
  event.set_step(record.iteration);
  return event;
}

void put(tensorboard::Summary& summary, const std::string& name, const Histogram& histogram) {
  auto& value = *summary.add_value();
  value.set_tag(name);
  auto& shown = *value.mutable_histo();
  shown.set_min(histogram.min);
  shown.set_max(histogram.max);
  shown.set_num(static_cast<double>(histogram.count));
  shown.set_sum(histogram.sum);
  shown.set_sum_squares(histogram.sum_of_squares);
  for (const double edge : histogram.upper_edges) shown.add_bucket_limit(edge);
  for (const auto count : histogram.in_bucket) shown.add_bucket(static_cast<double>(count));
  if (histogram.not_finite == 0) return;
  auto& others = *summary.add_value();
  others.set_tag(name + "/not_finite");
  others.set_simple_value(static_cast<float>(histogram.not_finite));
}

bool is_shown(std::string_view key) {
  static constexpr std::array<std::string_view, 3> hidden{"_training_iteration", "_timestamp", "_pid"};
  return std::ranges::find(hidden, key) == hidden.end();
}

std::string tag_of(std::string_view key) {
  if (key.starts_with('_')) return "runtime/" + std::string(key.substr(1));
  auto rest = key;
  while (rest.starts_with("metric/")) rest.remove_prefix(std::string_view("metric/").size());
  return (rest.starts_with("runtime/") ? "metric/" : "") + std::string(key);
}

}  // namespace

std::string event_file_head(std::string_view config) {
  tensorboard::Event version;
  version.set_file_version("brain.Event:2");
  tensorboard::Event text;
  auto& value = *text.mutable_summary()->add_value();
  value.set_tag("config/text_summary");
  value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  value.mutable_tensor()->set_dtype(tensorboard::DT_STRING);
  value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(1);
  value.mutable_tensor()->add_string_val(std::string(config));
  return framed(version) + framed(text);
}

std::string event_of(const Record& record) {
  auto event = empty_event(record);
  for (const auto& [key, value] : record.values) {
    const auto number = Record::real_of(value);
    if (!number || !is_shown(key)) continue;
    auto& shown = *event.mutable_summary()->add_value();
    shown.set_tag(tag_of(key));
    shown.set_simple_value(static_cast<float>(*number));
  }
  return framed(event);
}

std::string event_of(const Record& record, const std::map<std::string, Histogram>& histograms) {
  auto event = empty_event(record);
  for (const auto& [name, histogram] : histograms) put(*event.mutable_summary(), name, histogram);
  return framed(event);
}

std::map<std::int64_t, std::string_view> histogram_events(std::string_view file) {
  std::map<std::int64_t, std::string_view> found;
  for (auto framed_event = first_event(file); !framed_event.empty(); framed_event = first_event(file)) {
    file.remove_prefix(framed_event.size());
    tensorboard::Event event;
    const auto data = framed_event.substr(head_bytes, framed_event.size() - head_bytes - tail_bytes);
    if (!event.ParseFromArray(data.data(), static_cast<int>(data.size()))) break;
    if (event.summary().value_size() > 0 && event.summary().value(0).has_histo()) found.emplace(event.step(), framed_event);
  }
  return found;
}

}  // namespace trainrt::metrics
