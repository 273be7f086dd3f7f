"""Values that a number, a name or a list should not be, as texts and as values of tables."""

NINES = "9" * 320  # beyond all floats

# Texts of the command line, and numbers of files.
TEXTS = ("", "nan", "-1e999", NINES, "9" * 5000, "\u0663", "1,2", "1e308,1e308", "0x10", "x1e999")
MORE_TEXTS = (
    *(" ", "inf", "-inf", "-nan", "-0", "0", "1e999", "1e-999", "1e308", "-1e308", "1e-320"),
    *(f"-{NINES}", "0." + "1" * 500, "1\u0663", "\u00bd", "\u00b2", "\U0001d7d9", "\u22123", "1_0"),
    *("True", "None", "[]", "[1,2]", "{}", "1,2,3,4,5,6", "inf,nan", "1e309,1", "x", "x10", "x0"),
    *("50%", "-5%", "1e999%", "1.5.2", "--", "\x00", "\x1b[31m", "\ud800", "1/0", "1j", "a" * 3000),
    *("1e400x2", "99999999999x99999999999", "1e5", "1e18", "-1", "0.5"),
)
NUMBERS = (NINES, "-1e999", "1e-999", "nan", "", "-0")  # of files

LONG = 10**400
# Values of a scene's tables.
VALUES = (
    *(float("inf"), float("-inf"), float("nan"), -0.0, 1e308, 1e-320, LONG, -LONG, 10**5000),
    *(2**63, 10**309, True, None, "", "inf", "1e999", "\u0663", "x", [], [1, 2], [LONG] * 6),
    *([[LONG]], {}, {"a": LONG}, b"x", 1j),
)
