#pragma once

#include <filesystem>
#include <string>

#include "polyad/io/bytes/input_file.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"

namespace polyad::io {

// The numbers of a recommender's model, without the ratings that it was trained on.
template <class Real>
struct RatingArchive {
  RatingModel<Real> model;
  RatingTraining<Real> training;

  friend bool operator==(const RatingArchive&, const RatingArchive&) = default;
};

// NumPy's archive of arrays: mean, user_factors, item_factors, epochs, step, regularisation, shrinkage; where
// there are any user_biases and item_biases, and user_squares and item_squares. Arrays of f8 or f4, whichever
// Real is wanted. Other arrays are passed over. Throws Error{bad_input} when arrays are missing, do not fit
// together or hold what is not finite.
template <class Real>
RatingArchive<Real> read_rating_archive(const InputFile& file);

// Whether its factors are stored in single precision.
bool is_single_precision(const InputFile& file);

// What is wrong with a model, in words: shapes that do not fit together, numbers that are not finite. Empty
// when it is sound.
template <class Real>
std::string fault_of(const RatingModel<Real>& model, const RatingTraining<Real>& training);

// Its bytes depend on the contents alone. The model is sound.
template <class Real>
void write_rating_archive(const std::filesystem::path& path, const RatingModel<Real>& model,
                          const RatingTraining<Real>& training);

}  // namespace polyad::io
