#include "metrics/event_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <boost/crc.hpp>

#include <event.pb.h>

namespace trainrt::metrics {

namespace {

constexpr int byte_bits = 8;

/// CRC-32C (RFC 3720, B.4), rotated and shifted so that a checksum among the data does not look like the data's own.
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

bool is_shown(std::string_view key) {
  static constexpr std::array<std::string_view, 3> hidden{"_training_iteration", "_timestamp", "_pid"};
  return std::ranges::find(hidden, key) == hidden.end();
}

std::string tag_of(std::string_view key) {
  return key.starts_with('_') ? "runtime/" + std::string(key.substr(1)) : std::string(key);
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
  tensorboard::Event event;
  event.set_wall_time(record.number("_timestamp").value_or(0));
  event.set_step(record.iteration);
  for (const auto& [key, value] : record.values) {
    const auto number = Record::real_of(value);
    if (!number || !is_shown(key)) continue;
    auto& shown = *event.mutable_summary()->add_value();
    shown.set_tag(tag_of(key));
    shown.set_simple_value(static_cast<float>(*number));
  }
  return framed(event);
}

}  // namespace trainrt::metrics
