#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin.hpp"

namespace trainrt::io {

/// An object of a storage as it was found: a file, in the words of stores that know no directories.
struct StoredObject {
  std::string name;           ///< its whole key: "data/train/a.csv"
  std::uint64_t size = 0;     ///< bytes
  std::string etag = {};      ///< what the store calls these bytes; another one means that they were changed
  std::int64_t mtime_ns = 0;  ///< last change, since 1970; 0 if the store does not say
};

/// An upload in parts that was begun and not completed: the store keeps what has come of it.
struct UnfinishedUpload {
  std::string name;  ///< the whole key of the object that it was to become
  std::string id;
};

/// What is to be read of an object: all of `into`, from `offset` on.
struct ObjectPart {
  std::uint64_t offset = 0;
  std::span<std::byte> into;
};

/// A place with objects beyond the file system: a bucket. Any threads may call. Requests that fail in a way that may pass
/// are sent again a few times with growing pauses; what fails still is a StorageError whose kind may pass, for retried().
/// Other failures are Errors that name the place, the object, what the store said and what to do. Secrets are in none of
/// them.
class Storage {
 public:
  virtual ~Storage() = default;
  /// All objects whose names begin with `prefix`, sorted bytewise.
  virtual std::vector<StoredObject> list(const std::string& prefix) const = 0;
  /// Nothing if there is no object of that name.
  virtual std::optional<StoredObject> look(const std::string& name) const = 0;
  /// Throws Error if the object has other bytes than those that were found.
  virtual void read(const StoredObject& object, std::span<const ObjectPart> parts) const = 0;
  /// Puts a local file in the place of `name`, whole or not at all, and looks whether it is there. Durable.
  virtual StoredObject put(const std::string& file, const std::string& name) = 0;
  /// Nothing happens if it is not there.
  virtual void remove(const std::string& name) = 0;
  /// Of all names that begin with `prefix`. None in a storage whose put() leaves nothing if its process is killed.
  virtual std::vector<UnfinishedUpload> unfinished_uploads(const std::string& /*prefix*/) const { return {}; }
  /// Whoever is sending it fails. Nothing happens if it is not there.
  virtual void abort_upload(const UnfinishedUpload& /*upload*/) {}
  virtual std::string url_of(const std::string& name) const = 0;
  virtual std::size_t most_in_flight() const { return 1; }  ///< parts that one read() waits for at the same time
  /// All calls under way and later ones fail soon.
  virtual void interrupt() {}
};

/// "s3://bucket/some/key" in its parts.
struct StorageUrl {
  std::string scheme;
  std::string place;  ///< the bucket
  std::string name;   ///< the key, or a prefix of keys; may be empty
};

/// Nothing if the text is no URL. Throws UsageError if it is one of no storage that there is.
std::optional<StorageUrl> storage_url(std::string_view text);

/// A plug-in: one file in io/storages, named after the scheme of its URLs.
struct StorageKind {
  std::string_view name;
  std::string_view help;
  /// Connects to nothing yet. Throws UsageError if it cannot be had here, with what to do.
  std::shared_ptr<Storage> (*open)(const StorageUrl& url);
};

PluginTable<StorageKind> storage_table();

/// The storage of a URL, of its own. Of a folder, no symbolic link below the URL's path is followed: what meets one is a
/// StorageError that names the link. The path itself, which the user has given, may be or contain a link.
std::shared_ptr<Storage> open_storage(const StorageUrl& url);

/// A storage that all readers of that bucket or host in this process share. Links in paths of datasets are followed.
std::shared_ptr<const Storage> storage_for_reading(const StorageUrl& url);

/// Where stores are, for the whole process, set once before the first is opened. What is empty is taken from the
/// environment, as the stores' own tools do.
struct StorageSettings {
  std::string s3_endpoint;  ///< "http://host:9000" for a store that speaks as S3 does; default: that of AWS
  std::string s3_region;
  std::string s3_profile;  ///< of the credentials file
  std::string gs_endpoint;
  bool s3_anonymous = false;  ///< keys do not count
};
void set_storage_settings(StorageSettings settings);
const StorageSettings& storage_settings();

}  // namespace trainrt::io
