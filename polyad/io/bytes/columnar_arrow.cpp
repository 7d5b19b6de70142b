#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/columnar_file.hpp"

namespace polyad::io {
namespace {

constexpr std::string_view parquet_magic = "PAR1", arrow_magic = "ARROW1";

std::string first_bytes(const InputFile& file) {
  std::array<char, 512> bytes{};
  const auto got = std::size_t(file.read_some(0, bytes));
  return {bytes.data(), got};
}

// Collects text and appends it to a file.
class CsvText {
 public:
  CsvText(const InputFile& file, int descriptor) : file_(file), descriptor_(descriptor) {}

  std::string& text() { return text_; }
  void flush(std::size_t longest) {
    if (text_.size() <= longest) return;
    for (std::string_view rest = text_; !rest.empty();) {
      const ssize_t written = write(descriptor_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0)
        throw Error(Errc::resource,
                    "cannot be copied as csv to a temporary file (TMPDIR says where): " +
                        std::generic_category().message(errno),
                    {file_.path().string(), 0});
      rest.remove_prefix(std::size_t(written));
    }
    text_.clear();
  }

 private:
  const InputFile& file_;
  int descriptor_;
  std::string text_;
};

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  for (const char c : text) {
    to += c;
    if (c == '"') to += '"';
  }
  to += '"';
}

template <class Real>
void append_real(std::string& to, Real value) {
  if (std::isnan(value)) return;
  const auto begin = to.size();
  fmt::format_to(std::back_inserter(to), "{}", value);
  if (to.find_first_of(".en", begin) == std::string::npos) to += ".0";
}

void append_time(std::string& to, std::int64_t count, arrow::TimeUnit::type unit, bool has_zone) {
  static constexpr std::array<std::int64_t, 4> per_second{1, 1000, 1000000, 1000000000};
  const auto parts = per_second.at(std::size_t(unit));
  std::int64_t seconds = count / parts, fraction = count % parts;
  if (fraction < 0) {
    fraction += parts;
    --seconds;
  }
  const std::chrono::sys_seconds at{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  fmt::format_to(std::back_inserter(to), "{:04}-{:02}-{:02} {:02}:{:02}:{:02}", int(date.year()),
                 unsigned(date.month()), unsigned(date.day()), time.hours().count(), time.minutes().count(),
                 time.seconds().count());
  if (fraction != 0) fmt::format_to(std::back_inserter(to), ".{:0{}}", fraction, 3 * std::size_t(unit));
  if (has_zone) to += "+00:00";
}

void append_date(std::string& to, std::int64_t days) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days(days)}};
  fmt::format_to(std::back_inserter(to), "{:04}-{:02}-{:02}", int(date.year()), unsigned(date.month()),
                 unsigned(date.day()));
}

// Appends the field of a row, which is not null.
using AppendField = std::function<void(std::string&, std::int64_t)>;

template <class Array, class Append>
AppendField of_values(const arrow::Array& array, Append append) {
  return [&values = static_cast<const Array&>(array), append](std::string& to, std::int64_t row) {
    append(to, values.Value(row));
  };
}

template <class Array>
AppendField of_whole(const arrow::Array& array) {
  return of_values<Array>(array, [](std::string& to, auto value) { to += std::to_string(value); });
}

template <class Array>
AppendField of_texts(const arrow::Array& array) {
  return [&texts = static_cast<const Array&>(array)](std::string& to, std::int64_t row) {
    append_quoted(to, texts.GetView(row));
  };
}

AppendField field_writer(const arrow::Array& array);

AppendField of_dictionary(const arrow::DictionaryArray& array) {
  const auto words = array.dictionary();
  return [&array, words, append = field_writer(*words)](std::string& to, std::int64_t row) {
    const auto word = array.GetValueIndex(row);
    if (words->IsValid(word)) append(to, word);
  };
}

AppendField of_timestamps(const arrow::Array& array) {
  const auto& type = static_cast<const arrow::TimestampType&>(*array.type());
  return of_values<arrow::TimestampArray>(
      array, [unit = type.unit(), has_zone = !type.timezone().empty()](std::string& to, std::int64_t value) {
        append_time(to, value, unit, has_zone);
      });
}

AppendField field_writer(const arrow::Array& array) {
  constexpr std::int64_t milliseconds_per_day = 86400000;
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return of_values<arrow::BooleanArray>(array,
                                            [](std::string& to, bool value) { to += value ? '1' : '0'; });
    case arrow::Type::INT8:
      return of_whole<arrow::Int8Array>(array);
    case arrow::Type::INT16:
      return of_whole<arrow::Int16Array>(array);
    case arrow::Type::INT32:
      return of_whole<arrow::Int32Array>(array);
    case arrow::Type::INT64:
      return of_whole<arrow::Int64Array>(array);
    case arrow::Type::UINT8:
      return of_whole<arrow::UInt8Array>(array);
    case arrow::Type::UINT16:
      return of_whole<arrow::UInt16Array>(array);
    case arrow::Type::UINT32:
      return of_whole<arrow::UInt32Array>(array);
    case arrow::Type::UINT64:
      return of_whole<arrow::UInt64Array>(array);
    case arrow::Type::FLOAT:
      return of_values<arrow::FloatArray>(array, append_real<float>);
    case arrow::Type::DOUBLE:
      return of_values<arrow::DoubleArray>(array, append_real<double>);
    case arrow::Type::STRING:
      return of_texts<arrow::StringArray>(array);
    case arrow::Type::LARGE_STRING:
      return of_texts<arrow::LargeStringArray>(array);
    case arrow::Type::DATE32:
      return of_values<arrow::Date32Array>(array, append_date);
    case arrow::Type::DATE64:
      return of_values<arrow::Date64Array>(array, [](std::string& to, std::int64_t value) {
        append_date(to,
                    (value - (value % milliseconds_per_day + milliseconds_per_day) % milliseconds_per_day) /
                        milliseconds_per_day);
      });
    case arrow::Type::TIMESTAMP:
      return of_timestamps(array);
    case arrow::Type::DICTIONARY:
      return of_dictionary(static_cast<const arrow::DictionaryArray&>(array));
    default:  // as Arrow shows it: decimal numbers and times of day, but also lists
      return [&array](std::string& to, std::int64_t row) {
        const auto scalar = array.GetScalar(row);
        if (scalar.ok()) append_quoted(to, (*scalar)->ToString());
      };
  }
}

class ColumnarReader {
 public:
  ColumnarReader(const InputFile& file, int descriptor) : file_(file), csv_(file, descriptor) {}

  void write() {
    if (first_bytes(file_).starts_with(parquet_magic))
      write_parquet();
    else
      write_arrow();
    csv_.flush(0);
  }

 private:
  void require(const arrow::Status& status) const {
    if (status.ok()) return;
    const auto code = status.IsOutOfMemory() ? Errc::resource : Errc::bad_input;
    throw Error(
        code, fmt::format("is a Parquet or Arrow file that Apache Arrow does not read: {}", status.message()),
        {file_.path().string(), 0});
  }
  template <class T>
  T taken(arrow::Result<T> result) const {
    require(result.status());
    return std::move(result).ValueUnsafe();
  }

  std::shared_ptr<arrow::io::RandomAccessFile> opened() const {
    return taken(arrow::io::ReadableFile::Open(file_.duplicate_descriptor()));
  }

  void write_parquet() {
    parquet::arrow::FileReaderBuilder builder;
    require(builder.Open(opened()));
    std::unique_ptr<parquet::arrow::FileReader> reader;
    require(builder.Build(&reader));
    std::shared_ptr<arrow::Schema> schema;
    require(reader->GetSchema(&schema));
    write_header(*schema);
    for (int group = 0; group < reader->num_row_groups(); ++group) write_table(*row_group(*reader, group));
  }

  // Later versions of Arrow return a result, earlier ones a status.
  template <class Reader>
  std::shared_ptr<arrow::Table> row_group(Reader& reader, int group) const {
    if constexpr (requires { reader.ReadRowGroup(group); }) {
      return taken(reader.ReadRowGroup(group));
    } else {
      std::shared_ptr<arrow::Table> table;
      require(reader.ReadRowGroup(group, &table));
      return table;
    }
  }

  void write_table(const arrow::Table& table) {
    arrow::TableBatchReader batches(table);
    for (std::shared_ptr<arrow::RecordBatch> batch;;) {
      require(batches.ReadNext(&batch));
      if (batch == nullptr) return;
      write_batch(*batch);
    }
  }

  void write_arrow() {
    const auto reader = taken(arrow::ipc::RecordBatchFileReader::Open(opened()));
    write_header(*reader->schema());
    for (int i = 0; i < reader->num_record_batches(); ++i) write_batch(*taken(reader->ReadRecordBatch(i)));
  }

  void write_header(const arrow::Schema& schema) {
    if (schema.num_fields() == 0)
      throw Error(Errc::bad_input, "is a table without columns", {file_.path().string(), 0});
    for (int c = 0; c < schema.num_fields(); ++c) {
      if (c > 0) csv_.text() += ',';
      append_quoted(csv_.text(), schema.field(c)->name());
    }
    csv_.text() += '\n';
  }

  void write_batch(const arrow::RecordBatch& batch) {
    constexpr std::size_t buffer_bytes = std::size_t(1) << 20;
    require(batch.ValidateFull());
    std::vector<AppendField> columns;
    for (const auto& column : batch.columns()) columns.push_back(field_writer(*column));
    for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (c > 0) csv_.text() += ',';
        if (batch.column(int(c))->IsValid(row)) columns[c](csv_.text(), row);
      }
      csv_.text() += '\n';
      csv_.flush(buffer_bytes);
    }
  }

  const InputFile& file_;
  CsvText csv_;
};

}  // namespace

bool reads_columnar() {
  return true;
}

// A text may begin with the same letters.
bool is_columnar(const InputFile& file) {
  const auto begin = first_bytes(file);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < '\t'; };
  return (begin.starts_with(parquet_magic) || begin.starts_with(arrow_magic)) &&
         std::ranges::any_of(begin, is_control);
}

void write_as_csv(const InputFile& file, int descriptor) {
  try {
    ColumnarReader(file, descriptor).write();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {  // Parquet's own
    throw Error(Errc::bad_input, fmt::format("is a damaged Parquet file: {}", e.what()),
                {file.path().string(), 0});
  }
}

}  // namespace polyad::io
