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


# A column to be read as a category, added to the inputs where it is not among them.
CATEGORY = {"boston": "rad", "crabs": "label", "fgl": "label", "quine": "age", "rossi": "prio"}


def problem_of(name, seed=20260101, inputs=None, category=None):
    target, chosen = SETS[name]
    names, table, _ = tables.read_table(name)
    test = min(TEST_ROWS, len(table) // 7)
    train = min(TRAIN_ROWS, len(table) - test)
    inputs = inputs or chosen or names[:-1]
    if category is None:
        return tables.Problem(name, target, inputs, train, test, seed)
    inputs = [n for n in inputs if n != category] + [category]
    return tables.Problem(name, target, inputs, train, test, seed, [category])
