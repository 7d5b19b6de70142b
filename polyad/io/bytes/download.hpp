#pragma once

#include <sys/types.h>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace polyad::io {

// The program of that name in one of the folders of PATH that are given from the root; nothing: there is
// none.
std::optional<std::filesystem::path> find_program(const std::string& name);

// A program of the system that downloads files.
struct Downloader {
  enum class Kind { curl, wget };
  Kind kind = Kind::curl;
  std::filesystem::path path;
};
// curl if it is there, else wget; nothing: there is neither.
std::optional<Downloader> find_downloader();

// The words by which the program is called: the file goes to its standard output, and no configuration file
// of the user is read. Of an address with https, no other protocol is accepted on the way: curl follows
// redirections by https only, and wget, which cannot be told so, follows none.
std::vector<std::string> download_command(const Downloader& downloader, const std::string& address);

// The bytes of an address, as a program of its own receives them. No shell is involved.
class Download {
 public:
  // Throws Error{resource} if the program cannot be started.
  Download(const Downloader& downloader, const std::string& address);
  // Ends the program if it still runs.
  ~Download();
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  // Waits for bytes and returns their number; 0: no more come.
  std::size_t read(std::span<char> into);
  // Waits for the end of the program. Returns what it says went wrong; empty: all bytes have come.
  std::string finish();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string last_line_of_messages() const;

  std::string name_;
  std::unique_ptr<std::FILE, CloseFile> messages_;
  int pipe_ = -1;
  pid_t process_ = -1;
};

}  // namespace polyad::io
