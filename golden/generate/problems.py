"""The regression problems of the golden files: which column of which table is predicted from which others."""

import tables

TRAIN_ROWS, TEST_ROWS = 120, 20

# Target and inputs of each table; no list of inputs means every column but the last.
SETS = {
    "boston": ("y", "crim zn indus chas nox rm age dis rad tax ptratio black lstat".split()),
    "mcycle": ("y", ["t"]),
    "crabs": ("CW", "sp_orange FL RW CL BD".split()),
    "fgl": ("RI", "Na Mg Al Si K Ca Ba Fe".split()),
    "quine": ("y", "eth_n sex_m age slow".split()),
    "rossi": ("y", "fin age race wexp mar paro prio".split()),
    "pima_mass_train": ("bmi", "npreg glu bp skin ped age".split()),
    "concrete": ("y", None),
    "energy": ("y", None),
    "yacht": ("y", None),
    "wine_red": ("y", None),
    "kin8nm": ("y", None),
    "power_plant": ("y", None),
    "abalone": ("y", None),
}
# The one column that the periodic cases look at.
PERIODIC = {
    "boston": "lstat",
    "mcycle": "t",
    "crabs": "FL",
    "fgl": "Ca",
    "quine": "age",
    "rossi": "age",
    "pima_mass_train": "age",
    "concrete": "age",
    "yacht": "froude",
}


def problem_of(name, seed=20260101, inputs=None):
    target, chosen = SETS[name]
    names, table, _ = tables.read_table(name)
    test = min(TEST_ROWS, len(table) // 7)
    return tables.Problem(name, target, inputs or chosen or names[:-1], min(TRAIN_ROWS, len(table) - test), test, seed)
