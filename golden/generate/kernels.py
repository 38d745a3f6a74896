"""Kernels of the golden cases: a sum of terms, a term a variance times atoms, with the project's text form.

The order of `parameters()` is the order of every stored gradient (see README.md).
"""

from dataclasses import dataclass, field


@dataclass
class Atom:
    """One named kernel.

    `values` holds its parameters in the order of the gradient; a list has one entry per column (`ard`), except an
    embedding, which has `rank` entries per level, level after level.
    """

    name: str
    values: dict = field(default_factory=dict)
    columns: list | None = None
    settings: dict = field(default_factory=dict)  # chosen and never learned: degree, rank, functions

    def text(self):
        arguments = ["ard"] if isinstance(self.values.get("length_scale"), list) else []
        arguments += [f"{key}={show(value)}" for key, value in (self.settings | self.values).items()]
        brackets = "[" + ", ".join(self.columns) + "]" if self.columns else ""
        return self.name + (f"({', '.join(arguments)})" if arguments else "") + brackets

    def parameters(self):
        return [v for value in self.values.values() for v in (value if isinstance(value, list) else [value])]

    def names(self, term, inputs):
        found = []
        for key, value in self.values.items():
            labels = [""]
            if key == "embedding":
                rank = self.settings["rank"]
                labels = [f"[{i // rank},{i % rank + 1}]" for i in range(len(value))]
            elif key == "period" or isinstance(value, list):
                labels = [f"[{column}]" for column in self.columns or inputs]
            found += [f"term {term} {self.name}.{key}{label}" for label in labels]
        return found


@dataclass
class Group:
    """A sum in parentheses, a factor like an atom; its terms have their own variances."""

    kernel: "Sum"

    def text(self):
        return f"({self.kernel.text()})"

    def parameters(self):
        return self.kernel.parameters()

    def names(self, term, inputs):
        return self.kernel.names(inputs, f"{term}.")


@dataclass
class Term:
    """A product with one variance (None when a factor carries its own amplitude)."""

    variance: float | None
    atoms: list

    def text(self):
        factors = [] if self.variance is None else [show(self.variance)]
        return " * ".join(factors + [atom.text() for atom in self.atoms])

    def parameters(self):
        own = [] if self.variance is None else [self.variance]
        return own + [value for atom in self.atoms for value in atom.parameters()]

    def names(self, term, inputs):
        own = [] if self.variance is None else [f"term {term} variance"]
        return own + [name for atom in self.atoms for name in atom.names(term, inputs)]


@dataclass
class Sum:
    terms: list

    def text(self):
        return " + ".join(term.text() for term in self.terms)

    def parameters(self):
        return [value for term in self.terms for value in term.parameters()]

    def names(self, inputs, prefix=""):
        """What each parameter is: `term 1 variance`, `term 1 se.length_scale[age]`, in the order of `parameters`."""
        return [name for i, term in enumerate(self.terms) for name in term.names(f"{prefix}{i + 1}", inputs)]

    def is_signed(self, inputs):
        """Which parameters are moved as they are and not through their logarithm: embeddings."""
        return [".embedding[" in name for name in self.names(inputs)]


def show(value):
    if isinstance(value, list):
        return "[" + ", ".join(show(v) for v in value) + "]"
    return value if isinstance(value, str) else repr(value)


def single(variance, name, **values):
    """A kernel of one term and one atom."""
    return Sum([Term(variance, [Atom(name, values)])])
