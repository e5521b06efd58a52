#include "json_node.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

#include "../../core/printable.hpp"

namespace chorale::simulation {

const json_node* json_node::find(std::string_view key) const noexcept {
  for (const auto& member : members)
    if (member.key == key) return &member.value;
  return nullptr;
}

std::string json_node::described() const {
  switch (kind) {
    case type::null:
      return "null";
    case type::truth:
      return truth ? "true" : "false";
    case type::whole:
      return fmt::format("the number {}", whole);
    case type::fraction:
      return fmt::format("the number {}", fraction);
    case type::text:
      return fmt::format("the text \"{}\"", printable(text, 64));
    case type::array:
      return "an array";
    case type::object:
      break;
  }
  return "an object";
}

namespace {

/// The position of the parser.
struct reading {
  int line = 1;
  bool behind_line = false;  // the last character read was a newline
};

/// Gives the parser the text, and counts lines.
class counting_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counting_iterator(const char* at, reading& so_far) : at_(at), so_far_(&so_far) {}

  reference operator*() const noexcept { return *at_; }
  counting_iterator& operator++() noexcept {
    so_far_->behind_line = *at_ == '\n';
    if (so_far_->behind_line) ++so_far_->line;
    ++at_;
    return *this;
  }
  counting_iterator operator++(int) noexcept {
    auto before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const counting_iterator& a, const counting_iterator& b) noexcept {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  reading* so_far_;
};

/// Builds the tree from the parser's events.
class builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  builder(std::string_view text, const reading& so_far) : text_(text), so_far_(so_far) {}

  bool null() override { return add({}); }
  bool boolean(bool truth) override {
    json_node node;
    node.kind = json_node::type::truth;
    node.truth = truth;
    return add(std::move(node));
  }
  bool number_integer(std::int64_t number) override {
    json_node node;
    node.kind = json_node::type::whole;
    node.whole = number;
    return add(std::move(node));
  }
  bool number_unsigned(std::uint64_t number) override {
    if (number > std::numeric_limits<std::int64_t>::max())
      return number_float(static_cast<double>(number), {});
    return number_integer(static_cast<std::int64_t>(number));
  }
  bool number_float(double number, const std::string&) override {
    json_node node;
    node.kind = json_node::type::fraction;
    node.fraction = number;
    return add(std::move(node));
  }
  bool string(std::string& text) override {
    json_node node;
    node.kind = json_node::type::text;
    node.text = std::move(text);
    return add(std::move(node));
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json_node::type::object); }
  bool key(std::string& key) override {
    const auto& object = open_.back();
    if (object.find(key) != nullptr)
      throw json_fault{line(), fmt::format("the key \"{}\" is there twice", printable(key, 64))};
    keys_.push_back(std::move(key));
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(json_node::type::array); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& e) override {
    const auto before = text_.substr(0, std::min(position > 0 ? position - 1 : 0, text_.size()));
    const auto lines = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while ..."
    std::string_view why = e.what();
    if (const auto colon = why.find(": "); colon != why.npos) why.remove_prefix(colon + 2);
    throw json_fault{lines + 1, fmt::format("this is no JSON: {}", printable(why, 256))};
  }

  json_node result;

 private:
  // The parser ends a number only at the next character, which may be the newline.
  [[nodiscard]] int line() const noexcept { return so_far_.line - (so_far_.behind_line ? 1 : 0); }

  bool open(json_node::type kind) {
    json_node node;
    node.kind = kind;
    node.line = line();
    open_.push_back(std::move(node));
    return true;
  }
  bool close() {
    auto node = std::move(open_.back());
    open_.pop_back();
    return place(std::move(node));
  }
  bool add(json_node node) {
    node.line = line();
    return place(std::move(node));
  }
  bool place(json_node node) {
    if (open_.empty()) {
      result = std::move(node);
    } else if (open_.back().is(json_node::type::array)) {
      open_.back().items.push_back(std::move(node));
    } else {
      open_.back().members.push_back({std::move(keys_.back()), std::move(node)});
      keys_.pop_back();
    }
    return true;
  }

  std::string_view text_;
  const reading& so_far_;
  std::vector<json_node> open_;
  std::vector<std::string> keys_;
};

}  // namespace

json_node parse_json(std::string_view text) {
  reading so_far;
  builder tree{text, so_far};
  nlohmann::json::sax_parse(counting_iterator{text.data(), so_far},
                            counting_iterator{text.data() + text.size(), so_far}, &tree);
  return std::move(tree.result);
}

}  // namespace chorale::simulation
