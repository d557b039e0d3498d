// kinds.cpp - kinds of fact that exist in test builds only. They show that a kind is added in one place: nothing else
// in the engine knows them.
#include <algorithm>
#include <limits>
#include <new>

#include "core/facts.hpp"

namespace treethink {

namespace {

/// `X[m] mod 2 = v`
class Parity final : public FactKind {
public:
    [[nodiscard]] std::string_view name() const override { return "parity"; }
    [[nodiscard]] std::size_t terms() const override { return 1; }
    [[nodiscard]] bool value(VectorView x, VectorView, Int* out) const override {
        for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i] & 1;
        return true;
    }
    [[nodiscard]] std::string text(std::string const& x, std::string const&, std::string const& value) const override {
        return x + " mod 2 = " + value;
    }
};

/// `|Y[m] - X[m]| = v`, the sum over coordinates
class Distance final : public FactKind {
public:
    [[nodiscard]] std::string_view name() const override { return "distance"; }
    [[nodiscard]] std::size_t terms() const override { return 2; }
    [[nodiscard]] std::size_t value_length(std::size_t) const override { return 1; }
    [[nodiscard]] bool value(VectorView x, VectorView y, Int* out) const override {
        *out = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            Int difference = 0;
            if (!subtract(y[i], x[i], difference) || difference == std::numeric_limits<Int>::min()) return false;
            if (!add(*out, difference < 0 ? -difference : difference, *out)) return false;
        }
        return true;
    }
    [[nodiscard]] std::string text(std::string const& x, std::string const& y,
                                   std::string const& value) const override {
        return "|" + y + " - " + x + "| = " + value;
    }
};

/// `X[m] = v`, but memory runs out at one million.
class Exhausting final : public FactKind {
public:
    [[nodiscard]] std::string_view name() const override { return "exhausting"; }
    [[nodiscard]] std::size_t terms() const override { return 1; }
    [[nodiscard]] bool value(VectorView x, VectorView, Int* out) const override {
        if (x[0] == 1'000'000) throw std::bad_alloc();
        std::copy(x.begin(), x.end(), out);
        return true;
    }
    [[nodiscard]] std::string text(std::string const& x, std::string const&, std::string const& value) const override {
        return x + " = " + value;
    }
};

FactKindRegistration const parity(std::make_unique<Parity>());
FactKindRegistration const distance(std::make_unique<Distance>());
FactKindRegistration const exhausting(std::make_unique<Exhausting>());

}  // namespace

}  // namespace treethink
