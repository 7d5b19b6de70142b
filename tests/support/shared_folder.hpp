#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::test {

// A folder that process 0 makes and all processes use, gone when all have left it. Constructor and destructor
// are collective.
class SharedFolder {
 public:
  explicit SharedFolder(Comm comm) : comm_(std::move(comm)) {
    std::vector<char> name;
    if (comm_.rank() == 0) {
      folder_ = std::make_unique<TemporaryFolder>();
      const auto path = (*folder_ / "").string();
      name.assign(path.begin(), path.end());
    }
    comm_.broadcast(name, 0);
    path_ = std::string(name.begin(), name.end());
  }
  ~SharedFolder() { comm_.barrier(); }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  Comm comm_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::filesystem::path path_;
};

}  // namespace polyad::test
