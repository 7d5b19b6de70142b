#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/io/bytes/existing.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/file_plan.hpp"
#include "polyad/tasks/task_result.hpp"

namespace polyad {

// A file of a public data set.
struct DataFile {
  std::string address = {};  // where it was published, with https
  std::string name = {};     // that it gets here; also its name on a mirror
  std::string sha256 = {};   // of the published file, if somebody who made the list had it; else empty
};

// A public data set: where it is, what it is, and how it is read.
struct DataSet {
  std::string name = {};     // by which get_data knows it
  std::string content = {};  // what the modes and values are
  std::string size = {};     // extents and number of entries, as its publishers state them
  std::string licence = {};  // in short
  std::string page = {};     // that describes it, with its terms of use and what to cite
  // The data, and then label files of the modes.
  std::vector<DataFile> files = {};
  // What is unpacked from the first file, if that is a zip archive; else empty.
  std::string member = {};
  std::string data = {};  // name of the file that is read: the first one, or the one that is unpacked
  // How load reads it, by the same fields of LoadOptions and TableForm; empty: as it is recognised.
  std::string format = {}, separator = {}, columns = {}, value = {};
  bool has_ratings = false;  // users, items and ratings, for complete rather than decompose
};

// All data sets of the list. Their addresses may have changed since it was made.
const std::vector<DataSet>& public_data_sets();
std::vector<std::string> data_set_names();

// The list as text and as JSON, with the commands that read each set.
TaskResult list_data(const Context& context);

struct GetDataOptions {
  std::filesystem::path folder = ".";  // where the files go; it must exist
  // Whether files that are there are downloaded and unpacked again. Otherwise they are kept, and compared
  // with their checksums where these are known.
  Existing existing = Existing::refused;
};

// The files of a data set on this machine.
class GotData : public TaskResult {
 public:
  GotData(TaskResult texts, std::filesystem::path path)
      : TaskResult(std::move(texts)), path_(std::move(path)) {}

  // The file that load reads.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Adds the files that get_data would write. Throws Error{bad_option} for a name that is not in the list.
FilePlan plan_data(const std::string& name, const GetDataOptions& options);

// Downloads a data set of the list by its name with curl or wget, whichever is installed, and unpacks what is
// needed of a zip archive, which stays beside it. A file appears under its name when it is complete. If the
// environment variable POLYAD_MIRROR is the address of a folder (http or https), files are downloaded from
// there by their names. Requires a context of one process.
//
// Throws Error{bad_option} for a name that is not in the list or an impossible mirror, Error{io} if a file
// cannot be downloaded, with the place to put it by other means, Error{bad_input} if one is not what was
// published, and Error{resource} for a full disk.
GotData get_data(const Context& context, const std::string& name, const GetDataOptions& options = {});

}  // namespace polyad
