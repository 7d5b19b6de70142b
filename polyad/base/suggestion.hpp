#pragma once

#include <string>
#include <vector>

namespace polyad {

// " (did you mean rank?)": the one of the names that a misspelt word probably means, of which at most a third
// of the letters differ. Empty: there is none.
std::string suggestion(const std::string& word, const std::vector<std::string>& names);

}  // namespace polyad
