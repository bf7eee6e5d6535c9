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

/// Describes an object of a storage: a file, in the terms of stores that have no directories.
struct StoredObject {
  std::string name;           ///< complete key: "data/train/a.csv"
  std::uint64_t size = 0;     ///< bytes
  std::string etag = {};      ///< the store's identifier of the content; it changes with the content
  std::int64_t mtime_ns = 0;  ///< time of the last change, since 1970; 0 if the store does not report it
};

/// A multipart upload that was begun and not completed. The store keeps the parts that it has received.
struct UnfinishedUpload {
  std::string name;  ///< complete key of the object that the upload would have created
  std::string id;
};

/// A read request: fills all of `into` with the bytes of an object from `offset` on.
struct ObjectPart {
  std::uint64_t offset = 0;
  std::span<std::byte> into;
};

/// Reads and writes the objects of a bucket, or of a folder that is used like one. Any thread may call. Requests to an
/// object store that fail with a transient error are sent again a few times with growing pauses; then a transient
/// StorageError (is_transient()) is thrown, so that retried() may wait longer. Other failures are Errors that name the
/// object, the store's answer and what to do. No error contains a secret.
class Storage {
 public:
  virtual ~Storage() = default;
  /// Returns all objects whose names begin with `prefix`, sorted bytewise.
  virtual std::vector<StoredObject> list(const std::string& prefix) const = 0;
  /// Returns the object of that name, or nothing if it does not exist.
  virtual std::optional<StoredObject> find(const std::string& name) const = 0;
  /// Throws Error if the content has changed since `object` was returned by list() or find().
  virtual void read(const StoredObject& object, std::span<const ObjectPart> parts) const = 0;
  /// Uploads a local file as `name`, replacing an existing object. Readers see the old object or the complete new one. The
  /// object is durable on return. Throws a StorageError if it cannot be found afterwards.
  virtual StoredObject put(const std::string& file, const std::string& name) = 0;
  /// Does nothing if the object does not exist.
  virtual void remove(const std::string& name) = 0;
  /// Returns the unfinished uploads of all names that begin with `prefix`. Always empty for a storage that keeps
  /// nothing of a put() that was killed.
  virtual std::vector<UnfinishedUpload> unfinished_uploads(const std::string& /*prefix*/) const { return {}; }
  /// Discards the received parts; a process that is still sending the upload fails. Does nothing if it does not exist.
  virtual void abort_upload(const UnfinishedUpload& /*upload*/) {}
  virtual std::string url_of(const std::string& name) const = 0;
  virtual std::size_t max_in_flight() const { return 1; }  ///< maximum number of parts that one read() requests at once
  /// Makes all running and later calls throw soon.
  virtual void interrupt() {}
};

/// The components of a URL such as "s3://bucket/some/key".
struct StorageUrl {
  std::string scheme;
  std::string bucket;  ///< empty for file:///PATH
  std::string name;    ///< key, or prefix of keys; may be empty
};

/// Returns nothing if `text` is not a URL. Throws UsageError that lists the known schemes if the scheme is unknown.
std::optional<StorageUrl> storage_url(std::string_view text);

/// A plug-in: one file in io/storages, named after the scheme of its URLs.
struct StorageKind {
  std::string_view name;
  std::string_view help;
  /// Does not connect yet. Throws UsageError, with advice, if this kind of storage cannot be used here.
  std::shared_ptr<Storage> (*open)(const StorageUrl& url);
};

PluginTable<StorageKind> storage_table();

/// Opens a storage that is not shared with other callers. For a folder, symbolic links below the URL's path are not
/// followed: a link on the way is a StorageError that names it. The path itself, which the user has given, may be or
/// contain a link.
std::shared_ptr<Storage> open_storage(const StorageUrl& url);

/// Returns the storage that all readers of that bucket share in this process. Symbolic links in paths of datasets are
/// followed.
std::shared_ptr<const Storage> storage_for_reading(const StorageUrl& url);

/// Endpoints and credentials of the object stores, for this process. Empty values are taken from the environment, as
/// the stores' own tools do.
struct StorageSettings {
  std::string s3_endpoint;  ///< "http://host:9000" for an S3-compatible store; empty: Amazon's
  std::string s3_region;
  std::string s3_profile;  ///< name of a profile in the credentials file
  std::string gs_endpoint;
  bool s3_anonymous = false;  ///< send requests without credentials
};
/// Must be called before the first storage is opened.
void set_storage_settings(StorageSettings settings);
const StorageSettings& storage_settings();

}  // namespace trainrt::io
