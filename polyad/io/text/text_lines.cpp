#include "polyad/io/text/text_lines.hpp"

#include <algorithm>
#include <cstring>
#include <future>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

constexpr std::size_t piece_bytes = std::size_t(1) << 18;     // stays in the second-level cache
constexpr std::size_t spare_bytes = 1 + number_padding;       // for the last line's \n, and behind it
constexpr std::size_t max_line_bytes = std::size_t(1) << 26;  // a longer line is no text
constexpr std::size_t inflated_bytes = std::size_t(1) << 24;  // parsed by all threads at a time
constexpr Index min_step = 1 << 10, max_step = 1 << 16;       // stored bytes inflated at a time

// The first line begin at or after `position`; the size of the text when there is none.
std::size_t line_begin_from(std::string_view text, std::size_t position) {
  if (position == 0) return 0;
  const std::size_t end = text.find('\n', position - 1);
  return end == std::string_view::npos ? text.size() : end + 1;
}

Index line_begin_from(const InputFile& file, Index position) {
  std::vector<char> buffer(1 << 12);
  for (Index at = position - 1; at < file.size(); at += Index(buffer.size())) {
    const std::string_view text(buffer.data(), std::size_t(file.read_some(at, buffer)));
    if (const auto end = text.find('\n'); end != std::string_view::npos) return at + Index(end) + 1;
  }
  return file.size();
}

void check_line_length(const InputFile& file, std::size_t bytes) {
  if (bytes > max_line_bytes)
    throw Error(Errc::bad_input, "has a line of more than 64 MiB: not a text of numbers",
                {file.path().string(), 0});
}

// The share of a gzip file's text: which lines begin in the steps that belong to it.
class InflatedShare {
 public:
  InflatedShare(const InputFile& file, Index text_begin, Share share)
      : file_(file),
        stream_(file, std::clamp(file.size() / (Index(share.parts) * 16), min_step, max_step)),
        first_step_(part_begin(stream_.num_steps(), share.part, share.parts)),
        end_step_(part_begin(stream_.num_steps(), share.part + 1, share.parts)),
        text_begin_(text_begin) {}

  // The next lines of the share, about inflated_bytes of them; empty at its end.
  std::string next(Index& offset) {
    while (!at_end_ && pending_.size() < inflated_bytes) pull();
    std::size_t cut = pending_.rfind('\n');
    for (; !at_end_ && cut == std::string::npos; cut = pending_.rfind('\n')) {
      check_line_length(file_, pending_.size());
      pull();
    }
    cut = at_end_ ? pending_.size() : cut + 1;
    std::string lines = pending_.substr(0, cut);
    offset = pending_offset_;
    pending_.erase(0, cut);
    pending_offset_ += Index(cut);
    if (!lines.empty() && lines.back() != '\n') lines.push_back('\n');
    return lines;
  }

 private:
  void pull() {
    std::string bytes;
    const bool any = stream_.next(bytes);
    const Index step = next_step_++, offset = inflated_;
    inflated_ += Index(bytes.size());
    if (!any) {
      at_end_ = true;
      return;
    }
    std::size_t from = 0, to = bytes.size();
    if (pending_.empty() && !started_) {
      if (step >= first_step_ && step < end_step_)
        from = first_own_line(bytes, offset);
      else
        from = bytes.size();
      started_ = from < bytes.size();
      pending_offset_ = offset + Index(from);
    }
    if (step >= end_step_) to = end_of_last_line(bytes);
    if (!bytes.empty()) last_byte_ = bytes.back();
    if (from < to) pending_.append(bytes, from, to - from);
  }

  std::size_t first_own_line(const std::string& bytes, Index offset) const {
    const auto skip = std::size_t(std::clamp<Index>(text_begin_ - offset, 0, Index(bytes.size())));
    if (skip > 0) return skip;  // the text begins at a line begin
    if (last_byte_ == '\n') return 0;
    const std::size_t end = bytes.find('\n');
    return end == std::string::npos ? bytes.size() : end + 1;
  }

  // Past the share only the line that began in it is still wanted.
  std::size_t end_of_last_line(const std::string& bytes) {
    if (!started_ || last_byte_ == '\n') {
      at_end_ = true;
      return 0;
    }
    const std::size_t end = bytes.find('\n');
    at_end_ = end != std::string::npos;
    return at_end_ ? end + 1 : bytes.size();
  }

  const InputFile& file_;
  ByteStream stream_;
  Index first_step_, end_step_, text_begin_;
  Index next_step_ = 0, inflated_ = 0;
  std::string pending_;  // lines of the share that were not handed out yet
  Index pending_offset_ = 0;
  char last_byte_ = '\n';
  bool started_ = false, at_end_ = false;
};

// Inflates the next lines while the threads parse the last.
void for_each_inflated(const InputFile& file, Index text_begin, Share share,
                       const std::function<void(const TextRange&)>& fn) {
  InflatedShare text(file, text_begin, share);
  Index offset = 0;
  std::string lines = text.next(offset);
  while (!lines.empty()) {
    Index next_offset = 0;
    auto next = std::async(std::launch::async, [&] { return text.next(next_offset); });
    const std::size_t size = lines.size();
    lines.append(number_padding, '\0');
    fn(TextRange(TextPiece{std::string_view(lines).substr(0, size), offset}));
    lines = next.get();
    offset = next_offset;
  }
}

}  // namespace

void TextRange::for_each_piece(Share share, const PieceFn& fn) const {
  const Index begin = part_begin(size(), share.part, share.parts);
  const Index end = part_begin(size(), share.part + 1, share.parts);
  if (begin == end) return;
  if (file_ != nullptr) {
    read_pieces(begin_ + begin, begin_ + end, fn);
    return;
  }
  const std::size_t from = line_begin_from(memory_, std::size_t(begin));
  const std::size_t to = line_begin_from(memory_, std::size_t(end));
  if (from < to) fn({memory_.substr(from, to - from), begin_ + Index(from)});
}

void TextRange::read_pieces(Index begin, Index end, const PieceFn& fn) const {
  std::vector<char> buffer(piece_bytes + spare_bytes);
  // The preceding byte shows whether a line begins at `begin`.
  Index position = begin == begin_ ? begin : begin - 1;
  bool skip_line = position < begin;
  std::size_t held = 0;  // bytes of an unfinished line at the front of the buffer
  while (position < end) {
    const std::size_t space = buffer.size() - spare_bytes - held;
    const Index got = file_->read_some(position + Index(held), std::span(buffer).subspan(held, space));
    std::string_view text(buffer.data(), held + std::size_t(got));
    const bool at_end = got < Index(space);
    if (text.empty()) return;
    if (at_end && text.back() != '\n') {
      buffer[text.size()] = '\n';
      text = {buffer.data(), text.size() + 1};
    }
    std::size_t from = 0;
    if (skip_line) {
      from = text.find('\n');
      from = from == std::string_view::npos ? text.size() : from + 1;
      skip_line = from == text.size() && text.back() != '\n';
    }
    std::size_t to = text.rfind('\n') + 1;  // 0 when there is none
    if (position + Index(to) > end) to = line_begin_from(text, std::size_t(end - position));
    if (from < to && !fn({text.substr(from, to - from), position + Index(from)})) return;
    if (at_end) return;
    const std::size_t done = skip_line ? text.size() : to;
    held = text.size() - done;
    std::memmove(buffer.data(), text.data() + done, held);
    position += Index(done);
    if (held + spare_bytes == buffer.size()) {  // a line longer than the buffer
      check_line_length(*file_, buffer.size());
      buffer.resize(buffer.size() * 2);
    }
  }
}

void for_each_range(const InputFile& file, Index text_begin, Share share,
                    const std::function<void(const TextRange&)>& fn, Index longest) {
  if (file.is_gzip()) {
    for_each_inflated(file, text_begin, share, fn);
    return;
  }
  // The threads cut this share again, so it is handed over from a line begin to a line begin.
  const Index text_bytes = std::max<Index>(file.size() - text_begin, 0);
  const auto begin_of = [&](int part) {
    const Index position = text_begin + part_begin(text_bytes, part, share.parts);
    return position == text_begin ? position : line_begin_from(file, position);
  };
  const Index end = begin_of(share.part + 1);
  for (Index begin = begin_of(share.part); begin < end;) {
    const Index stop = end - begin <= longest ? end : line_begin_from(file, begin + longest);
    fn(TextRange(file, begin, stop));
    begin = stop;
  }
}

}  // namespace polyad::io
