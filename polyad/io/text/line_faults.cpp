#include "polyad/io/text/line_faults.hpp"

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/byte_stream.hpp"

namespace polyad::io {

void settle(const InputFile& file, std::vector<std::vector<LineFault>> faults_per_thread,
            std::vector<Problem>* problems) {
  std::vector<LineFault> faults;
  for (auto& part : faults_per_thread) std::ranges::move(part, std::back_inserter(faults));
  if (faults.empty()) return;
  std::ranges::sort(faults, {}, &LineFault::offset);
  if (problems == nullptr)
    throw Error(Errc::bad_input, faults[0].why,
                {file.path().string(), line_number_at(file, faults[0].offset)});
  LineReader lines(file);  // only the failing path pays for counting lines
  std::string_view line;
  auto fault = faults.begin();
  while (fault != faults.end() && lines.next(line))
    for (; fault != faults.end() && fault->offset < lines.next_begin(); ++fault)
      problems->push_back({lines.line_number(), fault->why});
}

}  // namespace polyad::io
