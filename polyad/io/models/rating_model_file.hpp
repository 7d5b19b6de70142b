#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "polyad/io/models/rating_archive.hpp"
#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::io {

// A model of ratings is a directory: model.npz (rating_archive.hpp), training.ptb (the ratings
// that it was trained on, users x items, in their order, including zeros), and if users or
// items have names mode-1-user.map and mode-2-item.map, with the names of these modes.
template <class Real>
struct StoredRatingModel {
  RatingModel<Real> model;
  RatingTraining<Real> training;
  SparseTensor<double> ratings;
  std::vector<ModeLabels> labels;  // of users and of items; the modes have names even without labels
};

// The file of such a directory that is required for reading.
inline constexpr const char* rating_model_key = "model.npz";

// Reads a model of either precision. Throws Error{bad_input} if
// a file is missing or damaged, or if files do not fit together.
template <class Real>
StoredRatingModel<Real> read_rating_model(const std::filesystem::path& directory);
// The same without ratings and labels.
template <class Real>
RatingArchive<Real> read_rating_factors(const std::filesystem::path& directory);
// Whether it is stored in single precision.
bool is_single_rating_model(const std::filesystem::path& directory);

// Replaces an existing model in one step when the new one is complete and durable (staged_directory.hpp);
// other files of the directory are kept. Throws the errors of check_rating_model_place, and
// Error{bad_input} for what could not be read again. `labels`: of users and items; either may be empty.
template <class Real>
void write_rating_model(const std::filesystem::path& directory, const RatingModel<Real>& model,
                        const RatingTraining<Real>& training, const SparseTensor<double>& ratings,
                        std::span<const ModeLabels> labels);

// Throws Error{bad_option} if the directory contains another kind of model or other
// labels, and Error{io} if it cannot be written; to be called before training.
void check_rating_model_place(const std::filesystem::path& directory);

// Whether the directory is meant as a model of ratings, by the names of its files.
bool is_rating_model(const std::filesystem::path& path);
// Whether such a directory has a file of this name, except labels.
bool is_part_of_rating_model(const std::filesystem::path& name);

// Default names of the modes: "user" and "item".
void name_rating_modes(std::vector<ModeLabels>& labels);

}  // namespace polyad::io
