#pragma once

#include <filesystem>

#include "polyad/io/input_file.hpp"
#include "polyad/tensor/kruskal.hpp"

// One reader and one writer per format of Kruskal tensors, for kruskal.cpp alone. The writers are given
// tensors that have been checked.
namespace polyad::io {

Kruskal<double> read_splatt_factors(const std::filesystem::path& directory);
void write_splatt_factors(const std::filesystem::path& directory, const Kruskal<double>& k);
// Whether the directory holds any file of SPLATT's, and so is meant as a Kruskal tensor.
bool holds_splatt_factors(const std::filesystem::path& directory);

Kruskal<double> read_ktensor(const InputFile& file);
void write_ktensor(const std::filesystem::path& path, const Kruskal<double>& k);

}  // namespace polyad::io
