#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "polyad/io/models/rating_archive.hpp"
#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::io {

// A recommender's model is a directory: model.npz (rating_archive.hpp), training.ptb (the ratings that it was
// trained on, users x items, in their order, zeros included), and where users or items have names
// mode-1-user.map and mode-2-item.map, under the names that these modes have.
template <class Real>
struct StoredRatingModel {
  RatingModel<Real> model;
  RatingTraining<Real> training;
  SparseTensor<double> ratings;
  std::vector<ModeLabels> labels;  // of users and of items; named, also where they are empty
};

// The file of such a directory without which nothing is read.
inline constexpr const char* rating_model_key = "model.npz";

// Reads a model of either precision. Throws Error{bad_input} when a file is missing or damaged, or when
// they do not fit together.
template <class Real>
StoredRatingModel<Real> read_rating_model(const std::filesystem::path& directory);
// The same without the ratings and labels.
template <class Real>
RatingArchive<Real> read_rating_factors(const std::filesystem::path& directory);
// Whether it is stored in single precision.
bool is_single_rating_model(const std::filesystem::path& directory);

// Replaces the model that may be there in one step, when the new one is complete and durable
// (staged_directory.hpp); other files of the directory are kept. Throws as check_rating_model_place does, and
// Error{bad_input} for what could not be read again. `labels`: of users and items; either may be empty.
template <class Real>
void write_rating_model(const std::filesystem::path& directory, const RatingModel<Real>& model,
                        const RatingTraining<Real>& training, const SparseTensor<double>& ratings,
                        std::span<const ModeLabels> labels);

// Throws Error{bad_option} when the directory holds another kind of model, or labels that are not those of a
// model of ratings, and Error{io} when it cannot be written: to be called before training.
void check_rating_model_place(const std::filesystem::path& directory);

// Whether the directory is meant as a model of ratings, by the names of its files.
bool is_rating_model(const std::filesystem::path& path);
// Whether such a directory has a file of this name, labels aside.
bool is_part_of_rating_model(const std::filesystem::path& name);

// The names of the modes where they have none: "user" and "item".
void name_rating_modes(std::vector<ModeLabels>& labels);

}  // namespace polyad::io
