#pragma once

#include "polyad/io/tensors/loaded_tensor.hpp"
#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Reading takes two steps, so that many processes can take part: each reads its share of the file;
// together they merge the facts (and unite the labels) of all shares; each makes its slab a tensor.
Slab read_slab(const std::filesystem::path& path, const ReadOptions& options);
// Settles what the whole file decides: the index base and the dims. With several shares the tensor
// holds this share's nonzeros, under the dims of the whole.
LoadedTensor assemble(Slab slab, const SlabFacts& whole, const ReadOptions& options);

// Hands over a file in slabs, one after the other: a text of coordinates of options.space in slabs of bounded
// size, anything else in one. There is always one, if an empty one.
void for_each_slab(const std::filesystem::path& path, const ReadOptions& options, const SlabFn& fn);

// Whether indices, taken to count from 1 until now, count from 0, as an index -1 shows. And whether there are
// as many nonzeros as the file announces: throws Error{bad_input} or notes that there are not.
bool counts_from_zero(const FileHead& head, const SlabFacts& whole, const ReadOptions& options);
void check_count(const FileHead& head, const SlabFacts& whole, const ReadOptions& options,
                 std::vector<std::string>& notes);
inline constexpr const char* note_of_zero =
    "an index 0 occurs, so indices are taken to count from 0 in every mode";

// Both steps, for one process. Labels are those that the file itself carries.
LoadedTensor read_tensor(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace polyad::io
