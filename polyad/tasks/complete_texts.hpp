#pragma once

#include <string>
#include <vector>

#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/search_complete.hpp"

namespace polyad {

// Options of completion as people write them, for interfaces that take them as texts. Those that can be
// nonsense throw Error{bad_option}.

// "0.1", "leave-one-out", or a file, which is read by these options; "": no ratings.
TestRatings parse_test(const std::string& text, const LoadOptions& file_options);
// The same where ratings are only planned, so that a file is nonsense.
TestRatings parse_test_split(const std::string& text);

// "auto", "max", or a number from 1 to that of processes.
int parse_sync(const std::string& text, int processes);

// "users" or "items", else automatic.
DistributedSide parse_distributed_side(const std::string& text);

// A name as to_string has it; any other text is a file; and these names.
RatingPartition parse_rating_partition(const std::string& text);
std::vector<std::string> rating_partition_words();

// "auto", "rank", "reg", "lr" or "alpha", which stand for values of usual_grid, or with values of their own
// as in "rank=8,16,32".
SearchGrid parse_search(const std::vector<std::string>& texts, const CompleteOptions& options);

}  // namespace polyad
