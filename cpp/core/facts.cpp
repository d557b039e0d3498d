#include "core/facts.hpp"

#include <algorithm>
#include <limits>

namespace treethink {

void FactKind::swap(Int*, std::size_t) const {}

bool FactKind::solve(std::size_t, VectorView, VectorView, Int*) const { return false; }

namespace {

// Each pair of classes that share an attribute, or a unit, has a type of its own. No world needs as many.
constexpr std::size_t max_fact_types = 100'000;
// Types about sums beyond these are left out.
constexpr std::size_t max_types_of_sums = 4'096;
// Of a longer vector, no facts are about single components.
constexpr std::size_t max_components = 4;
// Where fewer classes have an attribute, that something is there says no more than that an object of a class is.
constexpr std::size_t fewest_classes_of_any = 3;

/// `X[m] = v`
class Equality final : public FactKind {
public:
    [[nodiscard]] std::string_view name() const override { return "equality"; }
    [[nodiscard]] std::size_t terms() const override { return 1; }
    [[nodiscard]] bool value(VectorView x, VectorView, Int* out) const override {
        std::copy(x.begin(), x.end(), out);
        return true;
    }
    [[nodiscard]] bool solve(std::size_t, VectorView, VectorView value, Int* out) const override {
        std::copy(value.begin(), value.end(), out);
        return true;
    }
    [[nodiscard]] bool solvable() const override { return true; }
    [[nodiscard]] bool linear() const override { return true; }
    [[nodiscard]] bool absolute() const override { return true; }
    [[nodiscard]] std::string text(std::string const& x, std::string const&, std::string const& value) const override {
        return x + " = " + value;
    }
};

/// `Y[m] - X[m] = v`
class Difference : public FactKind {
public:
    [[nodiscard]] std::string_view name() const override { return "difference"; }
    [[nodiscard]] std::size_t terms() const override { return 2; }
    [[nodiscard]] bool value(VectorView x, VectorView y, Int* out) const override {
        // The smallest Int has no negation, which swap() would need.
        for (std::size_t i = 0; i < x.size(); ++i)
            if (!subtract(y[i], x[i], out[i]) || out[i] == std::numeric_limits<Int>::min()) return false;
        return true;
    }
    [[nodiscard]] bool possible(VectorView value) const override {
        return std::count(value.begin(), value.end(), std::numeric_limits<Int>::min()) == 0;
    }
    [[nodiscard]] FactKind const& of_symbols() const override;
    void swap(Int* value, std::size_t length) const override {
        for (std::size_t i = 0; i < length; ++i) value[i] = -value[i];
    }
    [[nodiscard]] bool solve(std::size_t which, VectorView other, VectorView value, Int* out) const override {
        for (std::size_t i = 0; i < other.size(); ++i) {
            bool const fits = which == 1 ? add(other[i], value[i], out[i]) : subtract(other[i], value[i], out[i]);
            if (!fits) return false;
        }
        return true;
    }
    [[nodiscard]] bool solvable() const override { return true; }
    [[nodiscard]] bool linear() const override { return true; }
    [[nodiscard]] std::string text(std::string const& x, std::string const& y,
                                   std::string const& value) const override {
        return y + " - " + x + " = " + value;
    }
};

/// `sign(Y[m] - X[m]) = v`, component by component
class Order final : public FactKind {
public:
    [[nodiscard]] std::string_view name() const override { return "order"; }
    [[nodiscard]] std::size_t terms() const override { return 2; }
    [[nodiscard]] bool value(VectorView x, VectorView y, Int* out) const override {
        for (std::size_t i = 0; i < x.size(); ++i) out[i] = (y[i] > x[i]) - (y[i] < x[i]);
        return true;
    }
    [[nodiscard]] bool possible(VectorView value) const override {
        return std::all_of(value.begin(), value.end(), [](Int each) { return -1 <= each && each <= 1; });
    }
    [[nodiscard]] bool fits(Attribute const& attribute) const override { return !attribute.is_symbolic(); }
    [[nodiscard]] bool counted() const override { return false; }
    void swap(Int* value, std::size_t length) const override {
        for (std::size_t i = 0; i < length; ++i) value[i] = -value[i];
    }
    [[nodiscard]] std::string text(std::string const& x, std::string const& y,
                                   std::string const& value) const override {
        return "sign(" + y + " - " + x + ") = " + value;
    }
};

/// `X[m] <= v`, for single numbers, and for each component of a vector
class Threshold final : public FactKind {
public:
    [[nodiscard]] std::string_view name() const override { return "threshold"; }
    [[nodiscard]] std::size_t terms() const override { return 1; }
    [[nodiscard]] bool value(VectorView x, VectorView, Int* out) const override {
        *out = x[0];
        return true;
    }
    [[nodiscard]] bool fits(Attribute const& attribute) const override {
        return attribute.length <= max_components && !attribute.is_symbolic();
    }
    [[nodiscard]] bool counted() const override { return false; }
    [[nodiscard]] bool cumulative() const override { return true; }
    [[nodiscard]] bool of_components() const override { return true; }
    [[nodiscard]] std::string text(std::string const& x, std::string const&, std::string const& value) const override {
        return x + " <= " + value;
    }
};

/// `Y[m] - X[m] = v` for any other object Y, of whatever class
class Something final : public Difference {
public:
    [[nodiscard]] std::string_view name() const override { return "something"; }
    [[nodiscard]] std::size_t terms() const override { return 1; }
    [[nodiscard]] bool fits(Attribute const& attribute) const override { return !attribute.is_symbolic(); }
    [[nodiscard]] bool counted() const override { return false; }
    [[nodiscard]] bool of_any() const override { return true; }
    [[nodiscard]] bool linear() const override { return false; }
};

/// `Y[m] - X[m] = 0`, for names and flags: they are the same, or there is no fact.
class Sameness final : public Difference {
public:
    [[nodiscard]] bool value(VectorView x, VectorView y, Int* out) const override {
        std::fill_n(out, x.size(), Int{0});
        return same(x, y);
    }
    [[nodiscard]] bool possible(VectorView value) const override {
        return std::all_of(value.begin(), value.end(), [](Int each) { return each == 0; });
    }
    [[nodiscard]] bool solve(std::size_t, VectorView other, VectorView value, Int* out) const override {
        std::copy(other.begin(), other.end(), out);
        return possible(value);
    }
    [[nodiscard]] bool linear() const override { return false; }
};

FactKind const& Difference::of_symbols() const {
    static Sameness const sameness;
    return sameness;
}

std::vector<std::unique_ptr<FactKind const>>& registry() {
    using Kinds = std::vector<std::unique_ptr<FactKind const>>;
    static Kinds& kinds = *[] {
        // Never destroyed: a daemon thread may still use facts while the process exits.
        auto* const built_in = new Kinds;
        built_in->push_back(std::make_unique<Equality>());
        built_in->push_back(std::make_unique<Difference>());
        built_in->push_back(std::make_unique<Order>());
        built_in->push_back(std::make_unique<Threshold>());
        built_in->push_back(std::make_unique<Something>());
        return built_in;
    }();
    return kinds;
}

bool takes_part(Attribute const& attribute, FactKind const& kind) {
    return std::find(attribute.facts.begin(), attribute.facts.end(), kind.name()) != attribute.facts.end();
}

/// Collects the fact types of a schema.
class FactTypes {
public:
    explicit FactTypes(Schema const& schema) : schema_(schema) {}

    [[nodiscard]] std::vector<FactType> collect() && {
        for (bool const counted : {true, false}) {
            first_of_group_ = types_.size();
            for (auto const& kind : fact_kinds())
                for (std::size_t m = 0; m < schema_.attributes().size(); ++m)
                    if (kind->counted() == counted && takes_part(schema_.attributes()[m], *kind))
                        add_kind(*kind, AttributeId(m));
            for (auto const& kind : fact_kinds()) {
                if (kind->counted() == counted && kind->terms() == 2 && kind->linear()) add_sums(*kind);
                if (kind->counted() == counted && kind->of_any()) add_sums_of_any(*kind);
                if (kind->counted() == counted && kind->of_components()) add_sums_by_component(*kind);
            }
        }
        return std::move(types_);
    }

private:
    /// Adds the types whose first term is of the attribute.
    void add_kind(FactKind const& kind, AttributeId m) {
        if (kind.terms() == 1) {
            if (!kind.of_any() || has_any(kind, schema_.unit(m)))
                for_each_slot(m, 0, [&](SlotId slot) { add_single(kind, slot); });
            return;
        }
        add_pairs(kind, m, m);
        for (std::size_t n = m + 1; n < schema_.attributes().size(); ++n) {
            AttributeId const other(n);
            if (schema_.unit(other) != schema_.unit(m) || !takes_part(schema_.attributes()[n], kind)) continue;
            for_each_slot(m, 0, [&](SlotId slot) {
                if (auto const second = schema_.find_slot(class_of(slot), other)) add(kind, 1, {slot, *second});
            });
            add_pairs(kind, m, other);
        }
    }

    /// Adds the types that compare a sum with other attributes of its unit, of other objects or of the same.
    void add_sums(FactKind const& kind) {
        std::size_t const end = types_.size() + max_types_of_sums;
        for (std::size_t s = schema_.slots().size(); s < schema_.columns().size(); ++s) {
            SlotId const place = schema_.terms_of(SlotId(s))[0];
            AttributeId const unit = schema_.unit(schema_.column(place).attribute);
            if (!schema_.compares_sum(schema_.column(SlotId(s)).attribute)) continue;
            for (std::size_t t = 0; t < schema_.slots().size(); ++t) {
                SlotId const other(t);
                if (schema_.unit(schema_.column(other).attribute) != unit) continue;
                if (!takes_part(schema_.attribute(other), kind)) continue;
                bool const within_object = class_of(other) == class_of(place) && other != place;
                if (within_object && types_.size() < end) add(kind, 1, {other, SlotId(s)});
                if (types_.size() < end) add(kind, 2, {other, SlotId(s)});
            }
        }
    }

    /// Adds the types that compare a sum with any other object's attribute that gives the place its unit.
    void add_sums_of_any(FactKind const& kind) {
        for (std::size_t s = schema_.slots().size(); s < schema_.columns().size(); ++s) {
            AttributeId const place = schema_.column(schema_.terms_of(SlotId(s))[0]).attribute;
            bool const compares = schema_.compares_sum(schema_.column(SlotId(s)).attribute);
            if (compares && takes_part(schema_.attributes()[place], kind) && has_any(kind, schema_.unit(place)))
                add(kind, 1, {SlotId(s), {}});
        }
    }

    /// Adds the types about a component of a sum.
    void add_sums_by_component(FactKind const& kind) {
        for (std::size_t s = schema_.slots().size(); s < schema_.columns().size(); ++s) {
            auto const& [place, step] = schema_.terms_of(SlotId(s));
            bool const compares = schema_.compares_sum(schema_.column(SlotId(s)).attribute);
            if (compares && takes_part(schema_.attribute(place), kind) && takes_part(schema_.attribute(step), kind))
                add_single(kind, SlotId(s));
        }
    }

    /// Adds the type about a value, or those about its components.
    void add_single(FactKind const& kind, SlotId slot) {
        std::size_t const length = schema_.length(slot);
        if (length == 1 || !kind.of_components()) return add(kind, 1, {slot, {}});
        for (std::size_t i = 0; i < length; ++i) {
            add(kind, 1, {slot, {}});
            types_.back().component = static_cast<std::uint8_t>(i);
            types_.back().value_length = kind.value_length(1);
        }
    }

    /// Whether enough classes have the attribute.
    [[nodiscard]] bool has_any(FactKind const& kind, AttributeId unit) const {
        return takes_part(schema_.attributes()[unit], kind) && schema_.slots_with(unit).size() >= fewest_classes_of_any;
    }

    /// Adds the types about two objects. Objects that can change places are listed once.
    void add_pairs(FactKind const& kind, AttributeId m, AttributeId n) {
        for_each_slot(m, 0, [&](SlotId first) {
            for_each_slot(n, m == n ? class_of(first).index : 0, [&](SlotId second) { add(kind, 2, {first, second}); });
            if (types_.size() - first_of_group_ > max_fact_types)
                throw SchemaError("too many classes share attribute '" + schema_.attribute(m).name + "': beyond " +
                                  std::to_string(max_fact_types) + " types of fact");
        });
    }

    void add(FactKind const& registered, std::size_t arity, std::array<SlotId, 2> slots) {
        FactKind const& kind = schema_.attribute(slots[0]).is_symbolic() ? registered.of_symbols() : registered;
        auto const& first = schema_.column(slots[0]);
        FactType type{&kind,
                      schema_.unit(first.attribute),
                      {first.attribute},
                      kind.terms(),
                      arity,
                      {first.class_id},
                      slots,
                      kind.value_length(schema_.length(slots[0])),
                      kind.linear(),
                      kind.counted(),
                      kind.of_any()};
        if (type.terms == 2) type.attributes[1] = schema_.column(slots[1]).attribute;
        if (arity == 2) type.classes[1] = class_of(slots[1]);
        types_.push_back(type);
    }

    /// Calls visit(slot) for each class from `first_class` on that has the attribute.
    template <class Visit>
    void for_each_slot(AttributeId m, std::size_t first_class, Visit const& visit) const {
        for (SlotId const slot : schema_.slots_with(m))
            if (class_of(slot) >= first_class) visit(slot);
    }

    [[nodiscard]] ClassId class_of(SlotId slot) const { return schema_.column(slot).class_id; }

    Schema const& schema_;
    std::vector<FactType> types_;
    std::size_t first_of_group_ = 0;  // of the types that are counted, or of those that are not
};

}  // namespace

std::vector<std::unique_ptr<FactKind const>> const& fact_kinds() { return registry(); }

FactKindRegistration::FactKindRegistration(std::unique_ptr<FactKind const> kind) {
    registry().push_back(std::move(kind));
}

std::vector<FactType> fact_types(Schema const& schema) { return FactTypes(schema).collect(); }

std::size_t counted_types(std::vector<FactType> const& types) {
    return static_cast<std::size_t>(
        std::partition_point(types.begin(), types.end(), [](auto& type) { return type.counted; }) - types.begin());
}

std::size_t count_any(State const& state, FactType const& type) {
    std::size_t count = type.of_any ? 0 : 1;
    if (type.of_any)
        for (SlotId const slot : state.schema()->slots_with(type.unit)) count += state.column(slot)->rows();
    return count;
}

bool FactsOnDemand::holds_of_any(FactType const& type, VectorView value, Row x) const {
    Schema const& schema = *state_.schema();
    Buffer wanted(type.value_length);
    if (!type.kind->solve(1, state_.value(type.slots[0], x), value, wanted.data())) return false;
    std::span<SlotId const> const slots = schema.slots_with(type.unit);
    return std::any_of(slots.begin(), slots.end(), [&](SlotId slot) {
        bool const own = schema.column(slot).class_id == type.classes[0];
        bool found = false;
        state_.column(slot)->for_each_row_with(wanted.view(), [&](Row y) { return !(found = !own || y != x); });
        return found;
    });
}

std::size_t FactsInFull::VectorHash::operator()(Vector const& v) const {
    std::uint64_t hash = v.size();
    for (Int const each : v) {
        hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
}

FactsInFull::FactsInFull(State const& state, std::vector<FactType> const& types)
    : state_(state), first_type_(types.data()), tables_(types.size()) {
    for (std::size_t t = 0; t < types.size(); ++t) extract(types[t], tables_[t]);
}

void FactsInFull::extract(FactType const& type, FactTable& table) const {
    if (type.has_many_values()) return;
    Column const& xs = *state_.column(type.slots[0]);
    Vector value(type.value_length);
    for (Row x = 0; x < xs.rows(); ++x) {
        if (type.arity == 1) {
            VectorView const second = type.within_object() ? state_.value(type.slots[1], x) : VectorView{};
            if (type.kind->value(xs.row(x), second, value.data())) table[value].push_back({x, any_row});
            continue;
        }
        Column const& ys = *state_.column(type.slots[1]);
        for (Row y = 0; y < ys.rows(); ++y)
            if ((!type.same_class() || x != y) && type.kind->value(xs.row(x), ys.row(y), value.data()))
                table[value].push_back({x, y});
    }
}

std::vector<Arguments> const& FactsInFull::arguments_of(FactType const& type, VectorView value) const {
    static std::vector<Arguments> const none;
    FactTable const& table = tables_[static_cast<std::size_t>(&type - first_type_)];
    auto const found = table.find(Vector(value.begin(), value.end()));
    return found == table.end() ? none : found->second;
}

}  // namespace treethink
