#pragma once

#include "polyad/io/tensors/loaded_tensor.hpp"
#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Reading has two steps, so that many processes can take part: each reads its share of the file;
// then facts and labels of all shares are merged, and each process converts its slab to a tensor.
Slab read_slab(const std::filesystem::path& path, const ReadOptions& options);
// Determines what depends on the whole file: the index base and the dims. With several
// shares the tensor holds the nonzeros of this share, with the dims of the whole.
LoadedTensor assemble(Slab slab, const SlabFacts& whole, const ReadOptions& options);

// Passes a file on in slabs: a text of coordinates of options.space in slabs
// of limited size, other files in one. There is at least one, possibly empty.
void for_each_slab(const std::filesystem::path& path, const ReadOptions& options, const SlabFn& fn);

// Determines whether indices, assumed to count from 1, count from 0, as an index -1 shows; and whether
// there are as many nonzeros as the file states: throws Error{bad_input} or adds a note if not.
bool counts_from_zero(const FileHead& head, const SlabFacts& whole, const ReadOptions& options);
void check_count(const FileHead& head, const SlabFacts& whole, const ReadOptions& options,
                 std::vector<std::string>& notes);
// Notes how many lines options.table.fields left out, if any.
void note_left_out(const SlabFacts& whole, const ReadOptions& options, std::vector<std::string>& notes);
inline constexpr const char* note_of_zero =
    "an index 0 occurs, so indices are taken to count from 0 in every mode";

// Both steps, for one process. Labels are those contained in the file.
LoadedTensor read_tensor(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace polyad::io
