// state.cpp - building, comparing and searching states. See state.hpp.
#include "core/state.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace treethink {

namespace {

// A finaliser that spreads every bit of the input (constants of splitmix64).
constexpr std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

constexpr std::uint64_t combine(std::uint64_t seed, std::uint64_t next) { return scramble(seed ^ next); }

std::uint64_t hash_of(std::vector<Int> const& values, std::uint64_t seed) {
    for (Int const value : values) seed = combine(seed, static_cast<std::uint64_t>(value));
    return seed;
}

std::string quoted(std::string const& name) { return "'" + name + "'"; }

template <class Names>
void enter(Names& names, std::string const& kind, std::string const& name) {
    if (name.empty()) throw SchemaError("the name of " + kind + " is empty");
    auto const position = static_cast<std::uint32_t>(names.size());
    if (!names.emplace(name, position).second) throw SchemaError(kind + " " + quoted(name) + " is listed twice");
}

template <class Result, class Names, class Known>
Result find_name(Names const& names, std::string_view name, std::string const& kind, Known const& known) {
    if (auto const found = names.find(name); found != names.end()) return Result(found->second);
    throw UnknownName(kind, std::string(name), known(), "the schema");
}

template <class Named>
std::vector<std::string> names_of(std::vector<Named> const& list) {
    std::vector<std::string> names;
    for (auto const& each : list) names.push_back(each.name);
    return names;
}

std::string list_ids(std::vector<Int> const& ids) {
    std::string text;
    for (std::size_t i = 0; i < ids.size() && i < 5; ++i) text += (i ? ", " : "") + std::to_string(ids[i]);
    return ids.size() > 5 ? text + ", and " + std::to_string(ids.size() - 5) + " more" : text;
}

}  // namespace

// ---------------------------------------------------------------- Schema

Schema::Schema(std::vector<Class> classes, std::vector<Attribute> attributes, std::vector<std::string> actions)
    : classes_(std::move(classes)), attributes_(std::move(attributes)), actions_(std::move(actions)) {
    for (auto const& each : classes_) enter(class_names_, "class", each.name);
    for (auto const& each : attributes_) enter(attribute_names_, "attribute", each.name);
    for (auto const& each : actions_) enter(action_names_, "action", each);
    for (auto const& each : attributes_)
        if (each.length == 0 || each.length > longest_vector)
            throw SchemaError("attribute " + quoted(each.name) + " needs a length of 1 to " +
                              std::to_string(longest_vector) + ", got " + std::to_string(each.length));

    if (classes_.size() * attributes_.size() > most_slots)
        throw SchemaError("a schema can have " + std::to_string(most_slots) + " pairs of class and attribute, got " +
                          std::to_string(classes_.size()) + " classes and " + std::to_string(attributes_.size()) +
                          " attributes");
    slot_of_.assign(classes_.size() * attributes_.size(), no_slot);
    for (std::size_t c = 0; c < classes_.size(); ++c) {
        auto& own = classes_[c].attributes;
        std::sort(own.begin(), own.end());
        for (AttributeId const a : own) {
            if (a >= attributes_.size())
                throw SchemaError("class " + quoted(classes_[c].name) + " has an unknown attribute");
            auto& slot = slot_of_[c * attributes_.size() + a];
            if (slot != no_slot)
                throw SchemaError("class " + quoted(classes_[c].name) + " lists attribute " +
                                  quoted(attributes_[a].name) + " twice");
            slot = static_cast<std::uint32_t>(slots_.size());
            slots_.push_back({ClassId(c), a});
        }
    }
}

ClassId Schema::class_named(std::string_view name) const {
    return find_name<ClassId>(class_names_, name, "class", [&] { return names_of(classes_); });
}

AttributeId Schema::attribute_named(std::string_view name) const {
    return find_name<AttributeId>(attribute_names_, name, "attribute", [&] { return names_of(attributes_); });
}

ActionId Schema::action_named(std::string_view name) const {
    return find_name<ActionId>(action_names_, name, "action", [&] { return actions_; });
}

// ---------------------------------------------------------------- Column

Column::Column(std::size_t length, std::vector<Int> values)
    : length_(length), rows_(values.size() / length), values_(std::move(values)) {}

Column::~Column() { delete index_.load(std::memory_order_acquire); }

std::uint64_t Column::hash() const {
    auto known = hash_.load(std::memory_order_relaxed);
    if (known == 0) {
        // Two threads may both compute this: they store the same number.
        known = std::max<std::uint64_t>(1, hash_of(values_, length_));
        hash_.store(known, std::memory_order_relaxed);
    }
    return known;
}

Column::Index const& Column::index() const {
    if (auto const* built = index_.load(std::memory_order_acquire)) return *built;
    auto mine = std::make_unique<Index const>(*this);
    Index const* expected = nullptr;
    if (index_.compare_exchange_strong(expected, mine.get(), std::memory_order_acq_rel)) return *mine.release();
    return *expected;  // another thread was first
}

Column::Index::Index(Column const& column) : order(column.rows()) {
    find_box(column);
    if (auto const cells = box_volume(4 * column.rows() + 64); cells != 0)
        sort_by_cell(column, cells);
    else
        sort_by_value(column);
}

void Column::Index::find_box(Column const& column) {
    auto const start = column.row(0);
    low.assign(start.begin(), start.end());
    high = low;
    for (std::size_t i = 1; i < column.rows(); ++i) {
        auto const value = column.row(i);
        for (std::size_t k = 0; k < value.size(); ++k) {
            low[k] = std::min(low[k], value[k]);
            high[k] = std::max(high[k], value[k]);
        }
    }
}

std::size_t Column::Index::box_volume(std::size_t limit) const {
    std::size_t volume = 1;
    for (std::size_t k = 0; k < low.size(); ++k) {
        // Values may span all of int64, so widths are unsigned and checked before use.
        auto const gap = static_cast<std::uint64_t>(high[k]) - static_cast<std::uint64_t>(low[k]);
        if (gap >= limit / volume) return 0;
        volume *= static_cast<std::size_t>(gap) + 1;
    }
    return volume;
}

std::size_t Column::Index::cell(VectorView value) const {
    std::size_t cell = 0;
    for (std::size_t k = 0; k < value.size(); ++k) {
        auto const width = static_cast<std::size_t>(high[k] - low[k]) + 1;
        cell = cell * width + static_cast<std::size_t>(value[k] - low[k]);
    }
    return cell;
}

void Column::Index::sort_by_cell(Column const& column, std::size_t cells) {
    first.assign(cells + 1, 0);
    std::vector<std::uint32_t> cell_of(column.rows());
    for (std::uint32_t i = 0; i < column.rows(); ++i) {
        cell_of[i] = static_cast<std::uint32_t>(cell(column.row(i)));
        most_equal = std::max<std::size_t>(most_equal, ++first[cell_of[i]]);
    }
    // first[c]: now the number of rows up to and including cell c; filling from the
    // last row back turns it into the start of c and keeps rows ascending.
    std::partial_sum(first.begin(), first.end(), first.begin());
    for (auto i = static_cast<std::uint32_t>(column.rows()); i-- > 0;) order[--first[cell_of[i]]] = i;
}

void Column::Index::sort_by_value(Column const& column) {
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        auto const x = column.row(a), y = column.row(b);
        auto const sign = std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
        return sign != 0 ? sign < 0 : a < b;
    });
    std::size_t run = 1;
    for (std::size_t i = 1; i < order.size(); ++i) {
        run = equal(column.row(order[i - 1]), column.row(order[i])) ? run + 1 : 1;
        most_equal = std::max(most_equal, run);
    }
}

std::span<std::uint32_t const> Column::Index::rows_with(Column const& column, VectorView value) const {
    for (std::size_t k = 0; k < value.size(); ++k)
        if (value[k] < low[k] || value[k] > high[k]) return {};
    if (!first.empty()) {
        auto const c = cell(value);
        return {order.data() + first[c], order.data() + first[c + 1]};
    }
    auto const less = [](VectorView x, VectorView y) {
        return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    };
    auto const from = std::lower_bound(order.begin(), order.end(), value,
                                       [&](std::uint32_t i, VectorView v) { return less(column.row(i), v); });
    auto const to = std::upper_bound(from, order.end(), value,
                                     [&](VectorView v, std::uint32_t i) { return less(v, column.row(i)); });
    return {from, to};
}

// ---------------------------------------------------------------- Roster

Roster::Roster(std::vector<std::vector<Int>> ids) : ids_(std::move(ids)), hash_(ids_.size()) {
    std::size_t total = 0;
    for (auto const& own : ids_) total += own.size();
    places_.reserve(total);
    for (std::size_t c = 0; c < ids_.size(); ++c) {
        std::sort(ids_[c].begin(), ids_[c].end());
        for (std::uint32_t row = 0; row < ids_[c].size(); ++row)
            if (!places_.emplace(ids_[c][row], Place{ClassId(c), row}).second)
                throw StateError("two objects have the id " + std::to_string(ids_[c][row]));
        hash_ = hash_of(ids_[c], combine(hash_, ids_[c].size()));
    }
}

std::optional<Place> Roster::find(Int id) const {
    auto const found = places_.find(id);
    return found == places_.end() ? std::nullopt : std::optional<Place>(found->second);
}

// ---------------------------------------------------------------- State

namespace {

std::string described(Schema const& schema, State::ObjectData const& object) {
    return "object " + std::to_string(object.id) + " (" + quoted(schema.classes()[object.class_id].name) + ")";
}

void check_values(Schema const& schema, State::ObjectData const& object) {
    auto const& attributes = schema.classes()[object.class_id].attributes;
    if (object.values.size() != attributes.size())
        throw StateError(described(schema, object) + " needs " + std::to_string(attributes.size()) + " values, got " +
                         std::to_string(object.values.size()));
    for (std::size_t k = 0; k < attributes.size(); ++k) {
        auto const& attribute = schema.attributes()[attributes[k]];
        if (object.values[k].size() != attribute.length)
            throw StateError(described(schema, object) + ": attribute " + quoted(attribute.name) + " has length " +
                             std::to_string(attribute.length) + ", got " + std::to_string(object.values[k].size()));
    }
}

std::shared_ptr<Roster const> roster_of(Schema const& schema, std::vector<State::ObjectData> const& objects) {
    std::vector<std::vector<Int>> ids(schema.classes().size());
    for (auto const& object : objects) ids[object.class_id].push_back(object.id);
    return std::make_shared<Roster const>(std::move(ids));
}

}  // namespace

State::State(std::shared_ptr<Schema const> schema, std::vector<ObjectData> objects) : schema_(std::move(schema)) {
    for (auto const& object : objects) {
        if (object.class_id >= schema_->classes().size())
            throw StateError("object " + std::to_string(object.id) + " has an unknown class");
        check_values(*schema_, object);
    }
    roster_ = roster_of(*schema_, objects);
    // The same order as the roster's rows: by class, then id.
    std::sort(objects.begin(), objects.end(), [](ObjectData const& a, ObjectData const& b) {
        return a.class_id != b.class_id ? a.class_id < b.class_id : a.id < b.id;
    });
    std::vector<std::vector<Int>> values(schema_->slots().size());
    for (auto const& object : objects) {
        auto const& attributes = schema_->classes()[object.class_id].attributes;
        for (std::size_t k = 0; k < attributes.size(); ++k) {
            auto& own = values[*schema_->find_slot(object.class_id, attributes[k])];
            own.insert(own.end(), object.values[k].begin(), object.values[k].end());
        }
    }
    columns_.reserve(values.size());
    for (std::size_t slot = 0; slot < values.size(); ++slot)
        columns_.push_back(std::make_shared<Column const>(schema_->length(SlotId(slot)), std::move(values[slot])));
}

State::State(std::shared_ptr<Schema const> schema, std::shared_ptr<Roster const> roster, std::vector<ColumnPtr> columns)
    : schema_(std::move(schema)), roster_(std::move(roster)), columns_(std::move(columns)) {}

State State::with(SlotId slot, std::size_t row, VectorView value) const {
    auto const old = columns_[slot]->row(row);
    if (std::equal(old.begin(), old.end(), value.begin(), value.end())) return *this;
    auto values = columns_[slot]->values();
    std::copy(value.begin(), value.end(), values.begin() + static_cast<std::ptrdiff_t>(row * old.size()));
    auto columns = columns_;
    columns[slot] = std::make_shared<Column const>(old.size(), std::move(values));
    return {schema_, roster_, std::move(columns)};
}

State State::with(std::span<Replacement const> replacements) const {
    std::vector<std::vector<Int>> edited(columns_.size());  // empty: untouched
    for (auto const& [slot, row, value] : replacements) {
        auto const& column = *columns_[slot];
        auto& values = edited[slot];
        if (values.empty()) values = column.values();
        std::copy(value.begin(), value.end(), values.begin() + static_cast<std::ptrdiff_t>(row * column.length()));
    }
    auto columns = columns_;
    for (std::size_t slot = 0; slot < edited.size(); ++slot)
        if (!edited[slot].empty() && edited[slot] != columns_[slot]->values())
            columns[slot] = std::make_shared<Column const>(columns_[slot]->length(), std::move(edited[slot]));
    return {schema_, roster_, std::move(columns)};
}

bool State::operator==(State const& other) const {
    if (schema_ != other.schema_ && !(*schema_ == *other.schema_)) return false;
    if (roster_ != other.roster_ && !(*roster_ == *other.roster_)) return false;
    auto const same = [](ColumnPtr const& a, ColumnPtr const& b) { return a == b || *a == *b; };
    return std::equal(columns_.begin(), columns_.end(), other.columns_.begin(), same);
}

std::uint64_t State::hash() const {
    auto hash = roster_->hash();
    for (auto const& column : columns_) hash = combine(hash, column->hash());
    return hash;
}

void check_same_objects(State const& before, State const& after) {
    if (before.roster() == after.roster() || *before.roster() == *after.roster()) return;
    std::vector<Int> gone, come, turned;
    for (std::size_t c = 0; c < before.roster()->classes(); ++c) {
        for (Int const id : before.roster()->ids(ClassId(c))) {
            auto const place = after.roster()->find(id);
            if (!place)
                gone.push_back(id);
            else if (place->class_id != ClassId(c))
                turned.push_back(id);
        }
        for (Int const id : after.roster()->ids(ClassId(c)))
            if (!before.roster()->find(id)) come.push_back(id);
    }
    std::string message = "the objects before and after must be the same";
    if (!gone.empty()) message += "; only before: " + list_ids(gone);
    if (!come.empty()) message += "; only after: " + list_ids(come);
    if (!turned.empty()) message += "; of another class after: " + list_ids(turned);
    throw TransitionError(message);
}

}  // namespace treethink
